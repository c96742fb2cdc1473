/* SPDX-License-Identifier: MIT */
/*
 * Pages are mapped as the VM maps them (this program holds the fake one), with descriptions like those of Ruby 4.0.
 */
#include "leaks/leak_reserve.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "core.h"
#include "fake_ruby.h"

enum { PAGE_BYTES = 65536, HEAD = 64, SLOT = 40, SLOTS = 1600, LARGER_SLOT = 80, LARGER_SLOTS = 800, ROOM = 8 };

struct described {
    uint16_t slot, slots, free, others[9];
    uint64_t heap, next;
    uintptr_t page, begin;
    uint64_t more[8];
};

static struct hl_object_page pages[ROOM];
static struct hl_roots roots;
static struct hl_graph graph;

static void start(const char *version) {
    core_start(version, "quiet,blocks");
    fake_ruby_boot();
    fake_ruby_allocate(1); /* the core attaches */
    roots = (struct hl_roots){.pages = pages, .page_room = ROOM};
}

static uintptr_t take_page(void) {
    char *piece = mmap(NULL, (size_t)2 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(piece != MAP_FAILED);
    char *page = piece + PAGE_BYTES;
    page -= (uintptr_t)page & (PAGE_BYTES - 1);
    if (page > piece) munmap(piece, (size_t)(page - piece));
    if (page < piece + PAGE_BYTES) munmap(page + PAGE_BYTES, (size_t)(piece + PAGE_BYTES - page));
    return (uintptr_t)page;
}

/* The page that it takes is used by slots of that size, or by none. */
static struct described *describe(uint16_t slot, uint16_t slots) {
    struct described *described = calloc(1, sizeof(*described));
    described->page = take_page();
    *(struct described **)described->page = described;
    described->slot = slot;
    described->slots = slots;
    described->free = slots;
    if (slot) described->begin = described->page + HEAD;
    return described;
}

static struct described *list(uint16_t slot, uint16_t slots) {
    struct described *described = describe(slot, slots);
    const uintptr_t end = described->begin + (uintptr_t)slot * slots;
    pages[roots.page_count++] = (struct hl_object_page){described->begin, end, slot};
    described->free = 0;
    return described;
}

static void find(void) {
    static const struct hl_range none;
    if (roots.page_count > 1 && pages[0].begin > pages[1].begin) {
        const struct hl_object_page first = pages[0];
        pages[0] = pages[1];
        pages[1] = first;
    }
    CHECK_EQUAL(hl_graph_create(&graph, &none, 0), 0);
    CHECK_EQUAL(hl_reserve_find(&roots), 0);
}

static void an_empty_page(void) {
    start("4.0.1");
    list(SLOT, SLOTS);
    list(LARGER_SLOT, LARGER_SLOTS);
    const struct described *empty = describe(0, 0);
    find();
    CHECK_EQUAL(roots.page_count, 2);
    CHECK_EQUAL(roots.reserve_count, 1);
    CHECK_EQUAL(roots.reserve[0].begin, empty->page + sizeof(uintptr_t));
    CHECK_EQUAL(roots.reserve[0].end, empty->page + PAGE_BYTES);
}

/* There the numbers stand further behind. */
static void describe_as_ruby_4_1(struct described *described) {
    const uint64_t words[] = {0, described->begin, 0, (uint64_t)described->slots << 16 | described->slot, 0, 0,
                              0, described->page};
    memcpy(described, words, sizeof(words));
}

static void an_empty_page_of_ruby_4_1(void) {
    start("4.1.0");
    describe_as_ruby_4_1(list(SLOT, SLOTS));
    describe_as_ruby_4_1(list(LARGER_SLOT, LARGER_SLOTS));
    struct described *empty = describe(0, 0);
    const uintptr_t page = empty->page;
    describe_as_ruby_4_1(empty);
    find();
    CHECK_EQUAL(roots.page_count, 2);
    CHECK_EQUAL(roots.reserve_count, 1);
    CHECK_EQUAL(roots.reserve[0].end, page + PAGE_BYTES);
}

/* Slots of it may hold objects. */
static void a_page_with_slots_is_searched_by_slot(void) {
    start("4.0.1");
    list(SLOT, SLOTS);
    list(LARGER_SLOT, LARGER_SLOTS);
    const struct described *slots = describe(LARGER_SLOT, LARGER_SLOTS);
    find();
    CHECK_EQUAL(roots.reserve_count, 0);
    CHECK_EQUAL(roots.page_count, 3);
    CHECK_EQUAL(pages[2].begin, slots->begin);
    CHECK_EQUAL(pages[2].end, slots->begin + (uintptr_t)LARGER_SLOT * LARGER_SLOTS);
    CHECK_EQUAL(pages[2].slot, LARGER_SLOT);
}

/* Nothing is left out of the search on a mere guess. */
static void what_does_not_say_that_it_is_empty(void) {
    start("4.0.1");
    list(SLOT, SLOTS);
    list(LARGER_SLOT, LARGER_SLOTS);
    describe(0, 0)->page = 0;
    describe(0, 0)->slots = SLOTS;
    describe(0, 0)->slot = SLOT;
    struct described *begun = describe(0, 0), *beyond = describe(SLOT, SLOTS);
    begun->begin = begun->page + HEAD;
    beyond->slots = PAGE_BYTES / SLOT;
    *(struct described **)describe(0, 0)->page = NULL;
#ifndef HL_THREAD_SANITIZER                 /* which hands a fault on later */
    *(uintptr_t *)describe(0, 0)->page = 8; /* no memory */
#endif
    find();
    CHECK_EQUAL(roots.reserve_count, 0);
    CHECK_EQUAL(roots.page_count, 2);
}

static void listed_pages_that_do_not_agree(void) {
    start("4.0.1");
    list(SLOT, SLOTS);
    list(LARGER_SLOT, LARGER_SLOTS)->slot = SLOT;
    describe(0, 0);
    find();
    CHECK_EQUAL(roots.reserve_count, 0);
    CHECK_EQUAL(roots.page_count, 2);
}

static void without_listed_pages(void) {
    start("4.0.1");
    describe(0, 0);
    find();
    CHECK_EQUAL(roots.reserve_count, 0);
}

static const struct check_test tests[] = {
    {"an_empty_page", an_empty_page},
    {"an_empty_page_of_ruby_4_1", an_empty_page_of_ruby_4_1},
    {"a_page_with_slots_is_searched_by_slot", a_page_with_slots_is_searched_by_slot},
    {"what_does_not_say_that_it_is_empty", what_does_not_say_that_it_is_empty},
    {"listed_pages_that_do_not_agree", listed_pages_that_do_not_agree},
    {"without_listed_pages", without_listed_pages},
};

CHECK_MAIN(tests)
