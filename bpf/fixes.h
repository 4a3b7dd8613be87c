/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Fields that moved or were renamed. Each reader asks the running kernel's
 * BTF which of the names it has; versions say nothing, vendors backport.
 */
#ifndef FIXES_H
#define FIXES_H

#include "flavour.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* state became __state in 5.14, 2f064a59a11f "sched: Change task_struct::state" */
struct task_struct___state {
	long state;
};

struct task_struct___underscore_state {
	unsigned int __state;
};

/* cpu moved to thread_info in 5.16, bcf9033e5449 "sched: move CPU field back into thread_info" */
struct task_struct___cpu {
	unsigned int cpu;
};

struct thread_info___cpu {
	__u32 cpu;
};

/* one task at a time is throttled since 6.18, e1fad12dcb66 "sched/fair: Switch to task based throttle model" */
struct task_struct___throttled {
	_Bool throttled;
};

#pragma clang attribute pop

static __always_inline __u32 task_state(struct task_struct *p)
{
	struct task_struct___underscore_state *new = (void *)p;
	struct task_struct___state *old = (void *)p;

	if (bpf_core_field_exists(new->__state))
		return READ(new, __state);
	return READ(old, state);
}

static __always_inline __u32 task_cpu(struct task_struct *p)
{
	struct thread_info___cpu *info = (void *)&p->thread_info;
	struct task_struct___cpu *old = (void *)p;

	if (bpf_core_field_exists(info->cpu))
		return READ(info, cpu);
	return READ(old, cpu);
}

/*
 * task_is_queued: p is on a run queue, wants the CPU, and does not have it.
 * A task that blocked may stay on the queue as sched_delayed since 6.12,
 * 152e11f6df29 "sched/fair: Implement delayed dequeue".
 */
static __always_inline _Bool task_is_queued(struct task_struct *p)
{
	if (!READ(p, on_rq) || READ(p, on_cpu))
		return 0;
	if (bpf_core_field_exists(p->se.sched_delayed) && READ(p, se.sched_delayed))
		return 0;
	return 1;
}

/* task_is_throttled: p, which is runnable, may not run before its cgroup's quota is refilled. */
static __always_inline _Bool task_is_throttled(struct task_struct *p)
{
	struct task_struct___throttled *new = (void *)p;

	if (bpf_core_field_exists(new->throttled))
		return READ(new, throttled);
	if (bpf_core_field_exists(p->se.cfs_rq) && bpf_core_field_exists(p->se.cfs_rq->throttle_count))
		return READ_VIA(p, se.cfs_rq, throttle_count) > 0;
	return 0;
}

#endif
