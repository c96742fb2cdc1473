/* SPDX-License-Identifier: MIT */
/*
 * Pages and strings of a flight file's copy, each checked before it is used. What all readers of its parts stand on;
 * the rules are those of flight_reader.h (R2).
 */
#ifndef HL_FLIGHT_PAGES_H
#define HL_FLIGHT_PAGES_H

#include "flight_reader.h"

/* Say what is wrong; -EINVAL. */
int hl_flight_fail(struct hl_problem *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A page that is known to be in the copy. */
static inline const void *hl_flight_at(const struct hl_flight_copy *copy, uint64_t page) {
    return copy->bytes + page * HL_PAGE_SIZE;
}

/* `count` pages from `number` into *found; NULL where there are none (R2). */
int hl_flight_find_pages(const struct hl_flight_copy *copy, uint32_t number, uint32_t count, const void **found,
                         struct hl_problem *problem);

/* The page for `index` through a directory of one number per `per_page`; NULL where there is none. */
int hl_flight_find_in_directory(const struct hl_flight_copy *copy, const uint32_t *directory, uint32_t index,
                                uint32_t per_page, const void **found, struct hl_problem *problem);

/* The string at `reference` into *span. *absent is set where it is newer than the copy (R2). */
int hl_flight_find_string(const struct hl_flight_copy *copy, hl_string_ref reference, struct hl_span *span, int *absent,
                          struct hl_problem *problem);

#endif
