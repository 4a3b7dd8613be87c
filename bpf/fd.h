/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What kind of file a descriptor stands for. */
#ifndef FD_H
#define FD_H

#include "kernel.h"

#define S_IFMT_SHIFT 12

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct inode {
	__u16 i_mode;
};

struct file {
	struct inode *f_inode;
};

struct fdtable {
	__u32 max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

#pragma clang attribute pop

/*
 * fd_type returns the file type (st_mode >> 12) behind what p has as a
 * descriptor of this number, or 0. Whether the number is one at all, the
 * system call tells. The table may change under the reads: they cannot fault,
 * and the descriptor of a call under way keeps its file.
 */
static __always_inline __u32 fd_type(struct task_struct *p, __u64 fd)
{
	struct fdtable *table = BPF_CORE_READ(p, files, fdt);
	struct file **files, *file = 0;

	if (fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	files = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	return file ? BPF_CORE_READ(file, f_inode, i_mode) >> S_IFMT_SHIFT : 0;
}

#endif
