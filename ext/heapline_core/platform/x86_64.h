/* SPDX-License-Identifier: MIT */
/*
 * What heapline's core knows of x86-64 and of Linux there; for platform.h alone. aarch64.h has the same names.
 *
 * Stores become visible in their order, loads are made in theirs: the loads below need no more than the compiler's
 * order.
 */
#ifndef HL_X86_64_H
#define HL_X86_64_H

#include <cpuid.h>
#include <elf.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <ucontext.h>

#define HL_LOAD_ORDER __ATOMIC_RELAXED

/* Of addresses of programs, and the lowest ones that are 0 in all of instructions. */
enum { HL_ADDRESS_BITS = 47, HL_CODE_ALIGNMENT_BITS = 0 };

/* ---- the running thread ---- */

/* The address that thread-local offsets count from: the thread control block begins with its own address. */
HL_INLINE char *hl_thread_pointer(void) {
    char *address;
    __asm__("movq %%fs:0, %0" : "=r"(address));
    return address;
}

/* A word of this thread's at an offset from there. */
HL_INLINE char *hl_thread_word(intptr_t offset) {
    char *word;
    __asm__ volatile("movq %%fs:(%1), %0" : "=r"(word) : "r"(offset));
    return word;
}

/* A system call that leaves errno alone: for who runs with another thread's thread pointer. -errno. */
HL_INLINE long hl_quiet_syscall(long number, long first, long second, long third, long fourth) {
    long result;
    register long r10 __asm__("r10") = fourth;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(first), "S"(second), "d"(third), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

/* The registers that a callee preserves, into an array of so many words. */
enum { HL_PRESERVED = 6 };
#define HL_SPILL(registers)                                                                                            \
    __asm__ volatile("movq %%rbx, 0(%0)\n\tmovq %%rbp, 8(%0)\n\tmovq %%r12, 16(%0)\n\tmovq %%r13, 24(%0)\n\t"          \
                     "movq %%r14, 32(%0)\n\tmovq %%r15, 40(%0)"                                                        \
                     :                                                                                                 \
                     : "r"(registers)                                                                                  \
                     : "memory")

/* ---- words that others see ---- */

/* Free to be an instruction's operand. */
HL_INLINE uint32_t hl_machine_look32(const uint32_t *field) {
    return *field;
}
HL_INLINE uint64_t hl_machine_look64(const uint64_t *field) {
    return *field;
}

HL_INLINE void hl_machine_add(uint64_t *counter, uint64_t amount) {
    __asm__("addq %1, %0" : "+m"(*counter) : "er"(amount));
}
HL_INLINE void hl_machine_subtract(uint64_t *counter, uint64_t amount) {
    __asm__("subq %1, %0" : "+m"(*counter) : "er"(amount));
}
HL_INLINE uint64_t hl_machine_advance(uint64_t *counter, uint64_t amount) {
    __asm__ volatile("xaddq %0, %1" : "+r"(amount), "+m"(*counter) : : "memory");
    return amount;
}

/* What was stored before is seen by who sees what is stored from here on. */
HL_INLINE void hl_store_in_order(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* ---- the processor's counter ---- */

/* It may be read ahead of what stands before it in the program: to wait for that takes as long as the loads on their
 * way, and half of the time of an event. */
HL_INLINE uint64_t hl_clock_counter(void) {
    return __builtin_ia32_rdtsc();
}

/* Whether it runs at one rate in all states: the kernel then keeps those of all processors equal. */
HL_INLINE int hl_clock_counter_is_steady(void) {
    uint32_t eax, ebx, ecx, edx;
    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && edx & 1u << 8;
}

HL_INLINE void hl_processor_pause(void) {
    __builtin_ia32_pause();
}

/* ---- object files ---- */

enum { HL_ELF_MACHINE = EM_X86_64 };
/* Words of what a core file has of a thread's registers. */
enum { HL_CORE_STACK = 19, HL_CORE_THREAD_POINTER = 21 };
/* The kinds of relocations that hold a function's address. */
enum { HL_WORD_CALLED = R_X86_64_JUMP_SLOT, HL_WORD_TAKEN = R_X86_64_GLOB_DAT, HL_WORD_PLAIN = R_X86_64_64 };

/* The numbers of registers in unwind tables, and an instruction there that says nothing here. A call puts the return
 * address onto the stack. */
enum { HL_DWARF_FRAME = 6, HL_DWARF_STACK = 7, HL_DWARF_RETURN = 16, HL_CFA_IGNORED = 0 };
enum { HL_CALLS_PUSH = 1 };
/* Rust's code calls functions of other objects through their table of addresses, C's through the linker's stubs. */
enum { HL_RUST_CALLS_OTHERWISE = 1 };

/* ---- a function that is a chain of loads: followed instruction by instruction ---- */

struct hl_chain {
    const uint8_t *at;
    uintptr_t rax;  /* the register's value */
    uintptr_t last; /* the address that it was last loaded from */
};

HL_INLINE int hl_chain_starts(struct hl_chain *chain, const char *bytes, size_t length) {
    if (memcmp(chain->at, bytes, length)) return 0;
    chain->at += length;
    return 1;
}

HL_INLINE uintptr_t hl_chain_displacement(struct hl_chain *chain) {
    int32_t value;
    memcpy(&value, chain->at, sizeof(value));
    chain->at += sizeof(value);
    return (uintptr_t)(intptr_t)value;
}

HL_INLINE void hl_chain_load(struct hl_chain *chain, uintptr_t address) {
    chain->last = address;
    chain->rax = *(const uintptr_t *)address;
}

HL_INLINE int hl_chain_returns(const struct hl_chain *chain) {
    return *chain->at == 0xc3;
}

/* One instruction; 0 where it is not one of those that a chain of loads consists of. callee: what it may call. */
HL_INLINE int hl_chain_step(struct hl_chain *chain, void *(*callee)(void)) {
    if (hl_chain_starts(chain, "\xf3\x0f\x1e\xfa", 4)) return 1; /* endbr64 */
    if (hl_chain_starts(chain, "\x48\x83\xec\x08", 4)) return 1; /* sub $8, %rsp */
    if (hl_chain_starts(chain, "\x48\x83\xc4\x08", 4)) return 1; /* add $8, %rsp */
    if (hl_chain_starts(chain, "\x48\x8b\x05", 3)) {             /* mov disp(%rip), %rax */
        const uintptr_t distance = hl_chain_displacement(chain);
        hl_chain_load(chain, (uintptr_t)chain->at + distance);
    } else if (hl_chain_starts(chain, "\x48\x8d\x05", 3)) { /* lea disp(%rip), %rax */
        const uintptr_t distance = hl_chain_displacement(chain);
        chain->rax = (uintptr_t)chain->at + distance;
    } else if (hl_chain_starts(chain, "\x48\x8b\x00", 3)) { /* mov (%rax), %rax */
        hl_chain_load(chain, chain->rax);
    } else if (hl_chain_starts(chain, "\x48\x8b\x80", 3)) { /* mov disp(%rax), %rax */
        hl_chain_load(chain, chain->rax + hl_chain_displacement(chain));
    } else if (callee && hl_chain_starts(chain, "\xe8", 1)) { /* call: Ruby 3.4 asks for the object space so */
        hl_chain_displacement(chain);
        chain->rax = (uintptr_t)callee();
    } else {
        return 0;
    }
    return 1;
}

/* ---- another thread's registers ---- */

struct hl_thread_registers {
    struct user_regs_struct general;
};

/* Of a thread that the caller has stopped: 0, or -1 and errno. */
HL_INLINE int hl_registers_read(int thread, struct hl_thread_registers *registers) {
    return ptrace(PTRACE_GETREGS, thread, NULL, &registers->general) ? -1 : 0;
}
HL_INLINE uintptr_t hl_registers_stack(const struct hl_thread_registers *registers) {
    return registers->general.rsp;
}
HL_INLINE uintptr_t hl_registers_thread_pointer(const struct hl_thread_registers *registers) {
    return registers->general.fs_base;
}

/* glibc's control block: its own address in its third word, so that it is found in memory. 0: nothing tells it. */
enum { HL_CONTROL_BLOCK_TELLS = 1 };

/* ---- a system call that was interrupted, by a tracer's stop ---- */

/* Calls that wait, for the beginning of a list of them: those that newer kinds of processors do without. */
#define HL_OLDER_WAITS SYS_poll, SYS_select,

HL_INLINE long hl_call_number(const struct user_regs_struct *registers) {
    return (long)registers->orig_rax;
}
/* The kernel's own result: -512 to -516, or -EINTR. */
HL_INLINE long hl_call_result(const struct user_regs_struct *registers) {
    return (long)registers->rax;
}
/* It returns this. */
HL_INLINE void hl_call_return(struct user_regs_struct *registers, long result) {
    registers->rax = (unsigned long long)result;
}
/* It is made (again), as the call of that number. */
HL_INLINE void hl_call_again(struct user_regs_struct *registers, long number) {
    registers->rax = (unsigned long long)number;
    registers->rip -= 2; /* the instruction's bytes */
}

/* The same in the frame of a signal's handler, where it is about to be made again. */
HL_INLINE long hl_context_call_number(const ucontext_t *context) {
    return context->uc_mcontext.gregs[REG_RAX];
}
HL_INLINE void hl_context_call_return(ucontext_t *context, long result) {
    context->uc_mcontext.gregs[REG_RAX] = result;
    context->uc_mcontext.gregs[REG_RIP] += 2;
}

/* ---- the door of a visit (visit.h) ---- */

enum { HL_VISIT_VECTOR_BYTES = 16 * 1024 };
#define HL_VISIT_BEGINNING                                                                                             \
    { 0xfc, 0xb8, 0xff, 0xff, 0xff, 0xff, 0xba, 0xff, 0xff, 0xff, 0xff }

/* By their offsets in hl_visit_registers. */
#define HL_VISIT_RESTORE(offset, name) "movq hl_visit_registers+" #offset "(%rip), %" #name "\n\t"
#define HL_VISIT_RESTORE_GENERAL                                                                                       \
    HL_VISIT_RESTORE(0, r15)                                                                                           \
    HL_VISIT_RESTORE(8, r14)                                                                                           \
    HL_VISIT_RESTORE(16, r13)                                                                                          \
    HL_VISIT_RESTORE(24, r12)                                                                                          \
    HL_VISIT_RESTORE(32, rbp)                                                                                          \
    HL_VISIT_RESTORE(40, rbx)                                                                                          \
    HL_VISIT_RESTORE(48, r11)                                                                                          \
    HL_VISIT_RESTORE(56, r10)                                                                                          \
    HL_VISIT_RESTORE(64, r9)                                                                                           \
    HL_VISIT_RESTORE(72, r8)                                                                                           \
    HL_VISIT_RESTORE(80, rax)                                                                                          \
    HL_VISIT_RESTORE(88, rcx)                                                                                          \
    HL_VISIT_RESTORE(96, rdx)                                                                                          \
    HL_VISIT_RESTORE(104, rsi)                                                                                         \
    HL_VISIT_RESTORE(112, rdi)
#define HL_VISIT_ALL_VECTORS "movl $-1, %eax\n\tmovl $-1, %edx\n\t"

/* Save the vectors, call hl_visit, and go on by hl_visit_registers. There is no return address: unwinding ends here.
 * What begins it the visitor knows. */
#define HL_VISIT_DOOR                                                                                                  \
    char hl_visit_vectors[HL_VISIT_VECTOR_BYTES] __attribute__((aligned(64))) HL_HIDDEN;                               \
    __asm__(".pushsection .text\n"                                                                                     \
            ".p2align 4\n"                                                                                             \
            ".hidden hl_visit_enter, hl_visit_end\n"                                                                   \
            ".globl hl_visit_enter, hl_visit_end\n"                                                                    \
            ".type hl_visit_enter, @function\n"                                                                        \
            "hl_visit_enter:\n\t"                                                                                      \
            ".cfi_startproc\n\t"                                                                                       \
            ".cfi_undefined rip\n\t"                                                                                   \
            "cld\n\t" HL_VISIT_ALL_VECTORS "xsave64 hl_visit_vectors(%rip)\n\t"                                        \
            "call hl_visit\n\t" HL_VISIT_ALL_VECTORS "xrstor64 hl_visit_vectors(%rip)\n\t"                             \
            "pushq hl_visit_registers+144(%rip)\n\tpopfq\n\t" /* the flags */                                          \
            HL_VISIT_RESTORE_GENERAL "movq hl_visit_registers+152(%rip), %rsp\n\t"                                     \
            "jmp *hl_visit_registers+128(%rip)\n"                                                                      \
            "hl_visit_end:\n\t"                                                                                        \
            ".cfi_endproc\n\t"                                                                                         \
            ".size hl_visit_enter, .-hl_visit_enter\n"                                                                 \
            ".popsection\n");                                                                                          \
    _Static_assert(offsetof(struct user_regs_struct, eflags) == 144 &&                                                 \
                       offsetof(struct user_regs_struct, rsp) == 152 &&                                                \
                       offsetof(struct user_regs_struct, rip) == 128 && offsetof(struct user_regs_struct, rax) == 80,  \
                   "the offsets above")

/* What the processor and the kernel have of vector registers must fit. */
HL_INLINE int hl_visit_vectors_fit(void) {
    uint32_t eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE)) return 0;
    return __get_cpuid_count(13, 0, &eax, &ebx, &ecx, &edx) && ebx && ebx <= HL_VISIT_VECTOR_BYTES;
}

/* The last step before hl_visit returns: the door does the rest. */
HL_INLINE void hl_visit_leave(const struct user_regs_struct *registers, const sigset_t *blocked) {
    (void)registers, (void)blocked;
}

#endif
