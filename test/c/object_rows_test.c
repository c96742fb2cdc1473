/* SPDX-License-Identifier: MIT */
#include "objects/object_rows.h"

#include <stdlib.h>

#include "account/lane.h"
#include "check.h"
#include "core.h"
#include "flight/flight.h"
#include "objects/object_classes.h"
#include "objects/object_table.h"

enum { SITE = HL_SITE_FIRST, T_OBJECT = 1, T_STRING = 5 };
static const uintptr_t HEAP = 0x7f1234560000;

static void begin(void) {
    core_tables(1000);
    CHECK_EQUAL(hl_object_table_create(40, 16384), 0);
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

struct told {
    uint64_t now, least, most; /* generations */
    unsigned count;
};

static void tell(void *context, uintptr_t object, struct hl_object_entry entry) {
    struct told *told = context;
    const uint64_t born = hl_object_born_at(entry.birth);
    (void)object;
    told->least = told->count == 0 || born < told->least ? born : told->least;
    told->most = told->count == 0 || born > told->most ? born : told->most;
    told->count++;
}

static void put(unsigned slot, uint64_t now) {
    const uintptr_t object = HEAP + 40 + slot * 40;
    struct hl_object_region *region = hl_object_region(object);
    if (!region) region = hl_object_region_make(object);
    if (!region) abort();
    CHECK(hl_object_fits(region, object));
    hl_object_put(region, hl_object_place(region, object), 1, hl_object_birth_now(now));
}

/* Q3 */
static void births_are_exact_for_long_and_never_told_as_new(void) {
    struct told told = {0};
    begin();
    uint64_t now = 100;
    for (unsigned slot = 0; slot < 200; slot++, now += HL_OBJECT_BIRTH_EXACT / 20) put(slot, now);
    hl_object_table_each(tell, &told);
    CHECK_EQUAL(told.count, 200);
    CHECK_EQUAL(told.most, now - HL_OBJECT_BIRTH_EXACT / 20); /* the last one */
    CHECK_EQUAL(told.least, hl_object_rows.origin - 1);       /* the first ones are older than this */
    CHECK(now - told.least > HL_OBJECT_BIRTH_EXACT && now - told.least <= HL_OBJECT_BIRTH_MASK);
}

static void which_side_of_the_baseline_a_birth_was_on_is_known_for_ever(void) {
    struct told told = {0};
    begin();
    put(0, 7);
    hl_object_rows.old_below = 8;
    put(1, 8);
    put(2, 3ull << 32);
    put(3, (3ull << 32) + 2 * HL_OBJECT_BIRTH_MASK);
    hl_object_table_each(tell, &told);
    CHECK_EQUAL(told.least, 7);
    CHECK_EQUAL(told.count, 4);
    const char *since = hl_object_place(hl_object_region(HEAP + 80), HEAP + 80);
    CHECK(hl_object_born_at(hl_object_entry_at(since).birth) >= 8);
    hl_object_rows.old_below = hl_object_rows.origin + HL_OBJECT_BIRTH_MASK; /* a further baseline */
    CHECK(hl_object_born_at(hl_object_entry_at(since).birth) < hl_object_rows.old_below);
    put(4, hl_object_rows.origin + 2 * (uint64_t)HL_OBJECT_BIRTH_MASK);
    CHECK_EQUAL(hl_object_entry_at(since).birth, HL_BORN_BEFORE_BASELINE);
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

/* Q2 */
static void lines_without_room_have_a_row_of_other_for_each_class(void) {
    enum { BEYOND = 1000 };
    const uint64_t one = key(T_OBJECT, 0x1000), second = key(T_STRING, 0x2000), late = key(T_OBJECT, 0x3000);
    begin();
    birth(SITE, second);
    for (uint32_t site = SITE; site < SITE + HL_OBJECT_ROWS_MAX; site++) birth(site, one);
    const uint64_t refused = hl_flight.header->objects_refused;
    CHECK(refused >= HL_OBJECT_CLASSES_MAX && refused < HL_OBJECT_ROWS_MAX / 8);
    const uint32_t first_row = birth(HL_SITES_MAX - 1, one);
    for (uint32_t i = 0; i < BEYOND; i++) birth(HL_SITES_MAX - 1, second);
    const uint32_t row = birth(HL_SITES_MAX - 1, late); /* a class that comes when there is no room for lines */
    CHECK_EQUAL(hl_flight.header->objects_refused, refused + 1 + BEYOND + 1);
    CHECK_EQUAL(hl_object_row(first_row)->site, HL_SITE_OTHER);
    CHECK_EQUAL(hl_object_row(first_row)->allocated, refused + 1);
    CHECK_EQUAL(hl_object_class(hl_object_row(row)->class_index)->type, T_OBJECT);
    CHECK_EQUAL(hl_object_row(row)->allocated, 1);
    CHECK_EQUAL(hl_object_row(HL_OBJECT_OTHER)->allocated, 0);
    CHECK_EQUAL(hl_object_row(birth(SITE, one))->site, SITE); /* those that have a row keep it */
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

/* No slow look-up for an object of each of 20,000 classes in turn. */
static void the_cache_follows_the_number_of_rows(void) {
    enum { CLASSES = 20000, ROUNDS = 8 };
    static uint32_t rows[CLASSES];
    begin();
    for (uint64_t round = 0; round < ROUNDS; round++)
        for (uint64_t i = 0; i < CLASSES; i++) {
            const uint32_t row = birth(SITE, key(T_OBJECT, (i + 1) * 40));
            CHECK(!round || row == rows[i]);
            rows[i] = row;
        }
    uint64_t kept = 0;
    for (uint64_t i = 0; i < CLASSES; i++) kept += hl_object_row_kept(SITE, key(T_OBJECT, (i + 1) * 40)) == rows[i];
    CHECK(kept > CLASSES / 100 * 98);
    CHECK_EQUAL(hl_flight.header->objects_allocated, CLASSES * ROUNDS);
}

/* Also where as many classes were freed in between as there are tags, and nothing was born. */
static void a_class_where_a_freed_one_was_has_its_own_row(void) {
    enum { TAGS = 256 };
    begin();
    for (uint64_t i = 0; i < TAGS; i++) birth(SITE, key(T_OBJECT, (i + 1) * 40));
    const uint32_t row = hl_object_row_kept(SITE, key(T_OBJECT, 40));
    CHECK(row != 0);
    for (uint64_t i = 0; i < TAGS; i++) hl_object_class_gone((i + 1) * 40);
    CHECK_EQUAL(hl_object_row_kept(SITE, key(T_OBJECT, 40)), 0);
    CHECK(birth(SITE, key(T_OBJECT, 40)) != row);
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
    {"births_are_exact_for_long_and_never_told_as_new", births_are_exact_for_long_and_never_told_as_new},
    {"which_side_of_the_baseline_a_birth_was_on_is_known_for_ever",
     which_side_of_the_baseline_a_birth_was_on_is_known_for_ever},
    {"a_class_that_is_freed_gives_up_its_address", a_class_that_is_freed_gives_up_its_address},
    {"classes_come_and_go", classes_come_and_go},
    {"without_room_objects_count_as_other", without_room_objects_count_as_other},
    {"lines_without_room_have_a_row_of_other_for_each_class", lines_without_room_have_a_row_of_other_for_each_class},
    {"rows_of_freed_classes_are_brought_together", rows_of_freed_classes_are_brought_together},
    {"the_cache_follows_the_number_of_rows", the_cache_follows_the_number_of_rows},
    {"a_class_where_a_freed_one_was_has_its_own_row", a_class_where_a_freed_one_was_has_its_own_row},
    {"an_object_in_a_slot_of_another_size", an_object_in_a_slot_of_another_size},
    {"beginning_anew", beginning_anew},
    {"a_child_s_rows_agree_with_what_lives", a_child_s_rows_agree_with_what_lives},
};
CHECK_MAIN(tests)
