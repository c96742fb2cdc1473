/* SPDX-License-Identifier: MIT */
/*
 * The 8 bytes that heapline keeps at the end of each block's usable area.
 *
 *   bit  0..16  check   keyed hash of the other bits and the block's address
 *       17      watched the block holds what a location depends on (see location.h): tell when it is freed
 *       18..23  slack   unused bytes between what was requested and the trailer; 63: the 8 bytes before the trailer
 *                       hold the requested size instead
 *       24..43  birth   tick of birth (birth_clock.h)
 *       44..63  site
 *
 * T1  The pointer that the program sees is the allocator's own, so a block may reach any `free`.
 * T2  A trailer is valid for one address only, and is zeroed before the block goes back: a block that we did not mark,
 *     or marked in an earlier life, fails the check (but for one chance in 2^17).
 * Callable from anywhere; touches only the block.
 */
#ifndef HL_TRAILER_H
#define HL_TRAILER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "platform/platform.h"

#define HL_TRAILER_SIZE sizeof(uint64_t)
/* Where the trailers of most blocks lie that do not share a cache line with their block's beginning: where the size
 * must be read first, their line can be on its way. */
#define HL_TRAILER_AHEAD 64
#define HL_CHECK_BITS 17
#define HL_CHECK_MASK ((1ull << HL_CHECK_BITS) - 1)
#define HL_WATCHED_BIT (1ull << 17)
#define HL_SLACK_SHIFT 18
#define HL_SLACK_ESCAPE 63u
#define HL_BIRTH_SHIFT 24
#define HL_BIRTH_MASK ((1u << 20) - 1)
#define HL_SITE_SHIFT 44

/* Random, the same in all forked children (they inherit blocks). Set once, before the first trailer. */
extern uint64_t hl_trailer_key HL_HIDDEN;

struct hl_trailer {
    size_t size; /* requested bytes */
    uint32_t site;
    uint32_t birth;
    uint32_t watched;
};

HL_INLINE uint32_t hl_trailer_site(uint64_t word) {
    return (uint32_t)(word >> HL_SITE_SHIFT);
}

HL_INLINE uint32_t hl_trailer_birth(uint64_t word) {
    return (uint32_t)(word >> HL_BIRTH_SHIFT) & HL_BIRTH_MASK;
}

/* Of a trailer without its check. */
HL_INLINE uint64_t hl_trailer_check_by(uint64_t key, uint64_t mark, uint64_t address) {
    return (mark ^ address ^ key) * 0x9e3779b97f4a7c15ull >> (64 - HL_CHECK_BITS);
}

HL_INLINE uint64_t hl_trailer_check(uint64_t mark, const void *block) {
    return hl_trailer_check_by(hl_trailer_key, mark, (uintptr_t)block);
}

HL_INLINE uint64_t hl_trailer_load(const void *block, size_t usable) {
    uint64_t word;
    memcpy(&word, (const char *)block + usable - HL_TRAILER_SIZE, sizeof(word));
    return word;
}

HL_INLINE void hl_trailer_store(void *block, size_t usable, uint64_t word) {
    memcpy((char *)block + usable - HL_TRAILER_SIZE, &word, sizeof(word));
}

/* `usable` counts the trailer and is at least size + HL_TRAILER_SIZE. */
HL_INLINE void hl_trailer_write(void *block, size_t usable, size_t size, uint32_t site, uint32_t birth) {
    size_t slack = usable - HL_TRAILER_SIZE - size;
    if (HL_UNLIKELY(slack >= HL_SLACK_ESCAPE)) {
        memcpy((char *)block + usable - 2 * HL_TRAILER_SIZE, &size, sizeof(size));
        slack = HL_SLACK_ESCAPE;
    }
    uint64_t word = (uint64_t)site << HL_SITE_SHIFT | (uint64_t)(birth & HL_BIRTH_MASK) << HL_BIRTH_SHIFT |
                    (uint64_t)slack << HL_SLACK_SHIFT;
    hl_trailer_store(block, usable, word | hl_trailer_check(word, block));
}

/* Also for who reads another process's blocks. */
HL_INLINE int hl_trailer_valid_by(uint64_t key, uint64_t word, uint64_t address) {
    return (word & HL_CHECK_MASK) == hl_trailer_check_by(key, word & ~HL_CHECK_MASK, address);
}

HL_INLINE int hl_trailer_valid(uint64_t word, const void *block) {
    return hl_trailer_valid_by(hl_trailer_key, word, (uintptr_t)block);
}

/* 1 and the trailer's fields, or 0 where the block is not marked. */
HL_INLINE int hl_trailer_read(const void *block, size_t usable, struct hl_trailer *trailer) {
    if (HL_UNLIKELY(usable < HL_TRAILER_SIZE)) return 0;
    uint64_t word = hl_trailer_load(block, usable);
    if (HL_UNLIKELY(!hl_trailer_valid(word, block))) return 0;
    const size_t slack = word >> HL_SLACK_SHIFT & 63;
    trailer->size = usable - HL_TRAILER_SIZE - slack;
    if (HL_UNLIKELY(slack == HL_SLACK_ESCAPE))
        memcpy(&trailer->size, (const char *)block + usable - 2 * HL_TRAILER_SIZE, sizeof(trailer->size));
    trailer->site = hl_trailer_site(word);
    trailer->birth = hl_trailer_birth(word);
    trailer->watched = (word & HL_WATCHED_BIT) != 0;
    return trailer->site != 0;
}

HL_INLINE void hl_trailer_erase(void *block, size_t usable) {
    hl_trailer_store(block, usable, 0);
}

/* The trailer of a block that another thread may be marking as watched; 0: none, or it cannot be written as one word.
 */
HL_INLINE uint64_t hl_trailer_peek(const void *block, size_t usable) {
    const uint64_t *place = (const uint64_t *)((uintptr_t)block + usable - HL_TRAILER_SIZE);
    return usable < HL_TRAILER_SIZE || (uintptr_t)place % sizeof(*place) ? 0 : hl_load64(place);
}

/* Mark a live block as watched; 0 where it carries no trailer of ours that can be written as one word: two threads may
 * mark a block at once. */
HL_INLINE int hl_trailer_watch(void *block, size_t usable) {
    uint64_t *place = (uint64_t *)((uintptr_t)block + usable - HL_TRAILER_SIZE);
    uint64_t word = hl_trailer_peek(block, usable);
    if (!word || !hl_trailer_valid(word, block)) return 0;
    if (word & HL_WATCHED_BIT) return 1;
    word = (word & ~HL_CHECK_MASK) | HL_WATCHED_BIT;
    __atomic_store_n(place, word | hl_trailer_check(word, block), __ATOMIC_RELAXED);
    return 1;
}

/* What a program may use of a block with this trailer: up to it, or, where the size stands before it, what was
 * requested. */
HL_INLINE size_t hl_trailer_room(const struct hl_trailer *trailer, size_t usable) {
    const size_t room = usable - HL_TRAILER_SIZE;
    return HL_UNLIKELY(room - trailer->size >= HL_SLACK_ESCAPE) ? trailer->size : room;
}

#endif
