/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The same sources make two objects. One is for kernels with type information
 * (BTF): tp_btf programs, which load the fields of a task directly. The other,
 * with RAW_TP defined, is for kernels without: raw_tp programs, for which a
 * task is a number and each field is read by a helper.
 */
#ifndef FLAVOUR_H
#define FLAVOUR_H

#include "kernel.h"

/*
 * TRACEPOINT is the section of a program. READ reads a field of what a program
 * was given, READ_VIA one behind a pointer in it, READ_VIA2 behind two.
 */
#ifdef RAW_TP
#define TRACEPOINT(name) SEC("raw_tp/" name)
#define READ(p, field) BPF_CORE_READ(p, field)
#define READ_VIA(p, pointer, field) BPF_CORE_READ(p, pointer, field)
#define READ_VIA2(p, pointer, second, field) BPF_CORE_READ(p, pointer, second, field)
#else
#define TRACEPOINT(name) SEC("tp_btf/" name)
#define READ(p, field) ((p)->field)
#define READ_VIA(p, pointer, field) ((p)->pointer->field)
#define READ_VIA2(p, pointer, second, field) ((p)->pointer->second->field)
#endif

static __always_inline void read_comm(__u8 *to, struct task_struct *p)
{
#ifdef RAW_TP
	bpf_core_read(to, TASK_COMM_LEN, &p->comm);
#else
	((__u64 *)to)[0] = ((const __u64 *)p->comm)[0];
	((__u64 *)to)[1] = ((const __u64 *)p->comm)[1];
#endif
}

#endif
