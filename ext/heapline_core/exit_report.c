/* SPDX-License-Identifier: MIT */
#include "exit_report.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flight.h"
#include "options.h"
#include "own_memory.h"
#include "text.h"

extern char **environ;

enum { ARGUMENTS = 32, ENVIRONMENT = 1024, STACK_BYTES = 1 << 16, FLIGHT_FD = 3 };

static char command[4096]; /* HEAPLINE_REPORTER, split in place at its unit separators */
static struct stat first_stderr;
static int stderr_known, done;

static struct {
    char *arguments[ARGUMENTS];
    char *environment[ENVIRONMENT];
    int flight;
} reporter;

void hl_exit_report_prepare(void) {
    const char *given = secure_getenv("HEAPLINE_REPORTER");
    stderr_known = fstat(STDERR_FILENO, &first_stderr) == 0;
    if (given && strlen(given) < sizeof(command)) hl_text(command, sizeof(command), "%s", given);
}

/* A daemon may have closed its standard error, and the number may be a socket now. */
static int stderr_is_the_same(void) {
    struct stat now;
    return stderr_known && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == first_stderr.st_dev &&
           now.st_ino == first_stderr.st_ino;
}

static void split_command(void) {
    static char fd_option[] = "--fd", fd_value[] = "3";
    int count = 0;
    for (char *part = command; part && count < ARGUMENTS - 3; count++) {
        char *end = strchr(part, '\x1f');
        if (end) *end++ = 0;
        reporter.arguments[count] = part;
        part = end;
    }
    reporter.arguments[count++] = fd_option;
    reporter.arguments[count++] = fd_value;
    reporter.arguments[count] = NULL;
}

/* What the program needs of Ruby, Bundler and us would make the reporter load the program's gems. */
static int belongs_to_the_program(const char *entry) {
    static const char *const prefixes[] = {"LD_PRELOAD=", "RUBYOPT=", "RUBYLIB=", "BUNDLE_", "BUNDLER_", "GEM_", NULL};
    for (int i = 0; prefixes[i]; i++)
        if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0) return 1;
    return 0;
}

static void copy_environment(void) {
    int count = 0;
    for (char **entry = environ; entry && *entry && count < ENVIRONMENT - 1; entry++)
        if (!belongs_to_the_program(*entry)) reporter.environment[count++] = *entry;
    reporter.environment[count] = NULL;
}

static int become_reporter(void *unused) {
    sigset_t none;
    (void)unused;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(reporter.flight, FLIGHT_FD); /* another number always: flight.c moves its descriptor up */
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execve(reporter.arguments[0], reporter.arguments, reporter.environment);
    hl_say("the report could not be made: %s: %s", reporter.arguments[0], strerror(errno));
    _exit(127);
}

/* Runs beside the program in its memory, and is the reporter's parent: exec gives a process the exit signal SIGCHLD,
 * which the program must not get. */
static int attend_reporter(void *stack) {
    int pid = clone(become_reporter, stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    if (pid > 0) waitpid(pid, NULL, 0);
    return 0;
}

/* An attendant with exit signal 0 is seen by no wait of the program's but one for __WCLONE. */
static void run_reporter(void) {
    char *stacks = hl_own_memory(2 * STACK_BYTES);
    sigset_t all, before;
    if (!stacks) return;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    int pid = clone(attend_reporter, stacks + STACK_BYTES, CLONE_VM, stacks + 2 * STACK_BYTES);
    while (pid > 0 && waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
        ;
    sigprocmask(SIG_SETMASK, &before, NULL);
    munmap(stacks, 2 * STACK_BYTES);
}

int hl_exit_report_due(void) {
    if (done || hl_options.quiet || !command[0] || hl_options.top_pid != (uint32_t)getpid()) return 0;
    return hl_options.output || stderr_is_the_same();
}

void hl_exit_report(void) {
    if (!hl_exit_report_due()) return;
    done = 1;
    reporter.flight = hl_flight_descriptor();
    if (reporter.flight < 0) return;
    split_command();
    copy_environment();
    run_reporter();
}
