/* SPDX-License-Identifier: MIT */
/*
 * What the environment asks of the core, parsed once into one struct from one table. The command line's own options
 * (top, sort, min, output …) are the reporter's; the core passes over them.
 */
#ifndef HL_OPTIONS_H
#define HL_OPTIONS_H

#include <stdint.h>

struct hl_options {
    uint32_t quiet;      /* no report at the end */
    uint32_t keep;       /* the flight file stays after a normal end */
    uint32_t output;     /* the report goes to a file */
    uint32_t nofollow;   /* children are not to be accounted */
    uint32_t gc;         /* a full GC before the report */
    uint32_t public_api; /* attribution through rb_profile_frames only */
    uint32_t objects;    /* Ruby objects are accounted too */
    uint32_t blocks;     /* keep each live block findable, with its native stack */
    uint32_t sites;      /* limit of the site table */
    uint32_t top_pid;    /* the process that `heapline CMD` became; 0: none */
};
extern struct hl_options hl_options;

/* Read HEAPLINE and HEAPLINE_TOP. Ignored in set-user-ID programs. */
void hl_options_read(void);

/* The directory for flight files into `path`: HEAPLINE_DIR, else $XDG_RUNTIME_DIR/heapline, else
 * /dev/shm/heapline-UID. */
void hl_options_directory(char *path, unsigned size);

#endif
