/* SPDX-License-Identifier: MIT */
#include "state/birth_clock.h"

#include "check.h"
#include "core.h"

enum { START_MS = 5000, A_DAY_MS = 86400000 };

static void at_first_a_tick_is_a_generation(void) {
    for (uint64_t generation = 0; generation < HL_BIRTH_EXACT; generation++) {
        const uint32_t tick = hl_birth_tick(generation, START_MS + generation);
        CHECK_EQUAL(tick, generation);
        CHECK_EQUAL(hl_birth_generation(tick), generation);
    }
    CHECK_EQUAL(hl_birth_time(HL_BIRTH_EXACT - 4096), START_MS + HL_BIRTH_EXACT - 4096);
    CHECK_EQUAL(hl_birth_time(300), START_MS + 256);
}

static void generations_may_be_passed_over(void) {
    CHECK_EQUAL(hl_birth_tick(20000, START_MS), 20000);
    CHECK_EQUAL(hl_birth_tick(100, START_MS + 5), 100); /* a lane that has not looked for long */
    CHECK_EQUAL(hl_birth_tick(30000, START_MS + 10), 30000);
    CHECK_EQUAL(hl_birth_time(30000) - hl_birth_time(20000), 10);
}

/* Ten GCs a second for three months: 78 million of them. Each block's age is told at least, and to a part in 200. */
static void no_block_is_ever_younger_than_it_is(void) {
    enum { BLOCKS = 64 };
    struct {
        uint64_t generation, ms;
        uint32_t tick;
    } blocks[BLOCKS];
    uint32_t last = 0, longest = 0;
    unsigned kept = 0;
    for (uint64_t generation = 1; generation < 78000000; generation++) {
        const uint64_t ms = START_MS + generation * 100;
        const uint32_t tick = hl_birth_tick(generation, ms);
        if (tick < last || tick > HL_BIRTH_MASK) longest = UINT32_MAX;
        last = tick;
        const uint64_t width = generation - hl_birth_generation(tick);
        if (width > longest) longest = (uint32_t)width;
        if (generation % (78000000 / BLOCKS) == 7) {
            blocks[kept].generation = generation;
            blocks[kept].ms = ms;
            blocks[kept++].tick = tick;
        }
    }
    const uint64_t now = 77999999, now_ms = START_MS + now * 100;
    CHECK_EQUAL(kept, BLOCKS);
    CHECK(last < HL_BIRTH_MASK);   /* there are ticks left */
    CHECK(longest <= now / 50000); /* of a process's life */
    for (unsigned i = 0; i + 1 < BLOCKS; i++) {
        const uint64_t age = now - blocks[i].generation, told = now - hl_birth_generation(blocks[i].tick);
        const uint64_t age_ms = now_ms - blocks[i].ms, told_ms = now_ms - hl_birth_time(blocks[i].tick);
        CHECK(told >= age && told <= age + now / 200);
        CHECK(told_ms >= age_ms && told_ms <= age_ms + now_ms / 200);
        CHECK(blocks[i].tick < blocks[i + 1].tick);
    }
}

/* B1, also where a tick lasts for many generations. */
static void a_baseline_begins_a_tick(void) {
    uint64_t generation = 3, ms = START_MS;
    CHECK_EQUAL(hl_birth_baseline, 0);
    for (unsigned i = 0; i < 1000; i++) {
        generation += i % 7 * 1000 + 1;
        ms += A_DAY_MS / 100;
        const uint32_t before = hl_birth_tick(generation, ms);
        hl_birth_begin_baseline(generation + 1, ms);
        const uint32_t meanwhile = hl_birth_tick(generation, ms), after = hl_birth_tick(generation + 1, ms);
        CHECK(before < hl_birth_baseline && meanwhile < hl_birth_baseline && after == hl_birth_baseline);
        CHECK_EQUAL(hl_birth_generation(hl_birth_baseline), generation + 1);
        generation += 2;
    }
    CHECK(generation > HL_BIRTH_EXACT);
}

static void the_last_tick_does_not_end(void) {
    uint64_t generation = HL_BIRTH_EXACT;
    for (; generation < 2 * (uint64_t)HL_BIRTH_MASK; generation++) hl_birth_begin_baseline(generation, START_MS);
    CHECK_EQUAL(hl_birth_tick(generation + 1, START_MS + A_DAY_MS), HL_BIRTH_MASK);
    CHECK_EQUAL(hl_birth_tick(generation + 1000, START_MS + A_DAY_MS), HL_BIRTH_MASK);
}

/* All threads see the same generations go by; what they are told never goes back. */
static void follow(unsigned thread) {
    static uint64_t clock;
    uint32_t last = 0;
    for (unsigned i = 0; i < 20000; i++) {
        const uint64_t generation = HL_BIRTH_EXACT - 1000 + __atomic_fetch_add(&clock, thread % 2, __ATOMIC_RELAXED);
        const uint32_t tick = hl_birth_tick(generation, START_MS + generation * 1000);
        CHECK(hl_birth_generation(tick) <= generation);
        if (generation >= HL_BIRTH_EXACT + 1000) CHECK(tick >= last);
        last = tick;
    }
}

static void threads_may_see_a_generation_at_once(void) {
    core_threads(16, follow);
}

static const struct check_test tests[] = {
    {"at_first_a_tick_is_a_generation", at_first_a_tick_is_a_generation},
    {"generations_may_be_passed_over", generations_may_be_passed_over},
    {"no_block_is_ever_younger_than_it_is", no_block_is_ever_younger_than_it_is},
    {"a_baseline_begins_a_tick", a_baseline_begins_a_tick},
    {"the_last_tick_does_not_end", the_last_tick_does_not_end},
    {"threads_may_see_a_generation_at_once", threads_may_see_a_generation_at_once},
};
CHECK_MAIN(tests)
