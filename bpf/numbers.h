/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The numbers in the records of the ring buffers, which are those of the file format. */
#ifndef NUMBERS_H
#define NUMBERS_H

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

#endif
