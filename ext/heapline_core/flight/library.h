/* SPDX-License-Identifier: MIT */
/*
 * Which library called: from a return address to a library's number, its load address and its exported symbol.
 *
 * Never takes the dynamic linker's lock: a thread inside dlopen may wait, in a constructor, for one that allocates.
 *
 * L1  What was learned of a library holds while it is loaded. The linker's link_map of it is a block of malloc's, which
 *     the linker frees when the library's memory is gone, and before another can come to lie there, since it holds its
 *     lock over both. So it is watched as compiled code is (trailer.h), and the epochs move on (hl_location_forget).
 * L2  Where the linker has no index, its list is read as a debugger reads it, without a lock: entries that may go at
 * any moment through hl_probe, and only the one is believed whose program headers say that `address`, whose code runs
 *     and so is loaded, lies in it. What was found is kept (L1).
 * Callable from any thread with the guard entered.
 */
#ifndef HL_LIBRARY_H
#define HL_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

struct hl_library {
    uint16_t number; /* in the library table; 0: unknown */
    const void *map; /* the linker's struct link_map, or NULL */
    uint64_t base;   /* load address */
};

/* What the linker has loaded in one piece. */
struct hl_loaded {
    const void *map; /* the linker's struct link_map */
    uintptr_t begin, end;
    const uint8_t *unwind; /* .eh_frame_hdr, or NULL */
};

/* What `address` lies in; 1, or 0 where that is nothing of the linker's. Without the guard too. */
int hl_library_loaded(uintptr_t address, struct hl_loaded *found);
/* Its link_map alone, or NULL. */
const void *hl_library_map(uintptr_t address);

/* The linker's own lock-free index; NULL: this C library has none (glibc up to 2.34). A test may say so. */
struct hl_index_entry;
extern int (*hl_library_index)(void *address, struct hl_index_entry *entry);

/* The library that `address` lies in. */
struct hl_library hl_library_at(uintptr_t address);

/* The name of the exported function that `address` lies in into `name`; its length, 0 where none is known.
 * *offset: bytes from the symbol's start. */
size_t hl_library_symbol(const struct hl_library *library, uintptr_t address, char *name, size_t size,
                         uint32_t *offset);

/* The function of that name in the caller's library or in one that it says it needs; NULL: none has it. */
void *hl_library_needed_function(uintptr_t caller, const char *name);

/* How many libraries went (L1). */
uint32_t hl_library_epoch(void);

/* Forget numbers: after the tables were made anew. */
void hl_library_reset(void);

/* Note what is loaded now: that stays. At the start. */
void hl_library_begin(void);

/* Something is learned of the library with this link_map elsewhere: see it go (L1). */
void hl_library_watch(const void *map);

/* A watched block is freed. 1 where it is a link_map: its library is gone, and no other has come yet (L1). */
int hl_library_forget(const void *block);

#endif
