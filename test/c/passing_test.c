/* SPDX-License-Identifier: MIT */
/*
 * Threads pass blocks to each other; what the core counted equals, to the byte, what the test itself counted.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "account/lane.h"
#include "check.h"
#include "check_flight.h"
#include "core.h"
#include "fake_ruby.h"
#include "flight/flight.h"
#include "heapline_core.h"
#include "lifecycle/lifecycle.h"

enum { THREADS = 64, STEPS = 3000, CROSSINGS = 128, LINES = 300, FIRST_LINE = 10, QUIET_LINE = LINES };

/* What a block says of itself; QUIET_LINE: born inside quiet. */
struct block {
    uint32_t line;
    uint32_t size;
};

struct tally {
    uint64_t allocations, bytes_allocated, frees, bytes_freed;
};

static struct fake_code *code;
static struct block *crossings[CROSSINGS];
static struct tally tallies[LINES + 1];
static unsigned quiet_every, reallocate_every, baseline_every, collect_every;

static void add(uint64_t *counter, uint64_t amount) {
    __atomic_fetch_add(counter, amount, __ATOMIC_RELAXED);
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state >> 11;
}

static void note_birth(struct block *block, uint32_t line, uint32_t size) {
    *block = (struct block){line, size};
    add(&tallies[line].allocations, 1);
    add(&tallies[line].bytes_allocated, size);
}

static void note_death(const struct block *block) {
    add(&tallies[block->line].frees, 1);
    add(&tallies[block->line].bytes_freed, block->size);
}

static uint32_t some_size(uint64_t *random) {
    const uint64_t draw = next_random(random);
    return (uint32_t)(sizeof(struct block) + draw % (draw % 64 ? 200 : 70000));
}

static struct block *allocate(uint64_t *random, int quiet) {
    const uint32_t line = (uint32_t)(next_random(random) % LINES), size = some_size(random);
    if (quiet) heapline_quiet_enter();
    fake_ruby_push(code, line);
    struct block *block = fake_ruby_allocate(size);
    fake_ruby_pop();
    if (quiet) heapline_quiet_leave();
    note_birth(block, quiet ? QUIET_LINE : line, size);
    return block;
}

static struct block *reallocate(struct block *block, uint64_t *random) {
    const uint32_t line = (uint32_t)(next_random(random) % LINES), size = some_size(random);
    note_death(block);
    fake_ruby_push(code, line);
    block = realloc(block, size);
    fake_ruby_pop();
    note_birth(block, line, size);
    return block;
}

static void release(struct block *block) {
    if (!block) return;
    note_death(block);
    free(block);
}

static int due(unsigned every, unsigned step) {
    return every && step % every == every - 1;
}

static void pass_blocks(unsigned number) {
    uint64_t random = 0x9e3779b97f4a7c15ull * (number + 1);
    heapline_quiet_enter();
    void *fiber = fake_ruby_fiber();
    heapline_quiet_leave();
    for (unsigned step = 0; step < STEPS; step++) {
        struct block *block = allocate(&random, due(quiet_every, step));
        if (due(reallocate_every, step)) block = reallocate(block, &random);
        struct block **crossing = &crossings[next_random(&random) % CROSSINGS];
        release(__atomic_exchange_n(crossing, block, __ATOMIC_ACQ_REL));
        if (number == 0 && due(baseline_every, step)) heapline_baseline();
        if (number == 1 && due(collect_every, step)) __atomic_fetch_add(&fake_ruby.gc_count, 1, __ATOMIC_RELAXED);
    }
    *fake_ruby_ec_word() = NULL;
    heapline_quiet_enter();
    fake_ruby_free_thread(fiber);
    heapline_quiet_leave();
}

static void begin(void) {
    core_start("3.4.1", "quiet");
    fake_ruby_boot();
    code = fake_ruby_compile("/app/pass.rb", "pass", FIRST_LINE, LINES);
}

static void compare(uint32_t line) {
    const uint32_t site = flight_find("/app/pass.rb", FIRST_LINE + line);
    const struct flight_sums sums = flight_site(site);
    const struct tally *tally = &tallies[line];
    CHECK_EQUAL(sums.allocations, tally->allocations);
    CHECK_EQUAL(sums.bytes_allocated, tally->bytes_allocated);
    CHECK_EQUAL(sums.frees, tally->frees);
    CHECK_EQUAL(sums.bytes_freed, tally->bytes_freed);
}

/* With crossings still full, and again when all blocks are gone. */
static void check_identities(void) {
    uint64_t live = 0;
    for (uint32_t line = 0; line < LINES; line++) compare(line);
    check_flight();
    for (unsigned i = 0; i < CROSSINGS; i++) release(crossings[i]);
    for (uint32_t line = 0; line < LINES; line++) {
        compare(line);
        live += tallies[line].allocations - tallies[line].frees;
    }
    CHECK_EQUAL(live, 0);
    CHECK_EQUAL(hl_flight.header->counts_lost, 0);
    CHECK_EQUAL(flight_site(HL_SITE_OTHER).allocations, 0);
    check_flight();
}

static void nothing_is_lost_between_threads(void) {
    begin();
    core_threads(THREADS, pass_blocks);
    check_identities();
}

static void nothing_is_lost_across_realloc_quiet_baseline_and_gc(void) {
    begin();
    quiet_every = 7, reallocate_every = 3, baseline_every = 100, collect_every = 20;
    core_threads(THREADS, pass_blocks);
    check_identities();
    CHECK_EQUAL(hl_flight.header->baseline, STEPS / 100);
    CHECK(flight_site(HL_SITE_QUIET).allocations == flight_site(HL_SITE_QUIET).frees);
}

/* Without memory for lanes of their own all threads share one. */
static void nothing_is_lost_where_threads_share_a_lane(void) {
    uint64_t random = 1;
    begin();
    for (uint32_t line = 0; line < LINES; line++) {
        fake_ruby_push(code, line);
        void *block = fake_ruby_allocate(8);
        fake_ruby_pop();
        note_birth(block, line, 8);
        release(block);
    }
    release(allocate(&random, 1));
    const int saved = hl_guard_enter(&hl_thread);
    struct hl_lane *lane = hl_lane_shared_lock();
    for (uint32_t site = HL_SITE_OTHER; site < hl_flight.header->site_count; site++) hl_lane_count(lane, site);
    hl_lane_shared_unlock();
    const uint64_t limit = hl_flight.header->page_limit;
    hl_flight.header->page_limit = hl_flight.header->page_count;
    while (hl_flight_cells(1))
        ;
    hl_guard_leave(&hl_thread, saved);
    quiet_every = 7, reallocate_every = 3;
    core_threads(THREADS, pass_blocks);
    CHECK(hl_lane_record_after(hl_lane_record_after(NULL)) &&
          !hl_lane_record_after(hl_lane_record_after(hl_lane_record_after(NULL))));
    hl_flight.header->page_limit = limit;
    check_identities();
}

static void nothing_is_lost_under_the_public_way(void) {
    core_start("3.4.1", "quiet,public");
    fake_ruby_boot();
    code = fake_ruby_compile("/app/pass.rb", "pass", FIRST_LINE, LINES);
    core_threads(8, pass_blocks);
    check_identities();
}

/* ---- a reader meanwhile ---- */

static int finished;

enum { SITES_READ = 1000, FREES_KEPT = 1 << 16 }; /* 16 lanes at once with counters of all lines take 20,000 cells */
static uint64_t kept_frees[FREES_KEPT];           /* by cell of the count */

/* F2 */
static uint64_t frees_now(const struct hl_count *count) {
    const size_t cell = (size_t)((const char *)count - hl_flight.base) / HL_CELL_SIZE;
    const uint64_t now = hl_load64(&count->frees);
    CHECK(cell < FREES_KEPT && now >= kept_frees[cell % FREES_KEPT]);
    return kept_frees[cell % FREES_KEPT] = now;
}

/* F3: frees first, then allocations, as a reader copies them. */
static void *read_all_the_time(void *times) {
    while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE)) {
        static uint64_t freed[SITES_READ], allocated[SITES_READ];
        memset(freed, 0, sizeof(freed));
        memset(allocated, 0, sizeof(allocated));
        for (int pass = 0; pass < 2; pass++) {
            for (const struct hl_lane_record *lane = NULL; (lane = hl_lane_record_after(lane));)
                for (const struct hl_count_chunk *chunk = NULL; (chunk = hl_chunk_after(lane, chunk));) {
                    const uint32_t used = hl_chunk_used(chunk);
                    for (uint32_t i = 0; i < used; i++) {
                        const uint32_t site = chunk->sites[i];
                        const struct hl_count *count = &hl_chunk_counts(chunk)[i];
                        CHECK(site && site < SITES_READ);
                        if (pass == 0) freed[site % SITES_READ] += frees_now(count);
                        if (pass == 1) allocated[site % SITES_READ] += hl_load64(&count->allocations);
                    }
                }
            __atomic_thread_fence(__ATOMIC_ACQUIRE);
        }
        for (uint32_t site = 0; site < SITES_READ; site++) CHECK(freed[site] <= allocated[site]);
        __atomic_add_fetch((unsigned *)times, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void a_reader_never_sees_more_frees_than_allocations(void) {
    pthread_t reader;
    unsigned times = 0;
    begin();
    pthread_create(&reader, NULL, read_all_the_time, &times);
    do { /* on a busy machine the reader may not have had its turn yet */
        core_threads(16, pass_blocks);
    } while (__atomic_load_n(&times, __ATOMIC_RELAXED) <= 3);
    __atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
    pthread_join(reader, NULL);
    check_identities();
}

static const struct check_test tests[] = {
    {"nothing_is_lost_between_threads", nothing_is_lost_between_threads},
    {"nothing_is_lost_across_realloc_quiet_baseline_and_gc", nothing_is_lost_across_realloc_quiet_baseline_and_gc},
    {"nothing_is_lost_where_threads_share_a_lane", nothing_is_lost_where_threads_share_a_lane},
    {"nothing_is_lost_under_the_public_way", nothing_is_lost_under_the_public_way},
    {"a_reader_never_sees_more_frees_than_allocations", a_reader_never_sees_more_frees_than_allocations},
};
CHECK_MAIN(tests)
