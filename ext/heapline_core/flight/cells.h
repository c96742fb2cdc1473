/* SPDX-License-Identifier: MIT */
/*
 * Cells: pieces of the flight's pages of counts. In them lie the lanes' records and the chunks of their counters
 * (flight_layout.h). Here they are handed out, and what the flight lists of them is walked through.
 *
 * Places in the flight that the owner of a lane needs are kept in private memory (struct hl_lane_chunk); what is read
 * back from the flight reaches nothing beyond the mapping, whatever it is (flight.h, L4).
 * Callable from any thread with the guard entered.
 */
#ifndef HL_CELLS_H
#define HL_CELLS_H

#include <stdint.h>

#include "flight/flight.h"
#include "flight/flight_layout.h"
#include "platform/platform.h"

/* What the owner of a lane knows of one of its chunks. */
struct hl_lane_chunk {
    hl_cell_ref place;
    hl_cell_ref base;
    uint16_t capacity;
    uint16_t used;
    uint32_t stamp;    /* the moment to which its counts were brought up */
    uint32_t baseline; /* … as of which its base is */
};

HL_INLINE void *hl_flight_cell(hl_cell_ref place) {
    return hl_flight.base + (size_t)place * HL_CELL_SIZE;
}

/* The first of `count` (at most 128) fresh, zeroed, consecutive cells; 0 where there is no room. */
hl_cell_ref hl_flight_cells(uint32_t count);
/* In a forked child: what is left of the cells at hand is the parent's. */
void hl_flight_cells_become_child(void);

/* The record at this place; NULL where none can be. */
struct hl_lane_record *hl_lane_record_at(hl_cell_ref place);

/* Walks through what the flight lists: from NULL on, NULL at the end, and where it was damaged (M3). */
struct hl_lane_record *hl_lane_record_after(const struct hl_lane_record *record);
struct hl_count_chunk *hl_chunk_after(const struct hl_lane_record *record, const struct hl_count_chunk *chunk);

/* The sites that may be read. */
HL_INLINE uint32_t hl_chunk_used(const struct hl_count_chunk *chunk) {
    const uint32_t used = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE);
    return used <= chunk->capacity ? used : chunk->capacity;
}

#endif
