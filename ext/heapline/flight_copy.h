/* SPDX-License-Identifier: MIT */
/*
 * A flight file as it was at one instant, while its process goes on counting. As a running machine's memory is moved to
 * another one: all pages are read, then those that changed meanwhile, again and again; each time there are fewer, and
 * a pass over the last of them takes microseconds. That pass is the instant.
 *
 * W1  A file that stands still is read twice, one that says that its process has ended once.
 * W2  In a pass pages are read in ascending order, the header first and once more at the end: if a baseline or a fold
 *     of objects came between, or the pass was interrupted for long, there is another one.
 * W3  All pages that the copy refers to lie in it. Those that could not be read any more are zeros.
 * W4  What still moved is bounded: `moving` has another reading of each page that was not the same in the last two
 *     passes, or changed unseen before the last one. The counts of the instant lie between the two readings.
 * All is bounded: passes, rounds and memory. Any thread, with or without the GVL.
 */
#ifndef HL_FLIGHT_COPY_H
#define HL_FLIGHT_COPY_H

#include "flight_reader.h"

/* Copy the file as of one instant, where the process runs or `live` says so; else as it lies there. 0 or -errno with
 * the problem. */
int hl_flight_copy(int fd, int live, struct hl_flight_copy *copy, struct hl_problem *problem);
/* What is known of a page. */
enum hl_page_mark {
    HL_PAGE_COLD,
    HL_PAGE_HOT,
    HL_PAGE_LATE, /* it changed before the last look, or during it */
    HL_PAGE_LEFT  /* it is no part of the copy */
};

/* Bring a copy whose pages were read one after the other to one instant: by page *marks, which pages are expected to
 * have changed since (HOT) and which not (COLD), and are left out; the array grows with the file. */
int hl_flight_settle(int fd, struct hl_flight_copy *copy, unsigned char **marks, struct hl_problem *problem);
void hl_flight_copy_release(struct hl_flight_copy *copy);

#endif
