/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The records of the ring buffers. Each begins with an event_head, whose kind
 * tells the struct. The Go types are generated from these. Times are
 * CLOCK_MONOTONIC in ns.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include "kernel.h"

enum event_kind {
	EV_SWITCH = 2,
	EV_WAKING = 3,
	EV_WAKEUP_NEW = 4,
	EV_MIGRATE = 5,
	EV_FORK = 6,
	EV_EXEC = 7,
	EV_EXIT = 8,
	EV_FAULT = 9,
	EV_IRQ = 10,
	EV_SOFTIRQ = 11,
	EV_VECTOR = 12,
	EV_NMI = 13,
	EV_SNAPSHOT = 14,
	EV_SAMPLE = 15,
	EV_COUNTERS = 16,
	EV_STACK = 255, /* becomes a record of its own */
};

/* of an event or of a task */
enum event_flag {
	FLAG_TARGET = 1 << 0,
	FLAG_PREEMPT = 1 << 1,
	FLAG_HARDIRQ = 1 << 2,
	FLAG_SOFTIRQ = 1 << 3,
	FLAG_MAJOR = 1 << 5,
	FLAG_USER = 1 << 6,
	FLAG_HANDLED = 1 << 7,
	FLAG_LAST = 1 << 8,
	FLAG_ON_CPU = 1 << 9,
	FLAG_ON_RQ = 1 << 10,
	FLAG_THROTTLED = 1 << 11,
	FLAG_KTHREAD = 1 << 12,
	FLAG_CUT = 1 << 13,
	FLAG_UNSEEN = 1 << 15,
};

enum vector_id {
	VECTOR_LOCAL_TIMER = 1,
	VECTOR_RESCHEDULE = 2,
	VECTOR_CALL_FUNCTION = 3,
	VECTOR_CALL_FUNCTION_SINGLE = 4,
	VECTOR_IRQ_WORK = 5,
	VECTOR_IPI = 6,
};

/* the bits of what a CPU counts, and the places in counts */
enum counter_id {
	COUNTER_CYCLES = 0,
	COUNTER_INSTRUCTIONS = 1,
	COUNTER_STALLED = 2, /* cycles in which the back end took nothing */
	COUNTERS = 3,
};

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
_Static_assert(sizeof(struct counters_event) == 64, "counters_event");
_Static_assert(sizeof(struct stack_event) == 800, "stack_event");

#endif
