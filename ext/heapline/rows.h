/* SPDX-License-Identifier: MIT */
#ifndef RBHL_ROWS_H
#define RBHL_ROWS_H

#include <ruby.h>

#include "flight_reader.h"

/* A Native::Rows of these sums, whose memory it takes: it writes the sites of these numbers, in this order. The numbers
 * are from malloc and are taken too. */
VALUE rbhl_rows(struct hl_flight_copy *copy, struct hl_flight_sums *sums, uint32_t **numbers, uint32_t count);

/* The sums, and the numbers of their sites in order, of a Rows, which nobody else can use or release until it is given
 * back. Raises where they are in use or released. */
const struct hl_flight_sums *rbhl_rows_take(VALUE rows, const uint32_t **numbers, uint32_t *count);
VALUE rbhl_rows_give(VALUE rows);

void rbhl_define_rows(VALUE native);
void rbhl_define_profile(VALUE native); /* profile.c */

#endif
