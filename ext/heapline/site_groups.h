/* SPDX-License-Identifier: MIT */
/*
 * Sums by line, file, library or tag, and the largest of them: for readers that show 20 of 100,000 sites, each of which
 * would be a dozen objects in Ruby. Pure C, as flight_reader.h.
 *
 * S1  What is one group here is one group by its printed name (Accounting::Snapshot::GROUPS), or a part of one where
 *     names can only be compared in Ruby (gems, and a file's native code).
 */
#ifndef HL_SITE_GROUPS_H
#define HL_SITE_GROUPS_H

#include "flight_reader.h"

enum hl_group_by {
    HL_BY_SITE,     /* no groups */
    HL_BY_KEY,      /* what differs in nothing printable */
    HL_BY_LOCATION, /* line, or place in native code */
    HL_BY_FILE,     /* file, or library of native code: parts of gems */
    HL_BY_LIBRARY,
    HL_BY_TAG,
    HL_BY_OVERVIEW, /* location, but what start-up and loading took is one group each (site_stages.h) */
    HL_BY_CALLER    /* line, or place, and the library that called malloc for it: within a line */
};

/* The figures of a site, by their names in Figures::SiteFigures, and in its order. Rows are chosen by any of them; a
 * mean is told as its two parts. */
#define HL_FIGURES(X)                                                                                                  \
    X(HL_ALLOCATIONS, allocations)                                                                                     \
    X(HL_FREES, frees)                                                                                                 \
    X(HL_BYTES_ALLOCATED, bytes_allocated)                                                                             \
    X(HL_BYTES_FREED, bytes_freed)                                                                                     \
    X(HL_LIVE_BYTES, live_bytes)                                                                                       \
    X(HL_LIVE_BLOCKS, live_blocks)                                                                                     \
    X(HL_GROWTH_BYTES, growth_bytes)                                                                                   \
    X(HL_GROWTH_BLOCKS, growth_blocks)                                                                                 \
    X(HL_RETAINED_BYTES, retained_bytes)                                                                               \
    X(HL_RETAINED_BLOCKS, retained_blocks)                                                                             \
    X(HL_TEMPORARY, temporary)                                                                                         \
    X(HL_AGE_SUM, age_sum)                                                                                             \
    X(HL_AGE_MAX, age_max)                                                                                             \
    X(HL_MEAN_AGE, mean_age)                                                                                           \
    X(HL_AGE_MS_SUM, age_ms_sum)                                                                                       \
    X(HL_AGE_MS_MAX, age_ms_max)                                                                                       \
    X(HL_MEAN_AGE_MS, mean_age_ms)

enum hl_figure {
#define HL_FIGURE(figure, name) figure,
    HL_FIGURES(HL_FIGURE)
#undef HL_FIGURE
        HL_FIGURE_COUNT
};
extern const char *const hl_figure_names[HL_FIGURE_COUNT];

/* What the figures of many sites are taken from. */
struct hl_sum {
    struct hl_count count;
    int64_t growth_bytes, growth_blocks, retained_bytes, retained_blocks;
};

/* Totals of all sites but quiet. sites: how many of them there is anything to tell of. */
struct hl_totals {
    struct hl_sum all;
    uint64_t sites;
    int64_t live_ruby_bytes, live_native_bytes, live_jit_bytes, live_quiet_bytes;
};

/* Is there anything to tell of the site? */
int hl_site_counted(const struct hl_site_sums *site);

void hl_sites_total(const struct hl_flight_sums *sums, struct hl_totals *totals);

/* Bring the sites of one group together: the one that grew most has their sum, the others count nothing any more; quiet
 * stays apart. `mixed_tags` says where their tags differ; `mixed_callers` where of a line the library that made most of
 * its growth did not make more than half of what lives (where nothing does: of what was allocated). 0, or -ENOMEM with
 * the problem. */
int hl_sites_group(struct hl_flight_sums *sums, enum hl_group_by by, struct hl_problem *problem);

/* Leave those with at least `min` bytes live or grown, and of them the `top` (0: all) with the largest figure; with
 * those that are equal to the last of them in that and in bytes allocated. *rows: how many have the bytes. 0, or
 * -ENOMEM with the problem. */
int hl_sites_choose(struct hl_flight_sums *sums, enum hl_figure figure, uint32_t top, uint64_t min, uint32_t *rows,
                    struct hl_problem *problem);

/* A figure of a site, or of a sum of sites; of those that cannot be negative all 64 bits count. */
int64_t hl_site_figure(const struct hl_flight_sums *sums, uint32_t number, enum hl_figure figure);
int64_t hl_sum_figure(const struct hl_sum *sum, enum hl_figure figure);
int hl_figure_is_signed(enum hl_figure figure);

/* The numbers of the sites that count, the largest figure first; those that are equal in that are in the order of their
 * bytes allocated, then of what their location is printed as. At most `top` (0: all). Into *numbers, to be freed. 0, or
 * -ENOMEM with the problem. */
int hl_sites_order(const struct hl_flight_sums *sums, enum hl_figure figure, uint32_t top, uint32_t **numbers,
                   uint32_t *count, struct hl_problem *problem);

#endif
