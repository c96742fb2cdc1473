/* SPDX-License-Identifier: MIT */
/*
 * Pages and strings of a flight file's copy, each checked before it is used. What all readers of its parts stand on;
 * the rules are those of flight_reader.h.
 */
#ifndef HL_FLIGHT_PAGES_H
#define HL_FLIGHT_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "../heapline_core/flight/flight_layout.h"
#include "flight_file.h"

/* Pages that did not stand still while they were copied, and another reading of each: see flight_copy.h, W4. */
struct hl_moving {
    uint32_t *pages; /* their numbers, ascending */
    unsigned char *bytes;
    uint32_t count;
};

/* Whether a page of a copy is there; `absent` has it by page. */
enum hl_page_absence {
    HL_PAGE_SEEN,
    HL_PAGE_ABSENT, /* it is read from `fd` when somebody looks there (hl_flight_load) */
    HL_PAGE_UNSEEN  /* nobody looked there yet */
};

/* What was read of a file: whole pages, 8-byte aligned. `absent` is NULL where all are there. */
struct hl_flight_copy {
    unsigned char *bytes;
    uint64_t pages;
    struct hl_moving moving;
    unsigned char *absent;
    int fd;
};

struct hl_span {
    const char *bytes;
    uint32_t length;
};

/* Mappings that were given back, for the next reading: who reads the files of ten processes one after the other has
 * their pages made and wiped once. They are kept while somebody is between hl_spare_keep(1) and (-1). Any thread. */
enum hl_spare { HL_SPARE_COPY, HL_SPARE_SUMS, HL_SPARE_BASES, HL_SPARES };
void hl_spare_keep(int more);
/* Memory with anything in it, of so many bytes; NULL: there is none. */
void *hl_spare_take(enum hl_spare which, size_t size);
void hl_spare_give(enum hl_spare which, void *block, size_t size);

/* Read those of these pages, which are within the copy, that are absent. */
int hl_flight_load(const struct hl_flight_copy *copy, uint64_t first, uint64_t count, struct hl_problem *problem);

/* A page that is known to be in the copy. */
static inline const void *hl_flight_at(const struct hl_flight_copy *copy, uint64_t page) {
    return copy->bytes + page * HL_PAGE_SIZE;
}

/* `count` pages from `number` into *found; NULL where there are none. */
int hl_flight_find_pages(const struct hl_flight_copy *copy, uint32_t number, uint32_t count, const void **found,
                         struct hl_problem *problem);

/* `count` cells from `place` into *found; NULL where there are none. */
int hl_flight_find_cells(const struct hl_flight_copy *copy, hl_cell_ref place, uint32_t count, const void **found,
                         struct hl_problem *problem);

/* The page on which an address of the copy lies. */
static inline const void *hl_flight_page_of(const struct hl_flight_copy *copy, const void *address) {
    return copy->bytes + (size_t)((const unsigned char *)address - copy->bytes) / HL_PAGE_SIZE * HL_PAGE_SIZE;
}

/* The page for `index` through a directory of one number per `per_page`; NULL where there is none. */
int hl_flight_find_in_directory(const struct hl_flight_copy *copy, const uint32_t *directory, uint32_t index,
                                uint32_t per_page, const void **found, struct hl_problem *problem);

/* The string at `reference` into *span. */
int hl_flight_find_string(const struct hl_flight_copy *copy, hl_string_ref reference, struct hl_span *span,
                          struct hl_problem *problem);

/* The other reading of a page of the copy that moved; NULL: it stood still. */
const void *hl_flight_find_moving(const struct hl_flight_copy *copy, const void *page);

#endif
