/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The owner of the lock that a thread blocks on in a futex call. */
#ifndef FUTEX_H
#define FUTEX_H

#include "kernel.h"

/* include/uapi/linux/futex.h */
#define FUTEX_WAIT 0
#define FUTEX_LOCK_PI 6
#define FUTEX_WAIT_BITSET 9
#define FUTEX_LOCK_PI2 13
#define FUTEX_CMD_MASK 0x7f
#define FUTEX_TID_MASK 0x3fffffff

/* the start of pthread_mutex_t in glibc on 64-bit machines */
struct glibc_mutex {
	__u32 lock;
	__u32 count;
	__u32 owner;
};

#define GLIBC_LOCK_CONTENDED 2

/*
 * mutex_owner returns the thread id, in the pid namespace of current, that
 * the futex word or a glibc mutex around it names; 0 where it names none.
 * What looks like a mutex may be anything: user space decides whether the
 * number is a thread of the same process. Only for current, whose memory is
 * read without faults.
 */
static __always_inline __u32 mutex_owner(__u64 addr, __u64 op)
{
	struct glibc_mutex m;

	op &= FUTEX_CMD_MASK;
	if (bpf_probe_read_user(&m, sizeof(m), (void *)addr))
		return 0;
	if (op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2)
		return m.lock & FUTEX_TID_MASK;
	if ((op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET) && m.lock == GLIBC_LOCK_CONTENDED)
		return m.owner;
	return 0;
}

#endif
