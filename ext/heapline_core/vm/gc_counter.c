/* SPDX-License-Identifier: MIT */
/*
 * rb_gc_count is a chain of loads in every Ruby: the VM, its object space, the counter. This follows such a chain
 * instruction by instruction, to the address that the last load reads. It knows just a few instructions; at any
 * other it gives up, and rb_gc_count is called instead. The caller compares what it found with rb_gc_count.
 */
#include "vm/gc_counter.h"

#include <stdint.h>
#include <string.h>

#include "platform/platform.h"

static uint64_t no_gc_count(void) {
    return 0;
}
uint64_t (*hl_gc_count)(void) = no_gc_count;
const size_t hl_gc_counter_unknown = 1ull << 62;
HL_HOT const size_t *hl_gc_counter = &hl_gc_counter_unknown;

enum { INSTRUCTIONS = 12 };

const size_t *hl_gc_counter_find(size_t (*function)(void), void *(*objspace)(void)) {
    struct hl_chain chain = {0};
    memcpy(&chain.at, &function, sizeof(chain.at));
    for (int i = 0; i < INSTRUCTIONS; i++) {
        if (hl_chain_returns(&chain)) return (const size_t *)chain.last;
        if (!hl_chain_step(&chain, objspace)) return NULL;
    }
    return NULL;
}
