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
	__u64 charged; /* to the thread, ever */
	__u64 left; /* how often it has left a CPU, ever */
	__u32 tid; /* 0: none that was seen to begin */
	__u32 counted;
	__u64 counts[COUNTERS];
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

/* What is charged is read a little earlier than the clock, at both ends. */
#define MIN_AWAY 20000 /* ns */

/*
 * not_charged returns for how much of its stay a thread was not charged: the
 * hypervisor had its CPU, as far as it says so, or interrupts did, where the
 * kernel keeps their time apart.
 */
static __always_inline __u64 not_charged(const struct stay *s, __u64 now, __u64 charged)
{
	__s64 away = (now - s->since) - (charged - s->charged);

	return away < MIN_AWAY ? 0 : away;
}

static __always_inline __u64 times_left(struct task_struct *p)
{
	return READ(p, nvcsw) + READ(p, nivcsw);
}

static __always_inline void emit_counters(struct cpu_state *c, const struct stay *s, const struct stay *now, __u64 away, __u16 flags)
{
	__u32 counted = s->counted & now->counted;
	struct counters_event *e;

	if (!counted && !away)
		return;
	e = reserve(c, now->since, sizeof(*e));
	if (!e)
		return;
	fill_head(&e->head, now->since, EV_COUNTERS, flags);
	e->tid = s->tid;
	e->counted = counted;
	e->since = s->since;
	e->away = away;
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
		fresh.charged = READ(next, se.sum_exec_runtime);
		fresh.left = times_left(next);
	}
	read_counter(&fresh, &cycles, COUNTER_CYCLES);
	read_counter(&fresh, &instructions, COUNTER_INSTRUCTIONS);
	read_counter(&fresh, &stalled, COUNTER_STALLED);
	if (s->tid && s->tid == READ(prev, pid)) {
		__u64 away = not_charged(s, now, READ(prev, se.sum_exec_runtime));

		/* It has left this CPU now. Once more, and a switch was not reported. */
		emit_counters(c, s, &fresh, away, times_left(prev) - s->left > 1 ? FLAG_UNSEEN : 0);
	}
	*s = fresh;
}

#endif
