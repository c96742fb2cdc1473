/* SPDX-License-Identifier: MIT */
/*
 * The mappings of this process, read from /proc/self/maps without malloc.
 */
#ifndef HL_MEMORY_MAPS_H
#define HL_MEMORY_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct hl_mapping {
    uintptr_t begin, end;
    uint64_t offset;  /* in the file */
    const char *path; /* "" for anonymous memory, "[heap]" and the like; unescaped as the kernel wrote it */
    uint8_t readable, writable, executable, shared, is_file;
};

/* Into own memory that is never given back: for a process that ends soon. Their number, or -errno. */
int64_t hl_memory_maps(struct hl_mapping **mappings);

#endif
