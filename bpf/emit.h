/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Writing to the ring of this CPU. An event that finds no room is counted,
 * with the time range of the gap, so that no loss is silent.
 */
#ifndef EMIT_H
#define EMIT_H

#include "flavour.h"
#include "maps.h"

static __always_inline void count_lost(struct cpu_state *c, __u64 now)
{
	__sync_fetch_and_add(&c->lost, 1);
	if (!c->in_gap) {
		c->in_gap = 1;
		c->gap_first = now;
		c->gaps++;
	}
	c->gap_last = now;
}

/* count_untracked: a thread or process found no room in its map. */
static __always_inline void count_untracked(__u64 now)
{
	struct cpu_state *c = cpu_at(bpf_get_smp_processor_id());

	if (!c)
		return;
	__sync_fetch_and_add(&c->untracked, 1);
	c->untracked_last = now;
}

/*
 * reserve returns room for an event in the ring of this CPU, or NULL. What it
 * returns holds old bytes: the caller writes every field.
 */
static __always_inline void *reserve(struct cpu_state *c, __u64 now, __u64 size)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	void *e = 0;

	__sync_fetch_and_add(&c->tried, 1);
	if (ring)
		e = bpf_ringbuf_reserve(ring, size, 0);
	if (!e) {
		count_lost(c, now);
		return 0;
	}
	c->in_gap = 0;
	return e;
}

/* submit does not wake the reader: it comes by on a timer. */
static __always_inline void submit(void *e)
{
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

static __always_inline void fill_head(struct event_head *h, __u64 now, __u16 kind, __u16 flags)
{
	h->time = now;
	h->kind = kind;
	h->flags = flags;
	h->cpu = bpf_get_smp_processor_id();
}

/* fill_task identifies p; never take the identity of a task other than current from current. */
static __always_inline void fill_task(struct task_id *id, struct task_struct *p, _Bool is_target)
{
	id->tid = READ(p, pid);
	id->tgid = READ(p, tgid);
	id->start = READ(p, start_boottime);
	id->flags = (is_target ? FLAG_TARGET : 0) | (READ(p, flags) & PF_KTHREAD ? FLAG_KTHREAD : 0);
	read_comm(id->comm, p);
	id->unused = 0;
}

/* fill_current is fill_task of current, on kernels without bpf_get_current_task_btf (before 5.11) too. */
static __always_inline void fill_current(struct task_id *id, _Bool is_target)
{
	struct task_struct *p = (void *)bpf_get_current_task();
	__u64 both = bpf_get_current_pid_tgid();

	id->tid = both;
	id->tgid = both >> 32;
	id->start = BPF_CORE_READ(p, start_boottime);
	id->flags = (is_target ? FLAG_TARGET : 0) |
		    (BPF_CORE_READ(p, flags) & PF_KTHREAD ? FLAG_KTHREAD : 0);
	bpf_get_current_comm(id->comm, sizeof(id->comm));
	id->unused = 0;
}

#endif
