/* SPDX-License-Identifier: MIT */
/*
 * Attach and detach: another process has a thread of this one call heapline_arrive (ext/heapline/injector.h).
 *
 * A1  heapline_arrive runs where a signal's handler might: it takes no lock of Ruby's or the allocator's, and calls of
 *     Ruby only what a handler may. It has a job run at Ruby's next safe point, with the GVL, in the thread that came.
 * A2  Where that thread waits in Ruby, it is brought there: a system call that Ruby begins again returns EINTR; a
 *     thread that Ruby put to sleep is woken as Ruby wakes it for an interrupt. Elsewhere nothing is cut short, and the
 *     job waits.
 *     Where no Ruby runs there are no safe points. The thread starts one of heapline's own, which does it while all
 *     others go on, and may wait for their locks.
 * A3  Who asked reads the answer from `heapline_arrival`: `answered` follows `asked`. One is served at a time.
 * A4  A start that waits for its safe point can be withdrawn until it begins, in the thread that is to carry it out: at
 *     once, with -ECANCELED for all who wait, or -ESRCH where none waits. What a thread of heapline's own does cannot.
 */
#ifndef HL_ARRIVAL_H
#define HL_ARRIVAL_H

#include <stdint.h>

/* HL_ARRIVAL_ERRAND, where no Ruby runs: what the bits above HL_ARRIVAL_BITS ask for, as enum hl_request has them. Its
 * answer says that it was begun. */
enum hl_arrival_what {
    HL_ARRIVAL_START = 1,
    HL_ARRIVAL_STOP = 2,
    HL_ARRIVAL_ERRAND = 3,
    HL_ARRIVAL_WITHDRAW = 4,
    HL_ARRIVAL_BITS = 8
};

/* text: the options of a start, a newline, and code that shows the frames of the VM (lib/heapline/accounting). frame:
 * where the thread goes on, a ucontext_t; interrupted: there it makes a system call again. */
void hl_arrival_come(const char *text, uint64_t what, void *frame, int interrupted);

#endif
