/* SPDX-License-Identifier: MIT */
/*
 * The pages of Ruby's object heap, each from its birth to its end: seen where the VM maps and unmaps them
 * (mapping_watch.h), so that neither an object nor a GC is slowed down for it.
 *
 * The VM takes a page as a mapping of twice its size, of which it gives back what lies before and behind the aligned
 * piece in the middle, and ends it as a whole: known by the VM as the caller, by that size, and by how it was asked
 * for. Which pages there are is private memory, so a forked child knows what it inherited; how long those lived that
 * ended is in the flight file.
 *
 * P1  One writer at a time: the VM maps and unmaps pages under its lock. Readers hold the GVL, or are a copy of the
 *     process. A table that was outgrown stays, for a reader who is still in it.
 * P2  An address keeps its entry when its page has ended: another page that comes to lie there tells for how long there
 *     was none.
 */
#ifndef HL_HEAP_PAGES_H
#define HL_HEAP_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "heapline_core.h"

/* From now on: before the VM maps the first one, with the guard entered. Does nothing where the size of this Ruby's
 * pages is not known. */
void hl_heap_pages_begin(void);

/* Called with the bytes of the pages after each change; NULL: nobody wants to know. */
extern void (*hl_heap_pages_changed)(uint64_t bytes);

/* The pages that there are into `pages`, at most `room`; returns how many there are. */
size_t hl_heap_pages_list(struct heapline_heap_page *pages, size_t room);

/* Bytes of the pages that there are; 0 where they are not known. */
uint64_t hl_heap_pages_bytes(void);

/* What is counted of ended pages begins anew. */
void hl_heap_pages_become_child(void);

#endif
