/* SPDX-License-Identifier: MIT */
#ifndef RBHL_SITE_FIGURES_H
#define RBHL_SITE_FIGURES_H

#include <ruby.h>

#include "site_groups.h"

/* Which figures of a sum are told, each a bit: of a process, what adds up but ages; of what was tallied, what needs no
 * blocks of a baseline. */
enum {
    RBHL_TOTALS = (1 << HL_AGE_SUM) - 1,
    RBHL_TALLIED = ((1 << HL_FIGURE_COUNT) - 1) &
                   ~(1 << HL_GROWTH_BLOCKS | 1 << HL_RETAINED_BLOCKS | 1 << HL_MEAN_AGE | 1 << HL_MEAN_AGE_MS),
    RBHL_TALLIED_TOTALS = RBHL_TOTALS & RBHL_TALLIED
};

/* A Hash of these figures by their names. */
VALUE rbhl_sum_hash(const struct hl_sum *sum, int figures);

/* A String with five native 64-bit numbers for each site: see site_figures.c. */
VALUE rbhl_site_figures(const struct hl_flight_sums *sums);

void rbhl_define_site_figures(VALUE native);

#endif
