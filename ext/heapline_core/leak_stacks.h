/* SPDX-License-Identifier: MIT */
/*
 * The parts of stacks that nobody uses (R3 of leak_roots.h): what lies below a thread's stack pointer, and the whole
 * stacks of threads that have ended, which glibc keeps for the next ones. In a copy of the process, without malloc.
 */
#ifndef HL_LEAK_STACKS_H
#define HL_LEAK_STACKS_H

#include <stdint.h>

#include "leak_roots.h"

/* Call `each` for every such range. */
void hl_stacks_without_use(const struct hl_roots *roots, void (*each)(void *context, uintptr_t begin, uintptr_t end),
                           void *context);

#endif
