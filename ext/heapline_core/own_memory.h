/* SPDX-License-Identifier: MIT */
/*
 * heapline's private memory: zeroed, from the kernel, never given back, touched only where used.
 */
#ifndef HL_OWN_MEMORY_H
#define HL_OWN_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>

static inline void *hl_own_memory(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

#endif
