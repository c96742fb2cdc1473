/* SPDX-License-Identifier: MIT */
/*
 * Functions of libc that are interposed for what they mean to accounting, not for memory. Each forwards, to what was
 * found at the start: a handler of signals, a child of vfork or a thread with any lock may call them.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "flight/flight.h"
#include "flight/shared_guard.h"
#include "interpose/below.h"
#include "lifecycle/errand.h"
#include "lifecycle/lifecycle.h"
#include "platform/platform.h"
#include "platform/system_call.h"
#include "state/guard.h"

extern char **environ;

/* Ruby calls this where a thread begins, and up to 3.2 on a native thread that still carries the ec of the thread that
 * ran on it before, maybe freed by now. glibc allocates here. */
HL_EXPORT int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes) {
    if (HL_UNLIKELY(!hl_below.pthread_getattr_np)) hl_below_resolve();
    hl_thread.starting = 1;
    hl_guard_refresh(&hl_thread);
    int result = hl_below.pthread_getattr_np(thread, attributes);
    hl_thread.starting = 0;
    hl_thread.ec = NULL;
    hl_guard_refresh(&hl_thread);
    return result;
}

/* Ruby calls this at each GC, and where it slept for a time: what a program passes that allocates objects without
 * malloc, or waits. */
HL_EXPORT int clock_gettime(clockid_t clock, struct timespec *time) {
    if (HL_UNLIKELY(!hl_clock_below)) hl_below_resolve();
    if (hl_gate_is() && !hl_thread.busy && HL_UNLIKELY(hl_load32(&hl_flight.header->request))) hl_errand_pass();
    return hl_clock_below(clock, time);
}

/* SIGBUS is heapline's where its own files are cut (shared_guard.h). */
HL_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *before) {
    return hl_guard_sigaction(number, action, before);
}

HL_EXPORT sighandler_t signal(int number, sighandler_t handler) {
    if (HL_UNLIKELY(!hl_below.signal)) hl_below_resolve();
    if (number != SIGBUS || !hl_below.signal) return hl_below.signal ? hl_below.signal(number, handler) : SIG_ERR;
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, number);
    return hl_guard_sigaction(number, &action, &before) ? SIG_ERR : before.sa_handler;
}

/* exit! in Ruby: no destructor will run. */
HL_EXPORT _Noreturn void _exit(int status) {
    hl_lifecycle_last_call(status);
    hl_end_process(status);
}

HL_EXPORT _Noreturn void _Exit(int status) {
    _exit(status);
}

/* Another program takes this process over. If it loads us, it removes the flight file; a static one cannot, and then
 * the file says why nothing in it changes any more. */
HL_EXPORT int execve(const char *path, char *const *arguments, char *const *environment) {
    if (HL_UNLIKELY(!hl_below.execve)) hl_below_resolve();
    hl_lifecycle_before_exec();
    int result = hl_below.execve(path, arguments, environment);
    hl_lifecycle_exec_failed();
    return result;
}

HL_EXPORT int execv(const char *path, char *const *arguments) {
    return execve(path, arguments, environ);
}

static int ends_the_process(int number) {
    struct sigaction action;
    if (number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT) return 0;
    if (number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU) return 0;
    return sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL;
}

/* Ruby ends by a signal so: it cleans up, restores the default action, and raises. */
HL_EXPORT int raise(int number) {
    if (HL_UNLIKELY(!hl_below.raise)) hl_below_resolve();
    if (ends_the_process(number)) hl_lifecycle_last_call(128 + number);
    return hl_below.raise(number);
}
