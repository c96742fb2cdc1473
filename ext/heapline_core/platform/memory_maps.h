/* SPDX-License-Identifier: MIT */
/*
 * The mappings of this process, read from /proc/self/maps, and the variables of a loaded object; without malloc.
 */
#ifndef HL_MEMORY_MAPS_H
#define HL_MEMORY_MAPS_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/platform.h"

struct hl_mapping {
    uintptr_t begin, end;
    uint64_t offset;  /* in the file */
    const char *path; /* "" for anonymous memory, "[heap]" and the like; unescaped as the kernel wrote it */
    uint8_t readable, writable, executable, shared, is_file;
};

/* Of a line of /proc/PID/maps: "7f12a000-7f12c000 rw-p 00000000 fe:01 1234   /usr/lib/x.so". Its path stays there. */
struct hl_mapping hl_memory_map_parse(const char *line);

/* Into own memory that is never given back: for a process that ends soon. Their number, or -errno. */
int64_t hl_memory_maps(struct hl_mapping **mappings);

/* Where the loaded object begins that `address` lies in; 0: in none. */
uintptr_t hl_object_header(const struct hl_mapping *mappings, size_t count, uintptr_t address);

/* Where this library begins, by the linker. */
extern const ElfW(Ehdr) __ehdr_start HL_HIDDEN;

/* Call `each` for the variables (data and bss) of the loaded object that begins at `header`. */
void hl_variables_of(uintptr_t header, void (*each)(void *context, uintptr_t begin, uintptr_t end), void *context);

#endif
