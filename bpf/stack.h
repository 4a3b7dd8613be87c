/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Stacks of current. A stack gets an id made of all its addresses, and goes
 * into the ring only when that id was not seen lately: no two stacks share a
 * place in a table, so none can be shown for another.
 */
#ifndef STACK_H
#define STACK_H

#include "emit.h"

#define MAX_SEEN_STACKS 8192

/* stack_on_cpu, stack_off_cpu: take stacks at samples, and when a target blocks. */
volatile const __u8 stack_on_cpu;
volatile const __u8 stack_off_cpu;

/*
 * A stack of a thread that blocks, 8 frames of the kernel and 11 of the
 * program, took 0.6 to 2 us on a virtual machine. On a CPU that switches
 * without end only so many get one: 4% of its time at most.
 */
#define STACK_WINDOW_NS 100000000
#define MAX_STACKS_A_WINDOW 2000

/* Too large for the BPF stack. One is enough: no sample interrupts a switch, which runs with interrupts off. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_event);
} stack_scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_SEEN_STACKS);
	__type(key, __u64);
	__type(value, __u64);
} stacks_seen SEC(".maps");

static __always_inline __u64 mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 32;
}

static __always_inline __u64 mix_frames(__u64 h, const __u64 *frames, __u32 n, __u32 max)
{
	h = mix(h, n);
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < max; i++) {
		if (i >= n)
			break;
		h = mix(h, frames[i]);
	}
	return h;
}

/* stack_id differs between address spaces too: after an exec the same addresses are other functions. */
static __always_inline __u64 stack_id(struct stack_event *s)
{
	struct task_struct *p = (void *)bpf_get_current_task();
	__u64 h = mix(s->tgid, (__u64)BPF_CORE_READ(p, mm));

	h = mix_frames(h, s->kernel, s->kernel_frames, MAX_KERNEL_FRAMES);
	h = mix_frames(h, s->user, s->user_frames, MAX_USER_FRAMES);
	return h ? h : 1;
}

static __always_inline void emit_stack(struct cpu_state *c, struct stack_event *s)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);

	if (!ring || bpf_ringbuf_output(ring, s, sizeof(*s), BPF_RB_NO_WAKEUP)) {
		c->stacks_lost++; /* and comes again with its next event */
		return;
	}
	bpf_map_update_elem(&stacks_seen, &s->id, &s->head.time, BPF_ANY);
}

static __always_inline _Bool may_take(struct cpu_state *c, __u64 now)
{
	if (now - c->stack_window >= STACK_WINDOW_NS) {
		c->stack_window = now;
		c->stacks_taken = 0;
	}
	if (c->stacks_taken >= MAX_STACKS_A_WINDOW) {
		c->stacks_skipped++;
		return 0;
	}
	c->stacks_taken++;
	return 1;
}

/*
 * take_stack returns the id of current's stack, or 0 where it cannot be had.
 * The kernel walks frame pointers in user space; what that misses is for the
 * reader of the stack to find out.
 */
static __always_inline __u64 take_stack(void *ctx, struct cpu_state *c, __u64 now, _Bool in_user)
{
	__u32 zero = 0;
	struct stack_event *s = bpf_map_lookup_elem(&stack_scratch, &zero);
	long kernel = 0, user;

	if (!s)
		return 0;
	if (!in_user)
		kernel = bpf_get_stack(ctx, s->kernel, sizeof(s->kernel), 0);
	user = bpf_get_stack(ctx, s->user, sizeof(s->user), BPF_F_USER_STACK);
	if (kernel <= 0 && user <= 0) {
		c->stacks_failed++;
		return 0;
	}
	s->kernel_frames = kernel > 0 ? kernel / sizeof(__u64) : 0;
	s->user_frames = user > 0 ? user / sizeof(__u64) : 0;
	s->tgid = bpf_get_current_pid_tgid() >> 32;
	s->id = stack_id(s);
	if (!bpf_map_lookup_elem(&stacks_seen, &s->id)) {
		fill_head(&s->head, now, EV_STACK, 0);
		emit_stack(c, s);
	}
	return s->id;
}

#endif
