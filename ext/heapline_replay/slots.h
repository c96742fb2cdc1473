/* SPDX-License-Identifier: MIT */
/*
 * Where the blocks are kept that are live.
 *
 * S1: a block is in one hand only: who takes it from its slot leaves the slot empty, in one step. So whatever the order
 *     of threads in a plan, no block is freed twice or written to after it was freed.
 */
#ifndef HL_SLOTS_H
#define HL_SLOTS_H

#include <stdint.h>

struct hl_slot {
    void *block;
    uint64_t size; /* requested */
};

/* The block; NULL: the slot is empty. */
static inline void *hl_slot_take(struct hl_slot *slot, uint64_t *size) {
    void *block = __atomic_exchange_n(&slot->block, NULL, __ATOMIC_ACQ_REL);
    *size = __atomic_load_n(&slot->size, __ATOMIC_RELAXED);
    return block;
}

/* 0 where there was a block already; that one is lost. */
static inline int hl_slot_put(struct hl_slot *slot, void *block, uint64_t size) {
    __atomic_store_n(&slot->size, size, __ATOMIC_RELAXED);
    return !__atomic_exchange_n(&slot->block, block, __ATOMIC_ACQ_REL);
}

#endif
