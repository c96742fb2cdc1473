/* SPDX-License-Identifier: MIT */
/*
 * What heapline's core knows of 64-bit ARM and of Linux there; for platform.h alone. x86_64.h has the same names.
 *
 * A1  Others may see stores in another order than they were made in, but for those that say so (release); so what is
 *     published is stored so, and every load of what others write is an acquiring one.
 * A2  Adding to a word takes several instructions. Where something comes between, a signal's handler included, the
 *     store fails, and it begins again.
 */
#ifndef HL_AARCH64_H
#define HL_AARCH64_H

#include <asm/sigcontext.h>
#include <elf.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <ucontext.h>

#define HL_LOAD_ORDER __ATOMIC_ACQUIRE

/* Of addresses of programs, and the lowest ones that are 0 in all of instructions. */
enum { HL_ADDRESS_BITS = 48, HL_CODE_ALIGNMENT_BITS = 2 };

/* ---- the running thread ---- */

/* The address that thread-local offsets count from. */
HL_INLINE char *hl_thread_pointer(void) {
    char *address;
    __asm__("mrs %0, tpidr_el0" : "=r"(address));
    return address;
}

/* A word of this thread's at an offset from there. */
HL_INLINE char *hl_thread_word(intptr_t offset) {
    char *word;
    __asm__ volatile("ldr %0, [%1]" : "=r"(word) : "r"(hl_thread_pointer() + offset) : "memory");
    return word;
}

/* A system call that leaves errno alone: for who runs with another thread's thread pointer. -errno. */
HL_INLINE long hl_quiet_syscall(long number, long first, long second, long third, long fourth) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = first;
    register long x1 __asm__("x1") = second;
    register long x2 __asm__("x2") = third;
    register long x3 __asm__("x3") = fourth;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}

/* The registers that a callee preserves, into an array of so many words. */
enum { HL_PRESERVED = 12 };
#define HL_SPILL(registers)                                                                                            \
    __asm__ volatile("stp x19, x20, [%0]\n\tstp x21, x22, [%0, #16]\n\tstp x23, x24, [%0, #32]\n\t"                    \
                     "stp x25, x26, [%0, #48]\n\tstp x27, x28, [%0, #64]\n\tstp x29, x30, [%0, #80]"                   \
                     :                                                                                                 \
                     : "r"(registers)                                                                                  \
                     : "memory")

/* ---- words that others see ---- */

HL_INLINE uint32_t hl_machine_look32(const uint32_t *field) {
    return __atomic_load_n(field, __ATOMIC_ACQUIRE);
}
HL_INLINE uint64_t hl_machine_look64(const uint64_t *field) {
    return __atomic_load_n(field, __ATOMIC_ACQUIRE);
}

/* By these instructions on every processor: the compiler would call a function to choose others (A2). */
HL_INLINE uint64_t hl_machine_advance(uint64_t *counter, uint64_t amount) {
    uint64_t before, after;
    uint32_t failed;
    __asm__ volatile("1:\tldxr %0, %3\n\tadd %1, %0, %4\n\tstxr %w2, %1, %3\n\tcbnz %w2, 1b"
                     : "=&r"(before), "=&r"(after), "=&r"(failed), "+Q"(*counter)
                     : "Ir"(amount)
                     : "memory");
    return before;
}
HL_INLINE void hl_machine_add(uint64_t *counter, uint64_t amount) {
    hl_machine_advance(counter, amount);
}
HL_INLINE void hl_machine_subtract(uint64_t *counter, uint64_t amount) {
    hl_machine_advance(counter, -amount);
}

/* What was stored before is seen by who sees what is stored from here on. */
HL_INLINE void hl_store_in_order(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

/* ---- the processor's counter ---- */

HL_INLINE uint64_t hl_clock_counter(void) {
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

HL_INLINE int hl_clock_counter_is_steady(void) {
    return 1;
}

HL_INLINE void hl_processor_pause(void) {
    __asm__ volatile("yield" ::: "memory");
}

/* ---- object files ---- */

enum { HL_ELF_MACHINE = EM_AARCH64 };
/* Words of what a core file has of a thread's registers; the second is in a note of its own (NT_ARM_TLS). */
enum { HL_CORE_STACK = 31, HL_CORE_THREAD_POINTER = 1 << 16 };
/* The kinds of relocations that hold a function's address. */
enum { HL_WORD_CALLED = R_AARCH64_JUMP_SLOT, HL_WORD_TAKEN = R_AARCH64_GLOB_DAT, HL_WORD_PLAIN = R_AARCH64_ABS64 };

/* The numbers of registers in unwind tables, and an instruction there that says nothing here (that the return address
 * is signed from there on). A call leaves the return address in a register. */
enum { HL_DWARF_FRAME = 29, HL_DWARF_STACK = 31, HL_DWARF_RETURN = 30, HL_CFA_IGNORED = 0x2d };
enum { HL_CALLS_PUSH = 0 };
/* Rust's code calls functions of other objects as C's does. */
enum { HL_RUST_CALLS_OTHERWISE = 0 };

/* ---- a function that is a chain of loads: followed instruction by instruction ---- */

struct hl_chain {
    const uint8_t *at;
    uintptr_t registers[32];
    uintptr_t last; /* the address that the result was last loaded from */
};

HL_INLINE uint32_t hl_chain_instruction(const struct hl_chain *chain) {
    uint32_t instruction;
    memcpy(&instruction, chain->at, sizeof(instruction));
    return instruction;
}

HL_INLINE int hl_chain_returns(const struct hl_chain *chain) {
    return hl_chain_instruction(chain) == 0xd65f03c0;
}

/* A hint, or the saving of frame pointer and return address and its end. */
HL_INLINE int hl_chain_is_frame(uint32_t instruction) {
    return (instruction & 0xfffff01f) == 0xd503201f || /* hint */
           (instruction & 0xffc07fff) == 0xa9807bfd || /* stp x29, x30, [sp, #n]! */
           (instruction & 0xffc07fff) == 0xa8c07bfd || /* ldp x29, x30, [sp], #n */
           instruction == 0x910003fd;                  /* mov x29, sp */
}

/* One instruction; 0 where it is not one of those that a chain of loads consists of. callee: what it may call. */
HL_INLINE int hl_chain_step(struct hl_chain *chain, void *(*callee)(void)) {
    const uint32_t instruction = hl_chain_instruction(chain), to = instruction & 31, from = instruction >> 5 & 31;
    const uintptr_t here = (uintptr_t)chain->at, amount = instruction >> 10 & 0xfff;
    if (hl_chain_is_frame(instruction)) {
        ;
    } else if ((instruction & 0x9f000000) == 0x90000000) { /* adrp */
        const uint32_t low = instruction >> 29 & 3, high = instruction >> 5 & 0x7ffff;
        const int64_t pages = (int64_t)((uint64_t)(high << 2 | low) << 43) >> 43;
        chain->registers[to] = (here & ~(uintptr_t)4095) + ((uintptr_t)pages << 12);
    } else if ((instruction & 0xffc00000) == 0x91000000) { /* add */
        chain->registers[to] = chain->registers[from] + amount;
    } else if ((instruction & 0xffc00000) == 0xf9400000) { /* ldr */
        const uintptr_t address = chain->registers[from] + amount * sizeof(uintptr_t);
        chain->registers[to] = *(const uintptr_t *)address;
        if (to == 0) chain->last = address;
    } else if (callee && (instruction & 0xfc000000) == 0x94000000) { /* bl: Ruby 3.4 asks for the object space so */
        chain->registers[0] = (uintptr_t)callee();
    } else {
        return 0;
    }
    chain->at += sizeof(instruction);
    return 1;
}

/* ---- another thread's registers ---- */

struct hl_thread_registers {
    struct user_regs_struct general;
    uintptr_t thread_pointer;
};

/* Of a thread that the caller has stopped: 0, or -1 and errno. */
HL_INLINE int hl_registers_read(int thread, struct hl_thread_registers *registers) {
    struct iovec general = {&registers->general, sizeof(registers->general)},
                 pointer = {&registers->thread_pointer, sizeof(registers->thread_pointer)};
    if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &general)) return -1;
    return ptrace(PTRACE_GETREGSET, thread, (void *)NT_ARM_TLS, &pointer) ? -1 : 0;
}
HL_INLINE uintptr_t hl_registers_stack(const struct hl_thread_registers *registers) {
    return registers->general.sp;
}
HL_INLINE uintptr_t hl_registers_thread_pointer(const struct hl_thread_registers *registers) {
    return registers->thread_pointer;
}

/* glibc's control block has no word here that tells what it is. */
enum { HL_CONTROL_BLOCK_TELLS = 0 };

/* ---- a system call that was interrupted, by a tracer's stop ----
 *
 * When a tracer sees the thread the kernel has already set it back: it stands at the instruction, its registers are
 * what they were. What its own result was is told by the call.
 */

/* Calls that wait, for the beginning of a list of them: those that this kind of processor does without. */
#define HL_OLDER_WAITS

HL_INLINE long hl_call_number(const struct user_regs_struct *registers) {
    return (long)registers->regs[8];
}
/* Those of which a signal's handler ends the wait even where it is one that has calls begin again. */
HL_INLINE long hl_call_result(const struct user_regs_struct *registers) {
    enum { RESTART = 512, RESTART_NO_HANDLER = 514 };
    static const short ended[] = {SYS_futex,           SYS_ppoll,       SYS_pselect6,      SYS_nanosleep,
                                  SYS_clock_nanosleep, SYS_epoll_pwait, SYS_rt_sigsuspend, SYS_rt_sigtimedwait};
    for (size_t i = 0; i < sizeof(ended) / sizeof(*ended); i++)
        if (ended[i] == hl_call_number(registers)) return -RESTART_NO_HANDLER;
    return -RESTART;
}
/* It returns this. */
HL_INLINE void hl_call_return(struct user_regs_struct *registers, long result) {
    registers->regs[0] = (unsigned long long)result;
    registers->pc += 4; /* the instruction's bytes */
}
/* It is made (again): the thread stands before it. */
HL_INLINE void hl_call_again(struct user_regs_struct *registers, long number) {
    (void)registers, (void)number;
}

/* The same in the frame of a signal's handler. */
HL_INLINE long hl_context_call_number(const ucontext_t *context) {
    return (long)context->uc_mcontext.regs[8];
}
HL_INLINE void hl_context_call_return(ucontext_t *context, long result) {
    context->uc_mcontext.regs[0] = (unsigned long long)result;
    context->uc_mcontext.pc += 4;
}

/* ---- the door of a visit (visit.h) ----
 *
 * No register is free to jump by: the thread goes on from a frame as the kernel makes it for a signal's handler. Of
 * vectors it has the first 16 bytes of each; the others have no meaning in a system call.
 */

struct hl_visit_frame {
    siginfo_t info;
    ucontext_t context;
};
extern struct hl_visit_frame hl_visit_frame HL_HIDDEN;

#define HL_VISIT_BEGINNING                                                                                             \
    { 0x21, 0x44, 0x3b, 0xd5, 0x02, 0x44, 0x3b, 0xd5 }

#define HL_VISIT_PAIR(one, other, offset) "stp q" #one ", q" #other ", [x0, #" #offset "]\n\t"
#define HL_VISIT_DOOR                                                                                                  \
    struct hl_visit_frame hl_visit_frame __attribute__((aligned(16))) HL_HIDDEN;                                       \
    __asm__(".pushsection .text\n"                                                                                     \
            ".p2align 4\n"                                                                                             \
            ".hidden hl_visit_enter, hl_visit_end\n"                                                                   \
            ".globl hl_visit_enter, hl_visit_end\n"                                                                    \
            ".type hl_visit_enter, %function\n"                                                                        \
            "hl_visit_enter:\n\t"                                                                                      \
            ".cfi_startproc\n\t"                                                                                       \
            ".cfi_undefined x30\n\t"                                                                                   \
            "mrs x1, fpsr\n\tmrs x2, fpcr\n\t"                                                                         \
            "adrp x0, hl_visit_frame\n\tadd x0, x0, :lo12:hl_visit_frame\n\tadd x0, x0, #592\n\t"                      \
            "stp w1, w2, [x0, #8]\n\tadd x0, x0, #16\n\t" HL_VISIT_PAIR(0, 1, 0) HL_VISIT_PAIR(                        \
                2, 3, 32) HL_VISIT_PAIR(4, 5, 64) HL_VISIT_PAIR(6, 7, 96) HL_VISIT_PAIR(8, 9, 128)                     \
                HL_VISIT_PAIR(10, 11, 160) HL_VISIT_PAIR(12, 13, 192) HL_VISIT_PAIR(14, 15, 224) HL_VISIT_PAIR(        \
                    16, 17, 256) HL_VISIT_PAIR(18, 19, 288) HL_VISIT_PAIR(20, 21, 320) HL_VISIT_PAIR(22, 23, 352)      \
                    HL_VISIT_PAIR(24, 25, 384) HL_VISIT_PAIR(26, 27, 416) HL_VISIT_PAIR(28, 29, 448) HL_VISIT_PAIR(    \
                        30, 31, 480) "bl hl_visit\n\t"                                                                 \
                                     "adrp x0, hl_visit_frame\n\tadd x0, x0, :lo12:hl_visit_frame\n\tmov sp, x0\n\t"   \
                                     "mov x8, #139\n\tsvc #0\n" /* rt_sigreturn */                                     \
                                     "hl_visit_end:\n\t"                                                               \
                                     ".cfi_endproc\n\t"                                                                \
                                     ".size hl_visit_enter, .-hl_visit_enter\n"                                        \
                                     ".popsection\n");                                                                 \
    _Static_assert(offsetof(struct hl_visit_frame, context.uc_mcontext.__reserved) == 592 &&                           \
                       offsetof(struct fpsimd_context, fpsr) == 8 && offsetof(struct fpsimd_context, vregs) == 16,     \
                   "the offsets above")

HL_INLINE int hl_visit_vectors_fit(void) {
    return 1;
}

/* The last step before hl_visit returns: where the thread goes on, and with which signal mask. The kernel takes no
 * other stack for signals from here: there are no such flags. */
HL_INLINE void hl_visit_leave(const struct user_regs_struct *registers, const sigset_t *blocked) {
    enum { STACK_AS_IT_IS = 0x7f0000 };
    ucontext_t *context = &hl_visit_frame.context;
    struct fpsimd_context *vectors = (struct fpsimd_context *)context->uc_mcontext.__reserved;
    context->uc_stack.ss_flags = STACK_AS_IT_IS;
    context->uc_sigmask = *blocked;
    memcpy(context->uc_mcontext.regs, registers->regs, sizeof(registers->regs));
    context->uc_mcontext.sp = registers->sp;
    context->uc_mcontext.pc = registers->pc;
    context->uc_mcontext.pstate = registers->pstate;
    vectors->head = (struct _aarch64_ctx){FPSIMD_MAGIC, sizeof(*vectors)};
}

#endif
