/* SPDX-License-Identifier: MIT */
/*
 * Rows of objects in the flight file: what was born at one site, of one class. **Here objects are counted**
 * (hl_object_birth, hl_object_death).
 *
 * Q1  One writer at a time, as for the side table (O1). A row's number means the same as long as one of its objects
 *     lives, in this process and in children forked from it.
 * Q2  Where there is no room for a row, its objects count in (other): nothing is lost.
 * Nothing here allocates through malloc.
 */
#ifndef HL_OBJECT_ROWS_H
#define HL_OBJECT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "flight.h"
#include "flight_layout.h"
#include "platform.h"

enum { HL_ROW_SLOTS = 4096 };

/* What was asked for lately: (site, class) → row. */
struct hl_row_slot {
    uint64_t class_key;
    uint32_t site;
    uint32_t row; /* 0: empty */
    uint64_t epoch;
};

struct hl_object_rows {
    uint64_t baseline;         /* the number of the baseline that births and deaths are counted under */
    uint64_t old_below;        /* generation of objects: what was born before it was born before the baseline */
    uint64_t turns;            /* generations that were made by hl_object_turn */
    uint64_t epoch;            /* of the slots: a class was freed, or moved */
    uint64_t allocated, freed; /* as in the header: this process's own copy */
    struct hl_row_slot *slots;
    struct hl_object_row *pages[HL_OBJECT_ROW_PAGES]; /* the directory as addresses */
};
extern struct hl_object_rows hl_object_rows HL_HIDDEN;

/* Make the tables, here and in the flight. Does nothing where they are there. 0 or -errno. */
int hl_object_rows_create(void);

/* Begin anew: no row has counted anything. */
void hl_object_rows_clear(void);

/* There is a new baseline. */
void hl_object_rows_rebase(void);

/* The row of a site and a class (key of object_classes.h). */
uint32_t hl_object_row_slow(uint32_t site, uint64_t class_key);

/* In a forked child, whose flight may be a little older or younger than its side table: make the rows agree with what
 * the table says. */
void hl_object_rows_repair(void);

/* For object_fold.h: make the row that of another class, whose site has no row yet; else that row, and nothing is done.
 * Give a row's number back. Make the index of rows anew, after that. */
uint32_t hl_object_row_renamed(uint32_t number, uint32_t class_index);
void hl_object_row_release(uint32_t number);
void hl_object_rows_rehash(void);

/* A page of the flight that one of the object directory's entries leads to; made if it is missing, NULL where there is
 * no room. */
void *hl_object_directory_page(uint32_t entry);

HL_INLINE struct hl_object_row *hl_object_row(uint32_t number) {
    return hl_object_rows.pages[number / HL_OBJECT_ROWS_PER_PAGE] + number % HL_OBJECT_ROWS_PER_PAGE;
}

HL_INLINE struct hl_row_slot *hl_row_slot(uint32_t site, uint64_t class_key) {
    const uint64_t hash = ((class_key >> 3) ^ ((uint64_t)site << 20)) * 0x9e3779b97f4a7c15ull;
    return &hl_object_rows.slots[hash >> (64 - 12)];
}

HL_INLINE uint32_t hl_object_row_find(uint32_t site, uint64_t class_key) {
    const struct hl_row_slot *slot = hl_row_slot(site, class_key);
    if (HL_LIKELY(slot->class_key == class_key && slot->site == site && slot->epoch == hl_object_rows.epoch))
        return slot->row;
    return hl_object_row_slow(site, class_key);
}

/* The row, brought up to the baseline. */
HL_INLINE struct hl_object_row *hl_object_row_now(uint32_t number) {
    struct hl_object_row *row = hl_object_row(number);
    if (HL_UNLIKELY(row->baseline != hl_object_rows.baseline)) {
        row->base_allocated = row->allocated;
        row->base_freed = row->freed;
        row->base_bytes_allocated = row->bytes_allocated;
        row->base_bytes_freed = row->bytes_freed;
        row->old_freed = row->old_bytes_freed = 0;
        row->baseline = hl_object_rows.baseline;
    }
    return row;
}

/* The generation of objects at a generation of blocks (hl_generation). */
HL_INLINE uint64_t hl_object_generation(uint64_t generation) {
    if (HL_UNLIKELY(hl_load64(&hl_flight.header->baseline) != hl_object_rows.baseline)) hl_object_rows_rebase();
    return generation + hl_object_rows.turns;
}

HL_INLINE void hl_object_birth(uint32_t number, uint32_t slot_bytes) {
    struct hl_object_row *row = hl_object_row_now(number);
    hl_add(&row->allocated, 1);
    hl_add(&row->bytes_allocated, slot_bytes);
    hl_object_rows.allocated++;
    hl_add(&hl_flight.header->objects_allocated, 1);
}

HL_INLINE void hl_object_death(uint32_t number, uint32_t slot_bytes, uint64_t now, uint64_t age) {
    struct hl_object_row *row = hl_object_row_now(number);
    hl_add(&row->freed, 1);
    hl_add(&row->bytes_freed, slot_bytes);
    if (age <= 1) hl_add(&row->temporary, 1);
    hl_add(&row->age_sum, age);
    if (age > row->age_max) row->age_max = (uint32_t)age;
    if (HL_UNLIKELY(now - age < hl_object_rows.old_below)) {
        hl_add(&row->old_freed, 1);
        hl_add(&row->old_bytes_freed, slot_bytes);
    }
    hl_object_rows.freed++;
    hl_add(&hl_flight.header->objects_freed, 1);
}

/* An object moved into a slot of another size. */
void hl_object_resized(uint32_t number, uint32_t from_bytes, uint32_t to_bytes, int is_old);

#endif
