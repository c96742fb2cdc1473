/* SPDX-License-Identifier: MIT */
#include "own_memory.h"

#include <stdint.h>
#include <sys/mman.h>

enum { RANGES = 4096 };
static struct hl_own_range list[RANGES];
static uint32_t used; /* ranges from here on were never used */

static void note(uintptr_t begin, uintptr_t end) {
    for (uint32_t i = 0; i < RANGES; i++) {
        uintptr_t none = 0;
        if (!__atomic_compare_exchange_n(&list[i].begin, &none, begin, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
        __atomic_store_n(&list[i].end, end, __ATOMIC_RELAXED);
        if (i >= __atomic_load_n(&used, __ATOMIC_RELAXED)) __atomic_store_n(&used, i + 1, __ATOMIC_RELAXED);
        return;
    }
}

void *hl_own_memory(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    madvise(memory, size, MADV_DONTDUMP);
    note((uintptr_t)memory, (uintptr_t)memory + size);
    return memory;
}

/* Another thread may get the same addresses from the kernel once they are unmapped: out of the list before. */
void hl_own_memory_return(void *memory, size_t size) {
    const uintptr_t begin = (uintptr_t)memory;
    for (uint32_t i = 0; i < RANGES; i++) {
        if (__atomic_load_n(&list[i].begin, __ATOMIC_RELAXED) != begin) continue;
        __atomic_store_n(&list[i].end, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&list[i].begin, 0, __ATOMIC_RELAXED);
    }
    munmap(memory, size);
}

size_t hl_own_ranges(const struct hl_own_range **ranges) {
    *ranges = list;
    return __atomic_load_n(&used, __ATOMIC_RELAXED);
}
