/* SPDX-License-Identifier: MIT */
/*
 * The room leaks.
 *   owns: the search for lost blocks: copies of the process, the graph of blocks, its roots, the report
 *   invariant: the program waits until the copy is made and no longer; in the copy nothing of it runs
 *   uses: platform, allocator, state, flight, vm, account
 *
 * Lost blocks: HEAPLINE=blocks knows every live block; a copy of the process (quiet_child.h) looks from where the
 * program's references begin (leak_roots.h) which of them can still be reached (block_graph.h), and writes what it
 * found (leak_report.h). The program waits only until the copy is made.
 *
 * With the GVL outside GC, or where no VM runs.
 */
#ifndef HL_LEAK_SCAN_H
#define HL_LEAK_SCAN_H

#include <stdint.h>

#include "leaks/leak_report.h"
#include "leaks/quiet_child.h"

struct hl_leak_scan {
    struct hl_quiet_child child;
    struct hl_leak_wish wish;
    struct hl_leak_figures figures;
    int fd;                      /* the report goes there */
    const char *partial, *final; /* the report's file gets this name when it is complete; NULL: it has none */
    struct hl_object_page *pages;
    size_t page_count, page_room;
};

/* A full GC, so that what only garbage leads to is freed or found; the nanoseconds that it took, 0 without a VM.
 * Without the guard: free functions and finalizers run. */
uint64_t hl_leak_scan_collect(void);

/* With the guard entered: begin a scan; `fd` and `wish` are set by the caller. 0, -ENODATA where blocks are not kept,
 * or -errno. */
int hl_leak_scan_start(struct hl_leak_scan *scan);

/* In a forked child, of a search that its parent has begun: give its memory back. */
void hl_leak_scan_forget(struct hl_leak_scan *scan);

/* Wait for its end: 0 or -errno. Then the report is complete. */
int hl_leak_scan_wait(struct hl_leak_scan *scan);

#endif
