/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The records of the ring buffers. Each begins with an event_head, whose kind
 * tells the struct. The Go types are generated from these. Times are
 * CLOCK_MONOTONIC in ns.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include "kernel.h"
#include "numbers.h"

struct event_head {
	__u64 time;
	__u16 kind;
	__u16 flags;
	__u32 cpu;
};

struct task_id {
	__u32 tid;
	__u32 tgid;
	__u64 start; /* ns since boot */
	__u8 comm[TASK_COMM_LEN];
	__u32 flags;
	__u32 unused;
};

struct switch_event {
	struct event_head head;
	struct task_id prev;
	struct task_id next;
	__u64 fault_start; /* of the page fault that prev is inside */
	__u64 fault_addr;
	__u64 foreign; /* ns that others ran here since a target left; where next is one */
	__u64 args[3];
	__u32 state; /* of prev, as in task_struct */
	__s32 syscall;
	__u32 owner; /* what a mutex that prev waits for says */
	__u32 fd_type; /* of args[0] as a descriptor */
	__u64 stack; /* id of a stack_event, or 0 */
};

/* EV_WAKING, EV_WAKEUP_NEW, EV_MIGRATE (no waker) */
struct wake_event {
	struct event_head head;
	struct task_id task;
	struct task_id waker;
	__u32 dest_cpu;
	__u32 unused;
};

/* EV_FORK (peer: the child), EV_EXEC (peer.tid: the tid before), EV_EXIT */
struct life_event {
	struct event_head head;
	struct task_id task;
	struct task_id peer;
};

/* EV_FAULT, EV_IRQ, EV_SOFTIRQ, EV_VECTOR, EV_NMI; head.time is the end */
struct span_event {
	struct event_head head;
	struct task_id task;
	__u64 start;
	__u64 addr;
	__u32 id;
	__u32 unused;
};

/* EV_SNAPSHOT, EV_SAMPLE */
struct point_event {
	struct event_head head;
	struct task_id task;
	__u64 args[3];
	__u32 state;
	__s32 syscall;
	__u64 stack; /* id of a stack_event, or 0; EV_SAMPLE */
};

/* EV_COUNTERS; of the stay on the CPU that ends at head.time */
struct counters_event {
	struct event_head head;
	__u32 tid;
	__u32 counted; /* those that were measured, by counter_id */
	__u64 since;
	__u64 away; /* ns that the thread was not charged for, where that is much */
	__u64 lag; /* ns that the clock by which it is charged was behind in the end, where that is much */
	__u64 counts[COUNTERS];
};

#define MAX_KERNEL_FRAMES 32
#define MAX_USER_FRAMES 64

/* EV_STACK; the innermost frame first */
struct stack_event {
	struct event_head head;
	__u64 id;
	__u32 tgid;
	__u16 kernel_frames;
	__u16 user_frames;
	__u64 kernel[MAX_KERNEL_FRAMES];
	__u64 user[MAX_USER_FRAMES];
};

_Static_assert(sizeof(struct event_head) == 16, "event_head");
_Static_assert(sizeof(struct task_id) == 40, "task_id");
_Static_assert(sizeof(struct switch_event) == 168, "switch_event");
_Static_assert(sizeof(struct wake_event) == 104, "wake_event");
_Static_assert(sizeof(struct life_event) == 96, "life_event");
_Static_assert(sizeof(struct span_event) == 80, "span_event");
_Static_assert(sizeof(struct point_event) == 96, "point_event");
_Static_assert(sizeof(struct counters_event) == 72, "counters_event");
_Static_assert(sizeof(struct stack_event) == 800, "stack_event");

#endif
