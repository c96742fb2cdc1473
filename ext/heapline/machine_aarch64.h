/* SPDX-License-Identifier: MIT */
/*
 * Registers of other threads on 64-bit ARM, for tracer.c, visitor.c, injector.c and signal_frame_aarch64.h.
 */
#ifndef RBHL_MACHINE_AARCH64_H
#define RBHL_MACHINE_AARCH64_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>

static const uint32_t RBHL_SYSTEM_CALL = 0xd4000001; /* svc #0 */
/* In pstate: 32-bit code and the kernel's; a single step, and a jump that is to be checked. */
static const unsigned long long RBHL_OTHER_MODES = 0x1f, RBHL_UNWANTED_FLAGS = 1u << 21 | 3u << 10;

static inline uint64_t rbhl_pc(const struct user_regs_struct *registers) {
    return registers->pc;
}
static inline uint64_t rbhl_stack(const struct user_regs_struct *registers) {
    return registers->sp;
}
/* The first two arguments, and what it returned, of a system call. */
static inline uint64_t rbhl_call_first(const struct user_regs_struct *registers) {
    return registers->regs[0];
}
static inline uint64_t rbhl_call_second(const struct user_regs_struct *registers) {
    return registers->regs[1];
}
static inline long rbhl_call_returned(const struct user_regs_struct *registers) {
    return (long)registers->regs[0];
}

/* Who waits in a system call has been set back to its instruction by the kernel, with all registers as they were. A
 * thread that has just come to it is in the same place. */
static inline enum rbhl_place rbhl_place(pid_t thread, const struct user_regs_struct *registers) {
    uint32_t code[2] = {0, 0}; /* before the place, and there */
    const struct iovec here = {code, sizeof(code)}, there = {(void *)(uintptr_t)(registers->pc - 4), sizeof(code)};
    if (registers->pstate & RBHL_OTHER_MODES || registers->pc % 4) return RBHL_RUNS;
    if (process_vm_readv(thread, &here, 1, &there, 1, 0) != (ssize_t)sizeof(code)) return RBHL_RUNS;
    if (code[1] == RBHL_SYSTEM_CALL) return RBHL_WAITS;
    return code[0] == RBHL_SYSTEM_CALL && rbhl_call_returned(registers) == -EINTR ? RBHL_WAITED_ON : RBHL_RUNS;
}

/* The number of the system call that restart_syscall makes again, by the code before it (mov x8, number); -1: that does
 * not tell it. */
static inline long rbhl_call_before(pid_t thread, const struct user_regs_struct *registers) {
    enum { BEFORE = 4, MOVE = 0x52800008, FIXED = 0x7fe0001f, NUMBER = 0xffff };
    uint32_t code[BEFORE];
    const struct iovec here = {code, sizeof(code)},
                       there = {(void *)(uintptr_t)(registers->pc - sizeof(code)), sizeof(code)};
    if (process_vm_readv(thread, &here, 1, &there, 1, 0) != (ssize_t)sizeof(code)) return -1;
    for (int i = BEFORE - 1; i >= 0; i--)
        if ((code[i] & FIXED) == MOVE) return code[i] >> 5 & NUMBER;
    return -1;
}
static inline void rbhl_set_call_number(struct user_regs_struct *registers, long number) {
    registers->regs[8] = (unsigned long long)number;
}

/* What the kernel keeps of the call's time cannot be seen here: it begins anew. */
static inline int rbhl_keeps_time(const struct user_regs_struct *registers) {
    (void)registers;
    return 0;
}
static inline int rbhl_is_returning(const struct user_regs_struct *registers, uint64_t frame) {
    (void)registers, (void)frame;
    return 0;
}
static inline void rbhl_resume_call(struct user_regs_struct *registers) {
    (void)registers;
}

/* The machine is as at the beginning of a function. */
static inline void rbhl_enter_function(struct user_regs_struct *registers, uint64_t function, uint64_t stack,
                                       uint64_t returning) {
    registers->pc = function;
    registers->sp = stack;
    registers->regs[29] = 0;
    registers->regs[30] = returning;
    registers->pstate &= ~RBHL_UNWANTED_FLAGS;
}

static inline void rbhl_set_arguments(struct user_regs_struct *registers, const uint64_t arguments[4]) {
    for (int i = 0; i < 4; i++) registers->regs[i] = arguments[i];
}

/* For code of the C library's clone, which makes a system call, and where that returns 0 calls what the tenth register
 * has with what the twelfth has. */
static inline void rbhl_set_system_call(struct user_regs_struct *registers, uint64_t number,
                                        const uint64_t arguments[3], uint64_t exits) {
    for (int i = 0; i < 6; i++) registers->regs[i] = i < 3 ? arguments[i] : 0;
    registers->regs[8] = number;
    registers->regs[10] = exits;
    registers->regs[12] = 0;
}

#endif
