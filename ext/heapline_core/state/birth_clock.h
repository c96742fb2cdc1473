/* SPDX-License-Identifier: MIT */
/*
 * The clock of births: what a trailer holds of the moment of birth, in HL_BIRTH_BITS, and what that says of a block's
 * age.
 *
 * It never goes round, so that a block which lives for weeks is never taken for a young one. At first a tick is a
 * generation, until half of the ticks are used (half a million). From then on a tick lasts for at least 2^-16 of the
 * time that the process has run (1.3 s after a day, 9 s after a week), and for as many generations as fall into it. The
 * other half then lasts 3,000 times as long as the first one did; the last tick does not end.
 *
 * B1  Later births have later ticks or the same one. A baseline begins a tick, so births before and after it differ.
 * B2  The age of a block that dies in a later tick than it was born in is never told too small: a tick's generation and
 *     time are those of its beginning, and of more than 4096 ticks ago those of up to 256 ticks before.
 * Callable from any thread inside malloc; takes no lock.
 */
#ifndef HL_BIRTH_CLOCK_H
#define HL_BIRTH_CLOCK_H

#include <stdint.h>

#include "platform/platform.h"
#include "state/trailer.h"

/* The number of baselines, and above it that of forks. Together they are the moment: counters that stand at another one
 * are brought up to it before they change. */
extern uint64_t hl_epochs HL_HIDDEN;
#define HL_EPOCH_FORK (1ull << 32)
HL_INLINE uint64_t hl_baseline(void) {
    return (uint32_t)hl_load64(&hl_epochs);
}
HL_INLINE uint32_t hl_moment_of(uint64_t epochs) {
    return (uint32_t)epochs + (uint32_t)(epochs >> 32);
}

/* Ticks that are generations. */
#define HL_BIRTH_EXACT ((HL_BIRTH_MASK + 1) / 2)

/* The first tick of the baseline in force: what was born before it is older. */
extern uint32_t hl_birth_baseline HL_HIDDEN;

/* Milliseconds since some moment; they go on for ever. */
uint64_t hl_birth_ms(void);

/* A generation is first seen, at `now_ms`: the tick of what is born in it. */
uint32_t hl_birth_tick(uint64_t generation, uint64_t now_ms);

/* Begin a tick for a baseline, whose generation will be this one. */
void hl_birth_begin_baseline(uint64_t generation, uint64_t now_ms);

/* The beginnings of the last ticks, each in its place. */
enum { HL_BIRTHS_RECENT = 4096, HL_TICK_SHIFT = 44 };
#define HL_TICK_GENERATION ((1ull << HL_TICK_SHIFT) - 1)
struct hl_beginning {
    uint64_t word; /* tick << HL_TICK_SHIFT | the generation at which it began */
    uint64_t ms;
};
extern struct hl_beginning hl_births_recent[HL_BIRTHS_RECENT] HL_HIDDEN;

/* The present tick << HL_TICK_SHIFT | the last generation noted. */
extern uint64_t hl_birth_state HL_HIDDEN;

/* The newest tick so far. */
HL_INLINE uint32_t hl_birth_newest(void) {
    return (uint32_t)(hl_load64(&hl_birth_state) >> HL_TICK_SHIFT);
}

/* The generation and the time at which a tick began. */
uint64_t hl_birth_generation(uint32_t tick);
uint64_t hl_birth_time(uint32_t tick);

#endif
