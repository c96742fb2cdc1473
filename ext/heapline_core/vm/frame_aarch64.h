/* SPDX-License-Identifier: MIT */
/*
 * A frame of the machine's stack on 64-bit ARM: the part of native_walk.h that knows registers and instructions.
 *
 * A call leaves its return address in a register (lr); whoever calls further has saved it. In the bits above an address
 * the processor may keep a signature.
 */
#ifndef HL_FRAME_AARCH64_H
#define HL_FRAME_AARCH64_H

#include <stdint.h>
#include <string.h>
#include <sys/user.h>
#include <ucontext.h>

#include "platform/platform.h"
#include "state/guard.h"
#include "vm/unwind_rule.h"

struct hl_registers {
    uintptr_t pc, sp, fp;
    uintptr_t lr; /* 0: it is of no use any more */
};

HL_INLINE uintptr_t hl_unsigned_address(uintptr_t address) {
    return address & (((uintptr_t)1 << HL_ADDRESS_BITS) - 1);
}

/* Where the function that says so is, by all registers at one instruction. */
#define HL_REGISTERS_HERE(at)                                                                                          \
    __asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30"                                           \
                     : "=&r"((at).pc), "=&r"((at).sp), "=&r"((at).fp), "=&r"((at).lr))

/* Addresses are those behind a call (unwind_rule.h); these registers stand at the instruction. */
HL_INLINE struct hl_registers hl_registers_of(const struct user_regs_struct *registers) {
    return (struct hl_registers){registers->pc + 1, registers->sp, registers->regs[29],
                                 hl_unsigned_address(registers->regs[30])};
}
HL_INLINE struct hl_registers hl_registers_of_context(const ucontext_t *context) {
    const mcontext_t *machine = &context->uc_mcontext;
    return (struct hl_registers){machine->pc, machine->sp, machine->regs[29], hl_unsigned_address(machine->regs[30])};
}

HL_INLINE int hl_native_step(struct hl_thread *thread, struct hl_registers *at) {
    const struct hl_unwind_rule rule = hl_unwind_rule(at->pc);
    uintptr_t caller = at->lr;
    if (rule.base == HL_UNWIND_STOP) return rule.offset ? HL_NATIVE_START : HL_NATIVE_LOST;
    const uintptr_t end = (rule.base == HL_UNWIND_FRAME ? at->fp : at->sp) + (uintptr_t)(intptr_t)rule.offset;
    if (end < at->sp) return HL_NATIVE_LOST;
    if (rule.saved) {
        const uintptr_t saved = end + (uintptr_t)(intptr_t)rule.saved;
        if (saved < at->sp || end == at->sp || !hl_native_may_read(thread, saved)) return HL_NATIVE_LOST;
        caller = hl_unsigned_address(*(const uintptr_t *)saved);
        if (rule.base != HL_UNWIND_BEHIND) {
            if (saved - sizeof(saved) < at->sp || !hl_native_may_read(thread, saved - sizeof(saved)))
                return HL_NATIVE_LOST;
            at->fp = ((const uintptr_t *)saved)[-1];
        }
    }
    if (!rule.saved && !caller) return HL_NATIVE_LOST;
    at->pc = caller;
    at->sp = end;
    at->lr = 0;
    return caller ? HL_NATIVE_CALLER : HL_NATIVE_START;
}

/* What lies at the stack pointer when a handler has returned, by the code that it returns to, the kernel's. */
enum { HL_RETURNING_BYTES = 8 };
#define HL_RETURNING                                                                                                   \
    { 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 } /* mov x8, #139; svc #0: rt_sigreturn */
HL_INLINE const ucontext_t *hl_handlers_context(uintptr_t sp) {
    return (const ucontext_t *)(sp + sizeof(siginfo_t));
}

#endif
