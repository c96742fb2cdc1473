/* SPDX-License-Identifier: MIT */
/*
 * The order between threads: a thread waits until another has done some of its calls, and nobody is two epochs ahead of
 * anybody. All that is waited for lies earlier in the recorded order, so that some thread can always go on; a plan that
 * was made to stand still is found out (O2).
 *
 * O1: who has seen hl_order_await return sees all that the other thread did before its hl_order_done.
 * O2: where all threads wait and none has stopped waiting for `patience` seconds, `stuck` is called.
 *
 * Any thread of the replay may call all of it but hl_order_init.
 */
#ifndef HL_ORDER_H
#define HL_ORDER_H

#include <stdint.h>

#include "plan.h"

/* 0, or -1 where there is no memory. passed: called for each epoch when all of it is done, in order, by one thread at a
 * time. stuck: must not return. */
int hl_order_init(const struct hl_plan *plan, unsigned patience, void (*passed)(uint64_t epoch), void (*stuck)(void));

/* The thread has done so many calls, and others may wait for that. */
void hl_order_done(uint32_t thread, uint64_t calls);

/* Until the thread has. */
void hl_order_await(uint32_t thread, uint64_t calls);

/* The thread leaves the epoch `from` (-1: none) and goes on in `to` (-1: it has done all that it had to do). */
void hl_order_epoch(int64_t from, int64_t to);

/* Threads that run, and end: the first one calls it for itself too. */
void hl_order_thread_begins(void);
void hl_order_thread_ends(void);

/* Until all epochs are done, however long that takes. */
void hl_order_await_all(void);

#endif
