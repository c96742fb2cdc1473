/* SPDX-License-Identifier: MIT */
/*
 * A copy of another process, as it is at one moment, that never runs: for who wants to read its memory at leisure.
 *
 * P1  All threads stop, one of them makes the copy (clone, as fork does), all go on. What the copy shares with the
 *     process (shared mappings) goes on changing, but for the flight file, which is copied while all stand.
 * P2  The thread makes the call as one that is injected (injector.h, I1), so who is killed when leaves it as it was.
 *     A copy that its tracer does not hold ends at its first instruction: what clone has given it for a stack returns
 *     into _exit.
 * P3  The process gets no signal of the copy, and no wait of its own sees it (__WCLONE); at the end one of its threads
 *     takes it away. Who is killed before leaves a dead child behind, which goes when the process ends.
 */
#ifndef RBHL_PROCESS_COPY_H
#define RBHL_PROCESS_COPY_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct rbhl_process_copy {
    pid_t pid;
    int memory;                              /* as of rbhl_injection */
    uintptr_t system_call, returning, exits; /* code of the process: "syscall; ret", rt_sigreturn, _exit */
    int flight, flight_copy;                 /* descriptors; -1: it has none */
    int wanted, not_wanted;                  /* a pipe: the copy is there until the caller closes the second end */
    int made;                                /* of another: it ends when all below is told */
    /* told: */
    int error;  /* errno; 0: there is a copy */
    int unsafe; /* no thread was at a place where it could make one */
    pid_t busy; /* 0, or with EBUSY a thread that waits in the kernel and could not be stopped */
    pid_t copy;
    uint64_t stopped_ns; /* from the first thread's stop to the last one's going on */
    uint64_t flight_bytes;
    uint32_t thread_count;
    uint32_t room; /* in `threads` */
    struct rbhl_stopped_thread {
        pid_t thread;
        int status; /* for letting go */
        struct user_regs_struct registers;
    } threads[];
};

/* In memory that is shared with the tracer (MAP_SHARED). The tracer, for rbhl_trace_end, or -1. */
pid_t rbhl_process_copy_begin(struct rbhl_process_copy *copy);

#endif
