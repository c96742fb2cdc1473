/* SPDX-License-Identifier: MIT */
/*
 * rb_gc_count is a chain of loads in every Ruby: the VM, its object space, the counter. This follows such a chain
 * instruction by instruction, to the address that the last load reads. It knows just the instructions below; at any
 * other it gives up, and rb_gc_count is called instead. The caller compares what it found with rb_gc_count.
 */
#include "vm/gc_counter.h"

#include <stdint.h>
#include <string.h>

static uint64_t no_gc_count(void) {
    return 0;
}
uint64_t (*hl_gc_count)(void) = no_gc_count;
const size_t hl_gc_counter_unknown = 1ull << 62;
HL_HOT const size_t *hl_gc_counter = &hl_gc_counter_unknown;

enum { INSTRUCTIONS = 12 };

struct walk {
    const uint8_t *at;
    uintptr_t rax;  /* the register's value */
    uintptr_t last; /* the address that it was last loaded from */
};

static int starts(struct walk *walk, const char *bytes, size_t length) {
    if (memcmp(walk->at, bytes, length)) return 0;
    walk->at += length;
    return 1;
}

static int32_t displacement(struct walk *walk) {
    int32_t value;
    memcpy(&value, walk->at, sizeof(value));
    walk->at += sizeof(value);
    return value;
}

static void load(struct walk *walk, uintptr_t address) {
    walk->last = address;
    walk->rax = *(const uintptr_t *)address;
}

/* One instruction; 0 where it is not one of those that a chain of loads consists of. */
static int step(struct walk *walk, void *(*objspace)(void)) {
    if (starts(walk, "\xf3\x0f\x1e\xfa", 4)) return 1; /* endbr64 */
    if (starts(walk, "\x48\x83\xec\x08", 4)) return 1; /* sub $8, %rsp */
    if (starts(walk, "\x48\x83\xc4\x08", 4)) return 1; /* add $8, %rsp */
    if (starts(walk, "\x48\x8b\x05", 3)) {             /* mov disp(%rip), %rax */
        const int32_t distance = displacement(walk);
        load(walk, (uintptr_t)walk->at + (uintptr_t)(intptr_t)distance);
    } else if (starts(walk, "\x48\x8d\x05", 3)) { /* lea disp(%rip), %rax */
        const int32_t distance = displacement(walk);
        walk->rax = (uintptr_t)walk->at + (uintptr_t)(intptr_t)distance;
    } else if (starts(walk, "\x48\x8b\x00", 3)) { /* mov (%rax), %rax */
        load(walk, walk->rax);
    } else if (starts(walk, "\x48\x8b\x80", 3)) { /* mov disp(%rax), %rax */
        load(walk, walk->rax + (uintptr_t)(intptr_t)displacement(walk));
    } else if (objspace && starts(walk, "\xe8", 1)) { /* call: Ruby 3.4 asks for the object space so */
        displacement(walk);
        walk->rax = (uintptr_t)objspace();
    } else {
        return 0;
    }
    return 1;
}

const size_t *hl_gc_counter_find(size_t (*function)(void), void *(*objspace)(void)) {
    struct walk walk = {0};
    memcpy(&walk.at, &function, sizeof(walk.at));
    for (int i = 0; i < INSTRUCTIONS; i++) {
        if (*walk.at == 0xc3) return (const size_t *)walk.last; /* ret */
        if (!step(&walk, objspace)) return NULL;
    }
    return NULL;
}
