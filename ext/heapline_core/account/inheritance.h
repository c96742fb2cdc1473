/* SPDX-License-Identifier: MIT */
/*
 * What a forked child has of its parent's counts.
 *
 * The parent copies nothing before a fork: a child that only executes another program has no use for it, and one that
 * soon ends hardly any. One that lives takes the counts over, at its first call where that costs little, else when it
 * has run for some time (hl_inheritance_is_due) or is asked for them, and brings those of all lanes together by site.
 * Meanwhile the parent goes on. So whoever changes a chunk of counters for the first time after a fork keeps it, as it
 * is, in memory that parent and child share, while the child has not taken over (struct hl_inheritance, one a fork).
 *
 * I1  A chunk is kept before it is changed: who reads a chunk and does not find it kept then, has read it as it was.
 * I2  Counts are as they were when fork returned in the parent, but for calls of other threads that were under way.
 *     Ruby's threads wait until then. So what the child frees was counted; where it was not, it is counted now.
 *     What was counted of sites that the child does not have is of after the fork, and left out.
 * I3  Nobody waits for anybody, and each side may end at any moment.
 * I4  The parent gives the memory back when the child has taken over, executes another program or is gone.
 * I5  For a child that no handler saw, beyond CHILDREN that have not taken over, and when one does not even begin to
 * run for PATIENCE_SECONDS, nothing is kept: such a child has the counts of when it took over, and says so in its
 *     parent's flight (`late_children`).
 */
#ifndef HL_INHERITANCE_H
#define HL_INHERITANCE_H

#include <stdint.h>

#include "flight/cells.h"
#include "flight/flight_layout.h"

/* In the parent before a fork, in the turn to fork; and after it, before anything else runs in this thread. */
void hl_inheritance_prepare(void);
void hl_inheritance_begin(void);

/* Give back what is no longer needed. Callable from any thread at any time, with the guard entered. */
void hl_inheritance_tend(void);

/* The lane's owner is about to change a chunk whose counts were brought up to the moment `before`. */
void hl_inheritance_keep(const struct hl_lane_chunk *chunk, uint32_t moment);

/* In the child: right after the fork; the header as it was then, or NULL where it is not known; and before it ends
 * without having taken over. */
void hl_inheritance_come_into(void);
const struct hl_flight_header *hl_inheritance_header(void);
void hl_inheritance_refuse(void);

/* In the child, once it has a flight of its own and rests on its parent's (hl_flight_begin_child): it is none of those
 * for which the parent's list of children is, and the baseline of what it inherited is the one in force. */
void hl_inheritance_rest(void);

/* May it go on so for a while? Not where there is little to take over, and not beyond so many that wait. And has it run
 * for long by now, by what taking over costs? */
int hl_inheritance_may_wait(void);
int hl_inheritance_is_due(void);

/* Write the counts of all lanes into the child's flight, as one lane's, while others count, and give back what the
 * process shares with its parent. `each_chunk` shows what the parent's lanes' owners knew of their chunks; NULL:
 * nothing is taken over, as the child counts anew. *record: where that lane's record lies once the flight is mapped. 0
 * or -errno. */
int hl_inheritance_take(void (*each_chunk)(void (*see)(const struct hl_lane_chunk *chunk)), hl_cell_ref *record);

#endif
