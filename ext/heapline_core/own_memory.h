/* SPDX-License-Identifier: MIT */
/*
 * heapline's private memory: zeroed, from the kernel, never given back, touched only where used.
 *
 * No swap is reserved for it and core dumps leave it out. Both together are the mark by which a reader of
 * /proc/PID/smaps knows it, and the flight file, from all that is the program's.
 */
#ifndef HL_OWN_MEMORY_H
#define HL_OWN_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>

static inline void *hl_own_memory(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    madvise(memory, size, MADV_DONTDUMP);
    return memory;
}

#endif
