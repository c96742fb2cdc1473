/* SPDX-License-Identifier: MIT */
#include "process_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../heapline_core/flight/flight_layout.h"
#include "injector.h"
#include "machine.h"
#include "signal_frame.h"
#include "tracer.h"

enum {
    PIDS_MOST = 1 << 22,
    ENTRIES_BYTES = 32 * 1024,
    COPIED_AT_ONCE = 64 * 1024,
    STATUS_BYTES = 8192,
    TRIES = 400,            /* to take the copy away, with a pause behind each */
    SYSTEM_CALL_STOP = 0x80 /* in its signal, with PTRACE_O_TRACESYSGOOD */
};

static const struct timespec PAUSE = {0, 5000000};

/* ---- all threads ---- */

/* A bit for each thread that was met. */
static uint8_t met[PIDS_MOST / 8];

static int is_new(pid_t thread) {
    if (thread <= 0 || thread >= PIDS_MOST || met[thread / 8] >> thread % 8 & 1) return 0;
    met[thread / 8] |= (uint8_t)(1u << thread % 8);
    return 1;
}

static void interrupt(struct rbhl_process_copy *copy, pid_t thread) {
    if (copy->thread_count == copy->room) {
        copy->error = E2BIG;
        return;
    }
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL)) {
        if (errno != ESRCH) copy->error = errno;
        return;
    }
    copy->threads[copy->thread_count++].thread = thread;
    ptrace(PTRACE_INTERRUPT, thread, NULL, NULL);
}

struct entry {
    uint64_t inode, offset;
    uint16_t bytes;
    uint8_t kind;
    char name[];
};

/* How many threads there were that had not been met. */
static uint32_t interrupt_new(struct rbhl_process_copy *copy, int tasks) {
    static char entries[ENTRIES_BYTES];
    const uint32_t before = copy->thread_count;
    long length;
    lseek(tasks, 0, SEEK_SET);
    while (!copy->error && (length = syscall(SYS_getdents64, tasks, entries, sizeof(entries))) > 0)
        for (long at = 0; at < length && !copy->error;) {
            const struct entry *entry = (const struct entry *)(const void *)(entries + at);
            const pid_t thread = (pid_t)strtol(entry->name, NULL, 10);
            if (is_new(thread)) interrupt(copy, thread);
            at += entry->bytes;
        }
    return copy->thread_count - before;
}

/* One that has ended has the number 0 from then on. */
static void await_stop(struct rbhl_process_copy *copy, struct rbhl_stopped_thread *stopped, uint64_t since) {
    const int failed = rbhl_trace_await(stopped->thread, &stopped->status, since);
    if (failed == -EBUSY) {
        copy->error = EBUSY;
        copy->busy = stopped->thread;
    }
    if (failed || rbhl_registers_read(stopped->thread, &stopped->registers)) stopped->thread = 0;
}

static void stop_all(struct rbhl_process_copy *copy) {
    const uint64_t begin = rbhl_now();
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/task", (int)copy->pid);
    const int tasks = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tasks < 0) copy->error = errno == ENOENT ? ESRCH : errno;
    for (uint32_t known = 0; !copy->error && interrupt_new(copy, tasks);)
        for (; known < copy->thread_count; known++) await_stop(copy, &copy->threads[known], begin);
    if (tasks >= 0) close(tasks);
}

/* maker: the one that made the copy, or NULL. */
static void let_all_go(struct rbhl_process_copy *copy, struct rbhl_stopped_thread *maker) {
    for (uint32_t i = 0; i < copy->thread_count; i++)
        if (copy->threads[i].thread && &copy->threads[i] != maker)
            rbhl_trace_let_go(copy->threads[i].thread, copy->threads[i].status);
    if (!maker) return;
    if (maker->status) rbhl_see_back(&maker->status);
    rbhl_trace_let_go(maker->thread, maker->status);
}

/* ---- the flight file (P1) ---- */

static int copy_bytes(int from, int to, uint64_t bytes) {
    static char buffer[COPIED_AT_ONCE];
    for (uint64_t at = 0; at < bytes;) {
        const size_t part = bytes - at < sizeof(buffer) ? (size_t)(bytes - at) : sizeof(buffer);
        const ssize_t got = pread(from, buffer, part, (off_t)at);
        if (got <= 0 || pwrite(to, buffer, (size_t)got, (off_t)at) != got) return 0;
        at += (uint64_t)got;
    }
    return 1;
}

static void copy_flight(struct rbhl_process_copy *copy) {
    uint64_t pages;
    if (copy->flight < 0 || pread(copy->flight, &pages, sizeof(pages), offsetof(struct hl_flight_header, page_count)) !=
                                (ssize_t)sizeof(pages))
        return;
    if (pages < 1u << 20 && copy_bytes(copy->flight, copy->flight_copy, pages * HL_PAGE_SIZE))
        copy->flight_bytes = pages * HL_PAGE_SIZE;
}

/* ---- the copy ---- */

static struct rbhl_injection call_of(const struct rbhl_process_copy *copy, pid_t thread, long number) {
    return (struct rbhl_injection){.thread = thread,
                                   .memory = copy->memory,
                                   .function = copy->system_call,
                                   .returning = copy->returning,
                                   .system_call = (uint64_t)number};
}

/* Go on to the next stop of the thread's; 0 where it came to another one than a tracer's own. */
static int step(struct rbhl_stopped_thread *stopped) {
    if (ptrace(PTRACE_SYSCALL, stopped->thread, NULL, NULL)) return 0;
    if (waitpid(stopped->thread, &stopped->status, __WALL) != stopped->thread || !WIFSTOPPED(stopped->status)) return 0;
    return stopped->status >> 16 || WSTOPSIG(stopped->status) & SYSTEM_CALL_STOP;
}

static void hold(struct rbhl_process_copy *copy, struct rbhl_stopped_thread *maker) {
    unsigned long number = 0;
    struct user_regs_struct registers = {0};
    int status;
    if (maker->status >> 16 != PTRACE_EVENT_CLONE) { /* clone has failed */
        copy->error = rbhl_registers_read(maker->thread, &registers) ? errno : (int)-rbhl_call_returned(&registers);
        maker->status = 0;
        return;
    }
    if (ptrace(PTRACE_GETEVENTMSG, maker->thread, NULL, &number) ||
        waitpid((pid_t)number, &status, __WALL) != (pid_t)number || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, (pid_t)number, NULL, PTRACE_O_EXITKILL)) {
        copy->error = errno ? errno : ECHILD;
        return;
    }
    copy->copy = (pid_t)number;
}

/* Whether it was made, or could not be for a reason that another thread would have, too. */
static int is_made_by(struct rbhl_process_copy *copy, struct rbhl_stopped_thread *maker) {
    static struct rbhl_injection call;
    call = call_of(copy, maker->thread, SYS_clone);
    if (maker->status >> 16 != PTRACE_EVENT_STOP || WSTOPSIG(maker->status) != SIGTRAP) return 0;
    call.text = (const char *)&copy->exits; /* P2 */
    call.text_bytes = sizeof(copy->exits);
    if (ptrace(PTRACE_SETOPTIONS, maker->thread, NULL, PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD)) return 0;
    const enum rbhl_injected entered = rbhl_enter(&call);
    if (entered != RBHL_INJECTED && entered != RBHL_INJECT_REPLACED) return 0;
    if (entered == RBHL_INJECT_REPLACED) {
        copy->error = ESTALE;
    } else if (step(maker) && step(maker)) { /* at the call, and behind it */
        hold(copy, maker);
    } else {
        copy->error = EINTR;
        if (WSTOPSIG(maker->status) & SYSTEM_CALL_STOP) maker->status = 0;
    }
    return 1;
}

/* By whom; NULL: by none. */
static struct rbhl_stopped_thread *make(struct rbhl_process_copy *copy) {
    for (uint32_t i = 0; i < copy->thread_count; i++)
        if (copy->threads[i].thread && is_made_by(copy, &copy->threads[i]))
            return copy->error ? NULL : &copy->threads[i];
    copy->error = EAGAIN;
    copy->unsafe = 1;
    return NULL;
}

/* ---- taking it away (P3) ---- */

/* The copy's number as the process knows it. */
static pid_t number_there(pid_t pid) {
    char text[STATUS_BYTES];
    if (rbhl_read_proc(pid, "status", text, sizeof(text)) < 0) return pid;
    const char *line = strstr(text, "\nNSpid:"), *end = line ? strchr(line + 1, '\n') : NULL;
    if (!end) return pid;
    while (end[-1] >= '0' && end[-1] <= '9') end--; /* the last one is its own namespace's */
    return (pid_t)strtol(end, NULL, 10);
}

static int is_there(pid_t pid) {
    char text[64];
    return rbhl_read_proc(pid, "stat", text, sizeof(text)) >= 0;
}

/* Through any of the process's threads. */
static void take_away(struct rbhl_process_copy *copy) {
    const pid_t number = number_there(copy->copy);
    int status;
    kill(copy->copy, SIGKILL);
    waitpid(copy->copy, &status, __WALL);
    for (uint32_t try = 0; try < TRIES && is_there(copy->copy) && is_there(copy->pid); try++) {
        const pid_t thread = copy->threads[try % copy->thread_count].thread;
        struct rbhl_injection call = call_of(copy, thread, SYS_wait4);
        call.number = (uint64_t)number;
        if (!thread || rbhl_trace_stop(thread, &status)) {
            if (thread) rbhl_trace_let_go(thread, status);
            continue;
        }
        const enum rbhl_injected entered = rbhl_enter(&call);
        if (entered == RBHL_INJECTED) rbhl_see_back(&status);
        rbhl_trace_let_go(thread, status);
        if (entered == RBHL_INJECT_REPLACED) return; /* none of them will ever do it */
        nanosleep(&PAUSE, NULL);
    }
}

static int copy_process(void *argument) {
    struct rbhl_process_copy *copy = argument;
    char byte;
    close(copy->not_wanted);
    if (rbhl_frame_prepare()) copy->error = ENOTSUP;
    const uint64_t before = rbhl_now();
    struct rbhl_stopped_thread *maker = NULL;
    if (!copy->error) stop_all(copy);
    if (!copy->error) copy_flight(copy);
    if (!copy->error) maker = make(copy);
    let_all_go(copy, maker);
    copy->stopped_ns = rbhl_now() - before;
    close(copy->made);
    if (copy->error) return 0;
    rbhl_trace_for(0);
    while (read(copy->wanted, &byte, 1) < 0 && errno == EINTR)
        ;
    rbhl_trace_for(10);
    take_away(copy);
    return 0;
}

pid_t rbhl_process_copy_begin(struct rbhl_process_copy *copy) {
    return rbhl_trace_begin(copy_process, copy);
}
