/* SPDX-License-Identifier: MIT */
#include "account/lane.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "account/inheritance.h"
#include "check.h"
#include "check_flight.h"
#include "core.h"
#include "flight/child_flight.h"
#include "flight/site_table.h"
#include "lifecycle/errand.h"
#include "lifecycle/forked_child.h"
#include "platform/own_memory.h"

enum { USABLE = 256, SITE = HL_SITE_FIRST, FAR_SITE = 320 };

static uint64_t collections;

static uint64_t count_collections(void) {
    return __atomic_load_n(&collections, __ATOMIC_RELAXED);
}

static void begin(void) {
    core_tables(1000);
    hl_flight.header->site_count = 1000; /* the sites that these tests count for need no records */
    hl_gc_count = count_collections;
    CHECK_EQUAL(hl_lane_create(), 0);
}

/* No page can be had, and no cell is left. */
static void take_all_room(void) {
    hl_flight.header->page_limit = hl_flight.header->page_count;
    const int saved = hl_guard_enter(&hl_thread);
    while (hl_flight_cells(1))
        ;
    hl_guard_leave(&hl_thread, saved);
}

static struct hl_lane *acquire(void) {
    const int saved = hl_guard_enter(&hl_thread);
    struct hl_lane *lane = hl_lane_acquire();
    hl_guard_leave(&hl_thread, saved);
    return lane;
}

struct block {
    _Alignas(16) char bytes[USABLE];
};

static void birth(struct hl_lane *lane, struct block *block, size_t size, uint32_t site) {
    hl_lane_follow_and_answer(lane);
    hl_lane_birth(lane, block, USABLE, size, hl_lane_place(lane, site), site == HL_SITE_QUIET);
}

static void death(struct hl_lane *lane, struct block *block) {
    struct hl_trailer trailer = {0};
    CHECK(hl_trailer_read(block, USABLE, &trailer));
    hl_trailer_erase(block, USABLE);
    hl_lane_follow(lane);
    hl_lane_death(lane, &trailer);
}

static void check_sums(uint32_t site, uint64_t allocations, uint64_t bytes_allocated, uint64_t frees,
                       uint64_t bytes_freed) {
    const struct flight_sums sums = flight_site(site);
    CHECK_EQUAL(sums.allocations, allocations);
    CHECK_EQUAL(sums.bytes_allocated, bytes_allocated);
    CHECK_EQUAL(sums.frees, frees);
    CHECK_EQUAL(sums.bytes_freed, bytes_freed);
}

/* ---- counting ---- */

static void a_birth_and_a_death_are_counted_in_requested_bytes(void) {
    struct block blocks[3];
    begin();
    struct hl_lane *lane = acquire();
    birth(lane, &blocks[0], 100, SITE);
    birth(lane, &blocks[1], 7, SITE);
    birth(lane, &blocks[2], 0, FAR_SITE);
    check_sums(SITE, 2, 107, 0, 0);
    death(lane, &blocks[0]);
    death(lane, &blocks[2]);
    check_sums(SITE, 2, 107, 1, 100);
    check_sums(FAR_SITE, 1, 0, 1, 0);
    CHECK_EQUAL(lane->record->live, 7);
}

static void blocks_may_die_on_another_lane(void) {
    struct block block;
    begin();
    struct hl_lane *one = acquire(), *other = acquire();
    birth(one, &block, 100, SITE);
    death(other, &block);
    check_sums(SITE, 1, 100, 1, 100);
    CHECK_EQUAL(one->record->live, 100);
    CHECK_EQUAL(other->record->live, -100);
}

static void quiet_is_in_no_total(void) {
    struct block blocks[2];
    uint64_t allocated, freed;
    begin();
    struct hl_lane *lane = acquire();
    birth(lane, &blocks[0], 100, HL_SITE_QUIET);
    birth(lane, &blocks[1], 7, SITE);
    death(lane, &blocks[0]);
    death(lane, &blocks[1]);
    hl_lane_totals(&allocated, &freed);
    CHECK_EQUAL(allocated, 7);
    CHECK_EQUAL(freed, 7);
    check_sums(HL_SITE_QUIET, 1, 100, 1, 100);
    CHECK_EQUAL(lane->record->live, 0);
}

/* Without room for a page of counters nothing is lost but the name of the site. */
static void without_room_births_go_to_other(void) {
    struct block block;
    begin();
    struct hl_lane *lane = acquire();
    take_all_room();
    for (uint32_t i = 0; i < HL_CHUNK_LEAST; i++) hl_lane_count(lane, SITE + i); /* the first chunk is full */
    birth(lane, &block, 100, FAR_SITE);
    check_sums(FAR_SITE, 0, 0, 0, 0);
    check_sums(HL_SITE_OTHER, 1, 100, 0, 0);
    death(lane, &block);
    check_sums(HL_SITE_OTHER, 1, 100, 1, 100);
    CHECK_EQUAL(hl_flight.header->counts_lost, 0);
}

static void without_room_a_death_of_anothers_block_is_said_to_be_lost(void) {
    struct block block;
    begin();
    struct hl_lane *one = acquire(), *other = acquire();
    birth(one, &block, 100, FAR_SITE);
    take_all_room();
    for (uint32_t i = 0; i < HL_CHUNK_LEAST; i++) hl_lane_count(other, SITE + i);
    death(other, &block);
    CHECK_EQUAL(hl_flight.header->counts_lost, 1);
    CHECK_EQUAL(hl_flight.header->bytes_lost, 100);
    check_sums(FAR_SITE, 1, 100, 0, 0);
    other->record->owner = 0; /* this thread has two lanes */
    check_lanes();
}

/* ---- ages ---- */

static void ages_are_counted_in_generations(void) {
    struct block blocks[5];
    begin();
    struct hl_lane *lane = acquire();
    for (int i = 0; i < 5; i++) birth(lane, &blocks[i], 10, SITE);
    death(lane, &blocks[0]);
    collections = 1;
    death(lane, &blocks[1]);
    collections = 2;
    death(lane, &blocks[4]);
    collections = 5;
    death(lane, &blocks[2]);
    collections = 7;
    death(lane, &blocks[3]);
    const struct flight_sums sums = flight_site(SITE);
    CHECK_EQUAL(sums.temporary, 2); /* within the generation of birth or the next */
    CHECK_EQUAL(sums.age_sum, 0 + 1 + 2 + 5 + 7);
    CHECK_EQUAL(sums.age_max, 7);
    CHECK_EQUAL(hl_flight.header->generation, 7);
}

/* A block that was born long before the baseline is old, however many generations went by. */
static void a_block_that_outlives_the_trailers_generations_is_no_young_one(void) {
    const uint64_t later = 10 + (1ull << 23) + HL_BIRTH_MASK + 1;
    struct block old, fresh;
    begin();
    struct hl_lane *lane = acquire();
    collections = 10;
    birth(lane, &old, 10, SITE);
    collections = later;
    hl_lane_follow(lane);
    hl_lane_baseline(HL_BASELINE_CLEAR);
    birth(lane, &fresh, 10, SITE + 1);
    collections = later + 5;
    death(lane, &old);
    death(lane, &fresh);
    CHECK_EQUAL(flight_site(SITE).old_frees, 1);
    CHECK_EQUAL(flight_site(SITE).age_max, later + 5 - 10 + 1); /* the baseline is a generation too */
    CHECK_EQUAL(flight_site(SITE).temporary, 0);
    CHECK_EQUAL(flight_site(SITE + 1).old_frees, 0);
}

static uint64_t coarse_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void pass_milliseconds(uint64_t count) {
    const struct timespec tick = {0, 1000000};
    for (uint64_t begun = coarse_ms(); coarse_ms() < begun + count;) nanosleep(&tick, NULL);
}

static void ages_are_told_in_milliseconds_too(void) {
    struct block recent, old;
    begin();
    struct hl_lane *lane = acquire();
    const uint64_t begun = coarse_ms();
    birth(lane, &old, 10, SITE);
    pass_milliseconds(40);
    collections = 1;
    birth(lane, &recent, 10, SITE + 1);
    pass_milliseconds(20);
    collections = 2;
    death(lane, &recent);
    CHECK(flight_site(SITE + 1).age_ms_sum >= 20 && flight_site(SITE + 1).age_ms_sum <= coarse_ms() - begun);
    /* Generations long ago are known in steps of 256. */
    for (collections = 3; collections < 10000; collections++) hl_lane_follow(lane);
    hl_lane_follow(lane);
    death(lane, &old);
    const struct hl_count *count = hl_lane_place(lane, SITE).count;
    CHECK_EQUAL(count->age_ms_max, count->age_ms_sum);
    CHECK(count->age_ms_sum <= coarse_ms() - begun + 10);
    CHECK_EQUAL(count->age_max, 10000);
}

/* ---- owning ---- */

static void a_lane_that_was_left_is_taken_with_its_figures(void) {
    struct block block;
    begin();
    struct hl_lane *lane = acquire();
    birth(lane, &block, 100, SITE);
    hl_lane_release(lane);
    CHECK_EQUAL(hl_flight.header->live_bytes, 100);
    struct hl_lane *next = acquire();
    CHECK(next == lane);
    death(next, &block);
    check_sums(SITE, 1, 100, 1, 100);
}

static uint32_t lanes(void) {
    uint32_t count = 0;
    for (const struct hl_lane_record *lane = NULL; (lane = hl_lane_record_after(lane));) count++;
    return count;
}

/* C4: what 10,000 threads that live at once take, and 100,000 of which 10 do. */
static void there_is_a_lane_for_everybody(void) {
    struct block block;
    begin();
    for (uint32_t i = 1; i <= 10000; i++) {
        struct hl_lane *lane = acquire();
        lane->record->owner = (uint32_t)getpid();
        birth(lane, &block, 100, SITE);
        death(lane, &block);
    }
    CHECK_EQUAL(lanes(), 10001); /* and the shared one */
    CHECK(hl_flight.header->own_bytes + hl_flight.header->page_count * HL_PAGE_SIZE < 10000 * 2560);
    check_sums(SITE, 10000, 1000000, 10000, 1000000);
}

static void lanes_that_were_left_are_used_again(void) {
    struct hl_lane *taken[10];
    begin();
    for (uint32_t i = 0; i < 100000; i++) {
        if (i >= 10) hl_lane_release(taken[i % 10]);
        taken[i % 10] = acquire();
    }
    CHECK_EQUAL(lanes(), 11);
}

static void be_nobody(unsigned number) {
    (void)number;
    __atomic_store_n(&collections, (uint64_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
}

/* Not all threads run their destructors. */
static void the_lane_of_a_thread_that_is_gone_is_taken(void) {
    begin();
    struct hl_lane *lane = acquire();
    core_threads(1, be_nobody);
    while (!syscall(SYS_tgkill, getpid(), (pid_t)collections, 0)) sched_yield(); /* it is joined before it is gone */
    lane->record->owner = (uint32_t)collections;
    collections = 0;
    struct hl_lane *taken = NULL;
    for (int i = 0; i < 10 && taken != lane; i++) taken = acquire(); /* each looks at two */
    CHECK(taken == lane);
    CHECK_EQUAL(lane->record->owner, syscall(SYS_gettid));
}

/* The kernel is not asked at each call. */
static void without_room_there_is_no_lane(void) {
    begin();
    take_all_room();
    const uint64_t refused = hl_flight.header->pages_refused;
    for (int i = 0; i < 500; i++) CHECK(acquire() == NULL);
    CHECK(hl_flight.header->pages_refused <= refused + 1);
    hl_flight.header->page_limit += 100;
    struct hl_lane *lane = NULL;
    for (int i = 0; i < 5000 && !lane; i++) lane = acquire();
    CHECK(lane != NULL);
    check_lanes();
}

enum { THREADS = 64, ROUNDS = 500 };

enum { CHURNS = 200 };

/* Each one counts in whatever lane it gets: no two have one at a time. */
static void take_and_leave(unsigned number) {
    struct block block;
    for (int i = 0; i < CHURNS; i++) {
        struct hl_lane *lane = acquire();
        for (uint32_t site = 0; site < 20; site++) {
            birth(lane, &block, number, SITE + (site * 7 + number) % 90);
            death(lane, &block);
        }
        hl_lane_release(lane);
    }
}

static void threads_that_come_and_go_lose_nothing(void) {
    begin();
    core_threads(THREADS, take_and_leave);
    CHECK(lanes() <= THREADS + 1);
    const struct flight_sums all = flight_all();
    CHECK_EQUAL(all.allocations, THREADS * CHURNS * 20);
    CHECK_EQUAL(all.bytes_freed, THREADS * (THREADS - 1) / 2 * CHURNS * 20);
    check_lanes();
}

static void count_in_the_shared_lane(unsigned number) {
    struct block block;
    for (int i = 0; i < ROUNDS; i++) {
        struct hl_lane *lane = hl_lane_shared_lock();
        birth(lane, &block, number, SITE);
        if (i % 2) death(lane, &block);
        hl_lane_shared_unlock();
    }
}

/* C1 */
static void the_shared_lane_loses_nothing(void) {
    begin();
    core_threads(THREADS, count_in_the_shared_lane);
    const uint64_t numbers = THREADS * (THREADS - 1) / 2;
    check_sums(SITE, THREADS * ROUNDS, numbers * ROUNDS, THREADS * ROUNDS / 2, numbers * ROUNDS / 2);
}

/* ---- live bytes and peak ---- */

static void the_peak_is_noted_where_it_was(void) {
    static struct block blocks[3000];
    begin();
    struct hl_lane *lane = acquire();
    for (int i = 0; i < 3000; i++) birth(lane, &blocks[i], 200, SITE);
    for (int i = 0; i < 3000; i++) death(lane, &blocks[i]);
    hl_lane_publish(lane);
    CHECK_EQUAL(hl_flight.header->peak_bytes, 600000);
    CHECK_EQUAL(hl_flight.header->live_bytes, 0);
    CHECK(hl_flight.header->peak_ns > hl_flight.header->started_ns);
    /* What one lane once had does not add to what another has now. */
    struct hl_lane *other = acquire();
    for (int i = 0; i < 1000; i++) birth(other, &blocks[i], 200, SITE);
    hl_lane_publish(other);
    hl_lane_publish(lane);
    CHECK_EQUAL(hl_flight.header->live_bytes, 200000);
    CHECK_EQUAL(hl_flight.header->peak_bytes, 600000);
}

static void the_peak_of_a_while_is_asked_for(void) {
    begin();
    struct hl_lane *lane = acquire();
    static struct block blocks[4];
    int64_t live = 0;
    birth(lane, &blocks[0], 1000, SITE);
    hl_lane_restart_peak(lane, &live);
    CHECK_EQUAL(live, 1000);
    birth(lane, &blocks[1], 20, SITE);
    birth(lane, &blocks[2], 300000, SITE);
    death(lane, &blocks[2]);
    birth(lane, &blocks[3], 5, SITE);
    CHECK_EQUAL(hl_lane_restart_peak(lane, &live), 301020);
    CHECK_EQUAL(live, 1025);
    CHECK_EQUAL(hl_lane_restart_peak(lane, &live), 1025);
    hl_lane_release(lane);
}

static void live_bytes_are_published_in_steps(void) {
    struct block block;
    begin();
    struct hl_lane *lane = acquire();
    birth(lane, &block, HL_PUBLISH_BYTES, SITE);
    CHECK_EQUAL(hl_flight.header->live_bytes, 0);
    birth(lane, &block, 1, SITE);
    CHECK_EQUAL(hl_flight.header->live_bytes, HL_PUBLISH_BYTES + 1);
}

/* ---- baselines ---- */

/* C2: what is live from before, what was freed of it, and what came after stay apart. */
static void a_baseline_keeps_before_and_after_apart(void) {
    struct block before[3], after[2];
    begin();
    struct hl_lane *lane = acquire();
    for (int i = 0; i < 3; i++) birth(lane, &before[i], 100, SITE);
    CHECK_EQUAL(hl_lane_baseline(HL_BASELINE_CLEAR), 1);
    CHECK_EQUAL(hl_flight.header->baseline_kind, HL_BASELINE_CLEAR);
    for (int i = 0; i < 2; i++) birth(lane, &after[i], 10, SITE);
    death(lane, &before[0]);
    death(lane, &after[0]);
    const struct flight_sums sums = flight_site(SITE);
    CHECK_EQUAL(sums.base_live_bytes, 300);
    CHECK_EQUAL(sums.old_frees, 1);
    CHECK_EQUAL(sums.old_bytes_freed, 100);
    check_sums(SITE, 5, 320, 2, 110); /* growth is a difference: the counts themselves are never reset */
}

static void the_next_baseline_begins_anew(void) {
    struct block blocks[3];
    begin();
    struct hl_lane *lane = acquire();
    for (int i = 0; i < 3; i++) birth(lane, &blocks[i], 100, SITE);
    hl_lane_baseline(HL_BASELINE_CLEAR);
    death(lane, &blocks[0]);
    hl_lane_baseline(HL_BASELINE_CLEAR);
    CHECK_EQUAL(flight_site(SITE).base_live_bytes, 200); /* the lane has not noticed yet */
    death(lane, &blocks[1]);
    const struct flight_sums sums = flight_site(SITE);
    CHECK_EQUAL(sums.base_live_bytes, 200);
    CHECK_EQUAL(sums.old_frees, 1);
}

/* Moments share stamps: at the next one that has a site's stamp nothing is taken for brought up. */
static void come_to_the_same_stamp(void (*in_between)(struct hl_lane *lane)) {
    struct block before, after;
    begin();
    struct hl_lane *lane = acquire();
    birth(lane, &before, 100, SITE);
    const uint32_t stamp = lane->counts.stamp;
    for (int i = 0; i < HL_INDEX_STAMPS; i++) {
        hl_lane_baseline(HL_BASELINE_CLEAR);
        if (in_between) in_between(lane);
    }
    birth(lane, &after, 7, SITE);
    CHECK_EQUAL(lane->counts.stamp, stamp);
    CHECK_EQUAL(flight_site(SITE).base_live_bytes, 100);
    death(lane, &before);
    CHECK_EQUAL(flight_site(SITE).old_bytes_freed, 100);
    check_sums(SITE, 2, 107, 1, 100);
}

static void a_stamp_that_comes_again_is_another_moment(void) {
    come_to_the_same_stamp(hl_lane_follow);
}

static void who_slept_until_a_stamp_came_again_sees_another_moment(void) {
    come_to_the_same_stamp(NULL);
}

/* A maximum does not subtract: the lane's base keeps the greatest so far, at each further baseline too. */
static void the_oldest_begins_anew_and_is_not_forgotten(void) {
    struct block block;
    begin();
    struct hl_lane *lane = acquire();
    for (uint32_t age = 9; age >= 3; age -= 3) {
        birth(lane, &block, 100, SITE);
        collections += age;
        death(lane, &block);
        CHECK_EQUAL(hl_lane_place(lane, SITE).count->age_max, age);
        CHECK_EQUAL(flight_site(SITE).age_max, 9);
        hl_lane_baseline(HL_BASELINE_CLEAR);
    }
}

enum { MANY = 100000 };

static uint32_t chunks_at_baseline(uint64_t baseline) {
    uint32_t count = 0;
    for (const struct hl_lane_record *lane = NULL; (lane = hl_lane_record_after(lane));)
        for (const struct hl_count_chunk *chunk = NULL; (chunk = hl_chunk_after(lane, chunk));)
            count += chunk->baseline == baseline && (!baseline || chunk->base);
    return count;
}

/* M1, M2: what a call does for a new baseline does not depend on how many sites there are. */
static void a_baseline_is_brought_to_what_is_touched(void) {
    struct block block, old;
    begin();
    hl_flight.header->site_count = MANY;
    struct hl_lane *lane = acquire();
    for (uint32_t site = SITE; site < MANY; site++) {
        birth(lane, &block, 100, site);
        death(lane, &block);
    }
    birth(lane, &old, 50, SITE);
    hl_lane_baseline(HL_BASELINE_CLEAR);
    birth(lane, &block, 100, FAR_SITE);
    CHECK_EQUAL(chunks_at_baseline(1), 1);
    death(lane, &old);
    CHECK_EQUAL(chunks_at_baseline(1), 2);
    for (uint32_t site = SITE; site < MANY; site += 1000) hl_lane_count(lane, site);
    CHECK(chunks_at_baseline(1) <= 103);
    CHECK_EQUAL(flight_site(SITE).base_live_bytes, 50);
    CHECK_EQUAL(flight_site(SITE).old_bytes_freed, 50);
    CHECK_EQUAL(flight_site(FAR_SITE).base_live_bytes, 0);
    CHECK_EQUAL(flight_site(MANY - 1).base_live_bytes, 0);
    CHECK_EQUAL(flight_site(MANY - 1).allocations, 1);
    check_lanes();
}

/* Sites that a lane has under this rule: they are found without the slow path, wherever their numbers lie. */
static uint32_t quickly_found(uint32_t count, uint32_t (*number)(uint32_t i)) {
    uint32_t found = 0;
    begin();
    struct hl_lane *lane = acquire();
    for (uint32_t i = 0; i < count; i++) CHECK(hl_lane_count(lane, number(i)) != NULL);
    for (uint32_t i = 0; i < count; i++) found += hl_lane_find(&lane->counts, number(i)) != NULL;
    return found;
}

static uint32_t in_a_row(uint32_t i) {
    return SITE + i;
}
static uint32_t at_one_place(uint32_t i) {
    return SITE + i * 1024;
}
static uint32_t in_two_rows(uint32_t i) {
    return SITE + i / 2 + i % 2 * 65536;
}
static uint32_t anywhere(uint32_t i) {
    return SITE + i * 2654435761u % (HL_SITES_MAX - SITE);
}

static void counters_are_found_quickly_wherever_the_sites_numbers_lie(void) {
    enum { SITES = 1500, FEWER = 1000 }; /* 1536 are as many as a table of 2,048 takes */
    CHECK_EQUAL(quickly_found(SITES, in_a_row), SITES);
    CHECK_EQUAL(quickly_found(SITES, in_two_rows), SITES);
    CHECK_EQUAL(quickly_found(SITES, anywhere), SITES);
    CHECK(quickly_found(FEWER, at_one_place) >= FEWER * 99 / 100);
}

/* The table has room for 65,536 then: 27,000 entries in a row are 53 of its 129 pages. */
static void what_no_sites_place_lies_in_is_never_touched(void) {
    enum { SITES = 27000, PAGE = 4096, PAGES = 128 };
    unsigned char there[PAGES + 1];
    unsigned touched = 0;
    begin();
    struct hl_lane *lane = acquire();
    for (uint32_t i = 0; i < SITES; i++) {
        CHECK(!hl_lane_find(&lane->counts, in_a_row(i)));
        CHECK(hl_lane_count(lane, in_a_row(i)) != NULL);
    }
    const struct hl_index *index = lane->counts.index;
    const uintptr_t from = (uintptr_t)index & ~(uintptr_t)(PAGE - 1);
    CHECK_EQUAL(index->last / sizeof(uint64_t) + 1, PAGES * PAGE / sizeof(uint64_t));
    CHECK_EQUAL(mincore((void *)from, sizeof(there) * PAGE, there), 0);
    for (unsigned i = 0; i < sizeof(there); i++) touched += there[i] & 1;
    CHECK(touched <= SITES * sizeof(uint64_t) / PAGE + 3);
}

static void a_baseline_is_a_generation(void) {
    struct block block;
    begin();
    struct hl_lane *lane = acquire();
    collections = 3;
    birth(lane, &block, 100, SITE);
    hl_lane_baseline(HL_BASELINE_CLEAR);
    CHECK_EQUAL(hl_generation(), 4);
    death(lane, &block);
    CHECK_EQUAL(hl_flight.header->generation, 4);
    CHECK_EQUAL(hl_flight.header->gc_count, 3);
}

/* Another process sets the word. */
static void a_request_is_answered_by_the_next_allocation(void) {
    struct block block;
    begin();
    struct hl_lane *lane = acquire();
    hl_lane_asked = hl_errand_ask;
    birth(lane, &block, 100, SITE);
    hl_flight.header->request = HL_REQUEST_BASELINE;
    death(lane, &block);
    CHECK_EQUAL(hl_flight.header->answered, 0);
    birth(lane, &block, 100, SITE);
    CHECK_EQUAL(hl_flight.header->answered, 1);
    CHECK_EQUAL(hl_flight.header->baseline, 1);
    CHECK_EQUAL(hl_flight.header->request, 0);
    CHECK_EQUAL(flight_site(SITE).base_live_bytes, 0);
    birth(lane, &block, 100, SITE);
    CHECK_EQUAL(hl_flight.header->answered, 1);
}

static void a_word_that_is_not_gc_count_is_given_up(void) {
    static size_t word;
    struct block block;
    begin();
    struct hl_lane *lane = acquire();
    hl_gc_counter = &word;
    birth(lane, &block, 100, SITE);
    CHECK(hl_gc_counter == &word);
    word = 9; /* and the VM says 0 */
    birth(lane, &block, 100, SITE);
    CHECK(hl_gc_counter == &hl_gc_counter_unknown);
}

/* ---- fork ---- */

static struct hl_lane *mine, *others;
static struct block shared_block, others_block;
static uint32_t *told; /* a word that parent and children share */

static void take_over(void) {
    const int saved = hl_guard_enter(&hl_thread);
    hl_thread.own = mine;
    CHECK_EQUAL(hl_forked_child_begin(1, 0), 0);
    CHECK(!hl_flight_rests());
    mine = hl_thread.own;
    hl_guard_leave(&hl_thread, saved);
}

static void prepare(void) {
    const int saved = hl_guard_enter(&hl_thread);
    hl_site_table_before_fork();
    hl_inheritance_prepare();
    hl_guard_leave(&hl_thread, saved);
}

/* A child that takes over when it is told; its pid. */
static pid_t fork_child(void (*part)(void)) {
    prepare();
    *told = 0;
    const pid_t pid = fork();
    if (pid == 0) {
        hl_inheritance_come_into();
        while (!__atomic_load_n(told, __ATOMIC_ACQUIRE)) usleep(100);
        const int failed = check_in_child(part);
        _exit(failed != 0);
    }
    hl_inheritance_begin();
    return pid;
}

static void tell_and_wait(pid_t pid) {
    int status;
    __atomic_store_n(told, 1, __ATOMIC_RELEASE);
    CHECK_EQUAL(waitpid(pid, &status, 0), pid);
    CHECK_EQUAL(status, 0);
}

static size_t name_nothing(void *context, char *label, uint32_t *symbol_offset) {
    (void)context, (void)label;
    *symbol_offset = 0;
    return 0;
}

enum { SITES = 300, FIRST = 400, NEW_SITE = FIRST + SITES };

/* A child takes over what was counted of sites that were made before the fork. */
static void make_sites(void) {
    const int saved = hl_guard_enter(&hl_thread);
    struct hl_site_key key = {.kind = HL_KIND_NATIVE};
    while (hl_site_find(&key, name_nothing, NULL) < NEW_SITE - 1) key.offset++;
    hl_guard_leave(&hl_thread, saved);
}

static void begin_family(void) {
    begin();
    make_sites();
    told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(told != MAP_FAILED);
    mine = acquire(), others = acquire();
}

static void be_a_child(void) {
    struct block block;
    take_over();
    check_lanes();
    CHECK_EQUAL(mine->record->owner, syscall(SYS_gettid));
    check_sums(SITE, 2, 150, 0, 0);
    for (uint32_t site = FIRST; site < FIRST + SITES; site++) check_sums(site, 1, site, 0, 0);
    check_sums(FAR_SITE, 0, 0, 0, 0);
    death(mine, &shared_block);
    CHECK_EQUAL(flight_site(SITE).old_frees, 1);
    birth(mine, &block, 7, FAR_SITE);
    check_sums(SITE, 2, 150, 1, 100);
    check_sums(FAR_SITE, 1, 7, 0, 0);
    CHECK_EQUAL(flight_site(SITE).base_live_bytes, 150);
    check_lanes();
    struct hl_lane *taken = acquire();
    birth(taken, &block, 3, SITE);
    check_sums(SITE, 3, 153, 1, 100);
    taken->record->owner = 0; /* this thread has two lanes */
    check_lanes();
}

static void count_on(void) {
    struct block block;
    birth(others, &block, 5, FAR_SITE);
    for (uint32_t site = FIRST; site < FIRST + SITES; site++) birth(site % 2 ? mine : others, &block, 1000, site);
}

static void be_a_child_of_before(void) {
    struct block block;
    take_over();
    check_sums(SITE, 1, 100, 0, 0);
    check_sums(NEW_SITE, 0, 0, 0, 0);
    birth(mine, &block, 7, NEW_SITE); /* its own, of another line */
    check_sums(NEW_SITE, 1, 7, 0, 0);
    check_lanes();
}

/* Its record was not there when the child came to be: what is counted of it is of after the fork. */
static void a_site_that_was_not_there_is_none_of_the_childs(void) {
    struct block block;
    begin_family();
    birth(mine, &shared_block, 100, SITE);
    birth(others, &block, 50, NEW_SITE);
    tell_and_wait(fork_child(be_a_child_of_before));
    check_sums(NEW_SITE, 1, 50, 0, 0);
}

/* I1 */
static void a_childs_counts_are_those_of_the_fork_whenever_it_takes_over(void) {
    struct block block;
    begin_family();
    birth(mine, &shared_block, 100, SITE);
    birth(others, &others_block, 50, SITE);
    for (uint32_t site = FIRST; site < FIRST + SITES; site++) birth(others, &block, site, site);
    const pid_t pid = fork_child(be_a_child);
    death(others, &others_block);
    count_on();
    hl_lane_baseline(HL_BASELINE_CLEAR);
    count_on();
    tell_and_wait(pid);
    check_sums(SITE, 2, 150, 1, 50);
    check_sums(FAR_SITE, 2, 10, 0, 0);
    CHECK_EQUAL(hl_flight.header->baseline, 1);
    others->record->owner = 0; /* this thread has two lanes */
    check_lanes();
}

static uint64_t known_by_child;

static void know(void) {
    take_over();
    check_sums(SITE, known_by_child, 100 * known_by_child, 0, 0);
}

/* Several wait at once, and each has what was at its own fork. */
static void each_of_several_children_has_its_own_moment(void) {
    enum { CHILDREN = 5 };
    struct block block;
    pid_t pids[CHILDREN];
    begin_family();
    for (unsigned i = 0; i < CHILDREN; i++) {
        birth(others, &block, 100, SITE);
        known_by_child = i + 1;
        pids[i] = fork_child(know);
    }
    birth(others, &block, 100, SITE);
    for (unsigned i = 0; i < CHILDREN; i++) tell_and_wait(pids[i]);
    check_sums(SITE, CHILDREN + 1, 100 * (CHILDREN + 1), 0, 0);
}

static uint32_t generations_left, pages_before;

static void go_down(void) {
    struct block block;
    take_over();
    check_lanes();
    birth(mine, &block, 10, SITE);
    if (generations_left % 2) birth(acquire(), &block, 10, FAR_SITE);
    if (generations_left == 90) pages_before = (uint32_t)hl_flight.header->page_count;
    if (generations_left-- == 0) {
        check_sums(SITE, 102, 1020, 0, 0);
        CHECK(hl_flight.header->page_count <= pages_before + 32);
        return;
    }
    prepare();
    const pid_t pid = fork();
    if (pid == 0) {
        hl_inheritance_come_into();
        _exit(check_in_child(go_down));
    }
    hl_inheritance_begin();
    tell_and_wait(pid);
}

/* What a process inherited, its child inherits; and the file does not grow by the number of generations. */
static void a_line_of_a_hundred_generations(void) {
    struct block block;
    begin_family();
    birth(mine, &block, 10, SITE);
    generations_left = 100;
    const pid_t pid = fork_child(go_down);
    tell_and_wait(pid);
}

/* That processes share, and that are no files. */
static unsigned mappings(void) {
    char line[512];
    unsigned count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof(line), maps)) count += strstr(line, "/dev/zero") != NULL;
    if (maps) fclose(maps);
    return count;
}

static void do_nothing(void) {}

/* I4: one that is gone without a word, and one that executes another program. */
static void what_no_child_needs_is_given_back(void) {
    struct block block;
    begin_family();
    birth(mine, &block, 100, SITE);
    const unsigned before = mappings();
    for (unsigned i = 0; i < 300; i++) {
        const pid_t pid = fork_child(i % 2 ? do_nothing : hl_inheritance_refuse);
        tell_and_wait(pid);
    }
    collections++;
    birth(mine, &block, 100, SITE); /* in a new generation */
    CHECK(mappings() <= before + 1);
    check_sums(SITE, 2, 200, 0, 0);
}

static uint32_t forks_are_over;

/* The first thread forks children that take over while the others give back what was for the one before. */
static void fork_or_tend(unsigned number) {
    const int saved = hl_guard_enter(&hl_thread);
    while (number && !__atomic_load_n(&forks_are_over, __ATOMIC_ACQUIRE)) hl_inheritance_tend();
    hl_guard_leave(&hl_thread, saved);
    if (number) return;
    for (unsigned i = 0; i < 150; i++) {
        for (unsigned gone = 0; gone < 3; gone++) tell_and_wait(fork_child(hl_inheritance_refuse));
        tell_and_wait(fork_child(know));
    }
    __atomic_store_n(&forks_are_over, 1, __ATOMIC_RELEASE);
}

static void a_child_gives_back_once_what_others_were_giving_back(void) {
    struct block block;
    begin_family();
    birth(mine, &block, 100, SITE);
    known_by_child = 1;
    others->record->owner = 0; /* this thread has two lanes */
    core_threads(3, fork_or_tend);
}

static unsigned char *lasting_piece, *passing_piece;
enum { PIECE = 3000 };

static void cut_again(void) {
    CHECK_EQUAL(lasting_piece[PIECE - 1], 7);
    for (unsigned i = 0; i < PIECE; i++) CHECK_EQUAL(passing_piece[i], 0);
    for (unsigned count = 0; count < 200; count++) {
        unsigned char *piece = hl_own_passing_piece(PIECE);
        CHECK(piece && (uintptr_t)piece % HL_CELL_SIZE == 0);
        for (unsigned i = 0; i < PIECE; i++) CHECK_EQUAL(piece[i], 0);
        memset(piece, 9, PIECE);
    }
    CHECK_EQUAL(lasting_piece[PIECE - 1], 7);
}

/* As if the fork had copied the page that says how far it is cut before another thread cut the next piece. */
static void cut_elsewhere(void) {
    hl_own_pieces_become_child();
    for (unsigned count = 0; count < 200; count++) {
        unsigned char *piece = hl_own_piece(PIECE);
        CHECK(piece < lasting_piece || piece >= lasting_piece + 200 * PIECE);
        for (unsigned i = 0; i < PIECE; i++) CHECK_EQUAL(piece[i], 0);
        memset(piece, 9, PIECE);
    }
    CHECK_EQUAL(lasting_piece[PIECE - 1], 7);
}

static void a_child_cuts_lasting_pieces_elsewhere(void) {
    lasting_piece = hl_own_piece(PIECE);
    memset(lasting_piece, 7, PIECE);
    CHECK_EQUAL(check_in_child(cut_elsewhere), 0);
}

static void a_child_finds_zeros_in_passing_pieces_alone(void) {
    lasting_piece = hl_own_piece(PIECE);
    passing_piece = hl_own_passing_piece(PIECE);
    memset(lasting_piece, 7, PIECE);
    memset(passing_piece, 8, PIECE);
    CHECK_EQUAL(check_in_child(cut_again), 0);
    CHECK_EQUAL(passing_piece[0] + passing_piece[PIECE - 1], 16);
    CHECK(hl_own_passing_piece(PIECE) > (void *)passing_piece);
}

static const struct check_test tests[] = {
    {"a_birth_and_a_death_are_counted_in_requested_bytes", a_birth_and_a_death_are_counted_in_requested_bytes},
    {"blocks_may_die_on_another_lane", blocks_may_die_on_another_lane},
    {"quiet_is_in_no_total", quiet_is_in_no_total},
    {"without_room_births_go_to_other", without_room_births_go_to_other},
    {"without_room_a_death_of_anothers_block_is_said_to_be_lost",
     without_room_a_death_of_anothers_block_is_said_to_be_lost},
    {"ages_are_counted_in_generations", ages_are_counted_in_generations},
    {"a_block_that_outlives_the_trailers_generations_is_no_young_one",
     a_block_that_outlives_the_trailers_generations_is_no_young_one},
    {"ages_are_told_in_milliseconds_too", ages_are_told_in_milliseconds_too},
    {"a_lane_that_was_left_is_taken_with_its_figures", a_lane_that_was_left_is_taken_with_its_figures},
    {"there_is_a_lane_for_everybody", there_is_a_lane_for_everybody},
    {"lanes_that_were_left_are_used_again", lanes_that_were_left_are_used_again},
    {"threads_that_come_and_go_lose_nothing", threads_that_come_and_go_lose_nothing},
    {"the_lane_of_a_thread_that_is_gone_is_taken", the_lane_of_a_thread_that_is_gone_is_taken},
    {"without_room_there_is_no_lane", without_room_there_is_no_lane},
    {"the_shared_lane_loses_nothing", the_shared_lane_loses_nothing},
    {"the_peak_is_noted_where_it_was", the_peak_is_noted_where_it_was},
    {"the_peak_of_a_while_is_asked_for", the_peak_of_a_while_is_asked_for},
    {"live_bytes_are_published_in_steps", live_bytes_are_published_in_steps},
    {"a_baseline_keeps_before_and_after_apart", a_baseline_keeps_before_and_after_apart},
    {"the_next_baseline_begins_anew", the_next_baseline_begins_anew},
    {"a_stamp_that_comes_again_is_another_moment", a_stamp_that_comes_again_is_another_moment},
    {"who_slept_until_a_stamp_came_again_sees_another_moment", who_slept_until_a_stamp_came_again_sees_another_moment},
    {"the_oldest_begins_anew_and_is_not_forgotten", the_oldest_begins_anew_and_is_not_forgotten},
    {"a_baseline_is_brought_to_what_is_touched", a_baseline_is_brought_to_what_is_touched},
    {"counters_are_found_quickly_wherever_the_sites_numbers_lie",
     counters_are_found_quickly_wherever_the_sites_numbers_lie},
    {"what_no_sites_place_lies_in_is_never_touched", what_no_sites_place_lies_in_is_never_touched},
    {"a_baseline_is_a_generation", a_baseline_is_a_generation},
    {"a_request_is_answered_by_the_next_allocation", a_request_is_answered_by_the_next_allocation},
    {"a_word_that_is_not_gc_count_is_given_up", a_word_that_is_not_gc_count_is_given_up},
    {"a_child_cuts_lasting_pieces_elsewhere", a_child_cuts_lasting_pieces_elsewhere},
    {"a_child_finds_zeros_in_passing_pieces_alone", a_child_finds_zeros_in_passing_pieces_alone},
    {"a_site_that_was_not_there_is_none_of_the_childs", a_site_that_was_not_there_is_none_of_the_childs},
    {"a_childs_counts_are_those_of_the_fork_whenever_it_takes_over",
     a_childs_counts_are_those_of_the_fork_whenever_it_takes_over},
    {"each_of_several_children_has_its_own_moment", each_of_several_children_has_its_own_moment},
    {"a_line_of_a_hundred_generations", a_line_of_a_hundred_generations},
    {"what_no_child_needs_is_given_back", what_no_child_needs_is_given_back},
    {"a_child_gives_back_once_what_others_were_giving_back", a_child_gives_back_once_what_others_were_giving_back},
};
CHECK_MAIN(tests)
