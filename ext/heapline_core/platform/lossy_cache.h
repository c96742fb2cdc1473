/* SPDX-License-Identifier: MIT */
/*
 * From a key of 64 bits (an address of code, mostly) to the number that stands for it; one entry a slot, lossy, shared
 * by all threads without a lock. Every cache that more than one thread writes is one of these.
 *
 * Y1  An entry is two words, and who stores them may be overtaken between the two. So the first is the key under a mask
 *     that the whole second word makes: of words of two entries the mask does not fit, and they answer nobody (but one
 *     key of 2^64). No order of stores matters, no writer waits, and none leaves a slot unusable: not one that a fork
 *     leaves behind in the midst, nor one that a signal's handler interrupts.
 * Y2  An entry answers only under the epoch that it was written under (location_epochs.h, K1).
 * Callable from any thread inside malloc.
 */
#ifndef HL_LOSSY_CACHE_H
#define HL_LOSSY_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "platform/own_memory.h"
#include "platform/platform.h"

struct hl_lossy_slot {
    uint64_t check; /* key ^ hl_lossy_mask(value) */
    uint64_t value; /* epoch << 32 | number; 0: empty */
};

/* As many slots as the bits of a key's hash that are left after the shift can tell apart. */
struct hl_lossy_cache {
    struct hl_lossy_slot *slots;
    unsigned shift;
};

/* Slots at most, and of one that begins with few. */
enum { HL_LOSSY_BITS = 14, HL_LOSSY_FEW_BITS = 12 };
static const size_t HL_LOSSY_BYTES = sizeof(struct hl_lossy_slot) << HL_LOSSY_BITS;

HL_INLINE void hl_lossy_destroy(struct hl_lossy_cache *cache) {
    if (cache->slots) hl_own_memory_return(cache->slots, HL_LOSSY_BYTES);
    cache->slots = NULL;
}

/* An empty one of 2^bits slots; 0 where there is no memory. */
HL_INLINE int hl_lossy_create(struct hl_lossy_cache *cache, unsigned bits) {
    hl_lossy_destroy(cache);
    cache->slots = hl_own_memory(HL_LOSSY_BYTES);
    cache->shift = 64 - bits;
    return cache->slots != NULL;
}

HL_INLINE unsigned hl_lossy_bits(const struct hl_lossy_cache *cache) {
    return 64 - hl_load32(&cache->shift);
}

/* It is about to be used: some hundreds of keys touch all of its pages. */
HL_INLINE void hl_lossy_populate(const struct hl_lossy_cache *cache) {
    hl_populate(cache->slots, sizeof(struct hl_lossy_slot) << hl_lossy_bits(cache));
}

/* All the slots that there can be: each key has another place, and most that was kept is lost. */
HL_INLINE void hl_lossy_grow(struct hl_lossy_cache *cache) {
    __atomic_store_n(&cache->shift, 64 - HL_LOSSY_BITS, __ATOMIC_RELAXED);
    hl_lossy_populate(cache);
}

/* Each bit of a word changes about half of its mask's; no two words have the same. */
HL_INLINE uint64_t hl_lossy_mask(uint64_t word) {
    word = (word ^ word >> 32) * 0xd6e8feb86659fd93ull;
    return word ^ word >> 32;
}

/* One key of two words. */
HL_INLINE uint64_t hl_lossy_key(uint64_t first, uint64_t second) {
    return first ^ hl_lossy_mask(second);
}

HL_INLINE struct hl_lossy_slot *hl_lossy_slot(const struct hl_lossy_cache *cache, uint64_t key) {
    return &cache->slots[key * 0x9e3779b97f4a7c15ull >> hl_load32(&cache->shift)];
}

/* 0: not there. */
HL_INLINE uint32_t hl_lossy_find(const struct hl_lossy_cache *cache, uint64_t key, uint32_t epoch) {
    const struct hl_lossy_slot *slot = hl_lossy_slot(cache, key);
    const uint64_t value = __atomic_load_n(&slot->value, __ATOMIC_ACQUIRE);
    if (value >> 32 != epoch || (hl_load64(&slot->check) ^ hl_lossy_mask(value)) != key) return 0;
    return (uint32_t)value;
}

/* What the number stands for is complete by now. */
HL_INLINE void hl_lossy_keep(const struct hl_lossy_cache *cache, uint64_t key, uint32_t epoch, uint32_t number) {
    struct hl_lossy_slot *slot = hl_lossy_slot(cache, key);
    const uint64_t value = (uint64_t)epoch << 32 | number;
    __atomic_store_n(&slot->check, key ^ hl_lossy_mask(value), __ATOMIC_RELAXED);
    __atomic_store_n(&slot->value, value, __ATOMIC_RELEASE);
}

#endif
