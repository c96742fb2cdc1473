/* SPDX-License-Identifier: MIT */
/*
 * A forked child's flight: at first a few pages of its own upon its parent's, later all. See lifecycle/forked_child.h,
 * which calls this, for when.
 */
#ifndef HL_CHILD_FLIGHT_H
#define HL_CHILD_FLIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "flight/flight_layout.h"

/*
 * In a forked child, in which the parent's flight is mapped still and the parent goes on: make a file for it, or memory
 * where there can be none, and put of it in place what the child will change: the header, directories, the last pages
 * of records and names, and all pages that are not handed out yet. The others stay the parent's: it *rests* on its
 * parent's flight until it takes over.
 * `then`: the header as it was at the fork, or NULL. sites: records from this one on may not be complete. The file
 * vanishes where the child executes another program. 0 or -errno; then nothing can be counted any more.
 */
int hl_flight_begin_child(const struct hl_flight_header *then, uint32_t sites, int may_have_file);
int hl_flight_rests(void);
/* May this process write the site's record? */
int hl_flight_may_change(uint32_t site);

/* To take over, while other threads count: bring what is the parent's still, but counts, which the caller brings
 * (hl_flight_write_child, to pages of hl_flight_child_page: ascending, 0 where there is none); then put it in place.
 * 0 or -errno: then the others are the parent's still. */
int hl_flight_bring(void);
int hl_flight_write_child(uint64_t place, const void *bytes, size_t size);
uint32_t hl_flight_child_page(void);
int hl_flight_become_child(void);

/* In a record that was brought: is this string one that the parent made after the fork? Its bytes, as far as they fit
 * into `size`, and their number; 0 where they are not known. At the end leave the parent's file. */
int hl_flight_is_of_parent(hl_string_ref reference);
size_t hl_flight_parents_text(hl_string_ref reference, char *bytes, size_t size);
void hl_flight_leave_parent(void);
/* Before that: count in the parent's header that this process has its counts of now (inheritance.h, I5). */
void hl_flight_tell_parent_of_late_child(void);

#endif
