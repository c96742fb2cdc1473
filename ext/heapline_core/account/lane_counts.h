/* SPDX-License-Identifier: MIT */
/*
 * The counters of one lane: from a site's number to its struct hl_count in the flight.
 *
 * Counters lie in chunks (flight_layout.h), one site behind the other in the order in which the lane met them, so that
 * memory follows what the thread touches, whatever the sites' numbers. The way there is private: a hash table, open
 * addressing, which doubles; what the old table has comes over in small steps (M2).
 *
 * M1  What stands in the table under (site, stamp) was brought up to the moment of that stamp. A new baseline or a fork
 * is a new stamp: then each site misses once, and the slow path takes the base of its chunk alone, or keeps it for the
 *     child (inheritance.h). So neither costs anything by the number of sites.
 * M2  A slow path does a bounded amount of work: one chunk's base, HL_INDEX_STEP entries of the old table.
 * M3  Numbers that lead into the flight are kept in private memory: nothing that others could have written there is
 *     followed.
 * M4  A signal's handler may come at any point and count in the same lane. What it interrupts may look at a table that
 *     the handler replaced: that stays mapped, and has what it had or zeros, which is no entry. In the middle of a
 *     change nothing is changed further: the handler's count is lost, and said.
 * Callable by the lane's owner.
 */
#ifndef HL_LANE_COUNTS_H
#define HL_LANE_COUNTS_H

#include <stdint.h>

#include "flight/cells.h"
#include "flight/flight_layout.h"
#include "platform/platform.h"
#include "state/birth_clock.h"

enum { HL_INDEX_LEAST = 16, HL_INDEX_STEP = 16, HL_LANE_CHUNKS_LEAST = 4 };
#define HL_INDEX_FACTOR 0x9e3779b1u

struct hl_index_entry {
    uint64_t key; /* site | stamp; 0: empty */
    struct hl_count *count;
};

struct hl_index {
    uint32_t mask;
    uint32_t shift;
    uint32_t used;
    uint32_t reserved;
    struct hl_index_entry entries[];
};

struct hl_lane_counts {
    struct hl_index *index;
    uint64_t stamp;               /* the moment that the lane follows << 32 */
    struct hl_index *former;      /* what of the index was not brought over yet; NULL: nothing */
    uint32_t brought;             /* its entries before this one were */
    uint32_t changing;            /* M4 */
    uint64_t epochs;              /* hl_epochs then */
    struct hl_lane_chunk *chunks; /* by their places, which ascend */
    uint32_t chunk_count, chunk_room;
    struct hl_count *other; /* of HL_SITE_OTHER: never missing */
};

/* A lane's first tables, all zeros. */
struct hl_lane_tables {
    uint64_t index[(sizeof(struct hl_index) + HL_INDEX_LEAST * sizeof(struct hl_index_entry)) / sizeof(uint64_t)];
    struct hl_lane_chunk chunks[HL_LANE_CHUNKS_LEAST];
};

/* In a forked child, where the lane's tables may be gone: from now on nothing is found and nothing added. */
void hl_lane_counts_stop(struct hl_lane_counts *counts, struct hl_lane_tables *tables);

/* Make a lane's counters, with a first chunk at `chunk` and those of HL_SITE_OTHER in it. */
void hl_lane_counts_create(struct hl_lane_counts *counts, struct hl_lane_record *record, hl_cell_ref chunk,
                           struct hl_lane_tables *tables);

/* The counters of `site`, where a look at the table did not find them; NULL where there is no room. */
struct hl_count *hl_lane_find_slow(struct hl_lane_counts *counts, struct hl_lane_record *record, uint32_t site);

/* At no baseline was anything counted: for who begins to count once more, while nobody does. */
void hl_lane_counts_wipe_bases(const struct hl_lane_counts *counts);

/* A new baseline, or a fork: nothing that stands in the table is found any more. */
void hl_lane_counts_turn(struct hl_lane_counts *counts, uint64_t epochs);

/* Count the free of a block that was born before the baseline. */
void hl_lane_count_old(struct hl_lane_counts *counts, const struct hl_count *count, size_t size);

/* The entry's counters, where it is this key's. */
HL_INLINE struct hl_count *hl_index_count(const struct hl_index_entry *entry, uint64_t key, uint64_t *found) {
    struct hl_count *count = __atomic_load_n(&entry->count, __ATOMIC_RELAXED); /* before the key (M4) */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *found = hl_load64(&entry->key);
    if (HL_UNLIKELY(*found != key)) return NULL;
    if (!count) __builtin_unreachable();
    return count;
}

/* The site's counters under the present stamp; NULL: not there. */
HL_INLINE struct hl_count *hl_lane_find(const struct hl_lane_counts *counts, uint32_t site) {
    const struct hl_index *index = counts->index;
    const uint64_t key = site | counts->stamp;
    const uint32_t at = site * HL_INDEX_FACTOR >> index->shift & index->mask; /* in a child it may have been wiped */
    uint64_t found;
    struct hl_count *count = hl_index_count(&index->entries[at], key, &found);
    for (uint32_t next = at + 1; HL_UNLIKELY(!count) && found; next++)
        count = hl_index_count(&index->entries[next & index->mask], key, &found);
    return count;
}

#endif
