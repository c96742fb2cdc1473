/* SPDX-License-Identifier: MIT */
#include "tracer.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"

enum { LONGEST_S = 5, STATUS_BYTES = 8192, IN_KERNEL_NS = 100000000 };

static const struct timespec PAUSE = {0, 20000};

uint64_t rbhl_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

ssize_t rbhl_read_proc(pid_t pid, const char *name, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);
    const int error = errno;
    if (fd >= 0) close(fd);
    text[length > 0 ? length : 0] = 0;
    return length < 0 ? -error : length;
}

int rbhl_registers_read(pid_t thread, struct user_regs_struct *registers) {
    struct iovec all = {registers, sizeof(*registers)};
    return ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &all) ? -1 : 0;
}

int rbhl_registers_write(pid_t thread, struct user_regs_struct *registers) {
    struct iovec all = {registers, sizeof(*registers)};
    return ptrace(PTRACE_SETREGSET, thread, (void *)NT_PRSTATUS, &all) ? -1 : 0;
}

void rbhl_name_call(pid_t thread, struct user_regs_struct *registers) {
    if (hl_call_number(registers) != SYS_restart_syscall) return;
    const long number = rbhl_call_before(thread, registers);
    if (number >= 0) rbhl_set_call_number(registers, number);
}

static unsigned long long mask_of(const char *status, const char *name) {
    const char *line = strstr(status, name);
    unsigned long long mask = 0;
    for (const char *at = line ? line + strlen(name) : ""; *at && *at != '\n'; at++)
        if (*at > ' ') mask = mask << 4 | (unsigned long long)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
    return mask;
}

int rbhl_has_signal(pid_t thread) {
    char text[STATUS_BYTES];
    if (rbhl_read_proc(thread, "status", text, sizeof(text)) < 0) return 1;
    const unsigned long long pending = mask_of(text, "\nSigPnd:") | mask_of(text, "\nShdPnd:");
    return (pending & ~mask_of(text, "\nSigBlk:")) != 0;
}

char rbhl_state_of(pid_t thread) {
    char text[512];
    if (rbhl_read_proc(thread, "stat", text, sizeof(text)) <= 0) return 0;
    const char *behind = strrchr(text, ')');
    return behind && behind[1] ? behind[2] : 0;
}

int rbhl_trace_await(pid_t thread, int *status, uint64_t since) {
    pid_t found;
    while ((found = waitpid(thread, status, __WALL | WNOHANG)) == 0) {
        if (rbhl_now() - since > IN_KERNEL_NS && rbhl_state_of(thread) == 'D') return -EBUSY;
        nanosleep(&PAUSE, NULL);
    }
    return found == thread && WIFSTOPPED(*status) ? 0 : -ESRCH;
}

int rbhl_trace_stop(pid_t thread, int *status) {
    *status = 0;
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL)) return -errno;
    if (ptrace(PTRACE_INTERRUPT, thread, NULL, NULL)) return -errno;
    const int failed = rbhl_trace_await(thread, status, rbhl_now());
    if (failed) return failed == -EBUSY ? -EAGAIN : failed;
    return *status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(*status) == SIGTRAP ? 0 : -EAGAIN;
}

void rbhl_trace_let_go(pid_t thread, int status) {
    if (!status) waitpid(thread, &status, __WALL | WNOHANG); /* it has stopped since */
    ptrace(PTRACE_DETACH, thread, NULL, (void *)(uintptr_t)(status >> 16 ? 0 : WSTOPSIG(status)));
}

static _Noreturn void be_the_tracer(int (*work)(void *), void *argument) {
    sigset_t alarm_alone;
    signal(SIGALRM, SIG_DFL);
    sigemptyset(&alarm_alone);
    sigaddset(&alarm_alone, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarm_alone, NULL);
    alarm(LONGEST_S);                        /* its end lets go */
    (void)setpriority(PRIO_PROCESS, 0, -20); /* where that is allowed: another waits for it */
    const int done = work(argument);
    for (;;) syscall(SYS_exit_group, done);
}

void rbhl_trace_for(unsigned seconds) {
    alarm(seconds);
}

pid_t rbhl_trace_begin(int (*work)(void *argument), void *argument) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t tracer = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
    if (tracer == 0) be_the_tracer(work, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return tracer;
}

int rbhl_trace_end(pid_t tracer) {
    int status = 0;
    pid_t found = -1;
    if (tracer > 0) do
            found = waitpid(tracer, &status, __WCLONE);
        while (found < 0 && errno == EINTR);
    return found == tracer && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int rbhl_trace(int (*work)(void *argument), void *argument) {
    return rbhl_trace_end(rbhl_trace_begin(work, argument));
}
