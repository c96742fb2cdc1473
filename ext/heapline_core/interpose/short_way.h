/* SPDX-License-Identifier: MIT */
/*
 * What nearly all calls of malloc and free come to, over glibc, in as few instructions as it takes: HL_GATE_SHORT.
 *
 * Everything that is unusual (a thread without a lane, a new generation, a location that the lane's cache does not
 * have, a block with a mapping for itself, figures to publish …) is looked for first. Where there is something, nothing
 * was done yet, and interpose.c does it all in its general way: so the short way calls nothing that returns to it, and
 * keeps no registers for it.
 * Callable from any thread inside malloc.
 */
#ifndef HL_SHORT_WAY_H
#define HL_SHORT_WAY_H

#include "account/lane.h"
#include "account/location.h"
#include "allocator/real_malloc.h"
#include "state/block_map.h"
#include "state/guard.h"
#include "state/trailer.h"

/* Does the lane follow the clock (GCs, baselines, forks), as far as a word tells? Of one that is not GC.count it is
 * never the clock. */
HL_INLINE int hl_short_current(const struct hl_lane *lane) {
    return HL_LIKELY(hl_look64(hl_gc_counter) + hl_look64(&hl_epochs) == lane->clock);
}

/* The same, and has nothing been freed that the lane's cache rests on (K2), and is nothing asked for? All but the last
 * only grow, and a lane is brought up to where nothing is asked: so the sum alone tells. */
HL_INLINE int hl_short_settled(const struct hl_lane *lane) {
    const uint64_t moved = hl_look64(hl_gc_counter) + hl_look64(&hl_epochs) + hl_look64(&hl_location_forgets);
    return HL_LIKELY(moved + hl_look32(&hl_flight.header->request) == lane->up_to);
}

/* Nothing keeps a block with this word before it from being counted in this lane. */
HL_INLINE int hl_short_may(const struct hl_lane *lane, size_t word) {
    if (HL_UNLIKELY(!hl_short_current(lane))) return 0;
    return HL_LIKELY(!((word & HL_CHUNK_MAPPED) | hl_look32(&hl_flight.header->request)));
}

/* Count a block of `size` requested bytes at a place and mark it; 0: nothing was done. `word` stands before it, less
 * the bytes that are kept behind the trailer. */
HL_INLINE int hl_short_count(struct hl_lane *lane, char *block, size_t word, size_t size,
                             const struct hl_location_slot *slot) {
    const uint64_t site = slot->site;
    struct hl_count *count = slot->count;
    const size_t room = (word & ~(size_t)HL_CHUNK_FLAGS) - sizeof(size_t) - HL_TRAILER_SIZE, slack = room - size;
    struct hl_lane_record *record = lane->record;
    const int64_t live = record->live + (int64_t)size;
    if (HL_UNLIKELY(slack >= HL_SLACK_ESCAPE)) return 0;
    if (live > record->high) {
        if (HL_UNLIKELY(live > lane->publish_above)) return 0;
        record->high = live;
    }
    hl_add(&count->allocations, 1);
    hl_add(&count->bytes_allocated, size);
    hl_add((uint64_t *)&record->live, size); /* a signal's handler may have counted since */
    const uint64_t mark = site << HL_SITE_SHIFT | lane->birth_bits | slack << HL_SLACK_SHIFT;
    *(uint64_t *)(block + room) = mark | hl_trailer_check(mark, block);
    return 1;
}

/* The same at the nearest frame, where the lane's cache has it. `settled`: hl_short_settled, and no frame is ZJIT's.
 * *loading (NULL: of no interest) becomes what the cache has of the line where code is loaded, if that is all it has.
 * `tail`: so many bytes are kept behind the trailer. */
HL_INLINE int hl_short_birth(struct hl_lane *lane, char *block, size_t size, uint32_t tail, uintptr_t caller,
                             int settled, const struct hl_location_slot **loading) {
    const size_t word = ((const size_t *)block)[-1] - tail;
    const char *ec = hl_ruby_ec();
    struct hl_frame frame = {0, NULL};
    if (HL_UNLIKELY(settled ? (word & HL_CHUNK_MAPPED) != 0 : !hl_short_may(lane, word))) return 0;
    if (HL_LIKELY(ec)) {
        if (HL_UNLIKELY(settled ? ec != hl_thread.ec : !hl_ruby_is_proven(ec))) return 0;
        frame = hl_ruby_frame_of(ec, !settled && hl_ruby_zjit);
        if (HL_UNLIKELY(!frame.pc)) return 0;
    }
    const uint64_t key = hl_location_key(caller, hl_thread.tag);
    const struct hl_location_slot *slot = hl_location_slot(lane->locations, frame.pc, key);
    if (HL_UNLIKELY(slot->pc != frame.pc || slot->caller != key)) {
        const int is = loading && slot->pc == (frame.pc | HL_LOCATION_LOADING) && slot->caller == key;
        if (is && (settled || slot->epoch == hl_location_epoch(frame.pc))) *loading = slot;
        return 0;
    }
    if (!settled && slot->epoch != hl_location_epoch(frame.pc)) return 0;
    return hl_short_count(lane, block, word, size, slot);
}

/* What the lane's cache has where a JIT compiler asks, at a place further out, at one of loading, or in another fiber
 * than before; NULL: nothing. */
HL_INLINE const struct hl_location_slot *hl_short_further(struct hl_lane *lane, uintptr_t caller) {
    const uint64_t key = hl_location_key(caller, hl_thread.tag);
    const struct hl_location_slot *slot = hl_location_known_jit(lane->locations, key);
    return slot ? slot : hl_location_further(lane, hl_ruby_frame(&lane->ecs), key);
}

/* Erase the trailer of a block, and its mark where there is a tail, and count its end; 0: nothing was done. `further`:
 * also where the lane's counters of its site are not at their place. Nearly all that Ruby frees was born before the
 * present tick, since it is the sweep that frees it. */
HL_INLINE int hl_short_death(char *block, uint32_t tail, int further) {
    const size_t word = ((const size_t *)block)[-1] - tail;
    const size_t room = (word & ~(size_t)HL_CHUNK_FLAGS) - sizeof(size_t) - HL_TRAILER_SIZE;
    if (HL_UNLIKELY(word & HL_CHUNK_MAPPED)) return 0;
    uint64_t *place = (uint64_t *)(block + room);
    const uint64_t mark = *place;
    struct hl_lane *lane = hl_thread.lane;
    /* One of these bits is set where the trailer is not valid, or says that the block is watched. */
    if (HL_UNLIKELY((mark ^ hl_trailer_check(mark & ~HL_CHECK_MASK, block)) & (HL_CHECK_MASK | HL_WATCHED_BIT) ||
                    !lane))
        return 0;
    const size_t slack = mark >> HL_SLACK_SHIFT & 63;
    const uint32_t site = hl_trailer_site(mark);
    if (HL_UNLIKELY(site <= HL_SITE_QUIET || slack == HL_SLACK_ESCAPE || !hl_short_current(lane))) return 0;
    const size_t size = room - slack;
    struct hl_count *count = further ? hl_lane_find(&lane->counts, site) : hl_lane_find_at_place(&lane->counts, site);
    struct hl_lane_record *record = lane->record;
    if (HL_UNLIKELY(!count || record->live - (int64_t)size < lane->publish_below)) return 0;
    const uint32_t birth = hl_trailer_birth(mark), ticks = lane->birth - birth;
    if (HL_LIKELY(ticks)) {
        uint64_t age, ms;
        if (HL_UNLIKELY(ticks > lane->ticks_known || !hl_lane_recent_age(lane, birth, &age, &ms))) return 0;
        hl_lane_age(count, age, ms);
    }
    if (tail) hl_block_clear(block);
    *place = 0;
    hl_add(&count->frees, 1);
    hl_add(&count->bytes_freed, size);
    if (ticks <= 1) hl_add(&count->temporary, 1);
    hl_subtract((uint64_t *)&record->live, size);
    return 1;
}

#endif
