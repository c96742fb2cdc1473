/* SPDX-License-Identifier: MIT */
/*
 * The rows of Ruby objects in a flight file's copies. The rules are those of flight_reader.h, whose part this is.
 */
#ifndef HL_OBJECT_READER_H
#define HL_OBJECT_READER_H

#include "flight_reader.h"

/* Read `sums->objects`, after the sites. 0 or -errno with the problem. */
int hl_objects_read(const struct hl_flight_copy *freed, const struct hl_flight_copy *allocated,
                    struct hl_flight_sums *sums, struct hl_problem *problem);

/* Make `allocated` alone tell what both tell. Only for copies that could be read. */
void hl_objects_settle(const struct hl_flight_copy *freed, const struct hl_flight_copy *allocated);

#endif
