/* SPDX-License-Identifier: MIT */
/*
 * Functions of libc that are interposed for what they mean to accounting, not for memory. Each forwards.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "errand.h"
#include "flight.h"
#include "guard.h"
#include "lifecycle.h"
#include "platform.h"

extern char **environ;

/* The definition behind ours, into the function pointer at `definition`. */
static void find_next(const char *name, void *definition) {
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(definition, &symbol, sizeof(symbol));
}

/* Ruby calls this where a thread begins, and up to 3.2 on a native thread that still carries the ec of the thread that
 * ran on it before, maybe freed by now. glibc allocates here. */
HL_EXPORT int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes) {
    static int (*definition)(pthread_t, pthread_attr_t *);
    if (!definition) find_next("pthread_getattr_np", &definition);
    hl_thread.starting = 1;
    hl_guard_refresh(&hl_thread);
    int result = definition(thread, attributes);
    hl_thread.starting = 0;
    hl_thread.ec = NULL;
    hl_guard_refresh(&hl_thread);
    return result;
}

/* Ruby calls this at each GC, and where it slept for a time: what a program passes that allocates objects without
 * malloc, or waits. */
HL_EXPORT int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*definition)(clockid_t, struct timespec *);
    if (HL_UNLIKELY(!definition)) find_next("clock_gettime", &definition);
    if (hl_gate.open && !hl_thread.busy && HL_UNLIKELY(hl_load32(&hl_flight.header->request))) hl_errand_pass();
    return definition(clock, time);
}

/* exit! in Ruby: no destructor will run. */
HL_EXPORT _Noreturn void _exit(int status) {
    hl_lifecycle_last_call(status);
    for (;;) syscall(SYS_exit_group, status);
}

HL_EXPORT _Noreturn void _Exit(int status) {
    _exit(status);
}

/* Another program takes this process over. If it loads us, it removes the flight file; a static one cannot, and then
 * the file says why nothing in it changes any more. */
HL_EXPORT int execve(const char *path, char *const *arguments, char *const *environment) {
    static int (*definition)(const char *, char *const *, char *const *);
    if (!definition) find_next("execve", &definition);
    hl_lifecycle_before_exec();
    int result = definition(path, arguments, environment);
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
    static int (*definition)(int);
    if (!definition) find_next("raise", &definition);
    if (ends_the_process(number)) hl_lifecycle_last_call(128 + number);
    return definition(number);
}
