/* SPDX-License-Identifier: MIT */
/*
 * Interning: equal things have one number, from 1. The table holds the numbers by hash; the things lie with its user,
 * complete before their number is known to anyone.
 *
 * Lookups take no lock; two threads that bring the same thing at once may use up one more number, which nobody is told.
 * Callable from any thread inside malloc.
 */
#ifndef HL_INTERN_TABLE_H
#define HL_INTERN_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "platform/own_memory.h"
#include "platform/platform.h"

enum { HL_INTERN_TRIES = 64, HL_INTERN_NEAR = 16, HL_INTERN_BEHIND = 4, HL_INTERN_PAGE = 1024 };

struct hl_intern_table {
    uint32_t *slots;
    uint32_t mask; /* slots less one; a power of two */
};

/* 1 where the thing of that number is the one of `key`. */
typedef int hl_same_function(uint32_t number, const void *key);
/* A new number for it; 0: no room. */
typedef uint32_t hl_add_function(const void *key);

HL_INLINE size_t hl_intern_bytes(const struct hl_intern_table *table) {
    return ((size_t)table->mask + 1) * sizeof(*table->slots);
}

HL_INLINE void hl_intern_destroy(struct hl_intern_table *table) {
    if (table->slots) hl_own_memory_return(table->slots, hl_intern_bytes(table));
    table->slots = NULL;
}

/* An empty one; 0 where there is no memory. */
HL_INLINE int hl_intern_create(struct hl_intern_table *table) {
    hl_intern_destroy(table);
    table->slots = hl_own_memory(hl_intern_bytes(table));
    return table->slots != NULL;
}

HL_INLINE uint64_t hl_intern_mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

/* Where a thing is sought at try `i`: first in a row from `near` on, which for trees is twice the parent's number, so
 * that as many pages are touched as there are nodes for; then some places in the page behind that; then anywhere, each
 * time elsewhere: a row could lie where the children of one node have filled a page. */
HL_INLINE uint64_t hl_intern_place(uint64_t near, uint64_t hash, uint32_t i) {
    if (HL_LIKELY(i < HL_INTERN_NEAR)) return near + (hash & (HL_INTERN_NEAR - 1)) + i;
    hash = hl_intern_mix(hash, i);
    return i < HL_INTERN_NEAR + HL_INTERN_BEHIND ? near + (hash & (HL_INTERN_PAGE - 1)) : hash;
}

/* The number; 0 where there is no room. */
HL_INLINE uint32_t hl_intern_near(const struct hl_intern_table *table, uint64_t near, uint64_t hash, const void *key,
                                  hl_same_function *same, hl_add_function *add) {
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < HL_INTERN_TRIES; i++) {
        uint32_t *slot = &table->slots[hl_intern_place(near, hash, i) & table->mask];
        uint32_t number = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (!number) {
            if (!fresh && !(fresh = add(key))) return 0;
            if (__atomic_compare_exchange_n(slot, &number, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fresh;
        }
        if (HL_LIKELY(same(number, key))) return number;
    }
    return 0;
}

HL_INLINE uint32_t hl_intern(const struct hl_intern_table *table, uint64_t hash, const void *key,
                             hl_same_function *same, hl_add_function *add) {
    return hl_intern_near(table, hash & ~(uint64_t)(HL_INTERN_NEAR - 1), hash, key, same, add);
}

#endif
