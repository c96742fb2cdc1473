/* SPDX-License-Identifier: MIT */
/*
 * What the environment asks of the core, parsed once into one struct from one table. The command line's own options
 * (top, sort, min, output …) are the reporter's; the core passes over them.
 */
#ifndef HL_OPTIONS_H
#define HL_OPTIONS_H

#include <stdint.h>

struct hl_options {
    uint32_t off;        /* ready to be started (heapline_start), and nothing more */
    uint32_t quiet;      /* no report at the end */
    uint32_t keep;       /* the flight file stays after a normal end */
    uint32_t output;     /* the report goes to a file */
    uint32_t nofollow;   /* children are not to be accounted */
    uint32_t gc;         /* a full GC before the report */
    uint32_t public_api; /* Ruby is asked through its public functions only, no layout is read */
    uint32_t objects;    /* Ruby objects are accounted too */
    uint32_t internal;   /* frames of the VM's own methods are lines of their own */
    uint32_t blocks;     /* keep each live block findable, with its native stack */
    uint32_t any;        /* programs that are not Ruby are accounted too */
    uint32_t quarantine; /* blocks that were freed go to the allocator later (block_map.h) */
    uint32_t core;       /* the flight is kept in core files */
    uint32_t sites;      /* limit of the site table, as it was asked for; 0: none was */
    uint32_t top_pid;    /* the process that `heapline CMD` became; 0: none */
    uint64_t top_ticks;  /* its start_ticks */
};
extern struct hl_options hl_options;

/* Read HEAPLINE and HEAPLINE_TOP. Ignored in set-user-ID programs. */
void hl_options_read(void);
/* Read more of them, in the syntax of HEAPLINE. */
void hl_options_add(const char *text);

/* The directory for flight files into `path`: HEAPLINE_DIR, else $XDG_RUNTIME_DIR/heapline, else
 * /dev/shm/heapline-UID. What is cut here is longer than any path that the kernel takes. */
enum { HL_DIRECTORY_BYTES = 4200 };
void hl_options_directory(char path[HL_DIRECTORY_BYTES]);

#endif
