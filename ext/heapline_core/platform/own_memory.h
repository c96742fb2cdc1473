/* SPDX-License-Identifier: MIT */
/*
 * heapline's private memory: zeroed, from the kernel, touched only where used.
 *
 * No swap is reserved for it and core dumps leave it out. Both together are the mark by which a reader of
 * /proc/PID/smaps knows it, and the flight file, from all that is the program's. Within the process a list tells: what
 * lies there is no reference of the program's. Callable from any thread inside malloc.
 */
#ifndef HL_OWN_MEMORY_H
#define HL_OWN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "platform/platform.h"

struct hl_own_range {
    uintptr_t begin, end;
};

/* The address space that heapline may take for the flight and its tables together, in bytes: where the process's is
 * limited (RLIMIT_AS), a 64th of that, or 4 MB where that is more. SIZE_MAX: it is not limited. */
size_t hl_own_memory_share(void);

/* NULL where the kernel gives none. */
void *hl_own_memory(size_t size);
void hl_own_memory_return(void *memory, size_t size);

/* A piece of less than a page, or more: zeroed, on cache lines of its own, never given back. NULL where there is none.
 */
void *hl_own_piece(size_t size);
/* In a child, before it asks for a piece: from here on they are cut from memory that no other thread of the parent's
 * can have been cutting from, and writing into, while the fork copied page after page. */
void hl_own_pieces_become_child(void);
/* The same for what a forked child has no use for: it finds zeros there, and may get it again. A fork copies neither
 * its pages nor their tables. */
void *hl_own_passing_piece(size_t size);
/* The whole pages in a piece are zeros again, and take no memory. */
void hl_own_piece_wipe(void *piece, size_t size);

/* Make the pages at once that lie whole in there, where the kernel can (from 5.14 on): one by one each costs a fault.
 * Of what will nearly all be used soon, private or shared. */
void hl_populate(const void *memory, size_t size);

/* The same for memory that is filled from its beginning on, of which these bytes are taken now: who is the first to
 * reach a stretch of HL_POPULATED_BYTES has it made, up to the memory's `end`. */
enum { HL_POPULATED_BYTES = 1 << 15 };
HL_INLINE void hl_populate_ahead(const void *memory, size_t end, size_t at, size_t bytes) {
    const size_t behind = (at + bytes) % HL_POPULATED_BYTES, stretch = at + bytes - behind;
    if (HL_LIKELY(behind == 0 || behind > bytes)) return;
    hl_populate((const char *)memory + stretch,
                end - stretch < HL_POPULATED_BYTES ? end - stretch : HL_POPULATED_BYTES);
}

/* The ranges in use, in no order; an empty one was given back. Returns their number. Beyond the list's length nothing
 * is noted. */
size_t hl_own_ranges(const struct hl_own_range **ranges);

#endif
