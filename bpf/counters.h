/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the CPU counts while a target has it, kernel and interrupts included.
 * The counters are read at the switch to the target and at the one from it, so
 * that the counts are exactly of its stay. What cannot be read is left out: it
 * is not 0.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "emit.h"

/* counters: those that this machine has, as bits by counter_id */
volatile const __u8 counters;

/* User space puts a perf event of each CPU into these. */
struct counter_map {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
};

struct counter_map cycles SEC(".maps");
struct counter_map instructions SEC(".maps");
struct counter_map stalled SEC(".maps");

/* The present stay of a target on this CPU, and what the counters were when it began. */
struct stay {
	__u64 since;
	__u64 clock; /* of the run queue, when it began; 0 = not known */
	__u64 charged; /* to the thread, ever */
	__u64 left; /* how often it has left a CPU, ever */
	__u32 tid; /* 0: none that was seen to begin */
	__u32 counted;
	__u64 counts[COUNTERS];
};

/* Of a stay that ends, ns; little is 0. */
struct away {
	__u64 away;
	__u64 lag;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stay);
} stays SEC(".maps");

/*
 * read_counter adds one counter to s. An event that had to share the hardware,
 * or lost it, has not counted all.
 */
static __always_inline void read_counter(struct stay *s, void *events, __u32 id)
{
	struct bpf_perf_event_value v;

	s->counts[id] = 0;
	if (!(counters & 1 << id))
		return;
	if (bpf_perf_event_read_value(events, BPF_F_CURRENT_CPU, &v, sizeof(v)) || v.enabled != v.running)
		return;
	s->counts[id] = v.counter;
	s->counted |= 1 << id;
}

/*
 * rq_clock returns the clock by which p is charged, or 0 where the kernel has
 * no way from a task to it (CONFIG_FAIR_GROUP_SCHED). A wakeup that calls for a
 * switch lets the switch skip the clock's update (rq_clock_skip_update()),
 * however long it may then be in coming: the clock is behind there.
 */
static __always_inline __u64 rq_clock(struct task_struct *p)
{
	if (!bpf_core_field_exists(p->se.cfs_rq) || !bpf_core_field_exists(p->se.cfs_rq->rq))
		return 0;
	return READ_VIA2(p, se.cfs_rq, rq, clock);
}

/* What is charged is read a little earlier than the clock, at both ends. */
#define MIN_AWAY 20000 /* ns */

static __always_inline __u64 if_much(__s64 ns)
{
	return ns < MIN_AWAY ? 0 : ns;
}

/*
 * compare says of a stay that ends for how much of it the thread was not
 * charged by the run queue's clock (the hypervisor had its CPU, as far as it
 * says so, or interrupts did, where the kernel keeps their time apart), and
 * for how much that clock was behind in the end. What it was behind in the
 * beginning is none of the stay's.
 */
static __always_inline void compare(const struct stay *s, __u64 now, struct task_struct *prev, struct away *a)
{
	__u64 charged = READ(prev, se.sum_exec_runtime) - s->charged;
	__u64 clock = rq_clock(prev);
	__s64 length = now - s->since;
	__s64 passed = clock - s->clock;

	a->away = a->lag = 0;
	if (!clock || !s->clock)
		return;
	a->away = if_much((passed < length ? passed : length) - charged);
	a->lag = if_much(length - passed);
}

static __always_inline __u64 times_left(struct task_struct *p)
{
	return READ(p, nvcsw) + READ(p, nivcsw);
}

static __always_inline void emit_counters(struct cpu_state *c, const struct stay *s, const struct stay *now, const struct away *a, __u16 flags)
{
	__u32 counted = s->counted & now->counted;
	struct counters_event *e;

	if (!counted && !a->away && !a->lag)
		return;
	e = reserve(c, now->since, sizeof(*e));
	if (!e)
		return;
	fill_head(&e->head, now->since, EV_COUNTERS, flags);
	e->tid = s->tid;
	e->counted = counted;
	e->since = s->since;
	e->away = a->away;
	e->lag = a->lag;
	for (int i = 0; i < COUNTERS; i++)
		e->counts[i] = now->counts[i] - s->counts[i];
	submit(e);
}

/* count_switch ends the stay of a target and begins another one's; next is NULL for others. */
static __always_inline void count_switch(struct cpu_state *c, __u64 now, struct task_struct *prev, struct task_struct *next)
{
	struct stay fresh = { .since = now };
	struct stay *s;
	__u32 zero = 0;

	s = bpf_map_lookup_elem(&stays, &zero);
	if (!s || (!s->tid && !next))
		return;
	if (next) {
		fresh.tid = READ(next, pid);
		fresh.clock = rq_clock(next);
		fresh.charged = READ(next, se.sum_exec_runtime);
		fresh.left = times_left(next);
	}
	read_counter(&fresh, &cycles, COUNTER_CYCLES);
	read_counter(&fresh, &instructions, COUNTER_INSTRUCTIONS);
	read_counter(&fresh, &stalled, COUNTER_STALLED);
	if (s->tid && s->tid == READ(prev, pid)) {
		struct away a;

		compare(s, now, prev, &a);
		/* It has left this CPU now. Once more, and a switch was not reported. */
		emit_counters(c, s, &fresh, &a, times_left(prev) - s->left > 1 ? FLAG_UNSEEN : 0);
	}
	*s = fresh;
}

#endif
