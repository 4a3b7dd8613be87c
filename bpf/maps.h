/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * State shared between the programs. User space sets the sizes before it
 * loads them; those written here only make the object valid.
 */
#ifndef MAPS_H
#define MAPS_H

#include "events.h"

/* A traced process, by tgid. */
struct target {
	__u64 start;	/* of the leader: tells a reused pid apart; 0 = not known yet */
	__s32 threads;	/* entries in the threads map */
	__u32 dying;	/* its last thread is in exit */
};

/*
 * A thread of a traced process, by tid. Everything but the held wakeup is
 * changed only under the lock of the thread's run queue, or by the thread
 * itself, so it needs no atomics.
 */
struct thread {
	__u64 start;
	__s32 queued_cpu;	/* where it waits for a CPU, or -1 */
	__u32 on_cpu;
	__u64 fault_start;	/* of the open page fault, or 0 */
	__u64 fault_addr;
	__u64 fault_signature;	/* user_signature when it began */
	__u32 is_held;
	__u32 unused;
	struct wake_event held;	/* a wakeup that came while it was on a CPU */
};

/*
 * Page faults of one kind on a CPU, of all tasks. The kernel does not run a
 * program while the CPU's task, or one that it interrupted, is in a system call
 * on a BPF map, and does not say so; but it counts the fault.
 */
struct fault_count {
	__u64 counted;	/* by the kernel, when the last one was seen */
	__u64 at;	/* when that was */
	__u64 missed;
	__u64 spells;	/* of missing ones, with none seen in between */
	__u64 first;	/* the latest spell is not earlier than this */
	__u64 last;	/* nor later than this */
};

enum { FAULT_MINOR, FAULT_MAJOR, FAULT_KINDS };

struct cpu_state {
	/* written from any CPU: target threads queued here */
	__s32 waiting;
	__u32 unused[15];
	/* written from this CPU: open interrupt spans, 0 = none */
	__u64 irq_start;
	__u64 softirq_start;
	__u64 vector_start;
	/* likewise: the last switch, and the time others ran since a target left */
	__u64 switched_at;
	__u64 foreign;
	/* every event, and those that found no room in the ring */
	__u64 tried;
	__u64 lost;
	__u64 gaps;		/* runs of losses with no success in between */
	__u64 gap_first;	/* of the latest such run */
	__u64 gap_last;
	__u64 in_gap;
	/* threads or processes that found no room in a map */
	__u64 untracked;
	__u64 untracked_last;
	/* stacks that could not be taken, that found no room, and that would have been too many */
	__u64 stacks_failed;
	__u64 stacks_lost;
	__u64 stacks_skipped;
	__u64 stack_window;	/* when the latest window began */
	__u64 stacks_taken;	/* in it */
	struct fault_count faults[FAULT_KINDS];
	__u64 unused2[2];
};

_Static_assert(sizeof(struct cpu_state) == 320, "cpu_state is padded to cache lines");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, struct target);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* user space reads it without system calls: see fault_count */
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_state);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct {
		__uint(type, BPF_MAP_TYPE_RINGBUF);
		__uint(max_entries, 4096);
	});
} rings SEC(".maps");

static __always_inline struct cpu_state *cpu_at(__u32 cpu)
{
	return bpf_map_lookup_elem(&cpus, &cpu);
}

#endif
