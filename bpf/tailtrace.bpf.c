//go:build ignore

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* All kernel programs, in one object so that they share their maps. */

#include "kernel.h"
#include "fixes.h"
#include "regs.h"
#include "events.h"
#include "maps.h"
#include "emit.h"
#include "counters.h"
#include "track.h"
#include "stack.h"
#include "futex.h"
#include "fd.h"
#include "foreign.h"

#include "sched.bpf.c"
#include "wake.bpf.c"
#include "life.bpf.c"
#include "fault.bpf.c"
#include "irq.bpf.c"
#include "vector.bpf.c"
#include "point.bpf.c"
#ifdef RAW_TP
#include "self.bpf.c"
#endif

/* Types that only become known to Go by being pointed at. */
enum event_kind *unused_kind __attribute__((unused));
enum event_flag *unused_flag __attribute__((unused));
enum counter_id *unused_counter __attribute__((unused));
enum vector_id *unused_vector __attribute__((unused));
struct event_head *unused_head __attribute__((unused));
struct task_id *unused_task __attribute__((unused));
struct switch_event *unused_switch __attribute__((unused));
struct wake_event *unused_wake __attribute__((unused));
struct life_event *unused_life __attribute__((unused));
struct span_event *unused_span __attribute__((unused));
struct point_event *unused_point __attribute__((unused));
struct counters_event *unused_counters __attribute__((unused));
struct stack_event *unused_stack __attribute__((unused));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
