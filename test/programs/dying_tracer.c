/* For LD_PRELOAD in a program that traces others: it is killed at its ptrace call number DIE_AT, before or (DIE_AFTER)
 * after the kernel has done it; so is its parent, which waits for it. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int calls;

static void die(void) {
    kill(getppid(), SIGKILL);
    kill((pid_t)syscall(SYS_getpid), SIGKILL);
}

/* As the C library does; none of the requests that PEEK is among those that are made. */
long ptrace(int request, ...) {
    va_list arguments;
    const char *at = getenv("DIE_AT");
    const int now = at && ++calls == atoi(at), after = getenv("DIE_AFTER") != NULL;
    va_start(arguments, request);
    const pid_t pid = va_arg(arguments, pid_t);
    void *address = va_arg(arguments, void *);
    void *data = va_arg(arguments, void *);
    va_end(arguments);
    if (now && !after) die();
    const long result = syscall(SYS_ptrace, request, pid, address, data);
    if (now && after) die();
    return result;
}
