//go:build ignore

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Who woke whom, and on which run queue the woken waits. */

/*
 * In which context this CPU runs. The open spans of the interrupt programs
 * tell it: the preempt count would too, but on x86 it is a per-CPU variable
 * that moved twice and that programs cannot read on every kernel.
 */
static __always_inline __u16 context_flags(struct cpu_state *c)
{
	__u16 flags = 0;

	if (c->irq_start || c->vector_start)
		flags |= FLAG_HARDIRQ;
	if (c->softirq_start)
		flags |= FLAG_SOFTIRQ;
	return flags;
}

static __always_inline void fill_wake(struct wake_event *e, __u64 now, __u16 kind, __u16 flags, struct task_struct *p)
{
	fill_head(&e->head, now, kind, flags | (task_is_throttled(p) ? FLAG_THROTTLED : 0));
	fill_task(&e->task, p, 1);
	fill_current(&e->waker, target_current());
	e->dest_cpu = task_cpu(p);
	e->unused = 0;
}

static __always_inline void emit_wake(struct cpu_state *c, __u64 now, __u16 kind, __u16 flags,
				      struct task_struct *p, __u32 dest_cpu)
{
	struct wake_event *e = reserve(c, now, sizeof(*e));

	if (!e)
		return;
	fill_wake(e, now, kind, flags, p);
	e->dest_cpu = dest_cpu;
	submit(e);
}

/*
 * The waker has not locked the run queue yet, so a task that is on a CPU may
 * be about to leave it for good, or may never have left. Hold the wakeup;
 * sched_wakeup, which comes under the lock, decides.
 */
TRACEPOINT("sched_waking")
int sched_waking(__u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct target *t = target_of(p);
	struct cpu_state *c;
	struct thread *th;
	__u64 now;

	if (!t)
		return 0;
	c = cpu_at(bpf_get_smp_processor_id());
	if (!c)
		return 0;
	th = find_thread(p);
	now = bpf_ktime_get_ns(); /* after on_cpu was seen, so never before that switch */
	if (th && th->on_cpu) {
		fill_wake(&th->held, now, EV_WAKING, context_flags(c), p);
		th->is_held = 1;
		return 0;
	}
	emit_wake(c, now, EV_WAKING, context_flags(c), p, task_cpu(p));
	return 0;
}

/* emit_held writes the held wakeup as of now: p never left its CPU, or has just left it. */
static __always_inline void emit_held(struct thread *th, __u64 now)
{
	struct cpu_state *c = cpu_at(bpf_get_smp_processor_id());
	struct wake_event *e;

	th->is_held = 0;
	if (!c)
		return;
	e = reserve(c, now, sizeof(*e));
	if (!e)
		return;
	*e = th->held;
	e->head.time = now;
	if (th->on_cpu)
		e->head.flags |= FLAG_ON_RQ;
	submit(e);
}

TRACEPOINT("sched_wakeup")
int sched_wakeup(__u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct target *t = target_of(p);
	struct thread *th;
	__u64 now;

	if (!t)
		return 0;
	now = bpf_ktime_get_ns();
	th = thread_of(p, t, now);
	if (!th)
		return 0;
	if (!th->on_cpu)
		join_queue(th, task_cpu(p));
	if (th->is_held)
		emit_held(th, now);
	return 0;
}

TRACEPOINT("sched_wakeup_new")
int sched_wakeup_new(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct task_struct *p = (void *)ctx[0];
	struct target *t = target_of(p);
	struct cpu_state *c = cpu_at(bpf_get_smp_processor_id());
	struct thread *th;

	if (!t || !c)
		return 0;
	th = thread_of(p, t, now);
	if (th)
		join_queue(th, task_cpu(p));
	emit_wake(c, now, EV_WAKEUP_NEW, 0, p, task_cpu(p));
	return 0;
}

TRACEPOINT("sched_migrate_task")
int sched_migrate_task(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct task_struct *p = (void *)ctx[0];
	struct target *t = target_of(p);
	struct cpu_state *c = cpu_at(bpf_get_smp_processor_id());
	struct thread *th;
	__u32 dest = ctx[1];

	if (!t || !c)
		return 0;
	th = thread_of(p, t, now);
	if (!th || th->queued_cpu < 0)
		return 0; /* asleep: it moves when it is woken */
	join_queue(th, dest);
	emit_wake(c, now, EV_MIGRATE, 0, p, dest);
	return 0;
}
