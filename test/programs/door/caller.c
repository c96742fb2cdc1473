/* SPDX-License-Identifier: MIT */
/* A library that calls malloc and free, by its words for calls and by an address in its data; with ADDRESSES, by so
 * many of them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

void (*volatile caller_free)(void *) = free;

#ifdef ADDRESSES
static void *(*volatile addresses[ADDRESSES])(size_t) = {[0 ... ADDRESSES - 1] = malloc};
#define malloc(size) addresses[(i * 7) % ADDRESSES](size)
#endif

/* Looked for by its name before the door opens, or at the first call. */
static void (*volatile found_free)(void *);

__attribute__((constructor)) static void find(void) {
    found_free = (void (*)(void *))(size_t)dlsym(RTLD_DEFAULT, "free");
}

void caller_work(int times);
void caller_work(int times) {
    for (int i = 0; i < times; i++) {
        void *volatile block = malloc(100);
        if (i % 3 == 0)
            free(block);
        else if (i % 3 == 1)
            caller_free(block);
        else
            found_free(block);
    }
}
