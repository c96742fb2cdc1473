/* SPDX-License-Identifier: MIT */
/*
 * After a late start: blocks that were there before, which lead to younger ones and about which nothing else is known.
 *
 * O1  A chunk of glibc's that is in use and is no block of ours is one, and is scanned. Free chunks are not, nor are
 *     those in the lists that glibc keeps for threads and small sizes, which look in use.
 * O2  Where chunks or lists cannot be told, more is scanned: a lost block may be missed, none is called lost that is
 *     not.
 * In a copy of the process, without malloc. Over glibc alone, 2.27 and later.
 */
#ifndef HL_LEAK_OLDER_H
#define HL_LEAK_OLDER_H

#include "leaks/leak_map.h"

/* The marks of blocks are no longer right afterwards. */
void hl_older_scan(struct hl_graph *graph, const struct hl_roots *roots);

#endif
