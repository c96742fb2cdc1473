/* SPDX-License-Identifier: MIT */
/*
 * The function of the VM that runs Ruby's instructions, as it is met on the machine's stack.
 *
 * It has no exported name. But each instruction of compiled code begins with the address of its part of that function:
 * the code of any running frame leads to it, and the unwind tables to its bounds. Code of it that the compiler put
 * elsewhere, because it is rarely run, is known by who called it: the few such places are learned as they are met.
 * Callable from any thread inside malloc.
 */
#ifndef HL_INTERPRETER_H
#define HL_INTERPRETER_H

#include <stdint.h>

#include "native_walk.h"
#include "platform.h"

enum { HL_INTERPRETER_CALLERS = 4 };

struct hl_interpreter {
    uint64_t bounds; /* where it begins, in bytes from the VM's library << 32 | size; 0: not known yet */
    uint64_t callers[HL_INTERPRETER_CALLERS]; /* return addresses in those who call it */
};
extern struct hl_interpreter hl_interpreter HL_HIDDEN;

/* Find it by the code that a Ruby frame runs, at `pc`. */
void hl_interpreter_find(uint64_t pc);
void hl_interpreter_learn_caller(uint64_t address);

/* Is this return address, of a frame of the VM's library, in it? */
HL_INLINE int hl_interpreter_has(uintptr_t address) {
    const uint64_t bounds = hl_load64(&hl_interpreter.bounds);
    return address - hl_native_vm.begin - (bounds >> 32) < (uint32_t)bounds;
}

HL_INLINE int hl_interpreter_called_by(uintptr_t address) {
    for (unsigned i = 0; i < HL_INTERPRETER_CALLERS; i++)
        if (hl_load64(&hl_interpreter.callers[i]) == address) return 1;
    return 0;
}

#endif
