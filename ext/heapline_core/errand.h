/* SPDX-License-Identifier: MIT */
/*
 * What another process asked for and takes time or needs Ruby: figures of the object heap, by a postponed job; figures
 * of the allocator and trimming, by a helper thread, so that no thread of the program waits; a twin of the process, by
 * the job too (twin_errand.h).
 *
 * The request is seen inside malloc, or where Ruby reads a clock (at each GC, after a sleep), where neither Ruby nor
 * the allocator may be called. So the thread that sees it, one of Ruby's with the GVL, only registers a job; Ruby runs
 * it at its next safe point; and that starts the thread.
 *
 * E1  There is one helper at a time. All signals are blocked in it; it owns no lane and is not counted.
 * E2  A request that an allocation without the GVL sees is dropped: who asks, asks again until it is answered.
 * E3  In a forked child there is no helper. fork itself waits for the allocator's locks, as ever.
 * E4  The job runs in the main Ractor, whichever one saw the request: only that one may read globals.
 */
#ifndef HL_ERRAND_H
#define HL_ERRAND_H

#include <stdint.h>

enum { HL_REQUEST_ERRANDS = 2 | 4 | 8 | 16 | 0x700 };

/* See to these bits of enum hl_request. Inside malloc, with the guard entered. */
void hl_errand_ask(uint32_t request);

/* See to what is asked for, where no allocation comes by. Any thread, any moment, async-signal-safe. */
void hl_errand_pass(void);

/* Forget these bits, where they were asked for and not seen to yet. */
void hl_errand_drop(uint32_t request);

/* Start a detached thread with all signals blocked. 0 or -errno. With the guard entered. */
int hl_errand_thread(void *(*work)(void *unused));

/* In a forked child, with the guard entered. */
void hl_errand_after_fork_child(void);

#endif
