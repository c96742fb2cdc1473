/* SPDX-License-Identifier: MIT */
/*
 * A frame of the machine's stack on x86-64: the part of native_walk.h that knows registers and instructions.
 */
#ifndef HL_FRAME_X86_64_H
#define HL_FRAME_X86_64_H

#include <stdint.h>
#include <string.h>
#include <sys/user.h>
#include <ucontext.h>

#include "platform/platform.h"
#include "state/guard.h"
#include "vm/unwind_rule.h"

struct hl_registers {
    uintptr_t pc, sp, fp; /* rip, rsp, rbp */
};

/* Where the function that says so is, by all three registers at one instruction. */
#define HL_REGISTERS_HERE(at)                                                                                          \
    __asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"                                           \
                     : "=&r"((at).pc), "=&r"((at).sp), "=&r"((at).fp))

HL_INLINE struct hl_registers hl_registers_of(const struct user_regs_struct *registers) {
    return (struct hl_registers){registers->rip, registers->rsp, registers->rbp};
}
HL_INLINE struct hl_registers hl_registers_of_context(const ucontext_t *context) {
    const greg_t *registers = context->uc_mcontext.gregs;
    return (struct hl_registers){(uintptr_t)registers[REG_RIP], (uintptr_t)registers[REG_RSP],
                                 (uintptr_t)registers[REG_RBP]};
}

HL_INLINE int hl_native_step(struct hl_thread *thread, struct hl_registers *at) {
    const struct hl_unwind_rule rule = hl_unwind_rule(at->pc);
    const intptr_t offset = rule.offset;
    uintptr_t end, from;
    if (HL_LIKELY(rule.base == HL_UNWIND_STACK)) {
        from = end = at->sp + (uintptr_t)offset;
    } else {
        if (rule.base == HL_UNWIND_STOP) return offset ? HL_NATIVE_START : HL_NATIVE_LOST;
        from = end = at->fp + (uintptr_t)offset;
        if (rule.base == HL_UNWIND_BEHIND) {
            if (end < at->sp || !hl_native_may_read(thread, end)) return HL_NATIVE_LOST;
            end = *(uintptr_t *)end;
            from = at->fp;
        }
    }
    if (end <= at->sp || !hl_native_may_read(thread, end - sizeof(uintptr_t))) return HL_NATIVE_LOST;
    if (rule.saved || rule.base == HL_UNWIND_BEHIND) {
        const uintptr_t saved = from + (uintptr_t)(intptr_t)rule.saved;
        if (saved < at->sp || !hl_native_may_read(thread, saved)) return HL_NATIVE_LOST;
        at->fp = *(uintptr_t *)saved;
    }
    at->pc = ((uintptr_t *)end)[-1];
    at->sp = end;
    return at->pc ? HL_NATIVE_CALLER : HL_NATIVE_START;
}

/* What lies at the stack pointer when a handler has returned, by the code that it returns to; NULL: it is none. */
enum { HL_RETURNING_BYTES = 9 };
#define HL_RETURNING                                                                                                   \
    { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 } /* mov $15, %rax; syscall: rt_sigreturn */
HL_INLINE const ucontext_t *hl_handlers_context(uintptr_t sp) {
    return (const ucontext_t *)sp;
}

#endif
