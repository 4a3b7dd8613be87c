//go:build ignore

/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the thread that runs this looks like by the type information that the
 * object was loaded with. Types of another kernel lead to other places, and
 * nothing fails there: the recorder compares with what it knows of itself.
 */

#define MAX_STACK_PADDING 16

struct self_facts {
	struct task_id by_types;
	__u32 leader;	/* of its process, by pid */
	__u32 threads;	/* of its process */
	__u32 on_cpu;	/* this one */
	__u32 has_regs;	/* they are on its kernel stack, behind some padding */
	__u64 stack_padding;
	/* What helpers say. */
	__u64 pid_tgid;
	__u64 now;	/* ns since boot */
	__u8 comm[TASK_COMM_LEN];
};

struct self_facts self;

static __always_inline _Bool has_regs_at(struct task_struct *p, __u32 padding, __u64 sp)
{
	struct pt_regs *regs = stack_regs(p, padding);

	return regs && BPF_CORE_READ(regs, sp) == sp;
}

/* A page fault that this thread has in user space. */
SEC("perf_event")
int look_at_self(struct bpf_perf_event_data *ctx)
{
	struct task_struct *p = (void *)bpf_get_current_task();
	__u64 sp = ctx->regs.sp;

	if (!REGS_IS_USER(&ctx->regs))
		return 0;
	fill_task(&self.by_types, p, 0);
	self.leader = READ_VIA(p, group_leader, pid);
	self.threads = READ_VIA(p, signal, live.counter);
	self.on_cpu = READ(p, on_cpu) && task_cpu(p) == bpf_get_smp_processor_id();
	self.stack_padding = has_regs_at(p, MAX_STACK_PADDING, sp) ? MAX_STACK_PADDING : 0;
	self.has_regs = has_regs_at(p, self.stack_padding, sp);
	self.pid_tgid = bpf_get_current_pid_tgid();
	self.now = bpf_ktime_get_boot_ns();
	bpf_get_current_comm(self.comm, sizeof(self.comm));
	return 0;
}
