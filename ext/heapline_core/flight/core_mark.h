/* SPDX-License-Identifier: MIT */
/*
 * By what a reader of a core file finds heapline's state in it, without any symbol: begins with the magic, at a
 * multiple of 8 in the library's writable data. Addresses in the process. What they lead to is in every core; the
 * flight itself is left out of cores, its file is named here. With HEAPLINE=core it is in them, too.
 */
#ifndef HL_CORE_MARK_H
#define HL_CORE_MARK_H

#include <stdint.h>

#define HL_CORE_MARK_MAGIC "heapline core 3" /* with its NUL 16 bytes; the number: of this struct, and of trailers */

struct hl_core_mark {
    char magic[16];
    const uint64_t *trailer_key;  /* trailer.h */
    const uint32_t *tail_bytes;   /* behind each trailer (block_map.h) */
    const uint32_t *chunked;      /* hl_real_chunked */
    const char *flight_directory; /* NUL-terminated; empty: the flight was in memory only */
    const char *flight_name;      /* likewise */
    const uint64_t *start_ticks;  /* with the pid in the flight's header, the identity of the process */
    char *const *flight;          /* where its map begins */
};

enum { HL_CORE_DIRECTORY_BYTES = 512, HL_CORE_NAME_BYTES = 64 };

#endif
