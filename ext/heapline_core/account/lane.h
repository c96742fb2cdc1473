/* SPDX-License-Identifier: MIT */
/*
 * The room account.
 *   owns: the counting: lanes, their counters, locations and their caches, what a forked child inherits
 *   invariant: a lane has one writer (C1), and its live bytes are those of its counts (C3)
 *   uses: platform, allocator, state, flight, vm
 *
 * Lanes: one thread's counters. **Here a malloc and a free are counted** (hl_lane_birth, hl_lane_death).
 *
 * What a lane is:        a thread  x  a site  ->  struct hl_count
 *
 *     thread  hl_thread.own -> struct hl_lane -> its struct hl_lane_record; one thread at a time
 *     site    a number: place in the program, library, tag (site_table.h); found by location.h
 *     counts  allocations, frees, bytes and ages of the two; a reader adds up the lanes
 *
 * What is in the flight file (flight_layout.h), and who writes which field:
 *
 *     what                               fields                                written by
 *     ---------------------------------  ------------------------------------  -------------------------------------
 *     hl_count: a site's counts          all                                   the lane's owner (C1)
 *     hl_old: frees of older blocks      all                                   the owner
 *     hl_count_chunk: sites of a lane    used, sites, base, baseline, next     the owner (lane_counts.c)
 *     hl_lane_record: a lane             live, high, published, chunks         the owner
 *                                        owner                                 who takes or leaves the lane
 *                                        next, number; `lanes` in the header   who makes a lane; none is taken away
 *     hl_site_record: a site             all; then `label` alone               who meets it first (site_table.c)
 *     strings, libraries, tags           all, once                             who meets them first
 *     hl_object_row, hl_object_class     all                                   the hooks, under the VM's lock (objects)
 *     header: live_bytes, peak_*         added to                              any owner, in hl_lane_publish
 *             large_bytes, *_lost …      added to                              who sees it
 *             generation, gc_count       raised                                any owner, in hl_lane_turn
 *             baseline*                  set                                   who begins one (hl_lane_baseline)
 *             request, twin.asked        set; taken                            other processes; errand.c
 *             answered, twin             set                                   errand.c; the twin
 *             visit                      set                                   lifecycle (visit.c)
 *             figures                    set                                   the helper (allocator.c), or a job
 *             page_count, *_count        raised                                who takes a page, or gives a number
 *             state, exit_status, ended_ns, pid, command …                     lifecycle and flight.c: start, fork, end
 *
 * What is private memory: the way from a site to its counts, locations, and what the owner knows of its chunks (the
 * owner alone reads them); the list of lanes without an owner (who leaves or takes one).
 *
 * Lanes are made as threads need them, without a limit. A thread that ends leaves its lane to the next one, which adds
 * to the figures that are there. Threads that end without running destructors are noticed when a new lane is made: two
 * owners are looked at each time. Where there is no memory for a lane, and while a thread is torn down, threads share
 * lane 0 under a lock.
 *
 * C1  A lane has one writer, its owner. The shared lane is written under hl_lane_shared_lock.
 * C2  What `generation` and the counters' baseline say holds for all that the lane counted since: a block counted
 *     before a baseline carries a birth before the baseline's generation, one counted after it does not.
 * C3  Live bytes are those of the counts: the identity of struct hl_lane_record.
 * C4  To take or leave a lane costs the same however many there are. A refusal is not tried again at each call.
 * Callable from any thread inside malloc; hl_lane_acquire and the cold functions with the guard entered.
 */
#ifndef HL_LANE_H
#define HL_LANE_H

#include <stddef.h>
#include <stdint.h>

#include "account/lane_counts.h"
#include "account/location_cache.h"
#include "allocator/real_malloc.h"
#include "flight/flight.h"
#include "flight/flight_layout.h"
#include "platform/platform.h"
#include "state/birth_clock.h"
#include "state/guard.h"
#include "state/trailer.h"
#include "vm/gc_counter.h"
#include "vm/ruby_frame.h"

enum { HL_PUBLISH_BYTES = 65536 };
#define HL_NEVER_SETTLED UINT64_MAX

struct hl_lane {
    /* What nearly every free reads, in a cache line. */
    uint64_t clock;       /* as last seen by this lane */
    uint32_t birth;       /* the tick of what is born at that clock */
    uint32_t ticks_known; /* of so many before it hl_births_recent tells, and no baseline lies between */
    struct hl_lane_record *record;
    int64_t publish_below; /* `live` below this or above the other is published */
    uint64_t generation;   /* as last seen */
    uint64_t born_ms;      /* when the tick began */
    struct hl_lane_counts counts;
    /* And besides these every malloc. */
    int64_t publish_above; /* never below record->high */
    uint64_t birth_bits;   /* the tick as in a trailer */
    uint64_t up_to;        /* clock + settled */
    struct hl_location_slots *locations;

    uint64_t settled;               /* hl_location_forgets: since then nothing was freed that its cache rests on (K2) */
    uint32_t unsettled;             /* births since that changed */
    struct hl_recording *recording; /* recorder.h; NULL: nothing was recorded yet */
    struct hl_ruby_walks *ruby_stack; /* ruby_stack.h; NULL: none was looked at yet */
    struct hl_lane *made_before;      /* of all lanes */
    uint64_t ran_ns;                  /* its owner's processor time when hl_lane_wait_for_all began */
    struct hl_lane *next_free;
    struct hl_known_ecs ecs;
};

/* The count of generations: GC.count (0 without a VM) plus the number of baselines. */
HL_INLINE uint64_t hl_gc_count_now(void) {
    const size_t *counter = hl_gc_counter;
    return HL_LIKELY(counter != &hl_gc_counter_unknown) ? __atomic_load_n(counter, __ATOMIC_RELAXED) : hl_gc_count();
}

HL_INLINE uint64_t hl_generation(void) {
    return hl_gc_count_now() + hl_baseline();
}
/* It moves on with each GC, baseline and fork. */
HL_INLINE uint64_t hl_clock(void) {
    return hl_gc_count_now() + hl_load64(&hl_epochs);
}

/* One of the two is new. */
HL_INLINE void hl_lane_add_up(struct hl_lane *lane) {
    lane->up_to = lane->clock + lane->settled;
}

/* The shared lane; 0 or -errno. */
int hl_lane_create(void);

/* Take a lane for this thread, or NULL where there is no memory for one. */
struct hl_lane *hl_lane_acquire(void);
void hl_lane_release(struct hl_lane *lane);

/* A lane for this thread: its own, a fresh one, or NULL. With the guard entered. */
struct hl_lane *hl_lane_own(struct hl_thread *thread);
/* From now on `ends` is called with a thread's own lane when that thread ends, which is to release it. */
void hl_lane_call_at_end(void (*ends)(void *lane));

/* To count off the hot path: the guard, errno, and a lane, this thread's own or the shared one until hl_lane_leave;
 * NULL where a signal's handler came while this thread had that one. */
struct hl_stay {
    struct hl_lane *lane;
    int saved;
};
struct hl_stay hl_lane_enter(struct hl_thread *thread);
void hl_lane_leave(struct hl_thread *thread, struct hl_stay stay);

/* The lane for threads that cannot own one; the caller counts between lock and unlock. NULL, and nothing to unlock,
 * where this thread has it already: a signal's handler came in between. */
struct hl_lane *hl_lane_shared_lock(void);
void hl_lane_shared_unlock(void);
int hl_lane_is_shared(const struct hl_lane *lane);

/* In a forked child, before all else: nothing is counted until hl_lane_after_fork_child, or for ever. */
void hl_lane_stop(struct hl_lane *own);

/* In a forked child, which has a flight of its own: only the calling thread lives on, and begins a lane there where it
 * had one. 0 or -errno. */
int hl_lane_after_fork_child(struct hl_thread *thread);
/* There is the record of what it inherited now (hl_inheritance_take). */
void hl_lane_show_inherited(hl_cell_ref place);

/* The private part of each lane, in no order, from hl_lane_newest() on through `made_before`. */
struct hl_lane *hl_lane_newest(void);
/* In a forked child: of each of its parent's lanes, what its owner knew of its chunks. */
void hl_lane_each_chunk(void (*see)(const struct hl_lane_chunk *chunk));

/* Another process asks for something (struct hl_flight_header, request): called in a lane's turn, with the guard
 * entered. */
extern void (*hl_lane_asked)(void);

/* In a forked child that has not taken over yet: what is called in each turn, likewise; else NULL. */
void hl_lane_rest(void (*in_each_turn)(void));
int hl_lane_rests(void);

/* How many lanes have as many slots for locations as there can be (location.c). */
extern uint32_t hl_lanes_at_most_slots;

/* The clock moved on, or something is asked for: bring the lane up to it. */
void hl_lane_turn(struct hl_lane *lane, uint64_t clock);

/* Add the lane's live bytes to the process's, and note the peak. */
void hl_lane_publish(struct hl_lane *lane);

/* The most that was live at a time since the last call, and in *live what is live now; the next time begins here.
 * own: the lane of the calling thread, or NULL. Of each other thread up to HL_PUBLISH_BYTES may be missing. */
int64_t hl_lane_restart_peak(struct hl_lane *own, int64_t *live);

/* Begin a new baseline; its number. */
uint64_t hl_lane_baseline(uint32_t kind);

/* Nobody begins to count any more: wait until nobody is in the middle of it either, that is, until each owner was seen
 * to sleep or has run for long enough since. 0, or -EAGAIN after 2 s. Not seen: who is in the middle below a signal's
 * handler that sleeps; and, where /proc cannot be read, who does not run. */
int hl_lane_wait_for_all(void);

/* Counting begins once more, and nobody counts yet: all is 0, and a baseline begins. */
void hl_lane_begin_again(void);

/* Sums over all lanes and sites but the quiet ones. */
void hl_lane_totals(uint64_t *bytes_allocated, uint64_t *bytes_freed);

/* A large block of so many bytes (hl_real_large; 0: it is none) of a site came, or (the negative of it) went. */
void hl_lane_count_large_slow(int64_t bytes, uint32_t site);
HL_INLINE void hl_lane_count_large(size_t bytes, uint32_t site) {
    if (HL_UNLIKELY(bytes)) hl_lane_count_large_slow((int64_t)bytes, site);
}

/* The site's counters; NULL where there is no room. */
HL_INLINE struct hl_count *hl_lane_count(struct hl_lane *lane, uint32_t site) {
    struct hl_count *count = hl_lane_find(&lane->counts, site);
    return HL_LIKELY(count) ? count : hl_lane_find_slow(&lane->counts, lane->record, site);
}

/* A free that finds no counter. */
HL_COLD void hl_lane_lose(uint32_t site, size_t size);

HL_INLINE void hl_lane_follow(struct hl_lane *lane) {
    const uint64_t clock = hl_clock();
    if (HL_UNLIKELY(clock != lane->clock)) hl_lane_turn(lane, clock);
}

/* Where something is allocated, also look whether another process asks for something. */
HL_INLINE void hl_lane_follow_and_answer(struct hl_lane *lane) {
    const uint64_t clock = hl_clock();
    if (HL_UNLIKELY(clock != lane->clock || hl_load32(&hl_flight.header->request))) hl_lane_turn(lane, clock);
}

HL_INLINE void hl_lane_grow(struct hl_lane *lane, size_t size) {
    struct hl_lane_record *record = lane->record;
    hl_add((uint64_t *)&record->live, size); /* as the counts: a signal's handler may count at any moment */
    const int64_t live = record->live;
    if (live > record->high) record->high = live;
    if (HL_UNLIKELY(live > lane->publish_above)) hl_lane_publish(lane);
}

HL_INLINE void hl_lane_shrink(struct hl_lane *lane, size_t size) {
    hl_add((uint64_t *)&lane->record->live, -(uint64_t)size);
    const int64_t live = lane->record->live;
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
    if (HL_LIKELY(count)) return (struct hl_place){site, count};
    return (struct hl_place){HL_SITE_OTHER, lane->counts.other};
}

/* Count a block of `size` requested bytes at a place and mark it. The lane follows the generation (hl_lane_follow).
 * `quiet`: it is in no total. */
HL_INLINE void hl_lane_birth(struct hl_lane *lane, void *block, size_t usable, size_t size, struct hl_place place,
                             int quiet) {
    hl_add(&place.count->allocations, 1);
    hl_add(&place.count->bytes_allocated, size);
    if (!quiet) hl_lane_grow(lane, size);
    /* glibc leaves so much unused in mapped blocks alone; were it otherwise, each block is looked at from now on. */
    if (HL_UNLIKELY(usable - size >= HL_SLACK_ESCAPE + HL_TRAILER_SIZE) && !hl_real_mapped(block))
        __atomic_store_n(&hl_real_kept, 0, __ATOMIC_RELAXED);
    hl_trailer_write(block, usable, size, place.site, lane->birth);
    hl_lane_count_large(hl_real_large(block, usable), place.site);
}

/* The age of a block that was born up to `ticks_known` ticks ago; 0: it has to be sought. Where another tick took over
 * the place meanwhile, that began later than the lane's. */
HL_INLINE int hl_lane_recent_age(const struct hl_lane *lane, uint32_t birth, uint64_t *age, uint64_t *ms) {
    const struct hl_beginning *at = &hl_births_recent[birth % HL_BIRTHS_RECENT];
    if (HL_UNLIKELY(__builtin_sub_overflow(lane->born_ms, hl_look64(&at->ms), ms))) return 0;
    return HL_LIKELY(!__builtin_sub_overflow(lane->generation, hl_look64(&at->word) & HL_TICK_GENERATION, age));
}

/* Of a block that was born in an earlier tick. */
HL_INLINE void hl_lane_age(struct hl_count *count, uint64_t age, uint64_t ms) {
    hl_add(&count->age_sum, age);
    hl_add(&count->age_ms_sum, ms);
    if (HL_UNLIKELY(age > count->age_max)) count->age_max = age < UINT32_MAX ? (uint32_t)age : UINT32_MAX;
    if (HL_UNLIKELY(ms > count->age_ms_max)) count->age_ms_max = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

/* Count the free of a block that hl_lane_birth marked. */
HL_INLINE void hl_lane_death(struct hl_lane *lane, const struct hl_trailer *trailer) {
    const uint32_t site = trailer->site;
    struct hl_count *count = hl_lane_count(lane, site);
    if (HL_UNLIKELY(!count)) {
        hl_lane_lose(site, trailer->size);
        return;
    }
    const uint32_t now = lane->birth, birth = trailer->birth;
    hl_add(&count->frees, 1);
    hl_add(&count->bytes_freed, trailer->size);
    if (now <= birth + 1) hl_add(&count->temporary, 1);
    if (birth < now)
        hl_lane_age(count, lane->generation - hl_birth_generation(birth), lane->born_ms - hl_birth_time(birth));
    if (HL_UNLIKELY(birth < hl_load32(&hl_birth_baseline))) hl_lane_count_old(&lane->counts, count, trailer->size);
    if (HL_LIKELY(site != HL_SITE_QUIET)) hl_lane_shrink(lane, trailer->size);
}

#endif
