/* SPDX-License-Identifier: MIT */
#include "flight/cells.h"

#include <sched.h>

enum {
    CELLS_PER_PAGE = HL_PAGE_SIZE / HL_CELL_SIZE,
    ARENA_PAGES_LEAST = 2, /* of the first one, as most forked children need few; each next one has twice as many */
    ARENA_PAGES_MOST = 8,
    /* Who found no room does not look again at once: the kernel is asked each time. */
    PATIENCE = 1024,
    TURNS = 64, /* that a thread gives to the one that has an arena made */
};

static uint64_t cell_arena; /* place of the next free cell << 32 | cells left */
static uint32_t arena_pages = ARENA_PAGES_LEAST;
static uint32_t patience;
static uint32_t making; /* a thread has an arena made */

void hl_flight_cells_become_child(void) {
    cell_arena = patience = making = 0;
    arena_pages = ARENA_PAGES_LEAST;
}

/* An arena that has `count` cells, as cell_arena; 0 where there is no room. */
static uint64_t fresh_arena(uint32_t count) {
    const uint32_t most = hl_load32(&arena_pages);
    uint32_t page, pages;
    do {
        pages = most;
        page = hl_flight_pages_of_counts(&pages);
    } while (page && pages * CELLS_PER_PAGE < count); /* between others of a process before this one */
    if (most < ARENA_PAGES_MOST) __atomic_store_n(&arena_pages, most * 2, __ATOMIC_RELAXED);
    return page ? (uint64_t)page * CELLS_PER_PAGE << 32 | pages * CELLS_PER_PAGE : 0;
}

static hl_cell_ref take(uint32_t count) {
    uint64_t arena = hl_load64(&cell_arena), next;
    do {
        next = arena;
        if ((uint32_t)next < count) {
            const uint32_t wait = hl_load32(&patience);
            next = wait ? 0 : fresh_arena(count);
            if (!next) {
                __atomic_store_n(&patience, wait ? wait - 1 : PATIENCE, __ATOMIC_RELAXED);
                return 0;
            }
        }
        next += ((uint64_t)count << 32) - count;
    } while (!__atomic_compare_exchange_n(&cell_arena, &arena, next, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return (hl_cell_ref)(next >> 32) - count;
}

/* Threads that begin at once find the arena empty at once. What one of them has made when another one was quicker is
 * lost, since cells are handed out in ascending order: so the others wait for the first, though not for ever. 1: this
 * thread is the first. */
static int begin_making(uint32_t count) {
    for (int i = 0; i < TURNS && (uint32_t)hl_load64(&cell_arena) < count; i++) {
        if (!__atomic_exchange_n(&making, 1, __ATOMIC_ACQUIRE)) return 1;
        sched_yield();
    }
    return 0;
}

hl_cell_ref hl_flight_cells(uint32_t count) {
    const int is_first = begin_making(count);
    const hl_cell_ref cells = take(count);
    if (is_first) __atomic_store_n(&making, 0, __ATOMIC_RELEASE);
    return cells;
}

/* ---- what the flight lists ---- */

/* NULL where what is listed, of so many cells, cannot lie in the flight. */
static void *listed(hl_cell_ref place, uint32_t cells) {
    const uint64_t end = ((uint64_t)hl_flight.mask + 1) * CELLS_PER_PAGE;
    return place >= HL_FIXED_PAGES * CELLS_PER_PAGE && (uint64_t)place + cells <= end ? hl_flight_cell(place) : NULL;
}

struct hl_lane_record *hl_lane_record_at(hl_cell_ref place) {
    return listed(place, 1);
}

struct hl_lane_record *hl_lane_record_after(const struct hl_lane_record *record) {
    if (!record) return hl_lane_record_at(__atomic_load_n(&hl_flight.header->lanes, __ATOMIC_ACQUIRE));
    struct hl_lane_record *next = hl_lane_record_at(__atomic_load_n(&record->next, __ATOMIC_ACQUIRE));
    return next && next->number == record->number + 1 ? next : NULL;
}

struct hl_count_chunk *hl_chunk_after(const struct hl_lane_record *record, const struct hl_count_chunk *chunk) {
    const hl_cell_ref place = __atomic_load_n(chunk ? &chunk->next : &record->chunks, __ATOMIC_ACQUIRE);
    struct hl_count_chunk *next = listed(place, hl_chunk_cells(HL_CHUNK_LEAST));
    if (!next || (chunk && next <= chunk) || next->capacity - 1 >= HL_CHUNK_MOST) return NULL;
    return listed(place, hl_chunk_cells(next->capacity));
}
