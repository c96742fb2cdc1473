/* SPDX-License-Identifier: MIT */
/*
 * From an address of code (a Ruby frame's pc, a return address) to the number that stands for its frame; one entry a
 * slot, lossy, shared by all lanes.
 *
 * An entry is read whole or not at all: its address before and after must be the one looked for. It answers only under
 * the epoch that it was written under (location_cache.h, K1). Callable from any thread inside malloc.
 */
#ifndef HL_FRAME_CACHE_H
#define HL_FRAME_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "own_memory.h"
#include "platform.h"

enum { HL_FRAME_SLOT_BITS = 14 };

struct hl_frame_slot {
    uint64_t address; /* 0: empty */
    uint64_t value;   /* epoch << 32 | number */
};

struct hl_frame_cache {
    struct hl_frame_slot *slots;
};

static const size_t HL_FRAME_CACHE_BYTES = sizeof(struct hl_frame_slot) << HL_FRAME_SLOT_BITS;

HL_INLINE void hl_frame_cache_destroy(struct hl_frame_cache *cache) {
    if (cache->slots) hl_own_memory_return(cache->slots, HL_FRAME_CACHE_BYTES);
    cache->slots = NULL;
}

/* An empty one; 0 where there is no memory. */
HL_INLINE int hl_frame_cache_create(struct hl_frame_cache *cache) {
    hl_frame_cache_destroy(cache);
    cache->slots = hl_own_memory(HL_FRAME_CACHE_BYTES);
    return cache->slots != NULL;
}

HL_INLINE struct hl_frame_slot *hl_frame_slot(const struct hl_frame_cache *cache, uint64_t address) {
    return &cache->slots[(address >> 2) * 0x9e3779b97f4a7c15ull >> (64 - HL_FRAME_SLOT_BITS)];
}

/* 0: not there. */
HL_INLINE uint32_t hl_frame_find(const struct hl_frame_cache *cache, uint64_t address, uint32_t epoch) {
    const struct hl_frame_slot *slot = hl_frame_slot(cache, address);
    if (__atomic_load_n(&slot->address, __ATOMIC_ACQUIRE) != address) return 0;
    const uint64_t value = __atomic_load_n(&slot->value, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&slot->address, __ATOMIC_ACQUIRE) != address || value >> 32 != epoch) return 0;
    return (uint32_t)value;
}

HL_INLINE void hl_frame_keep(const struct hl_frame_cache *cache, uint64_t address, uint32_t epoch, uint32_t number) {
    struct hl_frame_slot *slot = hl_frame_slot(cache, address);
    __atomic_store_n(&slot->address, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&slot->value, (uint64_t)epoch << 32 | number, __ATOMIC_SEQ_CST);
    __atomic_store_n(&slot->address, address, __ATOMIC_SEQ_CST);
}

#endif
