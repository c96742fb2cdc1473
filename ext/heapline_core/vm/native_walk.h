/* SPDX-License-Identifier: MIT */
/*
 * Walking the machine's stack of the running thread, a frame at a time, by the rules of unwind_rule.h.
 *
 * N2  No word is read that was not found to be mapped: each thread remembers the piece of stack that it walked before.
 * Callable from any thread inside malloc; no lock, and a system call only where the stack reaches a new page.
 */
#ifndef HL_NATIVE_WALK_H
#define HL_NATIVE_WALK_H

#include <stdint.h>

#include "state/guard.h"
#include "vm/ruby_vm.h"
#include "vm/unwind_rule.h"

/* Of heapline itself, between a walk and who called malloc. */
enum { HL_NATIVE_OWN_FRAMES = 16 };

/* What a step comes to. */
enum { HL_NATIVE_START = -1, HL_NATIVE_LOST = 0, HL_NATIVE_CALLER = 1 };

/* The object that holds the VM; `size` 0: not known (yet). */
struct hl_native_vm {
    uintptr_t begin, size;
};
extern struct hl_native_vm hl_native_vm HL_HIDDEN;

/* A walk from `rsp` begins: on another fiber's stack perhaps, or another part of this one. */
void hl_native_begin_elsewhere(struct hl_thread *thread, uintptr_t sp);
void hl_native_find_vm(void);

HL_INLINE void hl_native_begin(struct hl_thread *thread, uintptr_t sp) {
    if (HL_UNLIKELY(!hl_native_vm.size) && hl_ruby.rb_thread_current) hl_native_find_vm();
    if (HL_UNLIKELY(sp - thread->stack_from >= thread->stack_to - thread->stack_from))
        hl_native_begin_elsewhere(thread, sp);
}

/* Extend what this thread knows to be mapped of its stack by the page of `address` (N2). */
int hl_native_look_at_page(struct hl_thread *thread, uintptr_t address);

HL_INLINE int hl_native_may_read(struct hl_thread *thread, uintptr_t address) {
    if (HL_LIKELY(address - thread->stack_from < thread->stack_to - thread->stack_from)) return address % 8 == 0;
    return hl_native_look_at_page(thread, address);
}

/* hl_native_step: to the caller; else the walk ends, there is none (HL_NATIVE_START), or nobody knows
 * (HL_NATIVE_LOST). hl_registers_of: where a thread that ptrace has stopped is in its system call. */
#if defined(__x86_64__)
#include "vm/frame_x86_64.h"
#else
#include "vm/frame_aarch64.h"
#endif

/* From a handler's return, to where the signal came; 0: it is none. */
int hl_native_leave_handler(struct hl_thread *thread, struct hl_registers *at);

/* From code of the VM's JIT, to the function of the VM that runs it: that has set a jump's target, in the innermost tag
 * from `at` on. `*tag`: the VM's innermost, moved on to what lies further out. 0: it cannot be told. */
int hl_native_leave_jit(struct hl_thread *thread, struct hl_registers *at, uintptr_t *tag);

HL_INLINE int hl_native_in_vm(uintptr_t pc) {
    const uintptr_t size = hl_look64(&hl_native_vm.size); /* written last */
    return pc - hl_native_vm.begin < size;
}

/* ---- the interpreter ----
 *
 * The function of the VM that runs Ruby's instructions, as it is met on the machine's stack.
 *
 * It has no exported name. But each instruction of compiled code begins with the address of its part of that function:
 * the code of any running frame leads to it, and the unwind tables to its bounds. Code of it that the compiler put
 * elsewhere, because it is rarely run, is known by who called it: the few such places are learned as they are met.
 */

enum { HL_INTERPRETER_CALLERS = 4 };
/* As bounds: it was looked for and cannot be found. */
#define HL_INTERPRETER_NOWHERE (1ull << 32)

struct hl_interpreter {
    uint64_t bounds; /* where it begins, in bytes from the VM's library << 32 | size; 0: not known yet */
    uint64_t callers[HL_INTERPRETER_CALLERS];   /* return addresses in those who call it */
    uint64_t functions[HL_INTERPRETER_CALLERS]; /* those functions, each as bounds */
};
extern struct hl_interpreter hl_interpreter HL_HIDDEN;

/* Find it by the code that the running thread's Ruby frames run: who needs it asks while its bounds are 0. */
struct hl_known_ecs;
void hl_interpreter_find(struct hl_known_ecs *known);
void hl_interpreter_learn_caller(uint64_t address);
void hl_interpreter_learn_function(uintptr_t address);

HL_INLINE int hl_interpreter_within(const uint64_t *known, uintptr_t address) {
    const uint64_t bounds = hl_load64(known);
    return address - hl_native_vm.begin - (bounds >> 32) < (uint32_t)bounds;
}

/* Is this return address, of a frame of the VM's library, in it? */
HL_INLINE int hl_interpreter_has(uintptr_t address) {
    return hl_interpreter_within(&hl_interpreter.bounds, address);
}

HL_INLINE int hl_interpreter_called_by(uintptr_t address) {
    for (unsigned i = 0; i < HL_INTERPRETER_CALLERS; i++)
        if (hl_load64(&hl_interpreter.callers[i]) == address) return 1;
    return 0;
}

/* Is it anywhere in a function that calls the interpreter? Each run has a frame of one. */
HL_INLINE int hl_interpreter_entered_from(uintptr_t address) {
    for (unsigned i = 0; i < HL_INTERPRETER_CALLERS; i++)
        if (hl_interpreter_within(&hl_interpreter.functions[i], address)) return 1;
    return 0;
}

#endif
