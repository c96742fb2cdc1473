/* SPDX-License-Identifier: MIT */
#ifndef RBHL_SITE_FIGURES_H
#define RBHL_SITE_FIGURES_H

#include <ruby.h>

struct hl_flight_sums;

/* A String with five native 64-bit numbers for each site: see site_figures.c. */
VALUE rbhl_site_figures(const struct hl_flight_sums *sums);

void rbhl_define_site_figures(VALUE native);

#endif
