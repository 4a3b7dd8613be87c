/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Who is traced, and on which CPUs traced threads wait. A process is a target
 * by its tgid, so threads that exist already, come later, or change their tid
 * by exec are found alike. The state of a thread is made when it is first
 * seen, from what the kernel knows of it then.
 *
 * cpu_state.waiting must not drift. Enqueue (sched_wakeup), switch and the
 * migration of a queued task all happen under the lock of the run queue that
 * the task is on, so its changes cannot race; sched_waking, which comes
 * before that lock is taken, changes no queue.
 */
#ifndef TRACK_H
#define TRACK_H

#include "emit.h"
#include "fixes.h"

/* is_same: p's process is the one that t was made for, not a later one with its pid. */
static __always_inline _Bool is_same(struct target *t, __u64 leader_start)
{
	return !t->start || t->start == leader_start;
}

/* find_thread returns the state of p, or NULL where it was never seen. */
static __always_inline struct thread *find_thread(struct task_struct *p)
{
	__u32 tid = READ(p, pid);
	struct thread *th = bpf_map_lookup_elem(&threads, &tid);

	return th && th->start == READ(p, start_boottime) ? th : 0;
}

/*
 * target_of returns the target that p is a thread of, or NULL. The leader of
 * a thread in its last moments may be gone: then what is known of the thread
 * itself decides.
 */
static __always_inline struct target *target_of(struct task_struct *p)
{
	__u32 tgid = READ(p, tgid);
	struct target *t;

	if (!tgid)
		return 0;
	t = bpf_map_lookup_elem(&targets, &tgid);
	if (!t)
		return 0;
	if (is_same(t, READ_VIA(p, group_leader, start_boottime)) || find_thread(p))
		return t;
	return 0;
}

static __always_inline struct target *target_current(void)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct task_struct *p;
	struct target *t;

	if (!tgid)
		return 0;
	t = bpf_map_lookup_elem(&targets, &tgid);
	if (!t)
		return 0;
	p = (void *)bpf_get_current_task();
	if (!is_same(t, BPF_CORE_READ(p, group_leader, start_boottime)))
		return 0;
	return t;
}

static __always_inline void add_waiting(__u32 cpu, __s32 n)
{
	struct cpu_state *c = cpu_at(cpu);

	if (c)
		__sync_fetch_and_add(&c->waiting, n);
}

static __always_inline void leave_queue(struct thread *th)
{
	if (th->queued_cpu < 0)
		return;
	add_waiting(th->queued_cpu, -1);
	th->queued_cpu = -1;
}

static __always_inline void join_queue(struct thread *th, __u32 cpu)
{
	if (th->queued_cpu == (__s32)cpu)
		return;
	leave_queue(th);
	th->queued_cpu = cpu;
	add_waiting(cpu, 1);
}

static __always_inline void drop_thread(struct thread *th, struct target *t, __u32 tid)
{
	leave_queue(th);
	if (!bpf_map_delete_elem(&threads, &tid))
		__sync_fetch_and_add(&t->threads, -1);
}

/*
 * add_thread makes the state of p and reports whether it did: not where there
 * is one already, or no room. An old task's state under the same tid goes.
 */
static __always_inline _Bool add_thread(struct task_struct *p, struct target *t, __u64 now)
{
	__u32 tid = READ(p, pid);
	struct thread fresh = {
		.start = READ(p, start_boottime),
		.queued_cpu = task_is_queued(p) ? (__s32)task_cpu(p) : -1,
		.on_cpu = READ(p, on_cpu),
	};
	struct thread *th = bpf_map_lookup_elem(&threads, &tid);

	if (th) {
		if (th->start == fresh.start)
			return 0;
		drop_thread(th, t, tid);
	}
	if (bpf_map_update_elem(&threads, &tid, &fresh, BPF_NOEXIST)) {
		if (!bpf_map_lookup_elem(&threads, &tid))
			count_untracked(now);
		return 0;
	}
	__sync_fetch_and_add(&t->threads, 1);
	if (fresh.queued_cpu >= 0)
		add_waiting(fresh.queued_cpu, 1);
	return 1;
}

/* thread_of returns the state of p, made now if need be; NULL where there is no room. */
static __always_inline struct thread *thread_of(struct task_struct *p, struct target *t, __u64 now)
{
	struct thread *th = find_thread(p);

	if (th)
		return th;
	add_thread(p, t, now);
	return find_thread(p);
}

#endif
