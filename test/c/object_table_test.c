/* SPDX-License-Identifier: MIT */
#include "objects/object_table.h"

#include <stdlib.h>

#include "check.h"
#include "core.h"
#include "flight/flight.h"

enum { SLOT = 40 };
static const uintptr_t HEAP = 0x7f1234560000;

static void begin(void) {
    core_tables(1000);
    CHECK_EQUAL(hl_object_table_create(SLOT, 16384), 0);
}

/* The address of slot `number` of a page that begins at `page` with a header of `header` bytes. */
static uintptr_t address(uintptr_t page, unsigned header, unsigned number) {
    return page + header + (uintptr_t)number * SLOT;
}

static struct hl_object_region *put(uintptr_t object, uint32_t row, uint32_t birth) {
    struct hl_object_region *region = hl_object_region(object);
    if (!region) region = hl_object_region_make(object);
    if (!region) abort();
    if (!region->live) hl_object_region_learn(region, SLOT);
    CHECK(hl_object_fits(region, object));
    hl_object_put(region, hl_object_place(region, object), row, birth);
    return region;
}

static struct hl_object_entry entry(uintptr_t object) {
    struct hl_object_region *region = hl_object_region(object);
    static const struct hl_object_entry none;
    return region ? hl_object_entry_at(hl_object_place(region, object)) : none;
}

static void erase(uintptr_t object) {
    struct hl_object_region *region = hl_object_region(object);
    if (!region) abort();
    hl_object_erase(region, hl_object_place(region, object));
}

static void every_slot_of_a_page_has_a_place_of_its_own(void) {
    begin();
    for (unsigned i = 0; i < 1638; i++) put(address(HEAP, 8, i), i + 1, 0xffffff - i);
    for (unsigned i = 0; i < 1638; i++) {
        CHECK_EQUAL(entry(address(HEAP, 8, i)).row, i + 1);
        CHECK_EQUAL(entry(address(HEAP, 8, i)).birth, 0xffffff - i);
    }
    for (unsigned i = 0; i < 1638; i += 2) erase(address(HEAP, 8, i));
    for (unsigned i = 0; i < 1638; i++) CHECK_EQUAL(entry(address(HEAP, 8, i)).row, i % 2 ? i + 1 : 0);
}

static void rows_and_births_keep_all_their_bits(void) {
    begin();
    put(HEAP + 40, 0xffffff, 0);
    put(HEAP + 80, 1, 0xffffff);
    put(HEAP + 120, 0xabcdef, 0x123456);
    CHECK_EQUAL(entry(HEAP + 40).row, 0xffffff);
    CHECK_EQUAL(entry(HEAP + 40).birth, 0);
    CHECK_EQUAL(entry(HEAP + 80).row, 1);
    CHECK_EQUAL(entry(HEAP + 80).birth, 0xffffff);
    CHECK_EQUAL(entry(HEAP + 120).row, 0xabcdef);
    CHECK_EQUAL(entry(HEAP + 120).birth, 0x123456);
}

struct seen {
    unsigned count;
    uint64_t sum;
};

static void see(void *context, uintptr_t object, struct hl_object_entry found) {
    struct seen *seen = context;
    seen->count++;
    seen->sum += object;
    CHECK_EQUAL(entry(object).row, found.row);
}

/* Pages of 16 KiB, four in a region, each with its slots at another distance from the raster. */
static void a_walk_tells_each_address(void) {
    const unsigned headers[] = {24, 8, 32, 16};
    uint64_t sum = 0;
    struct seen seen = {0, 0};
    begin();
    for (unsigned page = 0; page < 4; page++)
        for (unsigned i = 0; i < 408; i++) {
            const uintptr_t object = address(HEAP + page * 16384, headers[page], i);
            put(object, 7, 1);
            sum += object;
        }
    hl_object_table_each(see, &seen);
    CHECK_EQUAL(seen.count, 4 * 408);
    CHECK_EQUAL(seen.sum, sum);
}

static void sum_up(void *context, uintptr_t object, struct hl_object_entry found) {
    struct seen *seen = context;
    seen->count++;
    seen->sum += object;
    CHECK_EQUAL(found.row, 5);
}

/* Ruby 4.1: pages of 64 KiB, each with slots of a size of its own. */
static void pages_have_slots_of_any_size(void) {
    static const uint16_t SIZES[] = {32, 40, 64, 80, 96, 128, 160, 256, 512, 640, 768, 1024};
    struct seen seen = {0, 0};
    uint64_t sum = 0, count = 0;
    core_tables(1000);
    CHECK_EQUAL(hl_object_table_create(32, HL_REGION_BYTES), 0);
    for (unsigned i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
        const uintptr_t page = HEAP + (uintptr_t)i * HL_REGION_BYTES;
        struct hl_object_region *region = hl_object_region_make(page);
        if (!region) abort();
        hl_object_region_learn(region, SIZES[i]);
        for (uintptr_t object = page + 8 + i * 8; object + SIZES[i] <= page + HL_REGION_BYTES; object += SIZES[i]) {
            CHECK(hl_object_fits(region, object));
            CHECK_EQUAL(hl_object_entry_at(hl_object_place(region, object)).row, 0);
            hl_object_put(region, hl_object_place(region, object), 5, 1);
            sum += object;
            count++;
        }
        CHECK(!hl_object_fits(region, page + 16 + i * 8));
    }
    hl_object_table_each(sum_up, &seen);
    CHECK_EQUAL(seen.count, count);
    CHECK_EQUAL(seen.sum, sum);
}

static void what_does_not_lie_in_the_raster_is_refused(void) {
    begin();
    struct hl_object_region *region = put(HEAP + 48, 1, 1);
    CHECK(hl_object_fits(region, HEAP + 88));
    CHECK(!hl_object_fits(region, HEAP + 96));
}

/* A page that is freed may come back with other slots. */
static void an_empty_region_forgets_its_page(void) {
    begin();
    struct hl_object_region *region = put(HEAP + 48, 1, 1);
    erase(HEAP + 48);
    CHECK_EQUAL(region->live, 0);
    hl_object_region_learn(region, 80);
    CHECK(hl_object_fits(region, HEAP + 56));
    CHECK(!hl_object_fits(region, HEAP + 96));
    CHECK(hl_object_fits(region, HEAP + 136));
}

static void the_memory_of_empty_regions_is_used_again(void) {
    begin();
    for (unsigned i = 0; i < 1000; i++) {
        const uintptr_t object = HEAP + (uintptr_t)i * HL_REGION_BYTES + 40;
        put(object, 1, 1);
        erase(object);
    }
    CHECK(hl_object_table.regions <= 2);
    CHECK_EQUAL(entry(HEAP + 40).row, 0);
}

static void a_region_that_lives_again_is_not_taken(void) {
    begin();
    put(HEAP + 40, 1, 1);
    erase(HEAP + 40);
    put(HEAP + 80, 2, 2);
    put(HEAP + HL_REGION_BYTES + 40, 3, 3);
    CHECK_EQUAL(entry(HEAP + 80).row, 2);
    CHECK_EQUAL(entry(HEAP + HL_REGION_BYTES + 40).row, 3);
}

static void clearing_forgets_all(void) {
    struct seen seen = {0, 0};
    begin();
    for (unsigned i = 0; i < 100; i++) put(HEAP + (uintptr_t)i * HL_REGION_BYTES + 40, 1, 1);
    hl_object_table_clear();
    hl_object_table_each(see, &seen);
    CHECK_EQUAL(seen.count, 0);
    put(HEAP + 40, 5, 5);
    hl_object_table_each(see, &seen);
    CHECK_EQUAL(seen.count, 1);
}

static void in_the_child(void) {
    CHECK_EQUAL(entry(HEAP + 40).row, 1);
    erase(HEAP + 40);
    put(HEAP + 80, 2, 2);
    CHECK_EQUAL(entry(HEAP + 80).row, 2);
}

static void a_child_has_a_table_of_its_own(void) {
    begin();
    put(HEAP + 40, 1, 1);
    check_in_child(in_the_child);
    CHECK_EQUAL(entry(HEAP + 40).row, 1);
    CHECK_EQUAL(entry(HEAP + 80).row, 0);
}

static void it_takes_less_than_a_sixth_of_the_object_heap(void) {
    begin();
    const uint64_t before = hl_flight.header->own_bytes;
    for (unsigned page = 0; page < 1000; page++) put(HEAP + (uintptr_t)page * HL_REGION_BYTES + 40, 1, 1);
    CHECK(hl_flight.header->own_bytes - before < 1000 * HL_REGION_BYTES / 6);
}

static const struct check_test tests[] = {
    {"every_slot_of_a_page_has_a_place_of_its_own", every_slot_of_a_page_has_a_place_of_its_own},
    {"rows_and_births_keep_all_their_bits", rows_and_births_keep_all_their_bits},
    {"a_walk_tells_each_address", a_walk_tells_each_address},
    {"pages_have_slots_of_any_size", pages_have_slots_of_any_size},
    {"what_does_not_lie_in_the_raster_is_refused", what_does_not_lie_in_the_raster_is_refused},
    {"an_empty_region_forgets_its_page", an_empty_region_forgets_its_page},
    {"the_memory_of_empty_regions_is_used_again", the_memory_of_empty_regions_is_used_again},
    {"a_region_that_lives_again_is_not_taken", a_region_that_lives_again_is_not_taken},
    {"clearing_forgets_all", clearing_forgets_all},
    {"a_child_has_a_table_of_its_own", a_child_has_a_table_of_its_own},
    {"it_takes_less_than_a_sixth_of_the_object_heap", it_takes_less_than_a_sixth_of_the_object_heap},
};
CHECK_MAIN(tests)
