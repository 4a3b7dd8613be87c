/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* For how long tasks that are not traced have had a CPU. */
#ifndef FOREIGN_H
#define FOREIGN_H

#include "maps.h"

/*
 * count_foreign adds up for how long others have had this CPU since a target
 * left it: they may have taken its caches.
 */
static __always_inline void count_foreign(struct cpu_state *c, __u64 now, _Bool was_target, _Bool was_idle)
{
	if (was_target)
		c->foreign = 0;
	else if (!was_idle && c->switched_at)
		c->foreign += now - c->switched_at;
	c->switched_at = now;
}

#endif
