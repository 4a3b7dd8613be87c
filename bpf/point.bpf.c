//go:build ignore

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Single moments: the state of the targets at the start, and clock samples. */

#ifndef RAW_TP
/*
 * The thread's state counts only if no other program has seen the thread
 * before, since then that event came after what is read here.
 */
SEC("iter/task")
int snapshot(struct bpf_iter__task *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct task_struct *p = ctx->task;
	struct point_event e = {};
	struct target *t;

	if (!p || task_state(p) & TASK_DEAD)
		return 0;
	t = target_of(p);
	if (!t)
		return 0;
	if (!t->start) /* user space knows it only in clock ticks */
		t->start = p->group_leader->start_boottime;
	fill_head(&e.head, now, EV_SNAPSHOT, p->on_cpu ? FLAG_ON_CPU : 0);
	e.head.cpu = task_cpu(p);
	fill_task(&e.task, p, 1);
	e.state = task_is_queued(p) ? 0 : task_state(p);
	fill_syscall(&e.syscall, e.args, p, user_regs_of(p));
	if (add_thread(p, t, now))
		bpf_seq_write(ctx->meta->seq, &e, sizeof(e));
	return 0;
}
#endif

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct cpu_state *c = cpu_at(bpf_get_smp_processor_id());
	struct target *t = target_current();
	_Bool in_user = REGS_IS_USER(&ctx->regs);
	struct point_event *e;
	__u64 stack = 0;

	if (!c)
		return 0;
	if (t && stack_on_cpu)
		stack = take_stack(ctx, c, now, in_user);
	e = reserve(c, now, sizeof(*e));
	if (!e)
		return 0;
	fill_head(&e->head, now, EV_SAMPLE, in_user ? FLAG_USER : 0);
	fill_current(&e->task, t);
	e->args[0] = e->args[1] = e->args[2] = 0;
	e->state = 0;
	e->syscall = NO_SYSCALL;
	e->stack = stack;
	submit(e);
	return 0;
}
