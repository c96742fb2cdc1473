/* SPDX-License-Identifier: MIT */
/*
 * The native call stack of an allocation, interned: equal stacks have one number.
 *
 * A stack is the return addresses from the allocation's caller outwards. What tells of a leak lies between the
 * allocation and the Ruby code that called C, so the walk ends in the function of the VM that runs Ruby code; where
 * that is not met, a few frames after it came back into the VM, and after HL_STACK_FRAMES at the latest.
 *
 * N1  A stack is complete before its number is known to anyone, and never changes or goes away.
 * N2  It knows the libraries that its frames lay in, also when they are gone. Where another one came to lie at their
 *     place, equal addresses are another stack.
 * Callable from any thread inside malloc; no lock, and a system call only where the stack reaches a new page
 * (native_walk.h).
 */
#ifndef HL_NATIVE_STACK_H
#define HL_NATIVE_STACK_H

#include <stddef.h>
#include <stdint.h>

enum {
    HL_STACK_FRAMES = 32,
    HL_STACK_VM_FRAMES = 12, /* of one that has not left the VM yet */
    HL_STACK_VM_AFTER = 4,   /* of the VM behind a library's */
};

struct hl_stack {
    uint32_t count;
    uint32_t hash;
    uint64_t epoch; /* hl_library_epoch, when its libraries were last seen to be there */
    uint64_t frames[];
};

/* A library at one place. */
struct hl_stack_load {
    uint16_t library; /* number in the library table; 0: none */
    uint64_t base;
};
enum { HL_STACK_LOADS = 4096 };

/* The tables' memory; 0 or -ENOMEM. */
int hl_stack_create(void);

/* The number, of 22 bits, of the stack that ends in a call from `caller`; 0 where there was no room for it. */
uint32_t hl_stack_here(uintptr_t caller);

/* NULL for 0. */
const struct hl_stack *hl_stack_at(uint32_t number);

/* Which one a frame lay in, below HL_STACK_LOADS; 0: unknown. */
uint16_t hl_stack_load_of(const struct hl_stack *stack, uint32_t frame);
struct hl_stack_load hl_stack_load(uint16_t load);

/* Walk from the caller of `caller`'s callee into `frames`; the number of frames, at least 1. */
uint32_t hl_stack_walk(uintptr_t caller, uint64_t *frames);

#endif
