/* SPDX-License-Identifier: MIT */
/*
 * The room flight.
 *   owns: the flight file and the tables in it: pages, cells, strings, sites, tags, libraries
 *   invariant: whatever another process writes into the file, nothing beyond the mapping is reached (L4)
 *   uses: platform, allocator, state
 *
 * The flight file: the shared mapping in which all counts live, so that they outlive the process.
 *
 * Owns the file's life (create, copy at fork, remove) and hands out pages and strings in it. See flight_layout.h for
 * what lies where.
 *
 * L1  A page is backed before its number is handed out: a full file system or a limit is an error here, never a
 *     SIGBUS later.
 * L2  Pages and strings are never given back, but that a forked child has other counts in its parent's pages of counts;
 *     handing them out is lock-free.
 * L3  The mapping keeps its address across fork: pointers into it stay valid in the child.
 * L4  Others may write into the file or cut it. A number or reference that is read back from it reaches nothing beyond
 * the mapping, whatever it is; and a file that was cut is given up (hl_flight_detach), never a SIGBUS. Callable from
 * any thread with the guard entered; nothing here allocates through malloc.
 */
#ifndef HL_FLIGHT_H
#define HL_FLIGHT_H

#include "flight/flight_layout.h"
#include "flight/handed_out.h"
#include "flight/own_file.h"

/* Map a new flight file in `directory`. Without a usable directory the flight stays in memory; *problem then says why.
 * 0 or -errno. */
int hl_flight_create(const char *directory, const char **problem);

/* Give the file up: private memory of zeros lies in the place of the mapping. Callable from a signal handler; what is
 * written there goes nowhere. */
void hl_flight_detach(void);
/* From now on an access to what was cut off the file gives it up, and tells `lost`. */
void hl_flight_guard(void (*lost)(void));

#endif
