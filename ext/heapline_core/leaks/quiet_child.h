/* SPDX-License-Identifier: MIT */
/*
 * A copy of this process that looks at its memory as it was at one instant, while the program goes on.
 *
 * The copy is made by an attendant, as own_process.h describes it: a clone without exit signal that shares the
 * program's memory. So no wait(2) and no SIGCHLD of the program tells of either, no fork handler runs, and the copy's
 * parent is there to collect it. The attendant may also stop the program's other threads for the moment of the copy,
 * which is the only way to their registers.
 *
 * Q1  In the copy runs one thread, and only `work`: none of the program's code, no malloc (its locks may be held), no
 *     Ruby. All signals are blocked but faults; all descriptors but `fd` are closed.
 * Q2  The program waits until the copy is made, its attendant killed or a minute over; `pause_ns` says how long. Where
 *     the attendant is killed later, the copy ends with it.
 * Q3  A thread that is stopped goes on as if nothing had been; a system call that returns EINTR after SIGSTOP and
 *     SIGCONT without a handler (epoll_wait, for instance) may do so here.
 * Callable from any thread with the guard entered.
 */
#ifndef HL_QUIET_CHILD_H
#define HL_QUIET_CHILD_H

#include <stddef.h>
#include <stdint.h>

#include "platform/platform.h"

/* One of the program's threads at the instant of the copy. */
struct hl_thread_state {
    uint32_t tid;
    uint32_t known; /* its registers could be read */
    struct hl_thread_registers registers;
};

struct hl_quiet_child {
    int (*work)(void *argument); /* in the copy: its exit status */
    void *argument;
    int fd; /* stays open in the copy; -1: none */
    int stop_threads;

    /* Read by the work: */
    uintptr_t caller_stack;          /* the calling thread's stack, from where it waits */
    uint32_t caller;                 /* its thread id */
    struct hl_thread_state *threads; /* the others */
    uint32_t thread_count;
    uint64_t *pause_ns; /* shared with the program, which writes it when the copy is made */

    /* Private: */
    int program, attendant;
    char *memory;
    uint32_t may_begin, made; /* futexes; made: 1, or -errno */
};

/* Make the copy. 0, or -errno where none could be made (-ECHILD: the attendant was killed, -ETIMEDOUT). errno stays. */
int hl_quiet_child_start(struct hl_quiet_child *child);

/* In a forked child: the copy is its parent's; give the memory back. */
void hl_quiet_child_forget(struct hl_quiet_child *child);

/* Wait for its end; may be called in another thread than start. Its exit status, 128 + the signal that ended it. */
int hl_quiet_child_wait(struct hl_quiet_child *child);

#endif
