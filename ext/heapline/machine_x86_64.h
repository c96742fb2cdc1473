/* SPDX-License-Identifier: MIT */
/*
 * Registers and signal frames of other threads on x86-64, for tracer.c, visitor.c, injector.c and signal_frame.c.
 */
#ifndef RBHL_MACHINE_X86_64_H
#define RBHL_MACHINE_X86_64_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>

enum { RBHL_USER_CODE = 0x33, RBHL_USER_STACK = 0x2b };
/* In eflags: single step, direction, alignment check. */
static const unsigned long long RBHL_UNWANTED_FLAGS = 1u << 8 | 1u << 10 | 1u << 18;

static inline uint64_t rbhl_pc(const struct user_regs_struct *registers) {
    return registers->rip;
}
static inline uint64_t rbhl_stack(const struct user_regs_struct *registers) {
    return registers->rsp;
}
/* The first two arguments, and what it returned, of a system call. */
static inline uint64_t rbhl_call_first(const struct user_regs_struct *registers) {
    return registers->rdi;
}
static inline uint64_t rbhl_call_second(const struct user_regs_struct *registers) {
    return registers->rsi;
}
static inline long rbhl_call_returned(const struct user_regs_struct *registers) {
    return (long)registers->rax;
}

/* Of a thread's place, by the results of a system call that was interrupted, as a tracer sees them: the kernel's own,
 * and EINTR. */
static inline enum rbhl_place rbhl_place(pid_t thread, const struct user_regs_struct *registers) {
    static const long interrupted[] = {-512, -513, -514, -516, -EINTR};
    (void)thread;
    if (registers->cs != RBHL_USER_CODE || (long)registers->orig_rax < 0) return RBHL_RUNS;
    for (size_t i = 0; i < sizeof(interrupted) / sizeof(*interrupted); i++)
        if ((long)registers->rax == interrupted[i]) return RBHL_WAITS;
    return RBHL_RUNS;
}

/* The number of the system call that restart_syscall makes again, by the code before it (mov number, %eax; syscall);
 * -1: that does not tell it. */
static inline long rbhl_call_before(pid_t thread, const struct user_regs_struct *registers) {
    uint8_t code[7];
    int32_t number;
    const struct iovec here = {code, sizeof(code)},
                       there = {(void *)(uintptr_t)(registers->rip - sizeof(code)), sizeof(code)};
    if (process_vm_readv(thread, &here, 1, &there, 1, 0) != (ssize_t)sizeof(code)) return -1;
    memcpy(&number, code + 1, sizeof(number));
    return code[0] == 0xb8 && code[5] == 0x0f && code[6] == 0x05 ? number : -1;
}
static inline void rbhl_set_call_number(struct user_regs_struct *registers, long number) {
    registers->orig_rax = (unsigned long long)number;
}

/* Does the kernel keep the rest of the call's time, for restart_syscall? */
static inline int rbhl_keeps_time(const struct user_regs_struct *registers) {
    return (long)registers->rax == -516;
}
/* The thread is stopped where it enters a system call, and its stack pointer is this: is that rt_sigreturn? */
static inline int rbhl_is_returning(const struct user_regs_struct *registers, uint64_t frame) {
    return (long)registers->orig_rax == SYS_rt_sigreturn && registers->rsp == frame + sizeof(uint64_t);
}
/* In the place of the system call that it is about to enter, the interrupted one goes on. */
static inline void rbhl_resume_call(struct user_regs_struct *registers) {
    registers->orig_rax = (unsigned long long)-1;
    hl_call_again(registers, SYS_restart_syscall);
}

/* The kernel begins nothing again; the machine is as at the beginning of a function. What it returns to lies on its
 * stack. */
static inline void rbhl_enter_function(struct user_regs_struct *registers, uint64_t function, uint64_t stack,
                                       uint64_t returning) {
    (void)returning;
    registers->rip = function;
    registers->rsp = stack;
    registers->rax = 0;
    registers->orig_rax = (unsigned long long)-1;
    registers->eflags &= ~RBHL_UNWANTED_FLAGS;
}

static inline void rbhl_set_arguments(struct user_regs_struct *registers, const uint64_t arguments[4]) {
    registers->rdi = arguments[0];
    registers->rsi = arguments[1];
    registers->rdx = arguments[2];
    registers->rcx = arguments[3];
}

/* For code that makes a system call. exits: of a clone, what lies where the copy's stack begins. */
static inline void rbhl_set_system_call(struct user_regs_struct *registers, uint64_t number,
                                        const uint64_t arguments[3], uint64_t exits) {
    (void)exits; /* the copy returns into it */
    registers->rax = number;
    registers->rdi = arguments[0];
    registers->rsi = arguments[1];
    registers->rdx = arguments[2];
    registers->r10 = registers->r8 = 0;
}

#endif
