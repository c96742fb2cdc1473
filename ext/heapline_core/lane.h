/* SPDX-License-Identifier: MIT */
/*
 * Lanes: one thread's counters. **Here a malloc and a free are counted** (hl_lane_birth, hl_lane_death).
 *
 * A lane's figures lie in the flight file; its private part (this struct) holds pointers to them and the caches that
 * only its owner reads. A thread takes a free lane, or a dead thread's, and adds to the figures that are there.
 *
 * C1  A lane has one writer, its owner. The shared lane is written under hl_lane_shared_lock.
 * C2  What `generation` and `baseline` say holds for all that the lane counted since: a block counted before a baseline
 *     carries a birth before the baseline's generation, one counted after it does not.
 * Callable from any thread inside malloc; hl_lane_acquire and the cold functions with the guard entered.
 */
#ifndef HL_LANE_H
#define HL_LANE_H

#include <stddef.h>
#include <stdint.h>

#include "flight.h"
#include "flight_layout.h"
#include "guard.h"
#include "location_cache.h"
#include "platform.h"
#include "real_malloc.h"
#include "trailer.h"

enum { HL_COUNT_PAGES = HL_SITES_MAX / HL_SITES_PER_PAGE, HL_PUBLISH_BYTES = 65536 };

struct hl_lane {
    uint64_t generation; /* as last seen by this lane */
    struct hl_lane_record *record;
    struct hl_recording *recording;       /* recorder.h; NULL: nothing was recorded yet */
    struct hl_ruby_walk *ruby_stack;      /* ruby_stack.h; NULL: none was looked at yet */
    int64_t publish_above, publish_below; /* `live` beyond these is published */
    uint32_t index;
    uint32_t ec_next;
    struct hl_ec_slot ecs[HL_EC_SLOTS];
    struct hl_location_slot locations[HL_LOCATION_SLOTS];
    struct hl_count *counts[HL_COUNT_PAGES]; /* the record's directory as addresses; NULL: not there yet */
};

/* The count of generations: GC.count (0 without a VM) plus the number of baselines. */
extern uint64_t (*hl_gc_count)(void) HL_HIDDEN;
/* The word that hl_gc_count returns, where it is known; else NULL. */
extern const size_t *hl_gc_counter HL_HIDDEN;
HL_INLINE uint64_t hl_generation(void) {
    const size_t *counter = hl_gc_counter;
    const uint64_t gc_count = HL_LIKELY(counter != NULL) ? __atomic_load_n(counter, __ATOMIC_RELAXED) : hl_gc_count();
    return gc_count + hl_load64(&hl_flight.header->baseline);
}

/* The record of one lane in the flight. */
HL_INLINE struct hl_lane_record *hl_lane_record(uint32_t index) {
    return (struct hl_lane_record *)hl_flight_page(HL_LANE_TABLE_PAGE) + index;
}

/* Take a lane for this thread, or NULL where all are owned by living threads. */
struct hl_lane *hl_lane_acquire(void);
void hl_lane_release(struct hl_lane *lane);

/* The lane for threads that cannot own one; the caller counts between lock and unlock. */
struct hl_lane *hl_lane_shared_lock(void);
void hl_lane_shared_unlock(void);

/* Before fork, after the flight was copied: other threads went on counting meanwhile. Bring the copy's allocations up
 * to now, so that it has none of a block's frees without its allocation. */
void hl_lane_complete_copy(void);

/* After fork: only the calling thread lives on. */
void hl_lane_after_fork_child(struct hl_lane *own);

/* The generation changed, or a baseline was set or asked for: bring the lane up to it. */
void hl_lane_turn(struct hl_lane *lane, uint64_t generation);

/* Add the lane's live bytes to the process's, and note the peak. */
void hl_lane_publish(struct hl_lane *lane);

/* The most that was live at a time since the last call, and in *live what is live now; the next time begins here.
 * own: the lane of the calling thread, or NULL. Of each other thread up to HL_PUBLISH_BYTES may be missing. */
int64_t hl_lane_restart_peak(struct hl_lane *own, int64_t *live);

/* The counters of `site` where the lane has no page for them yet; NULL where there is no room. */
struct hl_count *hl_lane_count_slow(struct hl_lane *lane, uint32_t site);

/* Milliseconds between two generations. */
uint32_t hl_lane_elapsed_ms(uint64_t from, uint64_t to);

/* Count the free of a block that was born before the lane's baseline. */
void hl_lane_count_old(struct hl_lane *lane, uint32_t site, size_t size);

/* Begin a new baseline; its number. */
uint64_t hl_lane_baseline(uint32_t kind);

/* Sums over all lanes and sites but the quiet ones. */
void hl_lane_totals(uint64_t *bytes_allocated, uint64_t *bytes_freed);

/* A block came with a mapping of so many bytes for itself, or (the negative of it) went. */
HL_INLINE void hl_lane_count_mapped(size_t bytes) {
    if (bytes) __atomic_fetch_add(&hl_flight.header->mapped_bytes, (int64_t)bytes, __ATOMIC_RELAXED);
}

HL_INLINE struct hl_count *hl_lane_count(struct hl_lane *lane, uint32_t site) {
    struct hl_count *page = lane->counts[site / HL_SITES_PER_PAGE];
    if (HL_UNLIKELY(!page)) return hl_lane_count_slow(lane, site);
    return page + site % HL_SITES_PER_PAGE;
}

HL_INLINE void hl_lane_follow(struct hl_lane *lane) {
    const uint64_t generation = hl_generation();
    if (HL_UNLIKELY(generation != lane->generation)) hl_lane_turn(lane, generation);
}

/* Where something is allocated, also look whether another process asks for something. */
HL_INLINE void hl_lane_follow_and_answer(struct hl_lane *lane) {
    const uint64_t generation = hl_generation();
    if (HL_UNLIKELY(generation != lane->generation || hl_load32(&hl_flight.header->request)))
        hl_lane_turn(lane, generation);
}

HL_INLINE void hl_lane_grow(struct hl_lane *lane, size_t size) {
    struct hl_lane_record *record = lane->record;
    const int64_t live = record->live += (int64_t)size;
    if (live > record->high) record->high = live;
    if (HL_UNLIKELY(live > lane->publish_above)) hl_lane_publish(lane);
}

HL_INLINE void hl_lane_shrink(struct hl_lane *lane, size_t size) {
    const int64_t live = lane->record->live -= (int64_t)size;
    if (HL_UNLIKELY(live < lane->publish_below)) hl_lane_publish(lane);
}

/* A site and the lane's counters of it. */
struct hl_place {
    uint32_t site;
    struct hl_count *count;
};

/* The site, or (other) where the lane has no room for its counters. */
HL_INLINE struct hl_place hl_lane_place(struct hl_lane *lane, uint32_t site) {
    struct hl_count *count = hl_lane_count(lane, site);
    if (HL_LIKELY(count != NULL)) return (struct hl_place){site, count};
    return (struct hl_place){HL_SITE_OTHER, lane->counts[0] + HL_SITE_OTHER}; /* a lane has its first page always */
}

/* Count a block of `size` requested bytes at a place and mark it. The lane follows the generation (hl_lane_follow).
 * `quiet`: it is in no total. */
HL_INLINE void hl_lane_birth(struct hl_lane *lane, void *block, size_t usable, size_t size, struct hl_place place,
                             int quiet) {
    hl_add(&place.count->allocations, 1);
    hl_add(&place.count->bytes_allocated, size);
    if (!quiet) hl_lane_grow(lane, size);
    hl_trailer_write(block, usable, size, place.site, (uint32_t)lane->generation);
    if (HL_UNLIKELY(usable >= HL_MAPPED_LEAST)) hl_lane_count_mapped(hl_real_mapped(block));
}

HL_INLINE void hl_lane_age(struct hl_count *count, uint64_t now, uint64_t age) {
    const uint32_t ms = hl_lane_elapsed_ms(now - age, now);
    hl_add(&count->age_sum, age);
    hl_add(&count->age_ms_sum, ms);
    if (age > count->age_max) count->age_max = (uint32_t)age;
    if (ms > count->age_ms_max) count->age_ms_max = ms;
}

/* Count the free of a block that hl_lane_birth marked. */
HL_INLINE void hl_lane_death(struct hl_lane *lane, const struct hl_trailer *trailer) {
    const uint32_t site = trailer->site;
    struct hl_count *count = hl_lane_count(lane, site);
    if (HL_UNLIKELY(!count)) {
        hl_add_shared(&hl_flight.header->counts_lost, 1);
        return;
    }
    const uint64_t now = lane->generation, age = (now - trailer->birth) & HL_BIRTH_MASK;
    hl_add(&count->frees, 1);
    hl_add(&count->bytes_freed, trailer->size);
    if (age <= 1) hl_add(&count->temporary, 1);
    if (age) hl_lane_age(count, now, age);
    if (HL_UNLIKELY(now - age < hl_load64(&hl_flight.header->baseline_generation)))
        hl_lane_count_old(lane, site, trailer->size);
    if (HL_LIKELY(site != HL_SITE_QUIET)) hl_lane_shrink(lane, trailer->size);
}

#endif
