/* SPDX-License-Identifier: MIT */
/*
 * Pages of Ruby's object heap that the VM does not list: empty ones, which it keeps for later. What their objects left
 * in them still stands there, and is no reference (R2 of leak_roots.h).
 *
 * Such a page is one that the VM mapped as a page (heap_pages.h), does not list, and says itself that it is empty: it
 * begins with the address of its description, and that has no slots and leads back to the page. Where a description
 * says how it is laid out is learned from the pages that are listed, and all of them have to say the same. Until Ruby
 * 3.3 an empty page keeps its slots, among which may be objects that still wait for being freed: it is searched slot
 * by slot as those that are listed. Whatever else a page says, all of it is searched.
 */
#ifndef HL_LEAK_RESERVE_H
#define HL_LEAK_RESERVE_H

#include "leaks/leak_map.h"

/* Once the listed pages are ascending: into roots->reserve what is no reference of empty pages; those with slots behind
 * roots->pages. 0 or -ENOMEM. */
int hl_reserve_find(struct hl_roots *roots);

#endif
