/* SPDX-License-Identifier: MIT */
/*
 * A thread that Ruby has put to sleep, and how Ruby wakes it for an interrupt.
 */
#ifndef HL_RUBY_SLEEP_H
#define HL_RUBY_SLEEP_H

#include <stdint.h>

/* The function that wakes it, which stands in the VM's struct of the thread before its argument, the thread. NULL: it
 * does not sleep, or that cannot be told. By the thread itself; nothing of the layout needs to be proven. */
void (*hl_ruby_waker(uintptr_t thread))(void *);

/* Wake the calling thread, which was interrupted in its sleep: it then looks for interrupts, and sleeps on. 0: there is
 * no telling how. */
int hl_ruby_wake_self(void);

#endif
