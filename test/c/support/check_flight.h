/* SPDX-License-Identifier: MIT */
/*
 * The whole-structure checker: walks the flight file while nothing writes it, and checks each invariant of
 * flight_layout.h and lane.h.
 */
#ifndef HL_TEST_CHECK_FLIGHT_H
#define HL_TEST_CHECK_FLIGHT_H

#include <stdint.h>

#include "flight/flight_layout.h"

/* Figures of one site, or of all, summed over the lanes. */
struct flight_sums {
    uint64_t allocations, bytes_allocated, frees, bytes_freed, temporary, age_sum, age_ms_sum, age_max;
    uint64_t base_live_bytes; /* at the baseline; 0 before any */
    uint64_t old_frees, old_bytes_freed;
};

/* Check all. Call when no thread allocates; lanes of threads that live on may hold unpublished bytes. */
void check_flight(void);

/* Of it, what needs no records of the sites: the lanes, and the identity of their live bytes. */
void check_lanes(void);

/* Sums of one site. */
struct flight_sums flight_site(uint32_t site);

/* Those of all sites, by number. */
const struct flight_sums *flight_sites(void);

/* Sums of all but the quiet site. */
struct flight_sums flight_all(void);

/* The number of the Ruby site at path:line, or 0. */
uint32_t flight_find(const char *path, uint32_t line);

#endif
