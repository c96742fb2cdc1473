/* SPDX-License-Identifier: MIT */
#include "injector.h"

#include <elf.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"
#include "signal_frame.h"
#include "tracer.h"

enum {
    PAGE = 4096,
    ROOM = 64 * 1024,      /* of stack, for what is called */
    SCANNED = 1024 * 1024, /* of stack, for handlers */
    CHUNK_WORDS = 4096,
    EXIT_BYTES = 48, /* behind whose begin its call of all handlers returns */
    LOWEST = PAGE,   /* address of data */
    LONGEST_RUN_NS = 2000000000
};
static const uint64_t ALL_SIGNALS = ~(uint64_t)0;

struct work {
    const struct rbhl_injection *asked;
    struct rbhl_thread_state state;
    struct rbhl_frame frame;
    uint64_t words[CHUNK_WORDS + RBHL_FRAME_CONTEXT];
    uint64_t stopped_ns;
    int keeps_time;
};

static size_t read_memory(pid_t thread, uint64_t address, void *to, size_t bytes) {
    const struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};
    const ssize_t count = process_vm_readv(thread, &here, 1, &there, 1, 0);
    return count < 0 ? 0 : (size_t)count;
}

/* ---- is it a safe place (I3) ---- */

/* Their locks are futexes, of another kind than this one. */
static int is_no_lock(const struct user_regs_struct *registers) {
    return (rbhl_call_second(registers) & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
}

/* A call that the kernel resumes is a sleep, poll or a futex's, and where the code does not tell which, its arguments
 * must not be those of a lock. */
static int resumes_safely(const struct user_regs_struct *registers) {
    const uint64_t first = rbhl_call_first(registers);
    return first < LOWEST || first > INTPTR_MAX || (rbhl_call_second(registers) & FUTEX_CMD_MASK) != FUTEX_WAIT;
}

/* Those in which no allocator and no loader waits. */
static int waits_safely(const struct user_regs_struct *registers) {
    static const short calls[] = {HL_OLDER_WAITS SYS_read,
                                  SYS_ppoll,
                                  SYS_pselect6,
                                  SYS_accept,
                                  SYS_accept4,
                                  SYS_recvfrom,
                                  SYS_recvmsg,
                                  SYS_wait4,
                                  SYS_waitid,
                                  SYS_epoll_pwait,
                                  SYS_nanosleep,
                                  SYS_clock_nanosleep};
    const long number = hl_call_number(registers);
    if (number == SYS_futex) return is_no_lock(registers);
    if (number == SYS_restart_syscall) return rbhl_keeps_time(registers) && resumes_safely(registers);
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (calls[i] == number) return 1;
    return 0;
}

static int is_avoided(const struct rbhl_injection *asked, uint64_t pc) {
    for (size_t i = 0; i < asked->avoided_count; i++)
        if (pc - asked->avoided[i].begin < asked->avoided[i].end - asked->avoided[i].begin) return 1;
    return 0;
}

static int is_in_exit(const struct rbhl_injection *asked, uint64_t word) {
    return asked->ending && word - asked->ending - 1 < EXIT_BYTES;
}

/* Is there the context of a signal's handler on its stack, or the call that ends the process? */
static int is_in_handler_or_end(struct work *work) {
    const pid_t thread = work->asked->thread;
    const uint64_t from = rbhl_stack(&work->state.registers) & ~(uint64_t)7;
    for (uint64_t at = from; at < from + SCANNED; at += (uint64_t)CHUNK_WORDS * sizeof(*work->words)) {
        const size_t count = read_memory(thread, at, work->words, sizeof(work->words)) / sizeof(*work->words);
        for (size_t i = 0; i + RBHL_FRAME_CONTEXT < count; i++)
            if (work->words[i] && (is_in_exit(work->asked, work->words[i]) ||
                                   rbhl_looks_like_context(&work->words[i], at + i * sizeof(*work->words))))
                return 1;
        if (count < CHUNK_WORDS) break;
    }
    return 0;
}

static int is_replaced(const struct rbhl_injection *asked) {
    char byte;
    return pread(asked->memory, &byte, 1, (off_t)asked->function) != 1;
}

/* A byte of each page. */
static int has_room(const struct work *work) {
    enum { PAGES = ROOM / PAGE };
    struct iovec pages[PAGES];
    char bytes[PAGES];
    const struct iovec here = {bytes, sizeof(bytes)};
    for (uintptr_t i = 0; i < PAGES; i++)
        pages[i] = (struct iovec){(void *)(uintptr_t)(rbhl_stack(&work->state.registers) - (i + 1) * PAGE), 1};
    return process_vm_readv(work->asked->thread, &here, 1, pages, PAGES, 0) == (ssize_t)sizeof(bytes);
}

/* ---- the call ---- */

static enum rbhl_injected of_error(int error) {
    return error == ESRCH || error == ENOENT ? RBHL_INJECT_GONE : RBHL_INJECT_FORBIDDEN;
}

static void put_arguments(struct user_regs_struct *registers, const struct work *work, int waits) {
    const struct rbhl_injection *asked = work->asked;
    if (asked->system_call) {
        const uint64_t call[] = {asked->number, asked->text_bytes ? work->frame.text : 0, __WALL};
        uint64_t exits = 0;
        if (asked->text_bytes == sizeof(exits)) memcpy(&exits, asked->text, sizeof(exits));
        rbhl_set_system_call(registers, asked->system_call, call, exits);
        return;
    }
    const uint64_t arguments[] = {work->frame.text, asked->number, work->frame.context, (uint64_t)waits};
    rbhl_set_arguments(registers, arguments);
}

/* The thread is stopped. */
static enum rbhl_injected enter(struct work *work) {
    const struct rbhl_injection *asked = work->asked;
    struct user_regs_struct registers;
    int failed = rbhl_thread_read(asked->thread, &work->state);
    if (failed) return failed == -EAGAIN ? RBHL_INJECT_UNSAFE : of_error(-failed);
    if (is_replaced(asked)) return RBHL_INJECT_REPLACED;
    const enum rbhl_place place = rbhl_place(asked->thread, &work->state.registers);
    const int is_in_call = place != RBHL_RUNS, waits = place == RBHL_WAITS;
    if (waits) rbhl_name_call(asked->thread, &work->state.registers);
    registers = work->state.registers;
    work->keeps_time = waits && rbhl_keeps_time(&registers) && hl_call_number(&registers) != SYS_futex;
    if (is_in_call ? !asked->system_call && !waits_safely(&registers) : is_avoided(asked, rbhl_pc(&registers)))
        return RBHL_INJECT_UNSAFE;
    if (rbhl_has_signal(asked->thread) || is_in_handler_or_end(work)) return RBHL_INJECT_UNSAFE;
    if (!has_room(work)) return RBHL_INJECT_NO_ROOM;
    failed = rbhl_frame_build(&work->state, waits, asked->returning, asked->text, asked->text_bytes, &work->frame);
    if (failed) return RBHL_INJECT_FORBIDDEN;
    const struct iovec here = {work->frame.image, work->frame.bytes},
                       there = {(void *)(uintptr_t)work->frame.address, work->frame.bytes};
    if (process_vm_writev(asked->thread, &here, 1, &there, 1, 0) != (ssize_t)work->frame.bytes)
        return RBHL_INJECT_NO_ROOM;
    rbhl_enter_function(&registers, asked->function, work->frame.address, asked->returning);
    put_arguments(&registers, work, waits);
    if (rbhl_registers_write(asked->thread, &registers)) return of_error(errno); /* the one step (I1) */
    ptrace(PTRACE_SETSIGMASK, asked->thread, (void *)(uintptr_t)sizeof(ALL_SIGNALS), &ALL_SIGNALS);
    return RBHL_INJECTED;
}

/* ---- the rest of its time (I6) ---- */

/* Its next stop, 0, or -1: none came in time. */
static int run(struct work *work, int *status, uint64_t limit) {
    const struct timespec pause = {0, 20000};
    pid_t found = 0;
    const int number = *status >> 16 || WSTOPSIG(*status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(*status);
    if (ptrace(PTRACE_SYSCALL, work->asked->thread, NULL, (void *)(uintptr_t)number)) return -1;
    while ((found = waitpid(work->asked->thread, status, __WALL | WNOHANG)) == 0 && rbhl_now() < limit)
        nanosleep(&pause, NULL);
    return found == work->asked->thread && WIFSTOPPED(*status) ? 0 : -1;
}

/* What is called may have changed where the thread goes on. */
static int is_as_built(const struct work *work) {
    static uint8_t now[sizeof(work->frame.image)];
    return read_memory(work->asked->thread, work->frame.address, now, work->frame.bytes) == work->frame.bytes &&
           !memcmp(now, work->frame.image, work->frame.bytes);
}

/* The thread is about to enter rt_sigreturn, which would do the same but for the rest of the time. The last step is the
 * one from which on it is not done. */
static void resume(struct work *work) {
    const pid_t thread = work->asked->thread;
    struct iovec vectors = {work->state.vectors, work->state.vector_bytes};
    struct user_regs_struct registers = work->state.registers;
    rbhl_resume_call(&registers);
    if (ptrace(PTRACE_SETREGSET, thread, (void *)(uintptr_t)NT_X86_XSTATE, &vectors)) return;
    if (ptrace(PTRACE_SETSIGMASK, thread, (void *)(uintptr_t)sizeof(ALL_SIGNALS), &work->state.signal_mask)) return;
    rbhl_registers_write(thread, &registers);
}

/* Follow the thread to the end of what it was set to. Whenever the tracer ends, its call begins anew. */
static void see_it_back(struct work *work, int *status) {
    const uint64_t limit = rbhl_now() + LONGEST_RUN_NS;
    struct user_regs_struct registers;
    if (!work->keeps_time) return;
    if (ptrace(PTRACE_SETOPTIONS, work->asked->thread, NULL, (void *)(uintptr_t)PTRACE_O_TRACESYSGOOD)) return;
    while (!run(work, status, limit)) {
        const uint64_t stopped = rbhl_now();
        if (*status >> 16) return;
        if (WSTOPSIG(*status) == (SIGTRAP | 0x80)) {
            if (rbhl_registers_read(work->asked->thread, &registers)) return;
            if (rbhl_is_returning(&registers, work->frame.address)) {
                if (is_as_built(work)) resume(work);
                *status = PTRACE_EVENT_STOP << 16 | SIGTRAP << 8 | 0x7f; /* no signal goes with it */
                work->stopped_ns += rbhl_now() - stopped;
                return;
            }
        }
        work->stopped_ns += rbhl_now() - stopped;
    }
    *status = 0;
}

/* ---- in a tracer ---- */

static struct work entered;

enum rbhl_injected rbhl_enter(const struct rbhl_injection *injection) {
    entered.asked = injection;
    return enter(&entered);
}

void rbhl_see_back(int *status) {
    see_it_back(&entered, status);
}

/* ---- from outside ---- */

static int inject(void *argument) {
    struct work *work = argument;
    int status;
    if (rbhl_frame_prepare()) return RBHL_INJECT_FORBIDDEN;
    const uint64_t before = rbhl_now();
    const int failed = rbhl_trace_stop(work->asked->thread, &status);
    if (failed && failed != -EAGAIN) return (int)of_error(-failed);
    const enum rbhl_injected done = failed ? RBHL_INJECT_UNSAFE : enter(work);
    work->stopped_ns = rbhl_now() - before;
    if (done == RBHL_INJECTED) see_it_back(work, &status);
    rbhl_trace_let_go(work->asked->thread, status);
    return (int)done;
}

enum rbhl_injected rbhl_inject(struct rbhl_injection *injection) {
    struct work *work =
        mmap(NULL, sizeof(*work), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (work == MAP_FAILED) return RBHL_INJECT_LOST;
    work->asked = injection;
    const int done = rbhl_trace(inject, work);
    injection->stopped_ns = work->stopped_ns;
    munmap(work, sizeof(*work));
    return done < 0 ? RBHL_INJECT_LOST : (enum rbhl_injected)done;
}
