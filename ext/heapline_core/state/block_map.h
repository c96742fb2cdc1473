/* SPDX-License-Identifier: MIT */
/*
 * HEAPLINE=blocks: each live block can be found by its address.
 *
 * A byte for every 16 bytes of address space, in pieces of 4 MB for 64 MB that hold a block, tells where a block
 * begins. What it is stands in the block: its trailer (trailer.h), and behind that, in the last 8 bytes, its tail: the
 * native stack and the Ruby stack that asked for it, and the thread.
 *
 * B1  A mark is set after the block's trailer and tail are written, and taken away before the trailer is erased: what
 * is marked can be read. (From another thread: only while the writer cannot run, as in a forked child.)
 * B2  A byte belongs to one block, so its writers are ordered by the allocator below: plain stores.
 * B3  hl_block_tail_size is set before the first trailer of a start, stays, and is inherited by forked children.
 * Callable from any thread inside malloc.
 */
#ifndef HL_BLOCK_MAP_H
#define HL_BLOCK_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "allocator/real_malloc.h"
#include "platform/platform.h"

enum {
    HL_REGION_SHIFT = 26, /* 64 MB: glibc's arenas begin at multiples of it too */
    HL_REGION_BYTES = 1 << (HL_REGION_SHIFT - 4),
    HL_REGIONS = 1 << (HL_ADDRESS_BITS - HL_REGION_SHIFT),
};

/* Marks. Where one begins 8 bytes behind a multiple of 16 it says so. */
enum { HL_MARK_BLOCK = 1, HL_MARK_RESTING = 3 };

struct hl_block_tail {
    uint64_t stack : 22;      /* hl_stack_at */
    uint64_t ruby_stack : 20; /* hl_ruby_node */
    uint64_t thread : 22;     /* kernel thread id: Linux has none beyond 2^22 */
};

/* sizeof(struct hl_block_tail) where blocks are kept, or were before a stop, else 0 (B3). */
extern uint32_t hl_block_tail_size HL_HIDDEN;

/* NULL: no block there yet. */
extern uint8_t **hl_block_regions HL_HIDDEN;

/* Keep blocks from now on, before the first one; 0 or -ENOMEM. Where it was done before: none is there any more. */
int hl_block_map_begin(void);

uint8_t *hl_block_region_make(uintptr_t address);

/* Blocks that found no room in the map. */
extern uint64_t hl_blocks_missed HL_HIDDEN;

/* Usable bytes up to and with the trailer. */
HL_INLINE size_t hl_block_usable(void *block) {
    return hl_real_malloc_usable_size(block) - hl_block_tail_size;
}

HL_INLINE struct hl_block_tail hl_block_tail(const void *block, size_t usable) {
    struct hl_block_tail tail;
    memcpy(&tail, (const char *)block + usable, sizeof(tail));
    return tail;
}

/* Where its mark is; NULL: there is no block near that address, which may be any. */
HL_INLINE uint8_t *hl_block_mark_there(uintptr_t address) {
    const uintptr_t number = address >> HL_REGION_SHIFT;
    uint8_t *region = number < HL_REGIONS ? __atomic_load_n(&hl_block_regions[number], __ATOMIC_ACQUIRE) : NULL;
    return region ? &region[address >> 4 & (HL_REGION_BYTES - 1)] : NULL;
}

/* The mark of a block that begins there. */
HL_INLINE uint8_t hl_block_mark_at(uintptr_t address) {
    return (uint8_t)(HL_MARK_BLOCK + (address >> 3 & 1));
}

/* Does a block begin there that has a trailer and a tail? Any address may be asked about. Of one that is not in the map
 * it is not known. */
HL_INLINE int hl_block_may_be_kept(const void *block) {
    const uintptr_t address = (uintptr_t)block;
    const uint8_t *mark = hl_block_mark_there(address);
    if (HL_LIKELY(mark && *mark == hl_block_mark_at(address) && address % 8 == 0)) return 1;
    return hl_load64(&hl_blocks_missed) != 0;
}

HL_INLINE uint8_t *hl_block_mark(const void *block) {
    const uintptr_t address = (uintptr_t)block;
    uint8_t *region = __atomic_load_n(&hl_block_regions[address >> HL_REGION_SHIFT], __ATOMIC_ACQUIRE);
    if (HL_UNLIKELY(!region) && !(region = hl_block_region_make(address))) return NULL;
    return &region[address >> 4 & (HL_REGION_BYTES - 1)];
}

/* A block of so many usable bytes, the trailer's included, is born. */
HL_INLINE void hl_block_set(void *block, size_t usable, struct hl_block_tail tail) {
    memcpy((char *)block + usable, &tail, sizeof(tail));
    uint8_t *mark = hl_block_mark(block);
    if (HL_LIKELY(mark != NULL))
        __atomic_store_n(mark, hl_block_mark_at((uintptr_t)block), __ATOMIC_RELEASE);
    else
        hl_add_shared(&hl_blocks_missed, 1);
}

HL_INLINE void hl_block_clear(const void *block) {
    uint8_t *mark = hl_block_mark(block);
    if (HL_LIKELY(mark != NULL)) __atomic_store_n(mark, 0, __ATOMIC_RELEASE);
}

/* Of a large block: only pages that are there already; the program shall not pay for those that it does not touch. */
HL_COLD void hl_block_wipe_pages(void *block, size_t from, size_t to);

/* Fresh memory is zero while blocks are kept: what its earlier owner left there would look like references. */
HL_INLINE void hl_block_wipe(void *block, size_t from, size_t to) {
    if (from >= to) return;
    if (HL_LIKELY(to < HL_LARGE_LEAST))
        memset((char *)block + from, 0, to - from);
    else
        hl_block_wipe_pages(block, from, to);
}

/* HEAPLINE=quarantine: the last HL_RESTING_BLOCKS small blocks that were freed are not given to the allocator yet. What
 * still has the address of one does not have that of the next block. Returns what is to be given to it now: this block,
 * or one that was freed before it, or NULL. */
enum { HL_RESTING_BLOCKS = 1 << 16, HL_RESTING_BYTES = 1024 };
void *hl_block_rest(void *block, size_t usable);

/* Where a block rests that is freed again: 1, and it does so no longer. The allocator has to see both frees. */
HL_COLD int hl_block_end_rest(void *block);

/* Call `each` for every marked block, by address. Only while no other thread can run (B1). */
void hl_block_each(void (*each)(void *block, void *context), void *context);

#endif
