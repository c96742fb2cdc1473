/* SPDX-License-Identifier: MIT */
/* A library with an allocator of its own, to which it is bound (-Bsymbolic). */
#include <stddef.h>

static char memory[1 << 20];
static size_t used;

void *malloc(size_t size) {
    void *block = memory + used % (sizeof(memory) / 2);
    used += (size + 15) & ~(size_t)15;
    return block;
}

void free(void *block) {
    (void)block;
}

void caller_work(int times);
void caller_work(int times) {
    for (int i = 0; i < times; i++) {
        void *volatile block = malloc(100);
        free(block);
    }
}

/* As an extension of Ruby's, under two names. */
void Init_libown(void);
void Init_libown(void) {}
void Init_libother(void);
void Init_libother(void) {}
