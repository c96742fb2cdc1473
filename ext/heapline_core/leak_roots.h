/* SPDX-License-Identifier: MIT */
/*
 * Where the program's references begin: in a copy of the process (quiet_child.h) all that it holds besides malloc.
 *
 * R1  Of the allocator's memory only the bytes of live blocks count, and only once something leads to them: free chunks
 *     and the allocator's lists are no references.
 * R2  Of Ruby's object pages only the slots that hold an object count.
 * R3  Of a stack what lies above the stack pointer counts, where that is known; the stack that glibc keeps of a thread
 *     that has ended does not count.
 * R4  heapline's own memory does not count.
 */
#ifndef HL_LEAK_ROOTS_H
#define HL_LEAK_ROOTS_H

#include <stddef.h>
#include <stdint.h>

#include "block_graph.h"
#include "block_map.h"
#include "memory_maps.h"
#include "quiet_child.h"

/* Pages of Ruby's objects, and the size of a slot in each. */
struct hl_object_page {
    uintptr_t begin, end;
    size_t slot;
};

/* Which pages of a region's marks were ever written. */
struct hl_windows {
    uintptr_t region;
    unsigned char written[HL_REGION_BYTES / 4096];
};

struct hl_roots {
    const struct hl_quiet_child *child;
    struct hl_mapping *mappings;
    size_t mapping_count;
    const struct hl_object_page *pages;
    size_t page_count;
    struct hl_windows *windows; /* leak_allocator.h */
    size_t window_count;
};

/* Scan all of them; the graph is spread afterwards. 0 or -errno. */
int hl_roots_scan(struct hl_graph *graph, const struct hl_roots *roots);

#endif
