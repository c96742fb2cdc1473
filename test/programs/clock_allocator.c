/* SPDX-License-Identifier: MIT */
/* An allocator for the replayer: libc's, but a block of 777 bytes makes it say what time it is. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);

void *malloc(size_t size) {
    struct timespec now;
    if (size == 777 && clock_gettime(CLOCK_MONOTONIC, &now) == 0)
        dprintf(STDERR_FILENO, "now %lld\n", now.tv_sec * 1000000000ll + now.tv_nsec);
    return __libc_malloc(size);
}
