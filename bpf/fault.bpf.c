//go:build ignore

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Page faults, from software perf events with a period of 1: the total fires
 * when a fault begins, the minor or major one when it has been served.
 */

/*
 * The recorder measures what a fault costs outside of its events: it names
 * its own thread here, touches pages, and compares with the sum of the spans.
 */
struct calibration {
	__u32 tid;
	__u32 unused;
	__u64 start;
	__u64 spans;
	__u64 faults;
};

struct calibration calibration;

/*
 * current_thread returns the state of current, a thread of t. That of one which
 * has kept its CPU since before is there by the snapshot, or is made now.
 */
static __always_inline struct thread *current_thread(struct target *t, __u64 now)
{
#ifdef RAW_TP
	return thread_of((struct task_struct *)bpf_get_current_task(), t, now);
#else
	__u32 tid = bpf_get_current_pid_tgid();

	return bpf_map_lookup_elem(&threads, &tid);
#endif
}

SEC("perf_event")
int fault_begin(struct bpf_perf_event_data *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct pt_regs *regs;
	struct target *t;
	struct thread *th;

	if (calibration.tid && calibration.tid == (__u32)bpf_get_current_pid_tgid())
		calibration.start = now;
	t = target_current();
	if (!t)
		return 0;
	th = current_thread(t, now);
	if (!th)
		return 0;
	th->fault_start = now;
	th->fault_addr = ctx->addr;
	th->fault_signature = 0;
	regs = user_regs_of_current();
	if (regs)
		th->fault_signature = user_signature(regs);
	return 0;
}

static __always_inline void end_calibrated(__u64 now)
{
	if (!calibration.start)
		return;
	calibration.spans += now - calibration.start;
	calibration.faults++;
	calibration.start = 0;
}

/* count_fault compares what the kernel has counted with what was seen. */
static __always_inline void count_fault(struct bpf_perf_event_data *ctx, struct fault_count *f, __u64 now)
{
	struct bpf_perf_event_value v;

	if (bpf_perf_prog_read_value(ctx, &v, sizeof(v)))
		return;
	if (v.counter > f->counted + 1) {
		f->missed += v.counter - f->counted - 1;
		f->spells++;
		f->first = f->at;
		f->last = now;
	}
	f->counted = v.counter;
	f->at = now;
}

static __always_inline int fault_end(struct bpf_perf_event_data *ctx, int kind)
{
	__u64 now = bpf_ktime_get_ns();
	struct cpu_state *c;
	struct span_event *e;
	struct target *t;
	struct thread *th;
	__u16 flags = kind == FAULT_MAJOR ? FLAG_MAJOR : 0;
	__u64 start;

	if (calibration.tid && calibration.tid == (__u32)bpf_get_current_pid_tgid())
		end_calibrated(now);
	c = cpu_at(bpf_get_smp_processor_id());
	if (!c)
		return 0;
	count_fault(ctx, &c->faults[kind], now);
	t = target_current();
	if (!t)
		return 0;
	th = current_thread(t, now);
	start = th ? th->fault_start : 0;
	if (th)
		th->fault_start = 0;
	if (!start) {
		start = now;
		flags |= FLAG_CUT;
	}
	e = reserve(c, now, sizeof(*e));
	if (!e)
		return 0;
	if (REGS_IS_USER(&ctx->regs))
		flags |= FLAG_USER;
	fill_head(&e->head, now, EV_FAULT, flags);
	fill_current(&e->task, 1);
	e->start = start;
	e->addr = ctx->addr;
	e->id = 0;
	e->unused = 0;
	submit(e);
	return 0;
}

SEC("perf_event")
int fault_minor(struct bpf_perf_event_data *ctx)
{
	return fault_end(ctx, FAULT_MINOR);
}

SEC("perf_event")
int fault_major(struct bpf_perf_event_data *ctx)
{
	return fault_end(ctx, FAULT_MAJOR);
}
