/* SPDX-License-Identifier: MIT */
/*
 * Which pages of a block are written to once it is there, as the program would: a page that nobody writes to costs no
 * memory. What a program writes is not recorded, so a rule stands for it (HL_TOUCH_WRITTEN); docs/allocators.md says
 * how near it comes.
 *
 * All of a block, but:
 * - of a large block of calloc the first page: whoever asks for so many zeros mostly wants to use few of them, and a
 *   smaller block is cleared by the allocator anyway;
 * - of a large block whose size is a power of two, or one more for a final NUL, the first page: such a size was chosen
 *   before anybody knew what would be in it, as for a buffer to read into, or a stack;
 * - of a block that grew three quarters: a buffer that doubles is between half and all full.
 */
#ifndef HL_TOUCHING_H
#define HL_TOUCHING_H

#include <stdint.h>

enum hl_touching { HL_TOUCH_NONE, HL_TOUCH_WRITTEN, HL_TOUCH_ALL };

enum { HL_TOUCH_PAGE = 4096, HL_TOUCH_ZEROS = 128 * 1024, HL_TOUCH_ROUND = 16 * 1024 };

/* How a block came to its size. */
enum hl_origin { HL_ORIGIN_NEW, HL_ORIGIN_ZEROS, HL_ORIGIN_GROWN };

/* One byte in each page of [from, to) of the block. */
static inline void hl_touch(void *block, uint64_t from, uint64_t to) {
    volatile unsigned char *bytes = block;
    if (from >= to) return;
    bytes[from] = 1;
    uint64_t next = HL_TOUCH_PAGE - ((uintptr_t)block + from) % HL_TOUCH_PAGE;
    for (uint64_t at = from + next; at < to; at += HL_TOUCH_PAGE) bytes[at] = 1;
}

static inline int hl_is_power_of_two(uint64_t size) {
    return (size & (size - 1)) == 0;
}

/* How many bytes of a block of this size are in use, from its beginning on. */
static inline uint64_t hl_touched(enum hl_touching touching, uint64_t size, enum hl_origin origin) {
    if (touching == HL_TOUCH_NONE) return 0;
    if (touching == HL_TOUCH_ALL) return size;
    if (origin == HL_ORIGIN_GROWN) return size - size / 4;
    if (origin == HL_ORIGIN_ZEROS) return size >= HL_TOUCH_ZEROS ? 1 : size;
    return size >= HL_TOUCH_ROUND && (hl_is_power_of_two(size) || hl_is_power_of_two(size - 1)) ? 1 : size;
}

#endif
