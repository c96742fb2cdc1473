/* SPDX-License-Identifier: MIT */
/*
 * The room interpose.
 *   owns: what the program calls: the malloc family, operators, mmap and its kind, the exported functions
 *   invariant: results and errno are what lies below gave; nothing below this room calls what it defines
 *   uses: platform, allocator, state, flight, vm, account, record, objects, leaks, lifecycle
 *
 * The family for callers inside heapline that act for someone else: the caller's address is given.
 */
#ifndef HL_INTERPOSE_H
#define HL_INTERPOSE_H

#include <stddef.h>
#include <stdint.h>

void *hl_malloc_for(size_t size, uintptr_t caller);
void *hl_memalign_for(size_t alignment, size_t size, uintptr_t caller);
void hl_free_for(void *block, uintptr_t caller);

#endif
