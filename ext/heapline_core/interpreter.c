/* SPDX-License-Identifier: MIT */
#include "interpreter.h"

#include "probe.h"

/* It is the VM's longest function or nearly so: 22 kB in Ruby 4.0.1. */
enum { SHORTEST = 4096 };

struct hl_interpreter hl_interpreter;

HL_COLD void hl_interpreter_find(uint64_t pc) {
    uint64_t instruction;
    uintptr_t begin;
    /* A frame's pc is that of its next instruction. */
    if (hl_probe(&instruction, (const void *)pc, sizeof(instruction)) || !hl_native_in_vm(instruction)) return;
    const uintptr_t size = hl_unwind_function(instruction, &begin);
    if (size < SHORTEST || size > UINT32_MAX || !hl_native_in_vm(begin)) return;
    __atomic_store_n(&hl_interpreter.bounds, (uint64_t)(begin - hl_native_vm.begin) << 32 | size, __ATOMIC_RELAXED);
}

HL_COLD void hl_interpreter_learn_caller(uint64_t address) {
    for (unsigned i = 0; i < HL_INTERPRETER_CALLERS; i++) {
        uint64_t there = 0;
        if (__atomic_compare_exchange_n(&hl_interpreter.callers[i], &there, address, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            there == address)
            return;
    }
}
