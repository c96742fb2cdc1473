/* SPDX-License-Identifier: MIT */
/*
 * Lost blocks: HEAPLINE=blocks knows every live block; a copy of the process (quiet_child.h) looks from where the
 * program's references begin (leak_roots.h) which of them can still be reached (block_graph.h), and writes what it
 * found (leak_report.h). The program waits only until the copy is made.
 *
 * With the GVL outside GC, or where no VM runs.
 */
#ifndef HL_LEAK_SCAN_H
#define HL_LEAK_SCAN_H

#include <stdint.h>

#include "leak_report.h"
#include "quiet_child.h"

struct hl_leak_scan {
    struct hl_quiet_child child;
    struct hl_leak_wish wish;
    struct hl_leak_figures figures;
    int fd; /* the report goes there */
    struct hl_object_page *pages;
    size_t page_count, page_room;
};

/* A full GC, so that what only garbage leads to is freed or found; the nanoseconds that it took. Without the guard:
 * free functions and finalizers run. */
uint64_t hl_leak_scan_collect(void);

/* With the guard entered: begin a scan; `fd` and `wish` are set by the caller. 0, -ENODATA where blocks are not kept,
 * or -errno. */
int hl_leak_scan_start(struct hl_leak_scan *scan);

/* Wait for its end: 0 or -errno. Then the report is complete. */
int hl_leak_scan_wait(struct hl_leak_scan *scan);

#endif
