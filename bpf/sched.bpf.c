//go:build ignore

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Context switches: of targets, and of whoever runs while a target waits for that CPU. */

/* switch_has_state: sched_switch says what prev was (5.18). */
volatile const __u8 switch_has_state;

/*
 * open_fault returns when the page fault that prev is inside began, or 0. A
 * fault that failed has no end event; the registers tell that it is over.
 */
static __always_inline __u64 open_fault(struct thread *th, struct pt_regs *regs)
{
	if (!regs || !th->fault_start)
		return 0;
	if (th->fault_signature != user_signature(regs))
		th->fault_start = 0;
	return th->fault_start;
}

static __always_inline void fill_syscall(__s32 *nr, __u64 *args, struct task_struct *p, struct pt_regs *regs)
{
	*nr = have_task_pt_regs || page_bytes ? NO_SYSCALL : UNKNOWN_SYSCALL;
	args[0] = args[1] = args[2] = 0;
	if (!regs)
		return;
	*nr = REGS_SYSCALL(regs);
	if (*nr < 0) {
		*nr = NO_SYSCALL;
		return;
	}
	if (TASK_IS_COMPAT(p)) {
		*nr = UNKNOWN_SYSCALL;
		return;
	}
	args[0] = REGS_ARG0(regs);
	args[1] = REGS_ARG1(regs);
	args[2] = REGS_ARG2(regs);
}

/* fill_leaver writes what only holds for a target that leaves the CPU. */
static __always_inline void fill_leaver(struct switch_event *e, struct task_struct *prev, struct thread *th)
{
	struct pt_regs *regs = user_regs_of(prev);

	e->fault_start = th ? open_fault(th, regs) : 0;
	e->fault_addr = e->fault_start ? th->fault_addr : 0;
	fill_syscall(&e->syscall, e->args, prev, regs);
	if (e->state && e->syscall == SYS_FUTEX)
		e->owner = mutex_owner(e->args[0], e->args[1]);
	else if (e->state && e->syscall >= 0)
		e->fd_type = fd_type(prev, e->args[0]);
	if (!e->state && task_is_throttled(prev))
		e->head.flags |= FLAG_THROTTLED;
}

static __always_inline void emit_switch(struct cpu_state *c, __u64 now, _Bool preempt, __u32 state,
					struct task_struct *prev, struct target *prev_target,
					struct task_struct *next, struct target *next_target,
					struct thread *prev_thread, __u64 stack)
{
	struct switch_event *e = reserve(c, now, sizeof(*e));

	if (!e)
		return;
	fill_head(&e->head, now, EV_SWITCH, preempt ? FLAG_PREEMPT : 0);
	fill_task(&e->prev, prev, prev_target);
	fill_task(&e->next, next, next_target);
	e->fault_start = e->fault_addr = 0;
	e->foreign = next_target ? c->foreign : 0;
	e->args[0] = e->args[1] = e->args[2] = 0;
	e->state = state;
	e->syscall = NO_SYSCALL;
	e->owner = 0;
	e->fd_type = 0;
	e->stack = stack;
	if (prev_target)
		fill_leaver(e, prev, prev_thread);
	submit(e);
}

static __always_inline void track_leaver(struct thread *th, struct target *t, struct task_struct *prev,
					 __u32 cpu, __u32 state)
{
	__u32 tgid = READ(prev, tgid);

	if (!(state & TASK_DEAD)) {
		if (th && !state)
			join_queue(th, cpu);
		if (th)
			th->on_cpu = 0;
		return;
	}
	if (th)
		drop_thread(th, t, READ(prev, pid));
	if (t->dying && t->threads <= 0)
		bpf_map_delete_elem(&targets, &tgid);
}

static __always_inline void track_arriver(struct thread *th)
{
	leave_queue(th);
	th->on_cpu = 1;
}

static __always_inline void on_switch(void *ctx, _Bool preempt, struct task_struct *prev, struct task_struct *next, __u32 state)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_state *c = cpu_at(cpu);
	struct target *from = target_of(prev), *to = target_of(next);
	struct thread *leaver = 0, *arriver = 0;
	__u64 stack = 0;

	if (!c)
		return;
	count_foreign(c, now, from, !READ(prev, pid));
	if (!from && c->waiting <= 0 && !to) /* the verifier minds the order: no or of pointers */
		return;
	if (preempt) /* it may be on its way to sleep, but has not got there */
		state = 0;
	if (from)
		leaver = thread_of(prev, from, now);
	if (to)
		arriver = thread_of(next, to, now);
	if (from && stack_off_cpu && state && !(state & TASK_DEAD) && may_take(c, now))
		stack = take_stack(ctx, c, now, 0);
	count_switch(c, now, prev, to ? next : 0);
	emit_switch(c, now, preempt, state, prev, from, next, to, leaver, stack);
	if (arriver)
		track_arriver(arriver);
	if (from)
		track_leaver(leaver, from, prev, cpu, state);
}

TRACEPOINT("sched_switch")
int sched_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];

	on_switch(ctx, ctx[0], prev, next, switch_has_state ? ctx[3] : task_state(prev));
	return 0;
}
