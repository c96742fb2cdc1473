/* SPDX-License-Identifier: MIT */
/*
 * What the allocator below says of its memory, and letting it give some back.
 *
 * Both call it in ways that malloc does not: they take its locks, and some allocate. So: on a thread that holds no lock
 * of the allocator's, with the guard entered, never inside malloc.
 */
#ifndef HL_ALLOCATOR_H
#define HL_ALLOCATOR_H

#include <stdint.h>

/* Take the allocator's figures into the flight's header. survey: also those for which glibc goes through its free
 * blocks, 0.2 to 0.5 us each with the arena locked; without, glibc has none. */
void hl_allocator_measure(int survey);

/* Bytes of the blocks that the program has now; HL_UNTOLD where it does not tell. glibc counts those that wait in its
 * threads' caches, too. */
uint64_t hl_allocator_in_use(void);

/* Let it give back what it can; RSS before and after go into the header. */
void hl_allocator_trim(void);

#endif
