/* SPDX-License-Identifier: MIT */
#include "visitor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST_S = 5, LINE_BYTES = 8192, USER_CODE = 0x33 };
/* In eflags: single step, direction, alignment check. */
static const unsigned long long UNWANTED_FLAGS = 1u << 8 | 1u << 10 | 1u << 18;
/* Results of a system call that was interrupted, as a tracer sees them: the kernel's own, and EINTR. */
static const long INTERRUPTED[] = {-512, -513, -514, -516, -EINTR};

/* ---- looking ---- */

/* The beginning of a file of /proc; its length, or -errno. */
static ssize_t read_proc(pid_t pid, const char *name, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);
    const int error = errno;
    if (fd >= 0) close(fd);
    text[length > 0 ? length : 0] = 0;
    return length < 0 ? -error : length;
}

static enum rbhl_visit of_error(int error) {
    return error == ESRCH || error == ENOENT ? RBHL_VISIT_GONE : RBHL_VISIT_FORBIDDEN;
}

static char state_of(pid_t pid) {
    char text[512];
    if (read_proc(pid, "stat", text, sizeof(text)) <= 0) return 0;
    const char *behind = strrchr(text, ')');
    return behind && behind[1] ? behind[2] : 0;
}

/* RBHL_VISITED: its main thread waits in a system call. Without stopping it. */
static enum rbhl_visit look(pid_t pid) {
    char text[256];
    const ssize_t length = read_proc(pid, "syscall", text, sizeof(text));
    const char state = state_of(pid);
    if (state == 'T') return RBHL_VISIT_STOPPED;
    if (state != 'S') return state == 't' ? RBHL_VISIT_FORBIDDEN : state ? RBHL_VISIT_RUNS : RBHL_VISIT_GONE;
    if (length < 0) return of_error((int)-length);
    return text[0] >= '0' && text[0] <= '9' ? RBHL_VISITED : RBHL_VISIT_RUNS;
}

/* A line of /proc/PID/maps: does it map the core's code, with the door in it? */
static int holds(const char *line, const struct hl_visit_door *door) {
    static const char name[] = "/libheapline.so";
    char access[5];
    unsigned long begin, end;
    int path = 0;
    if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %n", &begin, &end, access, &path) != 3 || !path) return 0;
    const char *base = strrchr(line + path, '/');
    return access[2] == 'x' && base && !strncmp(base, name, sizeof(name) - 1) && door->enter >= begin &&
           door->enter < door->end && door->end <= end;
}

/* The header may say anything: what lies there is the core's code, and begins as that place does. RBHL_VISITED, or why
 * not. */
static enum rbhl_visit check_door(pid_t pid, const struct hl_visit_door *door) {
    static const unsigned char beginning[] = {0xfc, 0xb8, 0xff, 0xff, 0xff, 0xff, 0xba, 0xff, 0xff, 0xff, 0xff};
    char path[64], line[LINE_BYTES], code[sizeof(beginning)];
    int found = 0;
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    if (!maps) return of_error(errno);
    while (!found && fgets(line, sizeof(line), maps)) found = holds(line, door);
    fclose(maps);
    const struct iovec here = {code, sizeof(code)}, there = {(void *)(uintptr_t)door->enter, sizeof(code)};
    if (!found) return RBHL_VISIT_NO_DOOR;
    if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)sizeof(code)) return of_error(errno);
    return memcmp(code, beginning, sizeof(code)) ? RBHL_VISIT_NO_DOOR : RBHL_VISITED;
}

/* ---- visiting ---- */

static int is_inside(const struct user_regs_struct *registers, const struct hl_visit_door *door) {
    return registers->rip - door->enter < door->end - door->enter || registers->rsp - door->stack <= door->stack_bytes;
}

static int was_interrupted(const struct user_regs_struct *registers) {
    if (registers->cs != USER_CODE || (long)registers->orig_rax < 0) return 0;
    for (size_t i = 0; i < sizeof(INTERRUPTED) / sizeof(*INTERRUPTED); i++)
        if ((long)registers->rax == INTERRUPTED[i]) return 1;
    return 0;
}

static unsigned long long mask_of(const char *status, const char *name) {
    const char *line = strstr(status, name);
    unsigned long long mask = 0;
    for (const char *at = line ? line + strlen(name) : ""; *at && *at != '\n'; at++)
        if (*at > ' ') mask = mask << 4 | (unsigned long long)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
    return mask;
}

/* Is a signal on its way that is to end its wait? */
static int has_signal(pid_t pid) {
    char text[LINE_BYTES];
    if (read_proc(pid, "status", text, sizeof(text)) < 0) return 1;
    const unsigned long long pending = mask_of(text, "\nSigPnd:") | mask_of(text, "\nShdPnd:");
    return (pending & ~mask_of(text, "\nSigBlk:")) != 0;
}

/* The thread is stopped. */
static enum rbhl_visit enter(pid_t pid, const struct hl_visit_door *door) {
    struct user_regs_struct registers;
    const struct iovec here = {&registers, sizeof(registers)},
                       there = {(void *)(uintptr_t)door->registers, sizeof(registers)};
    if (ptrace(PTRACE_GETREGS, pid, NULL, &registers)) return of_error(errno);
    if (!was_interrupted(&registers) || is_inside(&registers, door) || has_signal(pid)) return RBHL_VISIT_RUNS;
    if (process_vm_writev(pid, &here, 1, &there, 1, 0) != (ssize_t)sizeof(registers)) return RBHL_VISIT_NO_DOOR;
    registers.rip = door->enter;
    registers.rsp = (door->stack + door->stack_bytes) & ~(unsigned long long)63;
    registers.rax = 0;
    registers.orig_rax = (unsigned long long)-1; /* the kernel begins nothing again */
    registers.eflags &= ~UNWANTED_FLAGS;
    return ptrace(PTRACE_SETREGS, pid, NULL, &registers) ? of_error(errno) : RBHL_VISITED;
}

/* In a child that shares nothing with the caller but what it copied: no malloc. */
static enum rbhl_visit visit(pid_t pid, const struct hl_visit_door *door) {
    int status;
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL)) return of_error(errno);
    if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL)) return of_error(errno);
    if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status)) return RBHL_VISIT_GONE;
    const int stopped_by_us = status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP;
    const enum rbhl_visit done = stopped_by_us ? enter(pid, door) : RBHL_VISIT_RUNS;
    /* A signal that was on its way goes with it. */
    ptrace(PTRACE_DETACH, pid, NULL, (void *)(uintptr_t)(status >> 16 ? 0 : WSTOPSIG(status)));
    return done;
}

static _Noreturn void be_the_visitor(pid_t pid, const struct hl_visit_door *door) {
    sigset_t alarm_alone;
    signal(SIGALRM, SIG_DFL);
    sigemptyset(&alarm_alone);
    sigaddset(&alarm_alone, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarm_alone, NULL);
    alarm(LONGEST_S); /* its end lets go */
    const enum rbhl_visit done = visit(pid, door);
    for (;;) syscall(SYS_exit_group, done);
}

static enum rbhl_visit send_visitor(pid_t pid, const struct hl_visit_door *door) {
    int status = 0;
    pid_t found;
    const pid_t visitor = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
    if (visitor == 0) be_the_visitor(pid, door);
    if (visitor < 0) return RBHL_VISIT_FORBIDDEN;
    do found = waitpid(visitor, &status, __WCLONE);
    while (found < 0 && errno == EINTR);
    return found == visitor && WIFEXITED(status) ? (enum rbhl_visit)WEXITSTATUS(status) : RBHL_VISIT_RUNS;
}

enum rbhl_visit rbhl_visit(pid_t pid, const struct hl_visit_door *door) {
    sigset_t all, before;
    const enum rbhl_visit seen = look(pid);
    if (seen != RBHL_VISITED) return seen;
    const enum rbhl_visit checked = check_door(pid, door);
    if (checked != RBHL_VISITED) return checked;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const enum rbhl_visit done = send_visitor(pid, door);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return done;
}
