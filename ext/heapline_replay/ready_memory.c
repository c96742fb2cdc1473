/* SPDX-License-Identifier: MIT */
#include "ready_memory.h"

#include <sys/mman.h>

void *hl_ready_memory(size_t size) {
    if (!size) size = 1;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void hl_ready_memory_release(void *memory, size_t size) {
    if (memory) munmap(memory, size ? size : 1);
}
