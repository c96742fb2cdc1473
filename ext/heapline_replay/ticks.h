/* SPDX-License-Identifier: MIT */
/*
 * The finest clock there is, for the time of single calls: the processor's counter. Its unit is found
 * by comparing with the real clock.
 */
#ifndef HL_TICKS_H
#define HL_TICKS_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../heapline_core/platform/platform.h"

/* The kernel's own clock: the replayer's clock_gettime tells the time of the recording (see recorded_clock.h). */
static inline uint64_t hl_real_ns(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t hl_ticks(void) {
    return hl_clock_counter();
}

static inline void hl_pause(void) {
    hl_processor_pause();
}

#endif
