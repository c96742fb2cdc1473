/* SPDX-License-Identifier: MIT */
#include "lane.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "check_flight.h"
#include "core.h"
#include "site_table.h"

enum { USABLE = 256, SITE = HL_SITE_FIRST, FAR_SITE = 5 * HL_SITES_PER_PAGE };

static uint64_t collections;

static uint64_t count_collections(void) {
    return __atomic_load_n(&collections, __ATOMIC_RELAXED);
}

static void begin(void) {
    core_tables(1000);
    hl_flight.header->site_count = 1000; /* the sites that these tests count for need no records */
    hl_gc_count = count_collections;
}

static struct hl_lane *acquire(void) {
    hl_guard_enter(&hl_thread);
    struct hl_lane *lane = hl_lane_acquire();
    hl_guard_leave(&hl_thread);
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
    hl_flight.header->page_limit = hl_flight.header->page_count;
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
    hl_flight.header->page_limit = hl_flight.header->page_count;
    death(other, &block);
    CHECK_EQUAL(hl_flight.header->counts_lost, 1);
    check_sums(FAR_SITE, 1, 100, 0, 0);
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

static void an_age_survives_the_trailers_wrap(void) {
    struct block block;
    begin();
    struct hl_lane *lane = acquire();
    collections = HL_BIRTH_MASK - 1;
    birth(lane, &block, 10, SITE);
    collections = (uint64_t)HL_BIRTH_MASK + 9;
    death(lane, &block);
    CHECK_EQUAL(flight_site(SITE).age_sum, 10);
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
    CHECK(lane->counts[0][SITE + 1].age_ms_sum >= 20 && lane->counts[0][SITE + 1].age_ms_sum <= coarse_ms() - begun);
    /* Generations long ago are known in steps of 256. */
    for (collections = 3; collections < 10000; collections++) hl_lane_follow(lane);
    hl_lane_follow(lane);
    death(lane, &old);
    CHECK_EQUAL(lane->counts[0][SITE].age_ms_max, lane->counts[0][SITE].age_ms_sum);
    CHECK(lane->counts[0][SITE].age_ms_sum <= coarse_ms() - begun + 10);
    CHECK_EQUAL(lane->counts[0][SITE].age_max, 10000);
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

static void all_lanes_but_the_shared_one_can_be_owned(void) {
    begin();
    for (uint32_t i = 0; i < HL_SHARED_LANE; i++) CHECK(acquire() != NULL);
    errno = 0;
    CHECK(acquire() == NULL);
}

static void be_nobody(unsigned number) {
    (void)number;
    __atomic_store_n(&collections, (uint64_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
}

/* Not all threads run their destructors. */
static void the_lane_of_a_thread_that_is_gone_is_taken(void) {
    struct hl_lane *lane = NULL;
    begin();
    for (uint32_t i = 0; i < HL_SHARED_LANE; i++) lane = acquire();
    core_threads(1, be_nobody);
    lane->record->owner = (uint32_t)collections;
    collections = 0;
    CHECK(acquire() == lane);
    CHECK_EQUAL(lane->record->owner, syscall(SYS_gettid));
}

static void without_room_there_is_no_lane(void) {
    begin();
    hl_flight.header->page_limit = hl_flight.header->page_count;
    CHECK(acquire() == NULL);
    hl_flight.header->page_limit += 100;
    CHECK(acquire() != NULL);
}

enum { THREADS = 64, ROUNDS = 500 };

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

/* A maximum does not subtract: the lane's base keeps the greatest so far, at each further baseline too. */
static void the_oldest_begins_anew_and_is_not_forgotten(void) {
    struct block block;
    begin();
    struct hl_lane *lane = acquire();
    for (uint32_t age = 9; age >= 3; age -= 3) {
        birth(lane, &block, 100, SITE);
        collections += age;
        death(lane, &block);
        CHECK_EQUAL(lane->counts[0][SITE].age_max, age);
        CHECK_EQUAL(flight_site(SITE).age_max, 9);
        hl_lane_baseline(HL_BASELINE_CLEAR);
    }
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
    CHECK(hl_gc_counter == NULL);
}

/* ---- fork ---- */

static struct hl_lane *mine, *others;
static uint32_t others_index;
static struct block shared_block, copied_block;

static void be_a_child(void) {
    struct block block;
    hl_flight_become_child();
    hl_lane_after_fork_child(mine);
    hl_lane_baseline(HL_BASELINE_FORK);
    CHECK_EQUAL(mine->record->owner, syscall(SYS_gettid));
    /* Counted by the other thread between the copy and the fork: the allocation is there, at most its free is not. */
    const struct flight_sums sums = flight_site(SITE);
    CHECK(sums.frees <= sums.allocations && sums.bytes_freed <= sums.bytes_allocated);
    CHECK_EQUAL(sums.allocations, 2);
    /* The other's lane got a page for these counters in the parent, after the copy. */
    hl_guard_enter(&hl_thread);
    const hl_string_ref text = hl_flight_string("takes that page", 15);
    hl_guard_leave(&hl_thread);
    CHECK(text);
    struct hl_lane *taken = acquire();
    CHECK_EQUAL(taken->index, others_index);
    birth(taken, &block, 5, FAR_SITE);
    check_sums(FAR_SITE, 1, 5, 0, 0);
    death(mine, &shared_block);
    CHECK_EQUAL(flight_site(SITE).old_frees, 1);
}

static void a_childs_lanes_begin_as_the_copy_was(void) {
    struct block block;
    begin();
    mine = acquire(), others = acquire();
    others_index = others->index;
    birth(mine, &shared_block, 100, SITE);
    hl_flight_before_fork();
    birth(others, &copied_block, 50, SITE);
    death(others, &copied_block);
    birth(others, &block, 5, FAR_SITE);
    hl_lane_complete_copy();
    check_in_child(be_a_child);
    hl_flight_after_fork_parent();
    check_sums(SITE, 2, 150, 1, 50);
    check_sums(FAR_SITE, 1, 5, 0, 0);
    CHECK_EQUAL(hl_flight.header->baseline, 0);
}

static const struct check_test tests[] = {
    {"a_birth_and_a_death_are_counted_in_requested_bytes", a_birth_and_a_death_are_counted_in_requested_bytes},
    {"blocks_may_die_on_another_lane", blocks_may_die_on_another_lane},
    {"quiet_is_in_no_total", quiet_is_in_no_total},
    {"without_room_births_go_to_other", without_room_births_go_to_other},
    {"without_room_a_death_of_anothers_block_is_said_to_be_lost",
     without_room_a_death_of_anothers_block_is_said_to_be_lost},
    {"ages_are_counted_in_generations", ages_are_counted_in_generations},
    {"an_age_survives_the_trailers_wrap", an_age_survives_the_trailers_wrap},
    {"ages_are_told_in_milliseconds_too", ages_are_told_in_milliseconds_too},
    {"a_lane_that_was_left_is_taken_with_its_figures", a_lane_that_was_left_is_taken_with_its_figures},
    {"all_lanes_but_the_shared_one_can_be_owned", all_lanes_but_the_shared_one_can_be_owned},
    {"the_lane_of_a_thread_that_is_gone_is_taken", the_lane_of_a_thread_that_is_gone_is_taken},
    {"without_room_there_is_no_lane", without_room_there_is_no_lane},
    {"the_shared_lane_loses_nothing", the_shared_lane_loses_nothing},
    {"the_peak_is_noted_where_it_was", the_peak_is_noted_where_it_was},
    {"the_peak_of_a_while_is_asked_for", the_peak_of_a_while_is_asked_for},
    {"live_bytes_are_published_in_steps", live_bytes_are_published_in_steps},
    {"a_baseline_keeps_before_and_after_apart", a_baseline_keeps_before_and_after_apart},
    {"the_next_baseline_begins_anew", the_next_baseline_begins_anew},
    {"the_oldest_begins_anew_and_is_not_forgotten", the_oldest_begins_anew_and_is_not_forgotten},
    {"a_baseline_is_a_generation", a_baseline_is_a_generation},
    {"a_request_is_answered_by_the_next_allocation", a_request_is_answered_by_the_next_allocation},
    {"a_word_that_is_not_gc_count_is_given_up", a_word_that_is_not_gc_count_is_given_up},
    {"a_childs_lanes_begin_as_the_copy_was", a_childs_lanes_begin_as_the_copy_was},
};
CHECK_MAIN(tests)
