//go:build ignore

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Interrupts. The start of each is kept per CPU and class whoever runs, since
 * it also tells who wakes in interrupt context, and since a target may begin
 * to wait in the middle; the event is written at the end, where a target is
 * current or waits for this CPU.
 */

static __always_inline void begin_span(__u64 *start)
{
	*start = bpf_ktime_get_ns();
}

static __always_inline void emit_span(struct cpu_state *c, __u64 start, __u64 now, __u16 kind, __u16 flags, __u32 id)
{
	_Bool is_target = target_current();
	struct span_event *e;

	if (!is_target && c->waiting <= 0)
		return;
	e = reserve(c, now, sizeof(*e));
	if (!e)
		return;
	fill_head(&e->head, now, kind, flags);
	fill_current(&e->task, is_target);
	e->start = start;
	e->addr = 0;
	e->id = id;
	e->unused = 0;
	submit(e);
}

static __always_inline void end_span(struct cpu_state *c, __u64 *open, __u16 kind, __u16 flags, __u32 id)
{
	__u64 now = bpf_ktime_get_ns(), start = *open;

	*open = 0;
	if (start) /* 0: it was under way when the programs were attached */
		emit_span(c, start, now, kind, flags, id);
}

TRACEPOINT("irq_handler_entry")
int irq_handler_entry(__u64 *ctx)
{
	struct cpu_state *c = cpu_at(bpf_get_smp_processor_id());

	if (c)
		begin_span(&c->irq_start);
	return 0;
}

TRACEPOINT("irq_handler_exit")
int irq_handler_exit(__u64 *ctx)
{
	struct cpu_state *c = cpu_at(bpf_get_smp_processor_id());
	int handled = ctx[2];

	if (c)
		end_span(c, &c->irq_start, EV_IRQ, handled ? FLAG_HANDLED : 0, ctx[0]);
	return 0;
}

TRACEPOINT("softirq_entry")
int softirq_entry(__u64 *ctx)
{
	struct cpu_state *c = cpu_at(bpf_get_smp_processor_id());

	if (c)
		begin_span(&c->softirq_start);
	return 0;
}

TRACEPOINT("softirq_exit")
int softirq_exit(__u64 *ctx)
{
	struct cpu_state *c = cpu_at(bpf_get_smp_processor_id());

	if (c)
		end_span(c, &c->softirq_start, EV_SOFTIRQ, 0, ctx[0]);
	return 0;
}

/* The kernel measures NMI handlers itself. */
TRACEPOINT("nmi_handler")
int nmi_handler(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct cpu_state *c = cpu_at(bpf_get_smp_processor_id());

	if (c)
		emit_span(c, now - ctx[1], now, EV_NMI, ctx[2] ? FLAG_HANDLED : 0, 0);
	return 0;
}
