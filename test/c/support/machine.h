/* SPDX-License-Identifier: MIT */
/*
 * Instructions that tests need, by kind of processor.
 */
#ifndef TEST_MACHINE_H
#define TEST_MACHINE_H

#include <sys/ptrace.h>
#include <sys/user.h>

/* Wait in a system call (pause, or ppoll of nothing) with this word in a register that calls preserve; and that
 * register of a thread. */
#if defined(__x86_64__)
#define WAIT_WITH_REGISTER(word)                                                                                       \
    __asm__ volatile("movq %0, %%r12\n\tmovl $34, %%eax\n\tsyscall"                                                    \
                     :                                                                                                 \
                     : "m"(word)                                                                                       \
                     : "rax", "rcx", "r11", "r12", "memory")
static inline unsigned long register_that_waits(const struct user_regs_struct *registers) {
    return registers->r12;
}

/* Stop for the tracer, and go on behind it. */
#define MARK() __asm__ volatile("int3")
enum { SINGLE_STEPS_PASS = 1 };
static inline unsigned long long place_of(int traced) {
    struct user_regs_struct registers = {0};
    ptrace(PTRACE_GETREGS, traced, NULL, &registers);
    return registers.rip;
}
static inline int is_system_call(long code) {
    return (code & 0xffff) == 0x050f;
}
#else
#define WAIT_WITH_REGISTER(word)                                                                                       \
    __asm__ volatile("ldr x20, %0\n\tmov x0, #0\n\tmov x1, #0\n\tmov x2, #0\n\tmov x3, #0\n\tmov x8, #73\n\tsvc #0"    \
                     :                                                                                                 \
                     : "m"(word)                                                                                       \
                     : "x0", "x1", "x2", "x3", "x8", "x20", "memory")
static inline unsigned long register_that_waits(const struct user_regs_struct *registers) {
    return registers->regs[20];
}

#define MARK() __asm__ volatile("brk #0")
enum { SINGLE_STEPS_PASS = 0 };
static inline unsigned long long place_of(int traced) {
    (void)traced;
    return 0;
}
static inline int is_system_call(long code) {
    return (code & 0xffffffff) == 0xd4000001;
}
#endif

#endif
