/* SPDX-License-Identifier: MIT */
/*
 * The memory that the allocator below has from the kernel (R1 of leak_roots.h): free blocks, its caches and lists lead
 * to blocks that nobody in the program has any more. In a copy of the process, without malloc.
 */
#ifndef HL_LEAK_ALLOCATOR_H
#define HL_LEAK_ALLOCATOR_H

#include <stdint.h>

#include "leaks/leak_map.h"

/* In the program, before the copy is made, where the allocator may be called: what can only be asked for there. */
void hl_allocator_memory_prepare(void);

/* In the copy, first of all, before anything looks at the marks of blocks: a page that was only read is resident too. 0
 * or -ENOMEM. */
int hl_allocator_memory_begin(struct hl_roots *roots);

/* So many ranges at most are told. */
size_t hl_allocator_memory_room(const struct hl_graph *graph, const struct hl_roots *roots);

/* Of glibc's: call `main_heap` for what it has by brk, and `further` for each region (HL_REGION_SHIFT) with a heap of
 * another arena in which blocks of ours were. */
void hl_glibc_heaps(const struct hl_roots *roots, void (*main_heap)(void *context, uintptr_t begin, uintptr_t end),
                    void (*further)(void *context, uintptr_t begin, uintptr_t end), void *context);

/* Call `each` for every range. */
void hl_allocator_memory(const struct hl_graph *graph, const struct hl_roots *roots,
                         void (*each)(void *context, uintptr_t begin, uintptr_t end), void *context);

#endif
