/* SPDX-License-Identifier: MIT */
/*
 * Which library called: from a return address to a library's number, its load address and its exported symbol.
 *
 * Never takes the dynamic linker's lock: a thread inside dlopen may wait, in a constructor, for one that allocates.
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

/* The library that `address` lies in. */
struct hl_library hl_library_at(uintptr_t address);

/* The linker's struct link_map of the object that `address` lies in, or NULL. Without the guard too. */
const void *hl_library_map(uintptr_t address);

/* The name of the exported function that `address` lies in into `name`; its length, 0 where none is known.
 * *offset: bytes from the symbol's start. */
size_t hl_library_symbol(const struct hl_library *library, uintptr_t address, char *name, size_t size,
                         uint32_t *offset);

/* Forget numbers: after the tables were made anew. */
void hl_library_reset(void);

#endif
