/* SPDX-License-Identifier: MIT */
#include "object_fold.h"

#include <string.h>

#include "flight.h"
#include "object_classes.h"
#include "object_rows.h"
#include "own_memory.h"

enum { WORTHWHILE = 1000, KEEPERS = 1 << 12 };

static uint32_t *keepers;   /* by hash of name, type and flags: the class that stays; a full table keeps more of them */
static uint8_t *has_living; /* by class: a row of it has objects that live */
static uint64_t gone_before;

static int make_tables(void) {
    if (!keepers) keepers = hl_own_memory(KEEPERS * sizeof(*keepers));
    if (!has_living) has_living = hl_own_memory(HL_OBJECT_CLASSES_MAX);
    return keepers && has_living;
}

/* The class that stays for the name of this one: itself, where it is the first, or shares its place with another name.
 */
static uint32_t keeper_of(uint32_t number) {
    const struct hl_object_class *class = hl_object_class(number);
    const uint32_t word = class->name * 64u + class->type * 2u + class->flags;
    uint32_t *keeper = &keepers[word * 0x9e3779b1u >> 20];
    if (!*keeper) *keeper = number;
    const struct hl_object_class *other = hl_object_class(*keeper);
    return other->name == class->name && other->type == class->type && other->flags == class->flags ? *keeper : number;
}

static int is_gone(uint32_t number) {
    return number > HL_OBJECT_OTHER && (hl_object_class(number)->flags & HL_CLASS_GONE) != 0;
}

static void mark_living(void) {
    memset(has_living, 0, HL_OBJECT_CLASSES_MAX);
    for (uint32_t number = HL_OBJECT_OTHER; number < hl_flight.header->object_rows; number++) {
        const struct hl_object_row *row = hl_object_row(number);
        if (row->allocated != row->freed) has_living[row->class_index] = 1;
    }
}

static void add(struct hl_object_row *sum, const struct hl_object_row *row) {
    sum->allocated += row->allocated;
    sum->freed += row->freed;
    sum->bytes_allocated += row->bytes_allocated;
    sum->bytes_freed += row->bytes_freed;
    sum->age_sum += row->age_sum;
    sum->temporary += row->temporary;
    sum->base_allocated += row->base_allocated;
    sum->base_freed += row->base_freed;
    sum->base_bytes_allocated += row->base_bytes_allocated;
    sum->base_bytes_freed += row->base_bytes_freed;
    sum->old_freed += row->old_freed;
    sum->old_bytes_freed += row->old_bytes_freed;
    if (row->age_max > sum->age_max) sum->age_max = row->age_max;
}

/* The first row of a site for a class becomes that of the class that stays; all others are added to it. */
static void fold_row(uint32_t number) {
    struct hl_object_row *row = hl_object_row_now(number);
    if (!row->class_index || !is_gone(row->class_index) || has_living[row->class_index]) return;
    const uint32_t keeper = keeper_of(row->class_index);
    if (keeper == row->class_index) return;
    const uint32_t other = hl_object_row_renamed(number, keeper);
    if (other == number) return;
    add(hl_object_row_now(other), row);
    hl_object_row_release(number);
}

static void fold_classes(void) {
    for (uint32_t number = HL_OBJECT_OTHER + 1; number < hl_flight.header->object_classes; number++)
        if (is_gone(number) && !has_living[number] && keeper_of(number) != number) hl_object_class_release(number);
}

int hl_object_fold(void) {
    struct hl_flight_header *header = hl_flight.header;
    if (hl_object_classes_gone - gone_before < WORTHWHILE || !make_tables()) return 0;
    gone_before = hl_object_classes_gone;
    __atomic_add_fetch(&header->objects_folds, 1, __ATOMIC_SEQ_CST);
    memset(keepers, 0, KEEPERS * sizeof(*keepers));
    mark_living();
    for (uint32_t number = HL_OBJECT_OTHER + 1; number < header->object_rows; number++) fold_row(number);
    fold_classes();
    hl_object_rows_rehash();
    __atomic_add_fetch(&header->objects_folds, 1, __ATOMIC_SEQ_CST);
    return 1;
}
