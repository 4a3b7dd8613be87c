//go:build ignore

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Threads and processes that begin, change and end. */

/* follow: the children of a target are targets. */
volatile const __u8 follow = 1;

static __always_inline void emit_life(__u64 now, __u16 kind, __u16 flags, struct task_struct *p,
				      struct task_struct *child, _Bool child_is_target, __u32 old_tid)
{
	struct cpu_state *c = cpu_at(bpf_get_smp_processor_id());
	struct life_event *e;

	if (!c)
		return;
	e = reserve(c, now, sizeof(*e));
	if (!e)
		return;
	fill_head(&e->head, now, kind, flags);
	fill_task(&e->task, p, 1);
	fill_task(&e->peer, child, child_is_target);
	if (old_tid)
		e->peer.tid = old_tid;
	submit(e);
}

static __always_inline _Bool add_child(struct task_struct *child, __u64 now)
{
	struct target t = { .start = READ(child, start_boottime) };
	__u32 tgid = READ(child, tgid);

	if (!follow)
		return 0;
	if (!bpf_map_update_elem(&targets, &tgid, &t, 0))
		return 1;
	count_untracked(now);
	return 0;
}

TRACEPOINT("sched_process_fork")
int sched_process_fork(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	_Bool is_target = 1;

	if (!target_of(parent))
		return 0;
	if (READ(child, tgid) != READ(parent, tgid))
		is_target = add_child(child, now);
	emit_life(now, EV_FORK, 0, parent, child, is_target, 0);
	return 0;
}

/* An exec in a thread other than the leader gives it the leader's tid. */
TRACEPOINT("sched_process_exec")
int sched_process_exec(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct task_struct *p = (void *)ctx[0];
	__u32 old_tid = ctx[1], tid = READ(p, pid);
	struct target *t = target_of(p);
	struct thread *th;

	if (!t)
		return 0;
	if (old_tid != tid) {
		th = bpf_map_lookup_elem(&threads, &old_tid);
		if (th)
			drop_thread(th, t, old_tid);
	}
	th = thread_of(p, t, now);
	if (th) {
		leave_queue(th);
		th->on_cpu = 1;
		th->fault_start = 0;
	}
	emit_life(now, EV_EXEC, 0, p, p, 1, old_tid);
	return 0;
}

/* The process stays a target until its last thread has left its CPU for good. */
TRACEPOINT("sched_process_exit")
int sched_process_exit(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct task_struct *p = (void *)ctx[0];
	struct target *t = target_of(p);
	__u16 flags = 0;

	if (!t)
		return 0;
	/* Several threads at once may see that none is left. */
	if (READ_VIA(p, signal, live.counter) == 0 && !t->dying) {
		t->dying = 1;
		flags = FLAG_LAST;
	}
	emit_life(now, EV_EXIT, flags, p, p, 1, 0);
	return 0;
}
