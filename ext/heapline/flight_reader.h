/* SPDX-License-Identifier: MIT */
/*
 * From the bytes of a flight file to figures per site. Pure C: no Ruby, no I/O, no global state; callable from any
 * thread, with or without the GVL.
 *
 * The bytes are not trusted: they may come from a process that writes them at this moment, from a full disk or from
 * somebody else. Every page number, string place and count is checked against the size of the copy.
 *
 * R1  Frees are summed from the first copy and allocations from the second, which was taken later. With the layout's
 *     F3, no site shows more frees than allocations.
 * R2  A page or string that lies behind the end of the copy, but not behind the end of the file as it was right after
 *     copying, was made meanwhile: it counts as absent. Behind that, the file is damaged.
 */
#ifndef HL_FLIGHT_READER_H
#define HL_FLIGHT_READER_H

#include <stddef.h>
#include <stdint.h>

#include "../heapline_core/flight_layout.h"

/* More than any writer hands out: 4 GiB. */
#define HL_PAGES_MAX (1u << 20)

struct hl_problem {
    char text[256];
};

/* What was read of a file: whole pages, 8-byte aligned. */
struct hl_flight_copy {
    unsigned char *bytes;
    uint64_t pages;     /* in `bytes` */
    uint64_t pages_now; /* page_count of the file after `bytes` were read */
    uint64_t folds_now; /* objects_folds, likewise */
};

struct hl_span {
    const char *bytes;
    uint32_t length;
};

struct hl_site_sums {
    uint32_t known; /* 0: no complete record, the figures are to be passed over */
    uint32_t line;
    uint32_t has_objects; /* some were born there */
    uint8_t kind;
    uint32_t symbol_offset;
    uint64_t offset;
    struct hl_span path, label, library, tag;
    struct hl_count count; /* over all lanes */
    /* What was counted up to the baseline. */
    uint64_t base_allocations, base_bytes_allocated, base_frees, base_bytes_freed;
    /* Freed since the baseline and born after it. */
    uint64_t new_frees, new_bytes_freed;
    /* Of all that was freed up to the baseline. */
    uint64_t base_age_sum, base_age_ms_sum, base_temporary;
    /* The oldest of all that was freed since the baseline. */
    uint32_t new_age_max;
};

/* What was born at one site of one class and type; see struct hl_object_row. */
struct hl_object_sums {
    uint32_t site;
    struct hl_span class_name;
    uint8_t type;
    uint8_t flags; /* enum hl_object_class_flag; GONE: all of these classes are */
    uint64_t allocated, freed, bytes_allocated, bytes_freed;
    uint64_t age_sum, age_max, temporary;
    /* Since the baseline; `old_*`: of these, what was born before it. */
    uint64_t allocated_since, freed_since, bytes_allocated_since, bytes_freed_since;
    uint64_t old_freed, old_bytes_freed;
};

/* The spans point into the second copy: release the sums before the copies. */
struct hl_flight_sums {
    const struct hl_flight_header *header; /* in the second copy */
    struct hl_site_sums *sites;            /* by number */
    uint32_t site_count;
    int64_t peak_bytes;
    uint32_t impossible;            /* sites with more frees than allocations */
    uint32_t threads;               /* lanes that have an owner */
    struct hl_object_sums *objects; /* one for each site, class name and type; NULL: never accounted */
    uint32_t object_count;
};

/* Is this the header of a flight file that this reader knows? 0, or -EINVAL with the problem. */
int hl_flight_check_header(const struct hl_flight_header *header, struct hl_problem *problem);

/* Sum `freed`, the first copy, and `allocated`, the second; both may be the same. 0 or -errno with the problem. */
int hl_flight_sum(const struct hl_flight_copy *freed, const struct hl_flight_copy *allocated,
                  struct hl_flight_sums *sums, struct hl_problem *problem);

/* Make `allocated` alone tell what both copies tell: its frees become those of `freed`, and what it refers to and does
 * not hold (R2) is left out; its pages become as many as the file had then. Only for copies that could be summed. 0, or
 * -ENOMEM with the problem. */
int hl_flight_settle(const struct hl_flight_copy *freed, struct hl_flight_copy *allocated, struct hl_problem *problem);

void hl_flight_sums_release(struct hl_flight_sums *sums);

#endif
