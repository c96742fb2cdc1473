/* SPDX-License-Identifier: MIT */
/*
 * The room allocator.
 *   owns: the allocator below us and the way to it: its functions, how it keeps sizes, that we stand first
 *   invariant: what it gave it gets back, the same address
 *   uses: platform
 *
 * The allocator below: glibc's, or jemalloc, tcmalloc, mimalloc, whatever the program would have had without us.
 *
 * Owns the table of its functions and a small boot arena that serves what dlsym itself asks for while the table is
 * being filled. Callable from any thread, inside malloc; takes no lock of ours.
 */
#ifndef HL_REAL_MALLOC_H
#define HL_REAL_MALLOC_H

#include <stddef.h>
#include <stdint.h>

#include "allocator/family.h"
#include "platform/platform.h"

/* hl_real_malloc, hl_real_free …: NULL until they were found. */
#define HL_DECLARE(type, name, parameters, arguments) extern type(*hl_real_##name) parameters HL_HIDDEN;
HL_FAMILY(HL_DECLARE)
#undef HL_DECLARE

enum { HL_BOOT_BYTES = 32768 };
extern char hl_boot_arena[HL_BOOT_BYTES] HL_HIDDEN;

/* Fill the table. 0, or -ENOSYS where a needed function is missing or stems from two different allocators. */
int hl_real_resolve(void);

/* What this name means below us, into the pointer `function`; 0: nothing has it. Where we were loaded late, what it
 * means to the program. */
int hl_find_below(const char *name, void *function);

/* The same, if it lies in the object that our malloc below lies in: functions of another allocator that is loaded too
 * know nothing of its blocks. */
int hl_real_find(const char *name, void *function);

/* 1 where we were loaded into a process that ran already (dlopen), 0 where we were there from its start (preloaded). */
int hl_loaded_late(void);

/* Name and version of the allocator below into `name`, as far as it tells. */
void hl_real_describe(char *name, size_t size);

/* 1 where other libraries' calls of malloc reach our definition, 0 where some library stands before us. */
int hl_real_first(void);

void *hl_boot_alloc(size_t size, size_t alignment);
size_t hl_boot_size(const void *block);

/* How the allocator below keeps a block's size, found by trying (hl_real_resolve): as glibc does, where the size of a
 * mapped chunk counts its header of two words, or, from 2.43 on, does not; or in another way. */
enum { HL_NOT_CHUNKED, HL_CHUNKED, HL_CHUNKED_2_43 };
extern uint32_t hl_real_chunked HL_HIDDEN;

/* Bytes of the mappings of glibc's that trying has left. */
extern size_t hl_real_tried HL_HIDDEN;

/* In the word before a block of glibc's: the block has a mapping for itself. Those of the boot arena say so too. */
enum { HL_CHUNK_FLAGS = 7, HL_CHUNK_MAPPED = 2 };

/* glibc below: so many bytes of each block that has no mapping for itself are heapline's, those of before the start
 * included. 0: a block has to be looked at. */
extern uint32_t hl_real_kept HL_HIDDEN;

/* malloc_usable_size of a block of the allocator below. glibc: the word before a block holds its chunk's size and three
 * flags; a chunk shares its last word with the next one, but a mapped chunk (flag 2) with none. */
HL_INLINE size_t hl_real_usable(void *block) {
    if (HL_UNLIKELY(!hl_real_chunked)) return hl_real_malloc_usable_size(block);
    const size_t word = ((const size_t *)block)[-1];
    const size_t size = (word & ~(size_t)HL_CHUNK_FLAGS) - sizeof(size_t);
    return HL_UNLIKELY(word & HL_CHUNK_MAPPED) && hl_real_chunked == HL_CHUNKED ? size - sizeof(size_t) : size;
}

/* From here on a block is large: its pages may never be touched, but for the first and the last. */
enum { HL_LARGE_LEAST = 65536 };

/* Bytes of the mapping that this block has for itself, in glibc; else 0. Before its header of two words may lie what
 * alignment left unused: the first word tells how much. */
HL_INLINE size_t hl_real_mapped(const void *block) {
    const size_t *header = (const size_t *)block - 2;
    if (!hl_real_chunked || !(header[1] & HL_CHUNK_MAPPED)) return 0;
    const size_t size = (header[1] & ~(size_t)HL_CHUNK_FLAGS) + header[0];
    return hl_real_chunked == HL_CHUNKED ? size : size + 2 * sizeof(size_t);
}

/* What counts of a block as a large one: in glibc its mapping, be it small (M_MMAP_THRESHOLD), and nothing where it
 * lies in a heap; with another allocator its usable bytes, from HL_LARGE_LEAST on. */
HL_INLINE size_t hl_real_large(const void *block, size_t usable) {
    if (HL_LIKELY(hl_real_chunked)) return hl_real_mapped(block);
    return HL_UNLIKELY(usable >= HL_LARGE_LEAST) ? usable : 0;
}

HL_INLINE int hl_boot_owns(const void *block) {
    return (uintptr_t)block - (uintptr_t)hl_boot_arena < HL_BOOT_BYTES;
}

#endif
