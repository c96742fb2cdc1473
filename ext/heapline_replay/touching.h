/* SPDX-License-Identifier: MIT */
/*
 * Which pages of a block are written to once it is there, as the program would: a page that nobody writes to costs no
 * memory. What a program writes is not recorded, so a rule stands for it.
 */
#ifndef HL_TOUCHING_H
#define HL_TOUCHING_H

#include <stdint.h>

enum hl_touching {
    HL_TOUCH_NONE,
    HL_TOUCH_WRITTEN, /* all of each block, but only the first page of a large one of calloc */
    HL_TOUCH_ALL
};

enum {
    HL_TOUCH_PAGE = 4096,
    /* Whoever asks for so many zeros mostly wants to use few of them: a smaller block is cleared by the allocator. */
    HL_TOUCH_LARGE = 128 * 1024
};

/* One byte in each page of [from, to) of the block. */
static inline void hl_touch(void *block, uint64_t from, uint64_t to) {
    volatile unsigned char *bytes = block;
    if (from >= to) return;
    bytes[from] = 1;
    uint64_t next = HL_TOUCH_PAGE - ((uintptr_t)block + from) % HL_TOUCH_PAGE;
    for (uint64_t at = from + next; at < to; at += HL_TOUCH_PAGE) bytes[at] = 1;
}

/* How much of a new block is touched. zeros: is it one of calloc? */
static inline uint64_t hl_touched(enum hl_touching touching, uint64_t size, int zeros) {
    if (touching == HL_TOUCH_NONE) return 0;
    return touching == HL_TOUCH_WRITTEN && zeros && size >= HL_TOUCH_LARGE ? 1 : size;
}

#endif
