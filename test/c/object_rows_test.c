/* SPDX-License-Identifier: MIT */
#include "object_rows.h"

#include <stdlib.h>

#include "check.h"
#include "core.h"
#include "flight.h"
#include "lane.h"
#include "object_classes.h"
#include "object_fold.h"
#include "object_table.h"

enum { SITE = HL_SITE_FIRST, T_OBJECT = 1, T_STRING = 5 };
static const uintptr_t HEAP = 0x7f1234560000;

static void begin(void) {
    core_tables(1000);
    CHECK_EQUAL(hl_object_table_create(40), 0);
    CHECK_EQUAL(hl_object_rows_create(), 0);
    CHECK_EQUAL(hl_object_classes_create(), 0);
}

static uint64_t key(uint64_t type, uint64_t klass) {
    return hl_object_class_key(type, klass);
}

static uint32_t birth(uint32_t site, uint64_t class_key) {
    const uint32_t row = hl_object_row_find(site, class_key);
    hl_object_birth(row, 40);
    return row;
}

static void a_row_for_each_site_and_class(void) {
    begin();
    const uint32_t one = birth(SITE, key(T_OBJECT, 0x1000)), other = birth(SITE, key(T_OBJECT, 0x2000));
    const uint32_t third = birth(SITE + 1, key(T_OBJECT, 0x1000)), fourth = birth(SITE, key(T_STRING, 0x1000));
    CHECK(one != other && one != third && one != fourth && other != third);
    CHECK_EQUAL(birth(SITE, key(T_OBJECT, 0x1000)), one);
    CHECK_EQUAL(hl_object_row(one)->site, SITE);
    CHECK_EQUAL(hl_object_row(one)->allocated, 2);
    CHECK_EQUAL(hl_object_row(one)->bytes_allocated, 80);
    CHECK_EQUAL(hl_object_class(hl_object_row(fourth)->class_index)->type, T_STRING);
    CHECK_EQUAL(hl_flight.header->objects_allocated, 5);
}

static void deaths_ages_and_what_was_temporary(void) {
    begin();
    const uint32_t row = birth(SITE, key(T_OBJECT, 0x1000));
    birth(SITE, key(T_OBJECT, 0x1000));
    hl_object_death(row, 40, 10, 1);
    hl_object_death(row, 40, 10, 7);
    CHECK_EQUAL(hl_object_row(row)->freed, 2);
    CHECK_EQUAL(hl_object_row(row)->bytes_freed, 80);
    CHECK_EQUAL(hl_object_row(row)->age_sum, 8);
    CHECK_EQUAL(hl_object_row(row)->age_max, 7);
    CHECK_EQUAL(hl_object_row(row)->temporary, 1);
}

static void since_a_baseline(void) {
    begin();
    const uint32_t row = birth(SITE, key(T_OBJECT, 0x1000));
    birth(SITE, key(T_OBJECT, 0x1000));
    const uint64_t before = hl_object_generation(hl_generation());
    hl_lane_baseline(HL_BASELINE_CLEAR);
    const uint64_t now = hl_object_generation(hl_generation());
    birth(SITE, key(T_OBJECT, 0x1000));
    hl_object_death(row, 40, now, now - before);
    hl_object_death(row, 40, now, 0);
    const struct hl_object_row *figures = hl_object_row(row);
    CHECK_EQUAL(figures->baseline, 1);
    CHECK_EQUAL(figures->base_allocated, 2);
    CHECK_EQUAL(figures->freed, 2);
    CHECK_EQUAL(figures->old_freed, 1);
    CHECK_EQUAL(figures->old_bytes_freed, 40);
}

static void a_class_that_is_freed_gives_up_its_address(void) {
    begin();
    const uint32_t first = birth(SITE, key(T_OBJECT, 0x1000));
    hl_object_class_gone(0x1000);
    const uint32_t second = birth(SITE, key(T_OBJECT, 0x1000));
    CHECK(first != second);
    CHECK(hl_object_class(hl_object_row(first)->class_index)->flags & HL_CLASS_GONE);
    CHECK(!(hl_object_class(hl_object_row(second)->class_index)->flags & HL_CLASS_GONE));
}

/* Removing one of many that share their places leaves the others to be found. */
static void classes_come_and_go(void) {
    enum { CLASSES = 5000 };
    static uint32_t numbers[CLASSES];
    begin();
    for (uint64_t i = 0; i < CLASSES; i++) numbers[i] = hl_object_class_find(key(T_OBJECT, 0x10000 + i * 40));
    for (uint64_t i = 0; i < CLASSES; i += 3) hl_object_class_gone(0x10000 + i * 40);
    for (uint64_t i = 0; i < CLASSES; i++) {
        const uint32_t now = hl_object_class_find(key(T_OBJECT, 0x10000 + i * 40));
        CHECK(i % 3 ? now == numbers[i] : now != numbers[i]);
    }
}

static void without_room_objects_count_as_other(void) {
    begin();
    for (uint64_t i = 0; i < HL_OBJECT_CLASSES_MAX + 10; i++) birth(SITE, key(T_OBJECT, 0x10000 + i * 40));
    CHECK(hl_object_row(HL_OBJECT_OTHER)->allocated >= 10);
    CHECK_EQUAL(hl_flight.header->objects_refused, hl_object_row(HL_OBJECT_OTHER)->allocated);
    CHECK_EQUAL(hl_flight.header->objects_allocated, HL_OBJECT_CLASSES_MAX + 10);
}

static uint64_t sum_of(uint32_t site, uint64_t *freed) {
    uint64_t sum = 0;
    *freed = 0;
    for (uint32_t number = HL_OBJECT_OTHER; number < hl_flight.header->object_rows; number++) {
        if (hl_object_row(number)->site != site) continue;
        sum += hl_object_row(number)->allocated;
        *freed += hl_object_row(number)->freed;
    }
    return sum;
}

/* Classes without end: every object is counted, and one that lives on keeps its row. */
static void rows_of_freed_classes_are_brought_together(void) {
    enum { CLASSES = 3 * HL_OBJECT_CLASSES_MAX };
    uint64_t freed;
    begin();
    const uint32_t kept = birth(SITE, key(T_OBJECT, 0x1000));
    hl_object_class_gone(0x1000);
    for (uint64_t i = 0; i < CLASSES; i++) {
        const uint64_t klass = 0x10000 + i % 100 * 40;
        hl_object_death(birth(SITE, key(T_OBJECT, klass)), 40, 1, 1);
        hl_object_class_gone(klass);
    }
    CHECK_EQUAL(sum_of(SITE, &freed), CLASSES + 1);
    CHECK_EQUAL(freed, CLASSES);
    CHECK_EQUAL(hl_flight.header->objects_refused, 0);
    CHECK(hl_flight.header->objects_folds >= 4 && hl_flight.header->objects_folds % 2 == 0);
    CHECK_EQUAL(hl_object_row(kept)->allocated, 1);
    CHECK_EQUAL(hl_object_row(kept)->freed, 0);
}

static void an_object_in_a_slot_of_another_size(void) {
    begin();
    const uint32_t row = birth(SITE, key(T_OBJECT, 0x1000));
    hl_object_resized(row, 40, 160, 0);
    CHECK_EQUAL(hl_object_row(row)->bytes_allocated - hl_object_row(row)->bytes_freed, 160);
    CHECK_EQUAL(hl_object_row(row)->allocated - hl_object_row(row)->freed, 1);
}

static void beginning_anew(void) {
    begin();
    const uint32_t row = birth(SITE, key(T_OBJECT, 0x1000));
    hl_object_rows_clear();
    CHECK_EQUAL(hl_object_row(row)->allocated, 0);
    CHECK_EQUAL(hl_object_row(row)->site, SITE);
    CHECK_EQUAL(birth(SITE, key(T_OBJECT, 0x1000)), row);
    CHECK_EQUAL(hl_flight.header->objects_allocated, 1);
}

/* A copy of the flight that was made a little before the fork lacks the last births, and the last deaths. */
static void a_child_s_rows_agree_with_what_lives(void) {
    begin();
    const uint32_t row = birth(SITE, key(T_OBJECT, 0x1000)), late = birth(SITE, key(T_OBJECT, 0x2000));
    for (unsigned i = 0; i < 4; i++) {
        birth(SITE, key(T_OBJECT, 0x1000));
        struct hl_object_region *region = hl_object_region(HEAP);
        if (!region) region = hl_object_region_make(HEAP);
        if (!region) abort();
        hl_object_fits(region, HEAP + 40 + i * 40);
        hl_object_put(region, hl_object_place(region, HEAP + 40 + i * 40), i ? row : late, 1);
    }
    hl_object_row(row)->allocated = 2;
    *hl_object_row(late) = (struct hl_object_row){0};
    hl_object_rows_repair();
    CHECK_EQUAL(hl_object_row(row)->allocated, 3);
    CHECK_EQUAL(hl_object_row(row)->freed, 0);
    CHECK_EQUAL(hl_object_row(late)->site, SITE);
    CHECK_EQUAL(hl_object_row(late)->allocated, 1);
    CHECK_EQUAL(hl_flight.header->objects_allocated, 4);
    CHECK_EQUAL(hl_object_rows.allocated, 4);
}

static const struct check_test tests[] = {
    {"a_row_for_each_site_and_class", a_row_for_each_site_and_class},
    {"deaths_ages_and_what_was_temporary", deaths_ages_and_what_was_temporary},
    {"since_a_baseline", since_a_baseline},
    {"a_class_that_is_freed_gives_up_its_address", a_class_that_is_freed_gives_up_its_address},
    {"classes_come_and_go", classes_come_and_go},
    {"without_room_objects_count_as_other", without_room_objects_count_as_other},
    {"rows_of_freed_classes_are_brought_together", rows_of_freed_classes_are_brought_together},
    {"an_object_in_a_slot_of_another_size", an_object_in_a_slot_of_another_size},
    {"beginning_anew", beginning_anew},
    {"a_child_s_rows_agree_with_what_lives", a_child_s_rows_agree_with_what_lives},
};
CHECK_MAIN(tests)
