// Package bpf holds everything of tailtrace that runs in the kernel: the C
// programs, and the objects and Go types made from them, which are committed
// so that a build needs no clang.
//
// To rebuild them: go generate ./bpf (clang 14 or later, libbpf's headers).
package bpf

//go:generate go tool bpf2go -target amd64,arm64 -type event_kind -type event_flag -type vector_id -type counter_id -type event_head -type task_id -type switch_event -type wake_event -type life_event -type span_event -type point_event -type counters_event -type stack_event -type fault_count Kernel tailtrace.bpf.c -- -O2 -g -mcpu=v3 -Wall -Werror
//go:generate go tool bpf2go -target amd64,arm64 -no-global-types -type self_facts RawKernel tailtrace.bpf.c -- -O2 -g -mcpu=v3 -Wall -Werror -DRAW_TP
