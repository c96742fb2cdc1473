/* SPDX-License-Identifier: MIT */
#include "objects/object_table.h"

#include <errno.h>

#include "flight/flight.h"
#include "platform/own_memory.h"

/* Regions are cut from arenas: 4 MiB of object heap each, 256 GiB in all. */
enum { ARENA_REGIONS = 64, ARENAS = 1 << 16 };

struct hl_object_table hl_object_table;
static char **arenas;
static struct hl_object_region *empty; /* regions without objects, last emptied first; some may be in use again */

int hl_object_table_create(uint32_t least_slot, size_t page_bytes) {
    struct hl_object_table *table = &hl_object_table;
    if (table->leaves) return 0;
    const size_t entries = HL_REGION_BYTES / least_slot + 1;
    table->least_slot = least_slot;
    table->page_shift = HL_REGION_BITS;
    while (page_bytes < (size_t)1 << table->page_shift && HL_REGION_BYTES >> table->page_shift < HL_PHASES)
        table->page_shift--;
    table->region_bytes = (sizeof(struct hl_object_region) + entries * 6 + 2 + 63) & ~(size_t)63;
    if (!arenas) arenas = hl_own_memory(ARENAS * sizeof(*arenas));
    void *leaves = hl_own_memory(HL_LEAVES * sizeof(*table->leaves));
    if (!arenas || !leaves) return -ENOMEM;
    table->leaves = leaves;
    return 0;
}

static struct hl_object_region *region_number(uint64_t number) {
    return (void *)(arenas[number / ARENA_REGIONS] + number % ARENA_REGIONS * hl_object_table.region_bytes);
}

/* A region that was never used, or NULL. */
static struct hl_object_region *fresh(void) {
    struct hl_object_table *table = &hl_object_table;
    const uint64_t arena = table->regions / ARENA_REGIONS;
    if (arena >= ARENAS) return NULL;
    if (!arenas[arena] && !(arenas[arena] = hl_own_memory(ARENA_REGIONS * table->region_bytes))) return NULL;
    hl_add_shared(&hl_flight.header->own_bytes, table->region_bytes);
    hl_populate_ahead(arenas[arena], ARENA_REGIONS * table->region_bytes,
                      table->regions % ARENA_REGIONS * table->region_bytes, table->region_bytes);
    return region_number(table->regions++);
}

static struct hl_object_region **slot_of(uintptr_t address) {
    struct hl_object_region ***leaf =
        &hl_object_table.leaves[address >> (HL_REGION_BITS + HL_LEAF_BITS) & (HL_LEAVES - 1)];
    if (!*leaf) *leaf = hl_own_memory(HL_LEAF_REGIONS * sizeof(**leaf));
    return *leaf ? &(*leaf)[address >> HL_REGION_BITS & (HL_LEAF_REGIONS - 1)] : NULL;
}

/* One that was emptied and stayed so: the memory of an object heap that moves about is used again. */
static struct hl_object_region *emptied(void) {
    while (empty) {
        struct hl_object_region *region = empty;
        empty = region->next_empty;
        region->is_listed = 0;
        if (region->live) continue;
        *slot_of(region->base) = NULL;
        return region;
    }
    return NULL;
}

/* Keep one empty region in reserve of its own page: a page that fills and empties in turn takes no new one. */
struct hl_object_region *hl_object_region_make(uintptr_t address) {
    struct hl_object_region **slot = slot_of(address);
    if (!slot) return NULL;
    struct hl_object_region *region = emptied();
    if (!region) region = fresh();
    if (!region) return NULL;
    region->base = address & ~(uintptr_t)(HL_REGION_BYTES - 1);
    hl_object_region_learn(region, (uint16_t)hl_object_table.least_slot);
    *slot = region;
    return region;
}

void hl_object_region_learn(struct hl_object_region *region, uint16_t slot_bytes) {
    memset(region->phase, 0xff, sizeof(region->phase)); /* HL_PHASE_UNKNOWN */
    region->slot_bytes = slot_bytes < hl_object_table.least_slot ? (uint16_t)hl_object_table.least_slot : slot_bytes;
    region->reciprocal = (uint32_t)((1ull << 32) / region->slot_bytes + 1);
}

void hl_object_region_emptied(struct hl_object_region *region) {
    if (region->is_listed) return;
    region->is_listed = 1;
    region->next_empty = empty;
    empty = region;
}

static void each_in(struct hl_object_region *region, hl_object_visitor *visit, void *context) {
    const uint32_t count = HL_REGION_BYTES / hl_object_table.least_slot + 1;
    for (uint32_t index = 0; index < count && region->live; index++) {
        const struct hl_object_entry entry = hl_object_entry_at(region->entries + (size_t)index * 6);
        if (!entry.row) continue;
        /* A slot's last byte lies in the same page as its first. */
        const uint32_t offset = index * region->slot_bytes, last = offset + region->slot_bytes - 1;
        const uint32_t page = (last < HL_REGION_BYTES ? last : offset) >> hl_object_table.page_shift;
        visit(context, region->base + offset + region->phase[page], entry);
    }
}

void hl_object_table_each(hl_object_visitor *visit, void *context) {
    const uint64_t regions = hl_object_table.regions;
    for (uint64_t number = 0; number < regions; number++) each_in(region_number(number), visit, context);
}

void hl_object_table_clear(void) {
    const size_t entries = hl_object_table.region_bytes - sizeof(struct hl_object_region);
    for (uint64_t number = 0; number < hl_object_table.regions; number++) {
        struct hl_object_region *region = region_number(number);
        if (!region->live) continue;
        memset(region->entries, 0, entries);
        region->live = 0;
        hl_object_region_emptied(region);
    }
}
