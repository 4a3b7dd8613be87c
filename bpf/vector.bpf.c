//go:build ignore

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Interrupts of the architecture itself, which irq_handler does not show. On
 * x86 they are not nested in each other; on arm64 the IPIs nest in
 * irq_handler, and the reader of the events takes the inner from the outer.
 */

static __always_inline int begin_vector(void)
{
	struct cpu_state *c = cpu_at(bpf_get_smp_processor_id());

	if (c)
		begin_span(&c->vector_start);
	return 0;
}

static __always_inline int end_vector(__u32 id)
{
	struct cpu_state *c = cpu_at(bpf_get_smp_processor_id());

	if (c)
		end_span(c, &c->vector_start, EV_VECTOR, 0, id);
	return 0;
}

#define VECTOR(name, id)			\
	TRACEPOINT(#name "_entry")		\
	int name##_entry(__u64 *ctx)		\
	{					\
		return begin_vector();		\
	}					\
	TRACEPOINT(#name "_exit")		\
	int name##_exit(__u64 *ctx)		\
	{					\
		return end_vector(id);		\
	}

VECTOR(local_timer, VECTOR_LOCAL_TIMER)
VECTOR(reschedule, VECTOR_RESCHEDULE)
VECTOR(call_function, VECTOR_CALL_FUNCTION)
VECTOR(call_function_single, VECTOR_CALL_FUNCTION_SINGLE)
VECTOR(irq_work, VECTOR_IRQ_WORK)
VECTOR(ipi, VECTOR_IPI)
