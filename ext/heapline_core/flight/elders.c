/* SPDX-License-Identifier: MIT */
#include "flight/elders.h"

#include <errno.h>

#include "platform/own_memory.h"

enum { BUCKET = 8, BUCKET_BITS = 17 };

struct bucket {
    uintptr_t blocks[BUCKET]; /* 0: nothing */
};
static struct bucket *buckets;
static const size_t BYTES = sizeof(struct bucket) << BUCKET_BITS;

int hl_elders_begin(void) {
    if (buckets)
        hl_own_piece_wipe(buckets, BYTES);
    else
        buckets = hl_own_memory(BYTES); /* touched only where something is watched */
    return buckets ? 0 : -ENOMEM;
}

uint32_t hl_elders_until;

int hl_block_watch(void *block, size_t usable) {
    const uint64_t word = hl_trailer_peek(block, usable);
    const uint32_t site = hl_trailer_site(word);
    return site && hl_trailer_is_possible(site, hl_trailer_birth(word)) && hl_trailer_watch(block, usable);
}

static struct bucket *bucket_of(const void *block) {
    return &buckets[((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15ull >> (64 - BUCKET_BITS)];
}

int hl_elder_is_watched(const void *block) {
    const struct bucket *bucket = buckets ? bucket_of(block) : NULL;
    for (int i = 0; bucket && i < BUCKET; i++)
        if (__atomic_load_n(&bucket->blocks[i], __ATOMIC_RELAXED) == (uintptr_t)block) return 1;
    return 0;
}

/* Two threads may enter one block twice: that is harmless, for both go with it. */
int hl_elder_watch(const void *block) {
    if (!buckets) return 0;
    if (hl_elder_is_watched(block)) return 1;
    struct bucket *bucket = bucket_of(block);
    for (int i = 0; i < BUCKET; i++) {
        uintptr_t none = 0;
        if (__atomic_compare_exchange_n(&bucket->blocks[i], &none, (uintptr_t)block, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return 1;
    }
    return 0;
}

int hl_elder_goes(const void *block) {
    struct bucket *bucket = buckets ? bucket_of(block) : NULL;
    int was = 0;
    for (int i = 0; bucket && i < BUCKET; i++) {
        uintptr_t there = (uintptr_t)block;
        if (__atomic_load_n(&bucket->blocks[i], __ATOMIC_RELAXED) == there)
            was |= __atomic_compare_exchange_n(&bucket->blocks[i], &there, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
    return was;
}
