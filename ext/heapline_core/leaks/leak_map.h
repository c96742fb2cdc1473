/* SPDX-License-Identifier: MIT */
/*
 * What lies where in a copy of the process: its mappings, Ruby's object pages, the dynamic linker. Filled in by who
 * searches (leak_scan.c, leak_roots.c), read by all.
 */
#ifndef HL_LEAK_MAP_H
#define HL_LEAK_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "leaks/block_graph.h"
#include "leaks/leak_fibers.h"
#include "leaks/quiet_child.h"
#include "platform/memory_maps.h"
#include "state/block_map.h"

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
    struct hl_object_page *pages; /* ascending, once they are scanned */
    size_t page_count, page_room;
    struct hl_range *reserve; /* leak_reserve.h */
    size_t reserve_count;
    struct hl_fibers fibers;
    struct hl_range linker;     /* the dynamic linker's code */
    struct hl_windows *windows; /* leak_allocator.h */
    size_t window_count;
};

/* The one that `address` lies in, or NULL. */
const struct hl_mapping *hl_roots_mapping(const struct hl_roots *roots, uintptr_t address);
const struct hl_object_page *hl_roots_page(const struct hl_roots *roots, uintptr_t address); /* once they are scanned */

/* Did the dynamic linker ask for this block? */
int hl_roots_linkers(const struct hl_roots *roots, const struct hl_graph *graph, uint32_t number);

#endif
