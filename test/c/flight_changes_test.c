/* SPDX-License-Identifier: MIT */
/*
 * A flight file is read again and again while threads count in it and it grows: each reading is whole, and when all
 * stands still what was told is what is there.
 */
#include "../../ext/heapline/flight_changes.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../ext/heapline/flight_copy.h"
#include "../../ext/heapline/flight_file.h"
#include "../../ext/heapline/flight_pages.h"
#include "../../ext/heapline/flight_reader.h"
#include "../../ext/heapline/object_reader.h"
#include "account/lane.h"
#include "check.h"
#include "check_flight.h"
#include "core.h"
#include "flight/flight.h"
#include "flight/site_table.h"
#include "state/guard.h"

enum {
    THREADS = 3, /* one of them reads */
    USABLE = 64,
    SITES = 60000,
    NEWEST = 150,
    TURNS = 200,
    SITES_PER_PAGE = HL_PAGE_SIZE / HL_CELL_SIZE,
    READINGS = 60,
    FIRST_READINGS = 20
};

/* As an allocator has it, with its words before it. */
struct block {
    _Alignas(16) size_t head[2];
    char bytes[USABLE];
};

static int fd = -1;
static uint32_t sites[SITES];
static uint32_t site_count, allowed; /* so many are made before the next reading is over */
static unsigned finished, readings, step;
static struct hl_flight_changes changes;
static struct hl_flight_news news;
static struct hl_count told[HL_SITES_MAX];
static uint32_t named[HL_SITES_MAX];

static uint64_t no_collections(void) {
    return 0;
}

static void begin(void) {
    char path[600];
    core_tables(HL_SITES_MAX);
    hl_gc_count = no_collections;
    CHECK_EQUAL(hl_lane_create(), 0);
    CHECK(hl_flight_path(path, sizeof(path)));
    CHECK((fd = open(path, O_RDONLY)) >= 0);
}

/* ---- who counts ---- */

static size_t name_it(void *context, char *label, uint32_t *symbol_offset) {
    (void)context;
    *symbol_offset = 0;
    return (size_t)sprintf(label, "Model#call");
}

static uint32_t sites_made(void) {
    const uint32_t made = __atomic_load_n(&site_count, __ATOMIC_ACQUIRE);
    return made < SITES ? made : SITES;
}

static uint32_t find_site(uint32_t line, uint32_t tag) {
    char path[40];
    snprintf(path, sizeof(path), "/app/model%u.rb", line / 100);
    const struct hl_site_key key = {
        .kind = HL_KIND_RUBY, .tag = tag, .line = line % 100 + 1, .path = {path, strlen(path)}};
    return hl_site_find(&key, name_it, NULL);
}

static void make_site(void) {
    if (sites_made() >= __atomic_load_n(&allowed, __ATOMIC_RELAXED)) return;
    const uint32_t line = __atomic_fetch_add(&site_count, 1, __ATOMIC_RELAXED);
    if (line >= SITES) return;
    __atomic_store_n(&sites[line], find_site(line, 0), __ATOMIC_RELEASE);
}

/* One of the newest, or of all. */
static uint32_t some_site(uint64_t *random, int any) {
    const uint32_t made = sites_made(), first = any || made < NEWEST ? 0 : made - NEWEST;
    *random ^= *random << 13, *random ^= *random >> 7, *random ^= *random << 17;
    return made ? __atomic_load_n(&sites[first + (*random >> 11) % (made - first)], __ATOMIC_ACQUIRE) : 0;
}

static void count(struct hl_lane *lane, uint32_t site) {
    struct block block = {0};
    struct hl_trailer trailer = {0};
    if (!site) return;
    hl_lane_follow_and_answer(lane);
    hl_lane_birth(lane, block.bytes, USABLE, 16, hl_lane_place(lane, site), 0);
    if (site % 3 == 0) return;
    CHECK(hl_trailer_read(block.bytes, USABLE, &trailer));
    hl_lane_follow(lane);
    hl_lane_death(lane, &trailer);
}

static int enough(void) {
    return __atomic_load_n(&finished, __ATOMIC_ACQUIRE);
}

/* Sites of a few pages all the time, now and then a new one, seldom any. */
static void go_on(unsigned number) {
    uint64_t random = 0x9e3779b97f4a7c15ull * (number + 1);
    const int saved = hl_guard_enter(&hl_thread);
    struct hl_lane *lane = hl_lane_acquire();
    while (lane && !enough()) {
        make_site();
        for (unsigned turn = 0; turn < TURNS; turn++) count(lane, some_site(&random, turn == 0));
    }
    if (lane) hl_lane_release(lane);
    hl_guard_leave(&hl_thread, saved);
}

/* ---- who reads ---- */

static void read_on(void) {
    struct hl_problem problem = {{0}};
    const int failed = hl_flight_read_changes(fd, &changes, named, HL_SITES_MAX, &news, &problem);
    if (failed) fprintf(stderr, "%s\n", problem.text);
    CHECK_EQUAL(failed, 0);
    if (failed) return;
    CHECK_EQUAL(news.sums.impossible, 0);
    for (uint32_t site = HL_SITE_FIRST; site < news.wanted.count; site++) {
        if (!news.wanted.wanted[site] || !news.sums.sites[site].known) continue;
        told[site] = news.sums.sites[site].count;
        named[site] = 1;
    }
    hl_flight_news_done(&news);
}

static void read_while_others_go_on(unsigned number) {
    if (number) {
        go_on(number);
        return;
    }
    for (unsigned i = 0; i < readings && !check_failures(); i++) {
        const uint32_t made = sites_made();
        __atomic_store_n(&allowed, made + step * SITES_PER_PAGE, __ATOMIC_RELAXED);
        while (made < SITES - SITES_PER_PAGE && sites_made() < made + SITES_PER_PAGE) sched_yield();
        read_on();
        if (readings == FIRST_READINGS) hl_flight_changes_release(&changes);
    }
    __atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
}

static void check_what_was_told(void) {
    const struct flight_sums *sums = flight_sites();
    read_on();
    for (uint32_t i = 0; i < SITES && i < site_count; i++) {
        CHECK_EQUAL(told[sites[i]].allocations, sums[sites[i]].allocations);
        CHECK_EQUAL(told[sites[i]].bytes_freed, sums[sites[i]].bytes_freed);
    }
    hl_flight_news_release(&news);
    hl_flight_changes_release(&changes);
}

static void a_file_that_changes_and_grows_is_read_on(void) {
    begin();
    readings = READINGS, step = 2;
    core_threads(THREADS, read_while_others_go_on);
    check_what_was_told();
}

static void a_file_that_changes_and_grows_is_read_for_the_first_time(void) {
    begin();
    readings = FIRST_READINGS, step = 40;
    core_threads(THREADS, read_while_others_go_on);
    check_what_was_told();
}

/* As where the record, or the page with its tag's name, comes between two looks. */
static void a_site_without_its_name_is_told_when_it_has_it(void) {
    begin();
    const int saved = hl_guard_enter(&hl_thread);
    const uint32_t tag = hl_tag_intern("shop", 4), made[] = {find_site(1, 0), find_site(2, tag)};
    struct hl_lane *lane = hl_lane_acquire();
    for (int i = 0; i < 2; i++) count(lane, made[i]);
    hl_guard_leave(&hl_thread, saved);
    uint32_t *tags = hl_flight_page(HL_TAG_DIRECTORY_PAGE), page = tags[0];
    for (int first = 1; first >= 0; first--) {
        hl_site_record(made[0])->ready = !first;
        tags[0] = first ? 0 : page;
        read_on();
        for (int i = 0; i < 2; i++) CHECK_EQUAL(told[made[i]].allocations, !first);
    }
}

static const struct check_test tests[] = {
    {"a_site_without_its_name_is_told_when_it_has_it", a_site_without_its_name_is_told_when_it_has_it},
    {"a_file_that_changes_and_grows_is_read_on", a_file_that_changes_and_grows_is_read_on},
    {"a_file_that_changes_and_grows_is_read_for_the_first_time",
     a_file_that_changes_and_grows_is_read_for_the_first_time},
};
CHECK_MAIN(tests)
