/* SPDX-License-Identifier: MIT */
/*
 * The VM's own JIT compilers, YJIT and ZJIT: what they allocate for themselves is the VM's, not the running line's.
 *
 * They are Rust's code in the object of the VM, stripped of names. Rust's compiler calls malloc through the object's
 * table of addresses (call *slot(%rip)), C's through a stub of the linker's (call malloc@plt): so the instruction
 * before the return address tells them apart, and the slot proves it, since it holds the address of malloc.
 *
 * J1  Where the VM's C code calls in that way too (-fno-plt), which is seen before the VM is ready, nothing is told.
 * Callable from any thread inside malloc, but for hl_jit_find.
 */
#ifndef HL_JIT_COMPILER_H
#define HL_JIT_COMPILER_H

#include <stdint.h>

#include "platform/platform.h"

/* There is one in the object in which the VM lies. */
extern uint32_t hl_jit_is_there HL_HIDDEN;

/* Is there a JIT compiler in the object in which the VM lies? At the start. */
void hl_jit_find(void);

/* Was an allocation with this return address, which lies in the object `map`, made by a JIT compiler? */
int hl_jit_allocates(uintptr_t caller, const void *map);

/* Is it YJIT, and will stay so? */
int hl_jit_is_yjit(void);

/* "(YJIT)", "(ZJIT)", or "(JIT)" while it is not yet known which of the two it is. `running`: does the program run? */
const char *hl_jit_name(int running);

#endif
