/* SPDX-License-Identifier: MIT */
/*
 * Rows of objects in the flight file: what was born at one site, of one class. **Here objects are counted**
 * (hl_object_birth, hl_object_death).
 *
 * Q1  One writer at a time, as for the side table (O1). A row's number means the same as long as one of its objects
 *     lives, in this process and in children forked from it.
 * Q2  Where there is no room for a row, its objects count in their class's row of (other), and where there is none for
 *     the class either, in the one row HL_OBJECT_OTHER: nothing is lost.
 * Q3  The side table has 24 bits for a birth: generations since `origin`. When they run out the origin moves on. What
 *     was born before it is told as just that old, which is at least HL_OBJECT_BIRTH_EXACT generations, and whether it
 *     was born before the baseline is known for ever. So nothing is told too young by more, and nothing ever as new.
 * Nothing here allocates through malloc.
 */
#ifndef HL_OBJECT_ROWS_H
#define HL_OBJECT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "flight/flight.h"
#include "flight/flight_layout.h"
#include "objects/object_classes.h"
#include "objects/object_table.h"
#include "platform/platform.h"

/* What was asked for lately: (site, class) → row, in sets of four. A set is a line of the processor's cache: with many
 * classes nearly each birth waits for one, so what is kept is small and lies close. */
enum { HL_ROW_WAYS = 4 };
struct hl_row_slot {
    uint64_t class_key; /* with the tag under which it was asked for in the bits that no key has */
    uint32_t site;
    uint32_t row; /* 0: empty */
};
#define HL_ROW_TAG (1ull << 48)
#define HL_ROW_TAGS (0xffull << 48)

struct hl_object_rows {
    uint64_t baseline;         /* the number of the baseline that births and deaths are counted under */
    uint64_t old_below;        /* generation of objects: what was born before it was born before the baseline */
    uint64_t turns;            /* generations that were made by hl_objects_next_generation */
    uint64_t origin;           /* the generation that births are counted from (Q3) */
    uint64_t allocated, freed; /* as in the header: this process's own copy */
    struct hl_row_slot *slots; /* a power of two, of which there are more as rows drive each other out */
    uint64_t slots_last;       /* where the last one lies, in bytes from the first: all ones above the size of one */
    uint64_t tag;              /* of the slots that hold; others are of classes as they were */
    uint64_t epoch;            /* hl_object_classes_epoch when the tag was made */
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

HL_INLINE struct hl_object_row *hl_object_row(uint32_t number) {
    return hl_object_rows.pages[number / HL_OBJECT_ROWS_PER_PAGE] + number % HL_OBJECT_ROWS_PER_PAGE;
}

/* Classes are not what they were: no slot holds any more. */
void hl_object_rows_forget(void);

/* Not scattered: classes that lie beside each other, and sites that were met one after the other, have sets beside each
 * other, as they are likely to be asked for in turn. */
HL_INLINE struct hl_row_slot *hl_row_set(uint32_t site, uint64_t class_key) {
    const uint64_t set = site + (class_key >> 5) + (class_key >> 56) * 11; /* slots of objects have 32 bytes at least */
    const uint64_t place = set * HL_ROW_WAYS * sizeof(struct hl_row_slot) & hl_object_rows.slots_last;
    return (struct hl_row_slot *)((char *)hl_object_rows.slots + place);
}

/* The row in the slots, or 0. */
HL_INLINE uint32_t hl_object_row_kept(uint32_t site, uint64_t class_key) {
    if (HL_UNLIKELY(hl_object_rows.epoch != hl_object_classes_epoch)) hl_object_rows_forget();
    const struct hl_row_slot *set = hl_row_set(site, class_key);
    for (int way = 0; way < HL_ROW_WAYS; way++)
        if (set[way].class_key == (class_key | hl_object_rows.tag) && set[way].site == site) return set[way].row;
    return 0;
}

HL_INLINE uint32_t hl_object_row_find(uint32_t site, uint64_t class_key) {
    const uint32_t row = hl_object_row_kept(site, class_key);
    return HL_LIKELY(row) ? row : hl_object_row_slow(site, class_key);
}

/* The row, brought up to the baseline. */
HL_INLINE struct hl_object_row *hl_object_row_now(uint32_t number) {
    struct hl_object_row *row = hl_object_row(number);
    if (HL_UNLIKELY(row->baseline != (uint32_t)hl_object_rows.baseline)) {
        row->base_allocated = row->allocated;
        row->base_freed = row->freed;
        row->base_bytes_allocated = row->bytes_allocated;
        row->base_bytes_freed = row->bytes_freed;
        row->old_freed = row->old_bytes_freed = 0;
        row->baseline = (uint32_t)hl_object_rows.baseline;
    }
    return row;
}

/* The generation of objects at a generation of blocks (hl_generation). */
HL_INLINE uint64_t hl_object_generation(uint64_t generation) {
    if (HL_UNLIKELY(hl_load64(&hl_flight.header->baseline) != hl_object_rows.baseline)) hl_object_rows_rebase();
    return generation + hl_object_rows.turns;
}

/* Births before the origin, and the first one that is not. */
enum { HL_BORN_BEFORE_BASELINE = 0, HL_BORN_SINCE_BASELINE = 1, HL_BORN_AT_ORIGIN = 2 };

/* The births in the side table run out: the origin moves on (Q3). */
void hl_object_rows_move_origin(uint64_t now);

/* What the side table keeps of a birth now; and the generation that it means. */
HL_INLINE uint32_t hl_object_birth_now(uint64_t now) {
    if (HL_UNLIKELY(now - hl_object_rows.origin > HL_OBJECT_BIRTH_MASK - HL_BORN_AT_ORIGIN))
        hl_object_rows_move_origin(now);
    return (uint32_t)(now - hl_object_rows.origin) + HL_BORN_AT_ORIGIN;
}

HL_INLINE uint64_t hl_object_born_at(uint32_t birth) {
    const struct hl_object_rows *rows = &hl_object_rows;
    if (HL_UNLIKELY(birth == HL_BORN_BEFORE_BASELINE))
        return (rows->old_below < rows->origin ? rows->old_below : rows->origin) - 1;
    return rows->origin + birth - HL_BORN_AT_ORIGIN;
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
    if (age > row->age_max) row->age_max = age < UINT32_MAX ? (uint32_t)age : UINT32_MAX;
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
