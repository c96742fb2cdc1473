/* SPDX-License-Identifier: MIT */
/*
 * A twin: a copy of this process, made by fork, in which only the calling thread goes on. It reads itself (a heap dump,
 * backtraces) and writes that into a pipe, while the program runs on.
 *
 * T1  The program does not see it. Its parent is not the program but an attendant, a clone without exit signal that
 *     shares the program's memory, holds none of its descriptors and waits for the twin: no SIGCHLD, nothing for wait.
 * T2  fork is libc's: its own locks and those of the allocator are whole in the twin. Ruby's fork hooks do not run.
 * T3  It is made where the VM has ended its sweeping and runs no code of the program, with the VM's lock and all other
 *     Ractors stopped where there are any: so in the twin that lock is its own.
 * T4  In the twin nothing of the program is run: no GC (so nothing is freed), no finalizer, trap, at_exit or other
 *     thread. All descriptors but the pipe are closed, so nothing that the program shares can be written to.
 * T5  One at a time. It is nobody's to kill: it ends when it is done, when nobody reads its pipe, or after an hour.
 * With the GVL.
 */
#ifndef RBHL_TWIN_H
#define RBHL_TWIN_H

#include <stdint.h>
#include <sys/types.h>

struct rbhl_twin {
    pid_t pid;         /* 0: none was made */
    int error;         /* why not: EBUSY: there is one already; ENOTSUP: other Ractors do not stop; else of fork */
    uint64_t pause_ns; /* for which no Ruby code ran */
};

/* Make a twin that calls `run(argument, fd)` and ends. `status`, which must stay readable, gets its wait status when it
 * has ended, and -1 before; it may be NULL. gc: a full GC before. */
struct rbhl_twin rbhl_twin_make(void (*run)(void *argument, int fd), void *argument, int fd, int gc, int32_t *status);

/* Forget an attendant whose twin has ended. 1 where none is left, else 0. */
int rbhl_twin_reap(void);

#endif
