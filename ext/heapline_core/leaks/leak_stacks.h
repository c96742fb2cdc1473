/* SPDX-License-Identifier: MIT */
/*
 * The parts of stacks that nobody uses (R3 of leak_roots.h): what lies below a thread's stack pointer, and the whole
 * stacks of threads that have ended, which glibc keeps for the next ones, with their thread-local storage. In a copy of
 * the process, without malloc.
 */
#ifndef HL_LEAK_STACKS_H
#define HL_LEAK_STACKS_H

#include <stdint.h>

#include "leaks/leak_map.h"

/* Call `each` for every such range. Blocks that are thread-local storage of threads that have ended are not entered. */
void hl_stacks_without_use(struct hl_graph *graph, const struct hl_roots *roots,
                           void (*each)(void *context, uintptr_t begin, uintptr_t end), void *context);

#endif
