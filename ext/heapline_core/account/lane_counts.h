/* SPDX-License-Identifier: MIT */
/*
 * The counters of one lane: from a site's number to its struct hl_count in the flight.
 *
 * Counters lie in chunks (flight_layout.h), one site behind the other in the order in which the lane met them, so that
 * memory follows what the thread touches, whatever the sites' numbers. The way there is private: a hash table, open
 * addressing, which doubles; what the old table has comes over in small steps (M2).
 *
 * M1  What stands in the table under (site, stamp) was brought up to the moment of that stamp. A new baseline or a
 *     fork is a new stamp: then each site misses once, and the slow path takes the base of its chunk alone, or keeps it
 *     for the child (inheritance.h). So neither costs anything by the number of sites.
 * M2  A slow path does a bounded amount of work: one chunk's base, HL_INDEX_STEP entries of the old table; and once in
 *     HL_INDEX_STAMPS moments a look at each entry.
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

enum { HL_INDEX_LEAST = 32, HL_INDEX_STEP = 16, HL_LANE_CHUNKS_LEAST = 4 };

/* An entry is a word, so that one store writes it: the place of the counters (a hl_cell_ref), above it the key, which
 * is the site and above that the stamp; 0: none. Under stamp 0, which is no moment's, counters are found by nobody who
 * has not brought them up. Moments share stamps: before one comes again all entries lose theirs. */
enum { HL_INDEX_KEY_SHIFT = 32, HL_INDEX_SITE_BITS = 20, HL_INDEX_STAMPS = (1 << 12) - 1 };
_Static_assert(HL_SITES_MAX <= 1 << HL_INDEX_SITE_BITS, "the key of an entry");

/* Groups of entries, each a cache line: a site's first one is its place, then come the others of its group, then those
 * of its second place, then those of the next groups. Places follow the sites' numbers, and the second ones do not: the
 * lines that a thread meets one after the other share cache lines, and of a table with more room than sites little is
 * touched; where two ranges of sites meet at one place, one of them is spread over the table. Where both groups of a
 * new site are full, an entry of them goes to its own other group: next groups are for the few for which none can. */
enum { HL_INDEX_GROUP = HL_CACHE_LINE / sizeof(uint64_t) };
struct hl_index {
    uint32_t last; /* where the last one lies, in bytes from the first: all ones above the size of one, for their number
                    * is a power of two; 0 where a fork wiped them */
    uint32_t used;
    uint64_t entries[] HL_LINE_ALIGNED;
};

struct hl_lane_counts {
    struct hl_index *index;
    uint32_t stamp;               /* of the moment that the lane follows, as in a key */
    uint32_t changing;            /* M4 */
    struct hl_index *former;      /* what of the index was not brought over yet; NULL: nothing */
    uint64_t epochs;              /* hl_epochs then */
    struct hl_lane_chunk *chunks; /* by their places, which ascend */
    uint32_t chunk_count, chunk_room;
    uint32_t brought;       /* entries of the former one: those before this one were */
    struct hl_count *other; /* of HL_SITE_OTHER: never missing */
};

/* A lane's first tables, all zeros. */
struct hl_lane_tables {
    char index[sizeof(struct hl_index) + HL_INDEX_LEAST * sizeof(uint64_t)] HL_LINE_ALIGNED;
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

/* So many bytes behind the first one; behind the last one come the first ones. */
HL_INLINE uint64_t *hl_index_at(const struct hl_index *index, uint64_t offset) {
    return (uint64_t *)((uintptr_t)index->entries + (offset & index->last));
}

HL_INLINE uint64_t *hl_index_place(const struct hl_index *index, uint32_t site) {
    return hl_index_at(index, (uint64_t)site * sizeof(uint64_t));
}

/* Where its second place lies. */
HL_INLINE uint64_t hl_index_second(uint32_t site) {
    return site * 0x1e3779b1ull >> 16; /* a factor of 29 bits, as an instruction holds it */
}

HL_INLINE uint64_t *hl_index_second_place(const struct hl_index *index, uint32_t site) {
    return hl_index_at(index, hl_index_second(site));
}

/* Its group's entry number `i`, from there on. */
HL_INLINE uint64_t *hl_index_in_group(const uint64_t *place, unsigned i) {
    return (uint64_t *)((uintptr_t)place ^ i * sizeof(uint64_t));
}

HL_INLINE int hl_index_has(uint64_t entry, uint32_t key) {
    return entry >> HL_INDEX_KEY_SHIFT == key;
}

HL_INLINE struct hl_count *hl_index_count(uint64_t entry) {
    struct hl_count *count = hl_flight_cell((hl_cell_ref)entry);
    if (!count) __builtin_unreachable();
    return count;
}

/* The entry with this key in the group of this place; 0: none. */
HL_INLINE uint64_t hl_index_look(const uint64_t *place, uint32_t key) {
    for (unsigned i = 0; i < HL_INDEX_GROUP; i++) {
        const uint64_t entry = hl_load64(hl_index_in_group(place, i));
        if (hl_index_has(entry, key)) return entry;
    }
    return 0;
}

/* The site's counters under the present stamp, where they are at its place; else NULL. */
HL_INLINE struct hl_count *hl_lane_find_at_place(const struct hl_lane_counts *counts, uint32_t site) {
    const uint64_t entry = hl_load64(hl_index_place(counts->index, site));
    if (HL_UNLIKELY(!hl_index_has(entry, site | counts->stamp))) return NULL;
    return hl_index_count(entry);
}

/* The same at its two places, where nearly all are: the general way takes 330 instructions more. Where its first one is
 * empty the second is not looked at: a page that only such looks touch is never read. */
HL_INLINE struct hl_count *hl_lane_find(const struct hl_lane_counts *counts, uint32_t site) {
    const uint32_t key = site | counts->stamp;
    const uint64_t *place = hl_index_place(counts->index, site);
    uint64_t entry = hl_index_look(place, key);
    if (HL_UNLIKELY(!entry) && hl_load64(place)) entry = hl_index_look(hl_index_second_place(counts->index, site), key);
    return HL_LIKELY(entry) ? hl_index_count(entry) : NULL;
}

#endif
