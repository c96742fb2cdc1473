/* SPDX-License-Identifier: MIT */
#include "recorded_clock.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000, CLOCKS = 12 };

static int started;
static uint64_t recorded_ns;
static struct timespec start[CLOCKS]; /* by clock */

static int real_clock(clockid_t clock, struct timespec *time) {
    return (int)syscall(SYS_clock_gettime, clock, time);
}

/* Those that tell time; the processor's time stays what it is. */
static int tells_time(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC ||
           clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_BOOTTIME;
}

void hl_recorded_clock_start(void) {
    for (clockid_t clock = 0; clock < CLOCKS; clock++) real_clock(clock, &start[clock]);
    __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
}

void hl_recorded_clock_set(uint64_t ns) {
    if (ns > recorded_ns) __atomic_store_n(&recorded_ns, ns, __ATOMIC_RELEASE);
}

/* Exported: in place of libc's. */
int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!__atomic_load_n(&started, __ATOMIC_ACQUIRE) || !tells_time(clock)) return real_clock(clock, time);
    const uint64_t ns = __atomic_load_n(&recorded_ns, __ATOMIC_ACQUIRE) + (uint64_t)start[clock].tv_nsec;
    time->tv_sec = start[clock].tv_sec + (time_t)(ns / SECOND);
    time->tv_nsec = (long)(ns % SECOND);
    return 0;
}
