/* SPDX-License-Identifier: MIT */
/*
 * Where fields of glibc's arenas and chunks lie, on 64 bits, from 2.27 to 2.42: for those who look at them from
 * outside, in a copy of the process (leaks/leak_older.h) or in its core (ext/heapline_corefile/glibc.hpp).
 *
 * A chunk begins with the size of the one before it and its own, whose lowest bits are flags; what the program has
 * begins behind both. The next chunk says whether one is in use. A bin of an arena is two words of a ring; the first
 * bin's words are those of a chunk that would begin two words before. The arenas are a ring, too.
 */
#ifndef HL_GLIBC_ARENA_H
#define HL_GLIBC_ARENA_H

enum {
    HL_ARENA_FAST = 16, /* lists of small chunks that are free and look in use */
    HL_ARENA_FAST_LISTS = 10,
    HL_ARENA_TOP = 96,
    HL_ARENA_BINS = 112,
    HL_ARENA_BIN_COUNT = 126,
    HL_ARENA_NEXT = 2160,
    HL_ARENA_BYTES = 2200,
    HL_HEAP_SIZE = 16, /* in what each heap of an arena but the main one begins with */
    HL_CHUNK_SIZE = 8,
    HL_CHUNK_HEADER = 16,
    HL_CHUNK_LEAST = 32,
    HL_CHUNK_BEFORE_IN_USE = 1, /* a flag */
    HL_THREAD_LISTS = 64        /* of a thread's cache: as many numbers, then the lists */
};

#endif
