/* SPDX-License-Identifier: MIT */
/* A library that calls malloc and free, by its words for calls and by an address in its data; with ADDRESSES, by so
 * many of them. */
#include <stdlib.h>

void (*volatile caller_free)(void *) = free;

#ifdef ADDRESSES
static void *(*volatile addresses[ADDRESSES])(size_t) = {[0 ... ADDRESSES - 1] = malloc};
#define malloc(size) addresses[(i * 7) % ADDRESSES](size)
#endif

void caller_work(int times);
void caller_work(int times) {
    for (int i = 0; i < times; i++) {
        void *volatile block = malloc(100);
        if (i % 2)
            free(block);
        else
            caller_free(block);
    }
}
