/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The parts of the kernel's types that these programs read, and nothing else.
 * CO-RE moves every field to where the running kernel has it, so order and
 * padding here mean nothing. What was renamed over time is in fixes.h.
 */
#ifndef KERNEL_H
#define KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

/* include/uapi/linux/bpf.h */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_RB_NO_WAKEUP = 1,
	BPF_F_USER_STACK = 1 << 8,
	BPF_F_MMAPABLE = 1 << 10,
	BPF_F_CURRENT_CPU = 0xffffffff,
};

struct bpf_perf_event_value {
	__u64 counter;
	__u64 enabled;
	__u64 running;
};

/* include/linux/sched.h */
#define TASK_COMM_LEN 16
#define TASK_DEAD 0x80
#define PF_IO_WORKER 0x00000010
#define PF_KTHREAD 0x00200000

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_info {
	unsigned long flags;
	__u32 status; /* x86 */
};

struct rq {
	__u64 clock;
};

struct cfs_rq {
	int throttle_count;
	struct rq *rq;
};

struct sched_entity {
	__u64 sum_exec_runtime;
	unsigned char sched_delayed;
	struct cfs_rq *cfs_rq;
};

struct files_struct;

struct mm_struct;

struct vm_struct {
	unsigned int nr_pages;
};

struct signal_struct {
	struct {
		int counter;
	} live;
};

struct task_struct {
	struct thread_info thread_info;
	void *stack;
	unsigned int flags;
	unsigned char on_cpu; /* and on_rq: int before 7.0; the low byte is enough, and comes first */
	unsigned char on_rq;
	struct sched_entity se;
	unsigned long nvcsw;
	unsigned long nivcsw;
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct mm_struct *mm;
	struct files_struct *files;
	struct signal_struct *signal;
	struct vm_struct *stack_vm_area;
	__u64 start_boottime;
	char comm[TASK_COMM_LEN];
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#endif
