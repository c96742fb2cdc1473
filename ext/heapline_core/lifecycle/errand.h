/* SPDX-License-Identifier: MIT */
/*
 * What another process asked for and takes time or needs Ruby: figures of the object heap, by a postponed job; figures
 * of the allocator and trimming, by a helper thread, so that no thread of the program waits; a twin of the process, by
 * the job too (twin_errand.h); and so recordings begin and end. A baseline alone is begun where it is seen: it is a
 * number.
 *
 * The request is seen inside malloc, or where Ruby reads a clock (at each GC, after a sleep), where neither Ruby nor
 * the allocator may be called. So the thread that sees it, one of Ruby's with the GVL, only registers a job; Ruby runs
 * it at its next safe point; and that starts the thread. In a program without Ruby another process has one of its
 * threads start it (arrival.h).
 *
 * E1  There is one helper at a time. All signals are blocked in it; it owns no lane and is not counted.
 * E2  A request that an allocation without the GVL sees is dropped: who asks, asks again until it is answered.
 * E3  In a forked child there is no helper. fork itself waits for the allocator's locks, as ever.
 * E4  The job runs in the main Ractor, whichever one saw the request: only that one may read globals.
 * E5  Inside malloc nobody waits, for the program may hold any lock, and nobody works for others but to begin a
 * baseline and to register a job: a bounded number of instructions, which errand_test.c counts. What is asked of
 * recordings stays in the request until a safe point, so that who asked can withdraw it; where no jobs are run (no VM
 * yet or any more, or one that has none), until a thread reads a clock. E6  A process that waits comes to a safe point
 * when it is visited (visit.h).
 */
#ifndef HL_ERRAND_H
#define HL_ERRAND_H

#include <stdint.h>

/* Something is asked for (enum hl_request): begin a baseline here, have a job see to all else. Inside malloc, with the
 * guard entered. */
void hl_errand_ask(void);

/* See to what is asked for, where no allocation comes by. Any thread, any moment, async-signal-safe. */
void hl_errand_pass(void);

/* In a visit (visit.h), with the guard entered; `passes`: this thread comes to a safe point. 0: no jobs are run. */
int hl_errand_visit(int passes);

/* What is asked of a program in which no Ruby runs jobs, as bits of enum hl_request: heapline's own thread sees to it.
 * With the guard entered, where the allocator may be called. 0, or -errno: there can be no thread. */
int hl_errand_see_to(uint32_t request);

/* In a forked child, with the guard entered. */
void hl_errand_after_fork_child(void);

#endif
