/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Registers, which differ by architecture: what a task does in user space
 * and which system call it is in. The perf_event context has the fixed user
 * layout; what the kernel saves on entry has its own, which CO-RE resolves.
 */
#ifndef REGS_H
#define REGS_H

#include "flavour.h"

#define NO_SYSCALL (-1)
#define UNKNOWN_SYSCALL (-2)

/* have_task_pt_regs: the kernel has bpf_task_pt_regs (5.15). */
volatile const __u8 have_task_pt_regs;
/* page_bytes: the size of a page, where the registers are found on the kernel stack instead; or 0. */
volatile const __u32 page_bytes;
/* stack_padding: bytes between them and the end of the stack; on x86 16 where FRED is built in (6.9). */
volatile const __u32 stack_padding;

/* REG reads a register through what user_regs_of returned. */
#define REG(r, name) (have_task_pt_regs ? (r)->name : BPF_CORE_READ(r, name))

#if defined(__TARGET_ARCH_x86)

#define TS_COMPAT 0x0002
#define SYS_FUTEX 202

struct user_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

struct pt_regs {
	unsigned long ip, sp, di, si, dx, orig_ax;
} __attribute__((preserve_access_index));

#define REGS_ARG0(r) REG(r, di)
#define REGS_ARG1(r) REG(r, si)
#define REGS_ARG2(r) REG(r, dx)
#define REGS_IP(r) REG(r, ip)
#define REGS_SYSCALL(r) ((__s32)REG(r, orig_ax))
#define REGS_IS_USER(r) (((r)->cs & 3) != 0)
/* a 32-bit system call, whose number means another call */
#define TASK_IS_COMPAT(p) ((READ(p, thread_info.status) & TS_COMPAT) != 0)

#elif defined(__TARGET_ARCH_arm64)

#define TIF_32BIT 22
#define SYS_FUTEX 98

struct user_regs {
	__u64 regs[31], sp, pc, pstate;
};

struct pt_regs {
	__u64 regs[31], sp, pc;
	__u64 orig_x0;
	__s32 syscallno;
} __attribute__((preserve_access_index));

#define REGS_ARG0(r) REG(r, orig_x0)
#define REGS_ARG1(r) REG(r, regs[1])
#define REGS_ARG2(r) REG(r, regs[2])
#define REGS_IP(r) REG(r, pc)
#define REGS_SYSCALL(r) REG(r, syscallno)
#define REGS_IS_USER(r) (((r)->pstate & 0xf) == 0)
#define TASK_IS_COMPAT(p) ((READ(p, thread_info.flags) & (1UL << TIF_32BIT)) != 0)

#else
#error "add this architecture's registers"
#endif

/* The context of a perf_event program (include/uapi/linux/bpf_perf_event.h). */
struct bpf_perf_event_data {
	struct user_regs regs;
	__u64 sample_period;
	__u64 addr;
};

/*
 * stack_regs returns where the entry code saved p's registers: at the end of
 * its kernel stack, whose size its mapping tells, but for some padding.
 */
static __always_inline struct pt_regs *stack_regs(struct task_struct *p, __u32 padding)
{
	__u64 bytes;

	if (!page_bytes || !bpf_core_field_exists(p->stack_vm_area))
		return 0;
	bytes = (__u64)BPF_CORE_READ(p, stack_vm_area, nr_pages) * page_bytes;
	if (!bytes)
		return 0;
	return BPF_CORE_READ(p, stack) + bytes - padding - bpf_core_type_size(struct pt_regs);
}

/* user_regs_of returns p's registers of user space, for REG; NULL where it has none or they are not to be found. */
static __always_inline struct pt_regs *user_regs_of(struct task_struct *p)
{
	const __u32 no_user = PF_KTHREAD | PF_IO_WORKER;

	if (have_task_pt_regs)
		return p->flags & no_user ? 0 : (struct pt_regs *)bpf_task_pt_regs(p);
	return BPF_CORE_READ(p, flags) & no_user ? 0 : stack_regs(p, stack_padding);
}

/* user_regs_of_current is user_regs_of where there is no task to be had but current's address. */
static __always_inline struct pt_regs *user_regs_of_current(void)
{
	if (have_task_pt_regs)
		return user_regs_of(bpf_get_current_task_btf());
	return user_regs_of((struct task_struct *)bpf_get_current_task());
}

/*
 * A number that stays the same while the task is inside one fault or system
 * call, and differs, as good as always, once it has been back to user space.
 */
static __always_inline __u64 user_signature(struct pt_regs *r)
{
	const __u64 odd = 0x9e3779b97f4a7c15ULL;
	__u64 h = REGS_IP(r);

	h = h * odd ^ REG(r, sp);
	h = h * odd ^ REGS_ARG0(r);
	h = h * odd ^ REGS_ARG1(r);
	h = h * odd ^ REGS_ARG2(r);
	return h | 1; /* never 0, which stands for unknown */
}

#endif
