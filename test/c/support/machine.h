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
#define PRESERVED_REGISTERS "rbx", "r12", "r13", "r14", "r15"
#define WAIT_WITH_REGISTER(word)                                                                                       \
    __asm__ volatile("movq %0, %%r12\n\tmovl $34, %%eax\n\tsyscall"                                                    \
                     :                                                                                                 \
                     : "m"(word)                                                                                       \
                     : "rax", "rcx", "r11", "r12", "memory")
static inline unsigned long register_that_waits(const struct user_regs_struct *registers) {
    return registers->r12;
}

/* The same for ever, and the word is nowhere else. */
#define KEEP_IN_REGISTER(word)                                                                                         \
    __asm__ volatile("movq %0, %%r12\n\txorl %%eax, %%eax\n\tmovq %%rax, %0\n"                                         \
                     "1:\tmovl $34, %%eax\n\tsyscall\n\tjmp 1b"                                                        \
                     : "+m"(word)                                                                                      \
                     :                                                                                                 \
                     : "rax", "rcx", "r11", "r12", "memory")

static inline long system_call(long number, const long *arguments) {
    long result;
    register long r10 __asm__("r10") = arguments[3];
    register long r8 __asm__("r8") = arguments[4];
    register long r9 __asm__("r9") = arguments[5];
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
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
#define PRESERVED_REGISTERS "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28"
#define WAIT_WITH_REGISTER(word)                                                                                       \
    __asm__ volatile("ldr x20, %0\n\tmov x0, #0\n\tmov x1, #0\n\tmov x2, #0\n\tmov x3, #0\n\tmov x8, #73\n\tsvc #0"    \
                     :                                                                                                 \
                     : "m"(word)                                                                                       \
                     : "x0", "x1", "x2", "x3", "x8", "x20", "memory")
static inline unsigned long register_that_waits(const struct user_regs_struct *registers) {
    return registers->regs[20];
}

#define KEEP_IN_REGISTER(word)                                                                                         \
    __asm__ volatile("ldr x20, %0\n\tstr xzr, %0\n"                                                                    \
                     "1:\tmov x0, #0\n\tmov x1, #0\n\tmov x2, #0\n\tmov x3, #0\n\tmov x8, #73\n\tsvc #0\n\tb 1b"       \
                     : "+m"(word)                                                                                      \
                     :                                                                                                 \
                     : "x0", "x1", "x2", "x3", "x8", "x20", "memory")

static inline long system_call(long number, const long *arguments) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = arguments[0];
    register long x1 __asm__("x1") = arguments[1];
    register long x2 __asm__("x2") = arguments[2];
    register long x3 __asm__("x3") = arguments[3];
    register long x4 __asm__("x4") = arguments[4];
    register long x5 __asm__("x5") = arguments[5];
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
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
