/* SPDX-License-Identifier: MIT */
#include "state/block_map.h"

#include <errno.h>
#include <sys/mman.h>

#include "platform/own_memory.h"
#include "state/options.h"

uint32_t hl_block_tail_size;
uint8_t **hl_block_regions;
uint64_t hl_blocks_missed;
static void **resting; /* a ring; NULL: none rests */

/* While nothing is counted: blocks that were freed then are marked still. */
static int forget_all(void) {
    for (uintptr_t number = 0; number < HL_REGIONS; number++)
        if (hl_block_regions[number]) madvise(hl_block_regions[number], HL_REGION_BYTES, MADV_DONTNEED);
    return 0;
}

int hl_block_map_begin(void) {
    if (hl_block_regions) return forget_all();
    hl_block_regions = hl_own_memory(HL_REGIONS * sizeof(*hl_block_regions));
    if (!hl_block_regions) return -ENOMEM;
    if (hl_options.quarantine) resting = hl_own_memory(HL_RESTING_BLOCKS * sizeof(*resting));
    if (hl_options.quarantine && !resting) return -ENOMEM;
    hl_block_tail_size = sizeof(struct hl_block_tail);
    return 0;
}

void *hl_block_rest(void *block, size_t usable) {
    static uint32_t next;
    if (!resting || usable > HL_RESTING_BYTES) return block;
    const uint32_t place = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % HL_RESTING_BLOCKS;
    uint8_t *mark = hl_block_mark(block);
    if (mark) *mark = HL_MARK_RESTING;
    void *rested = __atomic_exchange_n(&resting[place], block, __ATOMIC_ACQ_REL);
    if (rested) hl_block_clear(rested);
    return rested;
}

int hl_block_end_rest(void *block) {
    uint8_t *mark = hl_block_mark_there((uintptr_t)block);
    if (!mark || *mark != HL_MARK_RESTING) return 0;
    for (uint32_t place = 0; place < HL_RESTING_BLOCKS; place++) {
        void *expected = block;
        if (!__atomic_compare_exchange_n(&resting[place], &expected, NULL, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        *mark = 0;
        return 1;
    }
    return 0;
}

HL_COLD uint8_t *hl_block_region_make(uintptr_t address) {
    uint8_t **entry = &hl_block_regions[address >> HL_REGION_SHIFT], *none = NULL;
    const int saved = errno;
    uint8_t *region = hl_own_memory(HL_REGION_BYTES);
    if (region) madvise(region, HL_REGION_BYTES, MADV_NOHUGEPAGE); /* what is resident tells where blocks were */
    if (region && !__atomic_compare_exchange_n(entry, &none, region, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        hl_own_memory_return(region, HL_REGION_BYTES);
        region = none;
    }
    errno = saved;
    return region;
}

void hl_block_wipe_pages(void *block, size_t from, size_t to) {
    enum { PAGE = 4096, PAGES = 512 };
    const uintptr_t begin = (uintptr_t)block + from, end = (uintptr_t)block + to;
    const int saved = errno;
    unsigned char there[PAGES];
    if (hl_real_mapped(block)) return; /* the kernel's, and zero */
    for (uintptr_t page = begin & ~(uintptr_t)(PAGE - 1); page < end; page += PAGES * PAGE) {
        const size_t bytes = end - page < PAGES * PAGE ? end - page : PAGES * PAGE;
        if (mincore((void *)page, bytes, there)) memset(there, 1, sizeof(there));
        for (uintptr_t i = 0, at = page; at < page + bytes; i++, at += PAGE) {
            const uintptr_t first = at < begin ? begin : at, last = at + PAGE < end ? at + PAGE : end;
            if (there[i] & 1) memset((void *)first, 0, last - first);
        }
    }
    errno = saved;
}

static void each_of_region(const uint8_t *region, uintptr_t begin, void (*each)(void *, void *), void *context) {
    for (size_t at = 0; at < HL_REGION_BYTES; at += sizeof(uint64_t)) {
        uint64_t marks;
        memcpy(&marks, region + at, sizeof(marks));
        for (; HL_UNLIKELY(marks); marks &= marks - 1) {
            const size_t byte = (size_t)__builtin_ctzll(marks) / 8;
            if (region[at + byte] != HL_MARK_RESTING)
                each((void *)(begin + (at + byte) * 16 + (region[at + byte] == HL_MARK_BLOCK ? 0 : 8)), context);
        }
    }
}

void hl_block_each(void (*each)(void *block, void *context), void *context) {
    for (uintptr_t number = 0; number < HL_REGIONS; number++)
        if (hl_block_regions[number])
            each_of_region(hl_block_regions[number], number << HL_REGION_SHIFT, each, context);
}
