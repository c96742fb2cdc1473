/* SPDX-License-Identifier: MIT */
/*
 * The side table of objects: from the address of a living Ruby object to its row and its generation of birth.
 *
 * Slots of the object heap are found by place, not by hash: an object's address without its low 16 bits names a region,
 * and in it each possible slot has an entry of 6 bytes: the heap page's slots are of one size. So the table takes 15 %
 * of the object heap (19 % in Ruby 4.1, whose least slot has 32 bytes), whatever lives there, and no entry ever moves
 * but with its object.
 *
 * O1  One writer at a time: every caller holds the VM's lock, or the GVL where there are no Ractors. After fork the
 *     child's copy is what the table was at that moment.
 * O2  A slot of a region without living objects may belong to another heap page by now: what is known of the page (the
 *     size of its slots, where the first one begins) is learnt anew then.
 * Nothing here allocates through malloc or touches the objects.
 */
#ifndef HL_OBJECT_TABLE_H
#define HL_OBJECT_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "platform/platform.h"

enum {
    HL_REGION_BITS = 16,
    HL_REGION_BYTES = 1 << HL_REGION_BITS,
    HL_LEAF_BITS = 15,
    HL_LEAF_REGIONS = 1 << HL_LEAF_BITS,
    HL_LEAVES = 1 << (HL_ADDRESS_BITS - HL_REGION_BITS - HL_LEAF_BITS),
    HL_PHASES = 4, /* heap pages in a region: Ruby 3.1 has pages of 16 KiB */
    HL_PHASE_UNKNOWN = 0xffff,
    HL_OBJECT_BIRTH_MASK = (1 << 24) - 1,
    HL_OBJECT_BIRTH_EXACT = 1 << 23, /* generations; older than this is told as at least that (object_rows.h, Q3) */
};

/* Its entries follow it, 6 bytes each, and 2 bytes that reading the last one reaches over. */
struct hl_object_region {
    uintptr_t base; /* address of the region; 0: in no use */
    struct hl_object_region *next_empty;
    uint32_t live;       /* entries in use */
    uint32_t reciprocal; /* 2^32 / slot_bytes, rounded up */
    uint16_t slot_bytes;
    uint16_t phase[HL_PHASES]; /* of each page: where its slots begin, modulo their size */
    uint8_t is_listed;         /* among the empty ones */
    char entries[];
};

/* An entry; row 0: none. */
struct hl_object_entry {
    uint32_t row;   /* below 2^24 */
    uint32_t birth; /* hl_object_birth_now: below 2^24 */
};

struct hl_object_table {
    struct hl_object_region ***leaves; /* [address >> 31][address >> 16 & 0x7fff]; sparse */
    uint32_t least_slot;               /* bytes between two addresses of objects, at least */
    uint32_t page_shift;               /* a heap page has 2^page_shift bytes, at most those of a region */
    uint64_t regions;                  /* taken so far */
    size_t region_bytes;               /* of one region's entry */
};
extern struct hl_object_table hl_object_table HL_HIDDEN;

/* Make the table, for slots of at least `least_slot` bytes in heap pages of `page_bytes`. Does nothing where it is
 * there. 0 or -ENOMEM. */
int hl_object_table_create(uint32_t least_slot, size_t page_bytes);

/* Forget all objects. */
void hl_object_table_clear(void);

/* The region of an address where it has none yet: NULL where there is no memory. */
struct hl_object_region *hl_object_region_make(uintptr_t address);

/* The region has no object: its page's slots have this size. */
void hl_object_region_learn(struct hl_object_region *region, uint16_t slot_bytes);

/* The region's last object is gone. */
void hl_object_region_emptied(struct hl_object_region *region);

/* Call `visit` with each object in the table. It may erase that object, and move it to another address. */
typedef void hl_object_visitor(void *context, uintptr_t object, struct hl_object_entry entry);
void hl_object_table_each(hl_object_visitor *visit, void *context);

HL_INLINE struct hl_object_region *hl_object_region(uintptr_t address) {
    struct hl_object_region **leaf =
        hl_object_table.leaves[address >> (HL_REGION_BITS + HL_LEAF_BITS) & (HL_LEAVES - 1)];
    return HL_LIKELY(leaf != NULL) ? leaf[address >> HL_REGION_BITS & (HL_LEAF_REGIONS - 1)] : NULL;
}

HL_INLINE uint32_t hl_object_index(const struct hl_object_region *region, uintptr_t address) {
    return (uint32_t)((address & (HL_REGION_BYTES - 1)) * region->reciprocal >> 32);
}

/* Can an object at this address be found again? The slots of one page begin at the same distance from the raster; the
 * first one tells which. */
HL_INLINE int hl_object_fits(struct hl_object_region *region, uintptr_t address) {
    const uint32_t offset = address & (HL_REGION_BYTES - 1);
    const uint16_t phase = (uint16_t)(offset - hl_object_index(region, address) * region->slot_bytes);
    uint16_t *known = &region->phase[offset >> hl_object_table.page_shift];
    if (HL_UNLIKELY(*known == HL_PHASE_UNKNOWN)) *known = phase;
    return *known == phase;
}

HL_INLINE char *hl_object_place(struct hl_object_region *region, uintptr_t address) {
    return region->entries + (size_t)hl_object_index(region, address) * 6;
}

HL_INLINE struct hl_object_entry hl_object_entry_at(const char *place) {
    uint64_t word;
    memcpy(&word, place, sizeof(word));
    return (struct hl_object_entry){word >> 24 & 0xffffff, word & HL_OBJECT_BIRTH_MASK};
}

HL_INLINE void hl_object_entry_write(char *place, uint32_t row, uint32_t birth) {
    const uint32_t low = (birth & HL_OBJECT_BIRTH_MASK) | row << 24;
    const uint16_t high = (uint16_t)(row >> 8);
    memcpy(place, &low, sizeof(low));
    memcpy(place + sizeof(low), &high, sizeof(high));
}

/* An object that has no entry gets one. */
HL_INLINE void hl_object_put(struct hl_object_region *region, char *place, uint32_t row, uint32_t birth) {
    hl_object_entry_write(place, row, birth);
    region->live++;
}

HL_INLINE void hl_object_erase(struct hl_object_region *region, char *place) {
    hl_object_entry_write(place, 0, 0);
    if (HL_UNLIKELY(--region->live == 0)) hl_object_region_emptied(region);
}

#endif
