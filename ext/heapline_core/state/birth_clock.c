/* SPDX-License-Identifier: MIT */
#include "state/birth_clock.h"

#include "platform/own_memory.h"
#include "platform/system_call.h"

enum {
    RECENT = HL_BIRTHS_RECENT, /* the last ticks are known, each … */
    STEP = 256,                /* … and of all others one of so many */
    COARSE = (HL_BIRTH_MASK + 1) / STEP,
    SHARE_BITS = 16, /* of the time that has passed, for a tick */
    TICK_SHIFT = HL_TICK_SHIFT,
};
_Static_assert(HL_BIRTH_MASK < 1u << (64 - TICK_SHIFT), "TICK_SHIFT");

HL_HOT uint64_t hl_epochs;
HL_HOT uint32_t hl_birth_baseline;
struct hl_beginning hl_births_recent[RECENT] HL_PAGE_ALIGNED;
static struct hl_beginning *coarse;
uint64_t hl_birth_state;
static uint64_t began_ms; /* the first tick; 0: none yet */

uint64_t hl_birth_ms(void) {
    return hl_clock_ns(CLOCK_MONOTONIC_COARSE) / 1000000;
}

static uint32_t tick_of(uint64_t word) {
    return (uint32_t)(word >> TICK_SHIFT);
}

static uint64_t generation_of(uint64_t word) {
    return word & HL_TICK_GENERATION;
}

/* Several may see one tick begin, at different generations: the earliest is kept (B2), in place of what an earlier tick
 * left there. */
static void keep(struct hl_beginning *place, uint32_t tick, uint64_t generation, uint64_t ms) {
    uint64_t there = hl_load64(&place->word);
    do {
        if (tick_of(there) > tick || (tick_of(there) == tick && generation_of(there) <= generation)) return;
        if (tick_of(there) != tick) __atomic_store_n(&place->ms, ms, __ATOMIC_RELAXED);
    } while (!__atomic_compare_exchange_n(&place->word, &there, (uint64_t)tick << TICK_SHIFT | generation, 0,
                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static void note(uint32_t tick, uint64_t generation, uint64_t ms) {
    keep(&hl_births_recent[tick % RECENT], tick, generation, ms);
    struct hl_beginning *steps = __atomic_load_n(&coarse, __ATOMIC_ACQUIRE);
    if (steps && tick % STEP == 0) keep(&steps[tick / STEP], tick, generation, ms);
}

static void begin(uint64_t ms) {
    if (hl_load64(&began_ms)) return;
    struct hl_beginning *none = NULL, *steps = hl_own_memory(COARSE * sizeof(*steps));
    if (steps && !__atomic_compare_exchange_n(&coarse, &none, steps, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        hl_own_memory_return(steps, COARSE * sizeof(*steps));
    __atomic_store_n(&began_ms, ms ? ms : 1, __ATOMIC_RELAXED);
}

/* Whether the tick that began at `since` has lasted long enough. */
static int is_over(uint64_t since, uint64_t ms) {
    return ms - since >= (ms - hl_load64(&began_ms)) >> SHARE_BITS;
}

/* The tick behind `tick` at a generation that is later; `apart`: another one than `tick`, where there is one. */
static uint32_t next_tick(uint32_t tick, uint64_t generation, uint64_t ms, int apart) {
    const uint32_t exact = generation < HL_BIRTH_EXACT ? (uint32_t)generation : HL_BIRTH_EXACT - 1;
    if (tick < exact && exact - tick > RECENT) tick = exact - RECENT;
    for (; tick < exact; tick++) note(tick + 1, tick + 1, ms);
    if (generation < HL_BIRTH_EXACT || tick == HL_BIRTH_MASK) return tick;
    if (!apart && !is_over(hl_birth_time(tick), ms)) return tick;
    note(tick + 1, generation, ms);
    return tick + 1;
}

static uint32_t advance(uint64_t generation, uint64_t ms, int apart) {
    uint64_t word = hl_load64(&hl_birth_state);
    while (generation > generation_of(word)) {
        const uint64_t next = (uint64_t)next_tick(tick_of(word), generation, ms, apart) << TICK_SHIFT | generation;
        if (__atomic_compare_exchange_n(&hl_birth_state, &word, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            word = next;
    }
    if (generation < HL_BIRTH_EXACT) return (uint32_t)generation;
    uint32_t tick = tick_of(word);
    while (hl_birth_generation(tick) > generation) tick--; /* others were faster, or a baseline is about to be */
    return tick;
}

uint32_t hl_birth_tick(uint64_t generation, uint64_t now_ms) {
    begin(now_ms);
    return advance(generation, now_ms, 0);
}

void hl_birth_begin_baseline(uint64_t generation, uint64_t now_ms) {
    begin(now_ms);
    __atomic_store_n(&hl_birth_baseline, advance(generation, now_ms, 1), __ATOMIC_RELEASE);
}

/* A tick of long ago may lose its place among the recent ones while it is looked at. */
static struct hl_beginning beginning_of(uint32_t tick) {
    const struct hl_beginning *steps = __atomic_load_n(&coarse, __ATOMIC_ACQUIRE),
                              *place = &hl_births_recent[tick % RECENT];
    const int is_recent = hl_birth_newest() - tick < RECENT;
    struct hl_beginning found = {.ms = hl_load64(&place->ms), .word = hl_load64(&place->word)};
    if (steps && (!is_recent || tick_of(found.word) > tick))
        found =
            (struct hl_beginning){.ms = hl_load64(&steps[tick / STEP].ms), .word = hl_load64(&steps[tick / STEP].word)};
    return found;
}

uint64_t hl_birth_generation(uint32_t tick) {
    return tick < HL_BIRTH_EXACT ? tick : generation_of(beginning_of(tick).word);
}

/* What never began did so at the start. */
uint64_t hl_birth_time(uint32_t tick) {
    const uint64_t ms = beginning_of(tick).ms;
    return ms ? ms : hl_load64(&began_ms);
}
