/* SPDX-License-Identifier: MIT */
/*
 * Blocks that are older than the accounting (a late start) and that locations rest on: compiled code, execution
 * contexts, threads of the VM's. They have no trailer that could be watched (trailer.h), so their addresses are kept
 * here, and a free that finds no trailer looks whether it is one of them.
 *
 * What lies at the end of a block that we did not mark is the program's, and one of 2^17 passes the check. So a trailer
 * is believed only where it is possible, too: the general ways ask for that, and the short way (short_way.h) counts
 * only what its lane has counted before, born a short time ago.
 *
 * A hash of buckets of one cache line. Nothing is ever moved: a block whose bucket is full is not watched, and then
 * nothing that rests on it is kept in a cache.
 * Callable from any thread inside malloc; takes no lock.
 */
#ifndef HL_ELDERS_H
#define HL_ELDERS_H

#include <stddef.h>
#include <stdint.h>

#include "flight/flight.h"
#include "platform/platform.h"
#include "state/birth_clock.h"
#include "state/guard.h"
#include "state/trailer.h"

/* Room for them; 0 or -ENOMEM. Once more: forget all. */
int hl_elders_begin(void);

/* Trailers of births before this one are of an earlier start. */
extern uint32_t hl_elders_until HL_HIDDEN;

/* Can there be such a trailer: its site is there, and its birth is neither of before nor to come? */
HL_INLINE int hl_trailer_is_possible(uint32_t site, uint32_t birth) {
    return HL_LIKELY(site < hl_load32(&hl_flight.header->site_count) && birth >= hl_elders_until &&
                     birth <= hl_birth_newest());
}

/* hl_trailer_read and hl_trailer_watch, where it is possible. */
HL_INLINE int hl_trailer_take(const void *block, size_t usable, struct hl_trailer *trailer) {
    return hl_trailer_read(block, usable, trailer) && hl_trailer_is_possible(trailer->site, trailer->birth);
}
int hl_block_watch(void *block, size_t usable);

/* Watch a living block that has no trailer; 0: there is no room. */
int hl_elder_watch(const void *block);
int hl_elder_is_watched(const void *block);
/* The block is about to go: 1 where it was watched. */
int hl_elder_goes(const void *block);

#endif
