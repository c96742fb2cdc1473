/* SPDX-License-Identifier: MIT */
/*
 * Has a thread of another process call a function there, with nothing of ours in that process yet.
 *
 * I1  The thread returns by itself. What is put on its stack is what the kernel puts there for a signal's handler: the
 *     function returns into rt_sigreturn, which restores all registers, vectors and signal mask. The tracer changes the
 *     registers in one step and lets go. Killed before, it has left bytes below the stack; killed after, nothing more.
 * I2  Only that thread stops, for less than a millisecond; all others run on. So whoever holds a lock that the function
 *     needs gives it back.
 * I3  It is called at a safe place alone: in a system call that waits, of those that no allocator or loader makes, or
 *     in code outside of `avoided` (C library, loader, what defines malloc); in no handler of a signal, and not in the
 *     end of the process (exit), where what is called may be gone; with no signal on its way; with room on its stack.
 *     Elsewhere the thread is let go at once, and who called tries again.
 * I4  What is called is still there: the process has not begun another program since its code was looked for. The
 *     memory that was opened before that is then gone.
 * I5  Signals wait while the function runs. The system call is made again as the kernel would have; what the kernel
 *     does not resume (epoll_wait, a socket's timeout) begins anew.
 * I6  Of a sleep and of poll the kernel keeps the rest of the time until rt_sigreturn. So the tracer follows the thread
 *     to the entry of that, for two seconds at most, and there sets it, in one step, to restart_syscall instead. A
 *     thread that it does not see there, and on 64-bit ARM each, begins the call anew with its whole time.
 */
#ifndef RBHL_INJECTOR_H
#define RBHL_INJECTOR_H

#include <stdint.h>
#include <sys/types.h>

enum rbhl_injected {
    RBHL_INJECTED,
    RBHL_INJECT_UNSAFE, /* not here: in the allocator, the loader, a handler */
    RBHL_INJECT_NO_ROOM,
    RBHL_INJECT_FORBIDDEN,
    RBHL_INJECT_GONE,
    RBHL_INJECT_REPLACED, /* it has begun another program */
    RBHL_INJECT_LOST      /* the tracer came to no end */
};

struct rbhl_range {
    uintptr_t begin, end;
};

struct rbhl_injection {
    pid_t thread;
    int memory;                    /* descriptor of /proc/PID/mem, opened before the process's code was looked for */
    uintptr_t function, returning; /* `returning`: code of the process that calls rt_sigreturn */
    uintptr_t ending;              /* its exit(); 0: it does not matter whether it is in there */
    const char *text;              /* the first argument: a copy of it on the thread's stack */
    size_t text_bytes;
    uint64_t number;      /* the second */
    uint64_t system_call; /* not 0: `function` is a system call and a return (rbhl_enter) */
    const struct rbhl_range *avoided;
    size_t avoided_count;
    uint64_t stopped_ns; /* out: for how long the tracer had it stopped */
};

/* From any thread, with or without the GVL. The third argument of the function is the frame that it returns to
 * (ucontext_t), which it may change; the fourth: does the thread make a system call again there? */
enum rbhl_injected rbhl_inject(struct rbhl_injection *injection);

/* ---- in a tracer ---- */

/* Have a thread that the tracer has stopped call it when it is let go on; after rbhl_frame_prepare. With `system_call`
 * this is called as system_call(number, text, __WALL, 0, 0): as it comes to no code, any place of the thread will do
 * but a handler. */
enum rbhl_injected rbhl_enter(const struct rbhl_injection *injection);

/* What it was entered into runs, or has not begun: follow the thread, which stands at the stop that `*status` tells,
 * until it is back, so that its system call goes on with the rest of its time (I6). The injection is still there. */
void rbhl_see_back(int *status);

#endif
