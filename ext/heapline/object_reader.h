/* SPDX-License-Identifier: MIT */
/*
 * The rows of Ruby objects in a flight file's copy. The rules are those of flight_reader.h, which adds them to the
 * sites.
 */
#ifndef HL_OBJECT_READER_H
#define HL_OBJECT_READER_H

#include "flight_pages.h"

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

/* All rows, one for each site, class name and type, in memory that the caller frees; *objects is NULL where objects
 * were never accounted. 0 or -errno with the problem. */
int hl_objects_read(const struct hl_flight_copy *copy, struct hl_object_sums **objects, uint32_t *count,
                    struct hl_problem *problem);

#endif
