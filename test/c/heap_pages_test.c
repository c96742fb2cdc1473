/* SPDX-License-Identifier: MIT */
/*
 * Pages are mapped and unmapped as the VM does it. This program holds the fake VM, so its own calls are the VM's.
 */
#include "vm/heap_pages.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "core.h"
#include "fake_ruby.h"
#include "flight/flight.h"
#include "state/mapping_watch.h"

enum { MANY = 3000 };

static size_t page_bytes;
static struct heapline_heap_page list[MANY + 1];

static void begin(const char *version, size_t bytes) {
    page_bytes = bytes;
    core_start(version, "");
    fake_ruby_boot();
    fake_ruby_allocate(1); /* the core attaches */
}

/* An aligned piece of twice its size. */
static uintptr_t take_page(void) {
    char *piece = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED) return 0;
    char *page = piece + page_bytes;
    page -= (uintptr_t)page & (page_bytes - 1);
    const size_t before = (size_t)(page - piece), behind = page_bytes - before;
    if (before) munmap(piece, before);
    if (behind) munmap(page + page_bytes, behind);
    return (uintptr_t)page;
}

static void end_page(uintptr_t page) {
    CHECK_EQUAL(munmap((void *)page, page_bytes), 0);
}

static size_t listed(void) {
    return heapline_heap_pages(list, MANY + 1);
}

static uint64_t birth_of(uintptr_t page) {
    const size_t count = listed();
    for (size_t i = 0; i < count; i++)
        if (list[i].address == page) return list[i].birth;
    return UINT64_MAX;
}

static const struct hl_spans *lifespans(void) {
    return &hl_flight.header->heap_page_figures.lifespans;
}

static const struct hl_spans *deathspans(void) {
    return &hl_flight.header->heap_page_figures.deathspans;
}

/* ---- births and ends ---- */

static void check_lives(void) {
    fake_ruby.gc_count = 5;
    const uintptr_t one = take_page(), other = take_page();
    CHECK(one && other && one != other);
    CHECK_EQUAL(listed(), 2);
    CHECK_EQUAL(birth_of(one), 5);
    fake_ruby.gc_count = 7;
    errno = EXDEV;
    end_page(one);
    CHECK_EQUAL(errno, EXDEV);
    CHECK_EQUAL(listed(), 1);
    CHECK_EQUAL(birth_of(one), UINT64_MAX);
    fake_ruby.gc_count = 15;
    end_page(other);
    CHECK_EQUAL(listed(), 0);
    CHECK_EQUAL(lifespans()->count, 2);
    CHECK_EQUAL(lifespans()->sum, 12);
    CHECK_EQUAL(lifespans()->squares, 104);
    CHECK_EQUAL(lifespans()->least, 2);
    CHECK_EQUAL(lifespans()->most, 10);
}

static void pages_of_64_kib(void) {
    begin("3.4.1", 65536);
    check_lives();
}

static void pages_of_16_kib_in_3_1(void) {
    begin("3.1.2", 16384);
    check_lives();
}

/* After weeks: each GC.count is a moment, and none means that the page lives. */
static void pages_of_a_process_that_had_2_to_the_32_gcs(void) {
    begin("3.4.1", 65536);
    const uint64_t limit = 1ull << 32;
    fake_ruby.gc_count = limit - 6;
    const uintptr_t early = take_page(), late = take_page();
    fake_ruby.gc_count = limit - 1;
    end_page(early);
    CHECK_EQUAL(listed(), 1);
    fake_ruby.gc_count = limit + 4;
    const uintptr_t page = take_page();
    CHECK_EQUAL(birth_of(page), limit + 4);
    CHECK_EQUAL(birth_of(late), page == late ? limit + 4 : limit - 6);
    end_page(late);
    CHECK_EQUAL(lifespans()->count, 2);
    CHECK_EQUAL(lifespans()->sum, 15);
    CHECK_EQUAL(lifespans()->most, 10);
}

static void spans_too_long_to_be_squared(void) {
    begin("3.4.1", 65536);
    uintptr_t pages[2] = {take_page(), take_page()};
    fake_ruby.gc_count = 3ull << 32;
    for (unsigned i = 0; i < 2; i++) end_page(pages[i]);
    CHECK_EQUAL(lifespans()->squares, UINT64_MAX);
    CHECK_EQUAL(lifespans()->least, UINT32_MAX);
    CHECK_EQUAL(lifespans()->most, UINT32_MAX);
}

static void pages_from_before_there_is_a_vm_were_born_in_generation_0(void) {
    page_bytes = 65536;
    core_start("3.4.1", "");
    fake_ruby.gc_count = 3;
    const uintptr_t page = take_page();
    CHECK_EQUAL(birth_of(page), 0);
}

/* The kernel hands out again what was given back last. */
static void an_address_that_is_used_again_tells_for_how_long_it_was_not(void) {
    begin("3.4.1", 65536);
    const uintptr_t page = take_page();
    fake_ruby.gc_count = 4;
    end_page(page);
    fake_ruby.gc_count = 10;
    uintptr_t again = 0;
    for (unsigned i = 0; i < 100 && again != page; i++) again = take_page();
    if (again != page) check_skip("the kernel gave other addresses");
    CHECK_EQUAL(birth_of(page), 10);
    CHECK_EQUAL(deathspans()->count, 1);
    CHECK_EQUAL(deathspans()->sum, 6);
    CHECK_EQUAL(deathspans()->least, 6);
}

static void many_pages(void) {
    static uintptr_t taken[MANY];
    begin("3.4.1", 65536);
    for (unsigned i = 0; i < MANY; i++) taken[i] = take_page();
    CHECK_EQUAL(listed(), MANY);
    CHECK_EQUAL(heapline_heap_pages(list, 3), MANY); /* more than there is room for */
    for (unsigned i = 0; i < MANY; i += 2) end_page(taken[i]);
    CHECK_EQUAL(listed(), MANY / 2);
    for (unsigned i = 1; i < MANY; i += 500) CHECK_EQUAL(birth_of(taken[i]), 0);
    CHECK_EQUAL(lifespans()->count, MANY / 2);
}

/* ---- what is no page ---- */

static void what_the_vm_maps_besides_is_no_page(void) {
    begin("3.4.1", 65536);
    const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS, both = PROT_READ | PROT_WRITE;
    const size_t twice = 2 * page_bytes;
    CHECK(mmap(NULL, twice + 4096, both, anonymous, -1, 0) != MAP_FAILED);
    CHECK(mmap(NULL, page_bytes, both, anonymous, -1, 0) != MAP_FAILED);
    CHECK(mmap(NULL, twice, PROT_READ, anonymous, -1, 0) != MAP_FAILED);
    CHECK(mmap(NULL, twice, both, anonymous | MAP_STACK, -1, 0) != MAP_FAILED);
    CHECK(mmap(NULL, twice, both, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    CHECK_EQUAL(listed(), 0);
    const uintptr_t page = take_page();
    CHECK(mmap((void *)(page - 4 * page_bytes), twice, both, anonymous, -1, 0) != MAP_FAILED);
    CHECK_EQUAL(listed(), 1);
}

static void what_others_map_is_no_page(void) {
    begin("3.4.1", 65536);
    const uintptr_t page = take_page();
    struct hl_mapped mapping = {
        page + 16 * page_bytes, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0,
        (uintptr_t)getpid};
    const struct hl_mapping_watcher *watcher = hl_mapping_watchers[HL_WATCHING_HEAP_PAGES];
    watcher->mapped(&mapping);
    watcher->unmapping(page, page_bytes, (uintptr_t)getpid);
    CHECK_EQUAL(listed(), 1);
    mapping.caller = (uintptr_t)take_page;
    watcher->mapped(&mapping);
    CHECK_EQUAL(listed(), 2);
}

static void an_unknown_ruby_has_none(void) {
    begin("9.9.9", 65536);
    take_page();
    CHECK_EQUAL(listed(), 0);
    CHECK_EQUAL(hl_mapping_watched, 0);
}

/* ---- fork and end ---- */

static uintptr_t inherited;

static void in_child(void) {
    CHECK_EQUAL(birth_of(inherited), 2);
    CHECK_EQUAL(listed(), 2);
    fake_ruby.gc_count = 9;
    end_page(inherited); /* before anything was allocated here */
    CHECK_EQUAL(listed(), 1);
    CHECK_EQUAL(lifespans()->count, 1);
    CHECK_EQUAL(lifespans()->sum, 7);
}

static void a_forked_child_knows_its_pages_and_counts_its_own_ends(void) {
    begin("3.4.1", 65536);
    fake_ruby.gc_count = 2;
    inherited = take_page();
    const uintptr_t other = take_page(), third = take_page();
    end_page(third);
    CHECK_EQUAL(check_in_child(in_child), 0);
    CHECK_EQUAL(listed(), 2);
    CHECK_EQUAL(lifespans()->count, 1);
    CHECK_EQUAL(lifespans()->sum, 0);
    end_page(other);
    CHECK_EQUAL(lifespans()->count, 2);
}

static void what_the_vm_frees_at_its_end_is_not_counted(void) {
    begin("3.4.1", 65536);
    const uintptr_t page = take_page();
    fake_ruby.at_exit(NULL);
    end_page(page);
    CHECK_EQUAL(lifespans()->count, 0);
}

static const struct check_test tests[] = {
    {"pages_of_64_kib", pages_of_64_kib},
    {"pages_of_16_kib_in_3_1", pages_of_16_kib_in_3_1},
    {"pages_of_a_process_that_had_2_to_the_32_gcs", pages_of_a_process_that_had_2_to_the_32_gcs},
    {"spans_too_long_to_be_squared", spans_too_long_to_be_squared},
    {"pages_from_before_there_is_a_vm_were_born_in_generation_0",
     pages_from_before_there_is_a_vm_were_born_in_generation_0},
    {"an_address_that_is_used_again_tells_for_how_long_it_was_not",
     an_address_that_is_used_again_tells_for_how_long_it_was_not},
    {"many_pages", many_pages},
    {"what_the_vm_maps_besides_is_no_page", what_the_vm_maps_besides_is_no_page},
    {"what_others_map_is_no_page", what_others_map_is_no_page},
    {"an_unknown_ruby_has_none", an_unknown_ruby_has_none},
    {"a_forked_child_knows_its_pages_and_counts_its_own_ends", a_forked_child_knows_its_pages_and_counts_its_own_ends},
    {"what_the_vm_frees_at_its_end_is_not_counted", what_the_vm_frees_at_its_end_is_not_counted},
};
CHECK_MAIN(tests)
