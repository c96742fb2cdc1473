/* SPDX-License-Identifier: MIT */
/*
 * The clock that the allocator sees: it goes on by the time of the recording.
 *
 * A replay takes a fraction of the time that the program took, and allocators that give memory back after some time
 * (jemalloc, mimalloc) would not come to it. So the replayer has a clock_gettime of its own, which the dynamic linker
 * gives to all libraries in the process: it says when the program was where the replay is now. Time passes at the end
 * of each epoch. Plans without times leave the clock as it is.
 */
#ifndef HL_RECORDED_CLOCK_H
#define HL_RECORDED_CLOCK_H

#include <stdint.h>

/* From now on the clock starts at the present and is moved by hl_recorded_clock_set alone. */
void hl_recorded_clock_start(void);

/* Nanoseconds since the recording began; never goes back. */
void hl_recorded_clock_set(uint64_t ns);

#endif
