/* SPDX-License-Identifier: MIT */
/*
 * A thread of another process, stopped for a moment: what visitor.c and injector.c share.
 *
 * A child of its own without exit signal does it: a tracer's end lets go of whom it traces, so nothing can stay
 * stopped, whoever is killed when, and the caller sees no SIGCHLD. The thread's registers are changed in one step, the
 * last one.
 */
#ifndef RBHL_TRACER_H
#define RBHL_TRACER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* CLOCK_MONOTONIC, nanoseconds. */
uint64_t rbhl_now(void);

/* The beginning of a file of /proc/PID; its length, or -errno. */
ssize_t rbhl_read_proc(pid_t pid, const char *name, char *text, size_t size);
/* The letter of its state, as in /proc/PID/stat; 0: there is none of this number. */
char rbhl_state_of(pid_t thread);

/* Have a child that shares nothing with the caller but what it copied do this (no malloc); after 5 s it is ended. What
 * `work` returns, 0 to 255, or -1 where it came to no end. */
int rbhl_trace(int (*work)(void *argument), void *argument);
/* The same in two steps: the child's number, or -1; and what rbhl_trace returns. */
pid_t rbhl_trace_begin(int (*work)(void *argument), void *argument);
int rbhl_trace_end(pid_t tracer);
/* In that child: for so many seconds more; 0: as long as its caller wants it. */
void rbhl_trace_for(unsigned seconds);

/* In that child: stop the thread, 0 or -errno; `*status` is for letting go. -EAGAIN: it stopped for something else, or
 * it did not stop (see below). */
int rbhl_trace_stop(pid_t thread, int *status);
/* The stop of a thread that was told to `since` (rbhl_now): 0, -ESRCH, or -EBUSY: for 0.1 s it has waited in the kernel
 * where nothing can stop it, for a child of vfork or a device. It stops later; the tracer's end lets it go, too. */
int rbhl_trace_await(pid_t thread, int *status, uint64_t since);
/* A signal that was on its way goes with it. */
void rbhl_trace_let_go(pid_t thread, int status);

/* 0, or -1 and errno. */
int rbhl_registers_read(pid_t thread, struct user_regs_struct *registers);
int rbhl_registers_write(pid_t thread, struct user_regs_struct *registers);
/* The thread waits in a system call. One that was stopped before is in restart_syscall, as the kernel calls the rest of
 * what it was in: name that, if its code tells it. */
void rbhl_name_call(pid_t thread, struct user_regs_struct *registers);
/* Is a signal on its way that is to end its wait? */
int rbhl_has_signal(pid_t thread);

#endif
