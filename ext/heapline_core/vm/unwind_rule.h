/* SPDX-License-Identifier: MIT */
/*
 * How to leave a function: from a return address to the rule that gives its caller's stack pointer, frame pointer and
 * return address, read once from the unwind tables (.eh_frame) of the object that the address lies in, then kept.
 *
 * U1  An entry of the cache is one word, the upper half of the address and the rule: it is read whole or not at all.
 * U2  Tables are found without the dynamic linker's lock (library.h); where a table says something that no compiler
 *     writes, the rule is to stop.
 * Callable from any thread inside malloc: nothing here allocates or locks.
 */
#ifndef HL_UNWIND_RULE_H
#define HL_UNWIND_RULE_H

#include <stddef.h>
#include <stdint.h>

#include "platform/platform.h"

enum hl_unwind_base {
    HL_UNWIND_STOP = 0,  /* the walk ends here: no rule; offset not 0: a thread begins here */
    HL_UNWIND_STACK = 1, /* the frame's end (CFA) is the stack pointer + offset */
    HL_UNWIND_FRAME = 2, /* the frame pointer + offset */
    HL_UNWIND_BEHIND = 3 /* by processor: see there */
};

/*
 * x86-64: the return address lies just below the frame's end. `saved` is where the caller's frame pointer lies, in
 * bytes from the frame's end; 0: in its register still. BEHIND: the frame's end is the word at the frame pointer +
 * offset, and `saved` counts from the frame pointer (functions that align their stack). 64-bit ARM: `saved` is where
 * the return address lies, from the frame's end; 0: in its register still. The caller's frame pointer lies just below
 * it. BEHIND: it is in its register, and the frame's end by the stack pointer.
 */
struct hl_unwind_rule {
    uint32_t base;  /* enum hl_unwind_base */
    int32_t offset; /* bytes */
    int32_t saved;  /* bytes */
};

/* 16 bits of the address choose the slot, the other 31 are kept in it; the rule takes 32, one says that it is there.
 * Where an address has 48 bits, the highest one and the second lowest, which is 0 in code then, are one. */
enum { HL_UNWIND_SLOTS = 1 << 16 };
extern uint64_t *hl_unwind_slots HL_HIDDEN;

/* The function, or the part of one, that an address lies in, as the tables have it: its size, 0: not known. */
uintptr_t hl_unwind_function(uintptr_t address, uintptr_t *begin);

/* The cache's memory, where there is none yet; 0 or -ENOMEM. Any thread. */
int hl_unwind_create(void);

/* Forget all rules: a library is gone, and others may come to lie there. */
void hl_unwind_forget(void);

/* The rule as the tables have it, into the cache too. `pc` is a return address. */
uint32_t hl_unwind_learn(uintptr_t pc);

/* The same without the cache: for tests, and for hl_unwind_learn. */
struct hl_unwind_rule hl_unwind_read(uintptr_t pc);

HL_INLINE uint64_t *hl_unwind_slot(uintptr_t pc) {
    const uintptr_t highest = HL_ADDRESS_BITS > 47 ? pc >> 47 << 1 : 0;
    return &hl_unwind_slots[(pc ^ pc >> 16 ^ highest) & (HL_UNWIND_SLOTS - 1)];
}

/* The rule's 32 bits: base in 2, offset / 8 in 16, saved / 8 in 14. */
HL_INLINE struct hl_unwind_rule hl_unwind_unpack(uint32_t bits) {
    return (struct hl_unwind_rule){bits & 3, (int32_t)(int16_t)(bits >> 2) * 8, ((int32_t)bits >> 18) * 8};
}

HL_INLINE struct hl_unwind_rule hl_unwind_rule(uintptr_t pc) {
    const uint64_t word = hl_load64(hl_unwind_slot(pc));
    const uint32_t bits = HL_LIKELY(word >> 32 == (uint32_t)(pc >> 16 << 1 | 1)) ? (uint32_t)word : hl_unwind_learn(pc);
    return hl_unwind_unpack(bits);
}

#endif
