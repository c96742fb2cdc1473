/* SPDX-License-Identifier: MIT */
/*
 * From the bytes of a flight file to figures per site. Pure C: no Ruby, no I/O, no global state; callable from any
 * thread, with or without the GVL.
 *
 * The bytes are not trusted: they may come from a process that writes them at this moment, from a full disk or from
 * somebody else. Every page number, string place and count is checked against the size of the copy.
 *
 * R1  The copy is of one instant (flight_copy.h), but for what moved while it was read: `moved_bytes`. So a free may be
 *     seen whose allocation is not: no site shows more frees than allocations, and where that is more than what moved,
 *     the site is counted as impossible.
 */
#ifndef HL_FLIGHT_READER_H
#define HL_FLIGHT_READER_H

#include <stddef.h>
#include <stdint.h>

#include "../heapline_core/flight/flight_layout.h"
#include "flight_pages.h"
#include "object_reader.h"

/* Of a site, or of a group of sites (site_groups.h). There may be a million: what names them stays in the copy. */
struct hl_site_sums {
    uint8_t known; /* 0: no complete record, the figures are to be passed over */
    uint8_t kind;
    uint8_t has_objects;   /* some were born there */
    uint8_t mixed_tags;    /* of a group: its sites have several tags */
    uint8_t mixed_callers; /* of a line: no one library called malloc for most of it */
    uint8_t stage;         /* of a stage of the program, whose name it has (site_stages.h); 0: not */
    struct hl_count count; /* over all lanes */
};

/* What was counted up to the baseline, and since. */
struct hl_site_base {
    struct hl_count before;              /* what was counted up to the baseline */
    uint64_t new_frees, new_bytes_freed; /* freed since the baseline and born after it */
    uint64_t new_age_max;                /* the oldest of all that was freed since the baseline */
};

/* What names a site. */
struct hl_site_place {
    uint8_t kind;
    uint32_t line;
    uint32_t symbol_offset;
    uint64_t offset;
    struct hl_span path, label, library, tag;
};

/* The spans point into the copy: release the sums before it. */
struct hl_flight_sums {
    const struct hl_flight_copy *copy;
    const struct hl_flight_header *header; /* in the copy */
    struct hl_site_sums *sites;            /* by number */
    struct hl_site_base *bases;            /* by number; NULL: there is no baseline, see hl_site_base */
    uint32_t site_count;
    int64_t peak_bytes;
    int64_t published_bytes;        /* of these, what the lanes added to the header's live_bytes */
    int64_t lanes_live_bytes;       /* live by the lanes' own sums, which have no quiet: to check the sites' by */
    uint64_t moved_bytes;           /* allocated and freed while the file was copied: no sum of bytes is off by more */
    uint32_t impossible;            /* sites with more frees than allocations */
    uint32_t threads;               /* lanes that have an owner */
    struct hl_object_sums *objects; /* one for each site, class name and type; NULL: never accounted */
    uint32_t object_count;
    const struct hl_wanted_sites *wanted; /* NULL: all */
    unsigned char *entries; /* by number of site: the place in `sites` of all of its kind; NULL: each has its own */
    uint32_t entry_count;   /* of `entries` */
    const struct hl_span *stage_names; /* by the `stage` of a site */
};

/* Sum a copy. 0 or -errno with the problem. */
int hl_flight_sum(const struct hl_flight_copy *copy, struct hl_flight_sums *sums, struct hl_problem *problem);
/* The same for totals: sites are added up by kind, their names are not looked at, and objects are left out. */
int hl_flight_sum_kinds(const struct hl_flight_copy *copy, struct hl_flight_sums *sums, struct hl_problem *problem);

/* Its sites, by what it says. */
static inline uint32_t hl_flight_chunk_used(const struct hl_count_chunk *chunk) {
    return chunk->used < chunk->capacity ? chunk->used : chunk->capacity;
}

/* The chunks of all lanes; `visit` gets each chunk's place. */
typedef void hl_chunk_visit(const struct hl_flight_copy *copy, hl_cell_ref place, const struct hl_count_chunk *chunk,
                            void *data);
int hl_flight_each_chunk(const struct hl_flight_copy *copy, hl_chunk_visit *visit, void *data,
                         struct hl_problem *problem);

/* Which sites are to be summed, and of which the names are known, so that nobody looks at them. By number. */
struct hl_wanted_sites {
    const unsigned char *wanted;
    uint32_t count; /* of `wanted` */
    const uint32_t *named;
    uint32_t named_count;
};

/* Sum these sites alone; all others count nothing. Objects are left out. */
int hl_flight_sum_wanted(const struct hl_flight_copy *copy, const struct hl_wanted_sites *wanted,
                         struct hl_flight_sums *sums, struct hl_problem *problem);

/* The site's baseline; without one nothing was counted before it. */
static inline struct hl_site_base hl_site_base(const struct hl_flight_sums *sums, uint32_t number) {
    const struct hl_count *count = &sums->sites[number].count;
    if (sums->bases) return sums->bases[number];
    return (struct hl_site_base){
        .new_frees = count->frees, .new_bytes_freed = count->bytes_freed, .new_age_max = count->age_max};
}

/* What lives; how much more than at the baseline; and what of it was asked for since. */
static inline int64_t hl_count_live_bytes(const struct hl_count *count) {
    return (int64_t)(count->bytes_allocated - count->bytes_freed);
}

static inline int64_t hl_site_growth_bytes(const struct hl_count *count, const struct hl_site_base *base) {
    return (int64_t)((uint64_t)hl_count_live_bytes(count) - (uint64_t)hl_count_live_bytes(&base->before));
}

static inline int64_t hl_site_retained_bytes(const struct hl_count *count, const struct hl_site_base *base) {
    return (int64_t)(count->bytes_allocated - base->before.bytes_allocated - base->new_bytes_freed);
}

/* The name of a library, by its number; 0: there is none. */
int hl_flight_library(const struct hl_flight_sums *sums, uint32_t number, struct hl_span *name);

/* What names the site; of one that is not known, or has a fixed number, nothing does. */
struct hl_site_place hl_site_place(const struct hl_flight_sums *sums, uint32_t number);

void hl_flight_sums_release(struct hl_flight_sums *sums);

#endif
