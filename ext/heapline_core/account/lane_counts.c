/* SPDX-License-Identifier: MIT */
#include "account/lane_counts.h"

#include <string.h>

#include "account/inheritance.h"
#include "platform/own_memory.h"
#include "state/guard.h"

/* ---- chunks ---- */

static struct hl_count_chunk *chunk_at(const struct hl_lane_chunk *chunk) {
    return hl_flight_cell(chunk->place);
}

static struct hl_count *counts_of(const struct hl_lane_chunk *chunk) {
    return hl_flight_cell(chunk->place + hl_chunk_head_cells(chunk->capacity));
}

/* NULL where there is no room. */
static struct hl_count *base_of(struct hl_lane_chunk *chunk) {
    if (!chunk->base) {
        chunk->base = hl_flight_cells(hl_base_cells(chunk->capacity));
        if (!chunk->base) return NULL;
        __atomic_store_n(&chunk_at(chunk)->base, chunk->base, __ATOMIC_RELEASE);
    }
    return hl_flight_cell(chunk->base);
}

static struct hl_old *old_of(const struct hl_lane_chunk *chunk) {
    return hl_flight_cell(chunk->base + chunk->capacity);
}

/* Make the chunk's base what its counts are now, and forget the old frees of the baseline before. Maxima do not
 * subtract: the base keeps the greatest so far, and the counts begin theirs again. Without room for a base the counts
 * stay their own: since the baseline nothing is told of these sites. */
static void follow_baseline(struct hl_lane_chunk *chunk, uint32_t baseline) {
    if (chunk->baseline == baseline) return;
    struct hl_count *base = base_of(chunk), *counts = counts_of(chunk);
    chunk->baseline = baseline;
    if (!base) return;
    for (uint32_t i = 0; i < chunk->used; i++) {
        const uint32_t age = base[i].age_max, ms = base[i].age_ms_max;
        base[i] = counts[i];
        if (age > base[i].age_max) base[i].age_max = age;
        if (ms > base[i].age_ms_max) base[i].age_ms_max = ms;
        counts[i].age_max = counts[i].age_ms_max = 0;
    }
    memset(old_of(chunk), 0, chunk->capacity * sizeof(struct hl_old));
    __atomic_store_n(&chunk_at(chunk)->baseline, baseline, __ATOMIC_RELEASE);
}

/* Before anything changes in the chunk. */
static void follow(struct hl_lane_chunk *chunk, uint64_t epochs) {
    const uint32_t moment = hl_moment_of(epochs);
    if (chunk->stamp == moment) return;
    hl_inheritance_keep(chunk, moment);
    chunk->stamp = moment;
    follow_baseline(chunk, (uint32_t)epochs);
}

static int make_room_for_chunk(struct hl_lane_counts *counts) {
    if (counts->chunk_count < counts->chunk_room) return 1;
    const uint32_t room = 2 * counts->chunk_room;
    struct hl_lane_chunk *chunks = hl_own_piece(room * sizeof(*chunks));
    if (!chunks) return 0;
    memcpy(chunks, counts->chunks, counts->chunk_count * sizeof(*chunks));
    counts->chunks = chunks;
    counts->chunk_room = room;
    return 1;
}

static struct hl_lane_chunk *begin_chunk(struct hl_lane_counts *counts, struct hl_lane_record *record,
                                         hl_cell_ref place, uint32_t capacity, uint64_t epochs) {
    struct hl_count_chunk *last = counts->chunk_count ? chunk_at(&counts->chunks[counts->chunk_count - 1]) : NULL;
    for (struct hl_count_chunk *next; (next = hl_chunk_after(record, last));) last = next; /* of an earlier owner */
    struct hl_lane_chunk *chunk = &counts->chunks[counts->chunk_count++];
    *chunk = (struct hl_lane_chunk){place, 0, (uint16_t)capacity, 0, hl_moment_of(epochs), (uint32_t)epochs};
    struct hl_count_chunk *in_flight = chunk_at(chunk);
    in_flight->capacity = capacity;
    in_flight->baseline = (uint32_t)epochs;
    __atomic_store_n(last ? &last->next : &record->chunks, place, __ATOMIC_RELEASE);
    return chunk;
}

/* A fresh one; NULL where there is no room. */
static struct hl_lane_chunk *add_chunk(struct hl_lane_counts *counts, struct hl_lane_record *record, uint64_t epochs) {
    const uint32_t capacity = counts->chunk_count == 1 ? HL_CHUNK_NEXT : HL_CHUNK_MOST;
    const hl_cell_ref place = make_room_for_chunk(counts) ? hl_flight_cells(hl_chunk_cells(capacity)) : 0;
    return place ? begin_chunk(counts, record, place, capacity, epochs) : NULL;
}

/* Counters for a site that has none; NULL: there is no room. */
static struct hl_count *add_count(struct hl_lane_counts *counts, struct hl_lane_record *record, uint32_t site,
                                  uint64_t epochs) {
    struct hl_lane_chunk *chunk = &counts->chunks[counts->chunk_count - 1];
    if (chunk->used == chunk->capacity) chunk = add_chunk(counts, record, epochs);
    if (!chunk) return NULL;
    follow(chunk, epochs); /* of the sites that stand there already */
    struct hl_count_chunk *in_flight = chunk_at(chunk);
    struct hl_count *count = counts_of(chunk) + chunk->used;
    in_flight->sites[chunk->used++] = site;
    __atomic_store_n(&in_flight->used, chunk->used, __ATOMIC_RELEASE);
    return count;
}

/* The chunk in which these counters are. */
static struct hl_lane_chunk *chunk_of(const struct hl_lane_counts *counts, const struct hl_count *count) {
    uint32_t low = 0, high = counts->chunk_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if ((const void *)chunk_at(&counts->chunks[middle]) < (const void *)count)
            low = middle;
        else
            high = middle;
    }
    return &counts->chunks[low];
}

/* ---- the table ---- */

static uint32_t stamp_of(uint64_t epochs) {
    return (hl_moment_of(epochs) % HL_INDEX_STAMPS + 1) << HL_INDEX_SITE_BITS;
}

static uint32_t site_of(uint64_t entry) {
    return entry >> HL_INDEX_KEY_SHIFT & ((1u << HL_INDEX_SITE_BITS) - 1);
}

/* The site's entry in the group of this place, whatever its stamp, or an empty one; NULL: others fill it. */
static uint64_t *in_group_of(uint64_t *place, uint32_t site) {
    for (unsigned i = 0; i < HL_INDEX_GROUP; i++) {
        uint64_t *entry = hl_index_in_group(place, i);
        if (!*entry || site_of(*entry) == site) return entry;
    }
    return NULL;
}

/* The same in its two groups. */
static uint64_t *in_groups_of(struct hl_index *index, uint32_t site) {
    uint64_t *entry = in_group_of(hl_index_place(index, site), site);
    return entry ? entry : in_group_of(hl_index_second_place(index, site), site);
}

/* The same in the whole table, which is never full. */
static uint64_t *place_in(struct hl_index *index, uint32_t site) {
    uint64_t *entry = in_groups_of(index, site);
    for (uint64_t at = hl_index_second(site) + HL_CACHE_LINE; !entry; at += HL_CACHE_LINE)
        entry = in_group_of(hl_index_at(index, at), site);
    return entry;
}

/* Have an entry of this group go to its own other group, where that has room; where it was, or NULL: none can go. It
 * is in both until another one is written there: who looks for it meanwhile finds it. */
static uint64_t *make_way(struct hl_index *index, uint64_t *group) {
    for (unsigned i = 0; i < HL_INDEX_GROUP; i++) {
        uint64_t *entry = hl_index_in_group(group, i), moved;
        const uint32_t site = site_of(*entry);
        uint64_t *first = hl_index_place(index, site);
        const int is_there = ((uintptr_t)first ^ (uintptr_t)entry) < HL_CACHE_LINE;
        uint64_t *to = in_group_of(is_there ? hl_index_second_place(index, site) : first, site);
        if (!to || *to) continue;
        do {
            moved = hl_load64(entry);
            __atomic_store_n(to, moved, __ATOMIC_RELAXED);
        } while (hl_load64(entry) != moved); /* a handler took its stamp meanwhile */
        return entry;
    }
    return NULL;
}

/* Where a new site comes to lie: where both its groups are full, and none of them can go, at `further`. */
static uint64_t *new_place(struct hl_index *index, uint32_t site, uint64_t *further) {
    if (in_groups_of(index, site)) return further;
    uint64_t *place = make_way(index, hl_index_second_place(index, site));
    if (!place) place = make_way(index, hl_index_place(index, site));
    return place ? place : further;
}

static uint64_t *put(struct hl_index *index, uint64_t entry) {
    uint64_t *place = place_in(index, site_of(entry));
    if (!*place) {
        index->used++;
        place = new_place(index, site_of(entry), place);
    }
    __atomic_store_n(place, entry, __ATOMIC_RELAXED);
    return place;
}

static void forget_stamp(uint64_t *place) {
    const uint64_t stamp = (uint64_t)HL_INDEX_STAMPS << (HL_INDEX_KEY_SHIFT + HL_INDEX_SITE_BITS);
    if (*place) __atomic_store_n(place, *place & ~stamp, __ATOMIC_RELAXED);
}

static size_t index_bytes(uint32_t entries) {
    return sizeof(struct hl_index) + entries * sizeof(uint64_t);
}

static void begin_index(struct hl_index *index, uint32_t entries) {
    index->last = (entries - 1) * (uint32_t)sizeof(uint64_t);
}

static uint32_t entries_of(const struct hl_index *index) {
    return index->last / (uint32_t)sizeof(uint64_t) + 1;
}

/* Bring over the next `entries` of the former table. */
static void bring(struct hl_lane_counts *counts, uint32_t entries) {
    struct hl_index *former = counts->former;
    for (; former && entries > 0; entries--, counts->brought++) {
        if (counts->brought >= entries_of(former)) {
            counts->former = NULL;
            hl_own_piece_wipe(former, index_bytes(entries_of(former)));
            return;
        }
        const uint64_t entry = former->entries[counts->brought];
        if (entry && !*place_in(counts->index, site_of(entry))) put(counts->index, entry);
    }
}

/* Where as many sites as the smaller table has come to lie, if their numbers follow each other; bounded (M2). */
static void populate(struct hl_index *index, uint32_t used) {
    enum { MOST = 1 << 18 };
    const size_t bytes = index_bytes(used);
    hl_populate(index, bytes < MOST ? bytes : MOST);
}

/* Room for one site more; 0 where there is none. At three quarters a table of twice the size begins; it has all of this
 * one before it is as full itself. */
static int make_room(struct hl_lane_counts *counts) {
    struct hl_index *index = counts->index;
    const uint32_t entries = entries_of(index);
    if ((index->used + 1) * 4 <= entries * 3) return 1;
    bring(counts, counts->former ? entries_of(counts->former) + 1 : 0);
    struct hl_index *larger = hl_own_passing_piece(index_bytes(2 * entries));
    if (!larger) return index->used + 1 < entries;
    hl_add_shared(&hl_flight.header->own_bytes, index_bytes(entries));
    begin_index(larger, 2 * entries);
    populate(larger, index->used);
    counts->brought = 0;
    counts->former = index;
    __atomic_store_n(&counts->index, larger, __ATOMIC_RELEASE);
    return 1;
}

static struct hl_count *find_or_add(struct hl_lane_counts *counts, struct hl_lane_record *record, uint32_t site) {
    const uint64_t epochs = counts->epochs;
    uint64_t found = *place_in(counts->index, site);
    if (!found && counts->former) found = *place_in(counts->former, site);
    struct hl_count *count = found ? hl_index_count(found) : NULL;
    if (count)
        follow(chunk_of(counts, count), epochs);
    else if (make_room(counts))
        count = add_count(counts, record, site, epochs);
    if (!count) return NULL;
    bring(counts, HL_INDEX_STEP);
    const hl_cell_ref place = (hl_cell_ref)(((char *)count - hl_flight.base) / HL_CELL_SIZE);
    uint64_t *entry = put(counts->index, (uint64_t)(site | stamp_of(epochs)) << HL_INDEX_KEY_SHIFT | place);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (hl_load64(&counts->epochs) != epochs) forget_stamp(entry); /* a handler has brought the next one meanwhile */
    return count;
}

HL_NOINLINE struct hl_count *hl_lane_find_slow(struct hl_lane_counts *counts, struct hl_lane_record *record,
                                               uint32_t site) {
    const uint64_t known = *place_in(counts->index, site);
    if (hl_index_has(known, site | counts->stamp)) return hl_index_count(known);
    if (counts->changing) return NULL; /* M4 */
    const int saved = hl_guard_enter(&hl_thread);
    counts->changing = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    struct hl_count *count = find_or_add(counts, record, site);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    counts->changing = 0;
    hl_guard_leave(&hl_thread, saved);
    return count;
}

/* With M4's flag: what a handler added meanwhile would have a stamp again. */
static void forget_stamps(struct hl_lane_counts *counts) {
    struct hl_index *tables[] = {counts->index, counts->former};
    for (int i = 0; i < 2; i++)
        for (uint32_t j = 0; tables[i] && j < entries_of(tables[i]); j++) forget_stamp(&tables[i]->entries[j]);
}

/* The chunk of `other` is kept at once: that is changed without a look at the table. */
void hl_lane_counts_turn(struct hl_lane_counts *counts, uint64_t epochs) {
    const uint32_t former = hl_moment_of(counts->epochs), moment = hl_moment_of(epochs), changing = counts->changing;
    if (counts->chunk_count) hl_inheritance_keep(&counts->chunks[0], moment);
    if (HL_UNLIKELY(former / HL_INDEX_STAMPS != moment / HL_INDEX_STAMPS)) {
        counts->changing = 1;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        forget_stamps(counts);
    }
    counts->epochs = epochs;
    counts->stamp = stamp_of(epochs);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    counts->changing = changing;
}

void hl_lane_counts_wipe_bases(const struct hl_lane_counts *counts) {
    for (uint32_t i = 0; i < counts->chunk_count; i++) {
        const struct hl_lane_chunk *chunk = &counts->chunks[i];
        if (!chunk->base) continue;
        memset(hl_flight_cell(chunk->base), 0, chunk->capacity * sizeof(struct hl_count));
        memset(old_of(chunk), 0, chunk->capacity * sizeof(struct hl_old));
    }
}

void hl_lane_counts_stop(struct hl_lane_counts *counts, struct hl_lane_tables *tables) {
    memset(tables->index, 0, sizeof(tables->index));
    counts->changing = 1;
    counts->index = (struct hl_index *)tables->index;
    begin_index(counts->index, HL_INDEX_LEAST);
}

void hl_lane_counts_create(struct hl_lane_counts *counts, struct hl_lane_record *record, hl_cell_ref chunk,
                           struct hl_lane_tables *tables) {
    counts->index = (struct hl_index *)tables->index;
    begin_index(counts->index, HL_INDEX_LEAST);
    counts->chunks = tables->chunks;
    counts->chunk_room = HL_LANE_CHUNKS_LEAST;
    hl_lane_counts_turn(counts, hl_load64(&hl_epochs));
    begin_chunk(counts, record, chunk, HL_CHUNK_LEAST, counts->epochs);
    counts->other = hl_lane_find_slow(counts, record, HL_SITE_OTHER);
}

HL_COLD void hl_lane_count_old(struct hl_lane_counts *counts, const struct hl_count *count, size_t size) {
    struct hl_lane_chunk *chunk = chunk_of(counts, count);
    if (counts->changing || !base_of(chunk)) return;
    struct hl_old *old = old_of(chunk) + (count - counts_of(chunk));
    hl_add(&old->frees, 1);
    hl_add(&old->bytes_freed, size);
}
