/* SPDX-License-Identifier: MIT */
/* A library whose allocation is in a function that the compiler puts into another one. Tests name its lines. */
#include <stdlib.h>

void *volatile inlined_kept;

static inline __attribute__((always_inline)) void *reserve(size_t bytes) {
    return malloc(bytes); /* line 8 */
}

void inlined_allocate(size_t bytes);

void inlined_allocate(size_t bytes) {
    inlined_kept = reserve(bytes); /* line 14 */
}
