/* SPDX-License-Identifier: MIT */
/*
 * What Ruby calls the figures of a site; and strings of figures: five native 64-bit numbers for each site, by its
 * number (allocations, frees, bytes allocated, bytes freed, live bytes at the baseline). For readers that compare
 * moments of 100,000 sites: one of them takes 40 bytes a site, and what is asked of them is computed here. With the
 * GVL.
 */
#include "bindings.h"

#include <stdlib.h>
#include <string.h>

#include "flight_reader.h"
#include "site_figures.h"

int rbhl_figure(VALUE symbol) {
    return rbhl_place_of(symbol, hl_figure_names, HL_FIGURE_COUNT, "figure");
}

VALUE rbhl_sum_hash(const struct hl_sum *sum, int figures) {
    VALUE hash = rb_hash_new();
    for (int i = 0; i < HL_FIGURE_COUNT; i++) {
        const enum hl_figure figure = (enum hl_figure)i;
        const int64_t value = hl_sum_figure(sum, figure);
        if (figures & 1 << i)
            rbhl_put(hash, hl_figure_names[i], hl_figure_is_signed(figure) ? LL2NUM(value) : ULL2NUM((uint64_t)value));
    }
    return hash;
}

enum { ALLOCATIONS, FREES, BYTES_ALLOCATED, BYTES_FREED, BASE, FIGURES };
/* What these can tell. */
enum {
    SUMMED = 1 << HL_ALLOCATIONS | 1 << HL_FREES | 1 << HL_BYTES_ALLOCATED | 1 << HL_BYTES_FREED | 1 << HL_LIVE_BYTES |
             1 << HL_LIVE_BLOCKS
};

/* All 0 where nothing is known of a site. */
VALUE rbhl_site_figures(const struct hl_flight_sums *sums) {
    VALUE string = rb_str_new(NULL, (long)(sums->site_count * FIGURES * sizeof(int64_t)));
    int64_t *figure = (int64_t *)RSTRING_PTR(string);
    for (uint32_t number = 0; number < sums->site_count; number++, figure += FIGURES) {
        const struct hl_site_sums *site = &sums->sites[number];
        const struct hl_count count = site->known ? site->count : (struct hl_count){0};
        figure[ALLOCATIONS] = (int64_t)count.allocations;
        figure[FREES] = (int64_t)count.frees;
        figure[BYTES_ALLOCATED] = (int64_t)count.bytes_allocated;
        figure[BYTES_FREED] = (int64_t)count.bytes_freed;
        const struct hl_site_base base = hl_site_base(sums, number);
        figure[BASE] = site->known ? hl_count_live_bytes(&base.before) : 0;
    }
    return string;
}

/* A String of figures as numbers. Strings may begin anywhere, and end where sites were not known yet. */
struct figures {
    const char *bytes;
    size_t sites;
};

static struct figures figures_in(VALUE string) {
    StringValue(string);
    return (struct figures){RSTRING_PTR(string), (size_t)RSTRING_LEN(string) / (FIGURES * sizeof(int64_t))};
}

static int64_t figure_of(const struct figures *figures, size_t site, int which) {
    int64_t value = 0;
    if (site < figures->sites)
        memcpy(&value, figures->bytes + (site * FIGURES + (size_t)which) * sizeof(value), sizeof(value));
    return value;
}

static int64_t difference(int64_t one, int64_t other) {
    return (int64_t)((uint64_t)one - (uint64_t)other);
}

static int64_t live(const struct figures *figures, size_t site) {
    return difference(figure_of(figures, site, BYTES_ALLOCATED), figure_of(figures, site, BYTES_FREED));
}

/* Native.sum_figures(figures) -> Hash: the sums over all sites of what can be told without a moment before: figures by
 * their names, and :base_live_bytes. */
static VALUE rbhl_sum_figures(VALUE self, VALUE string) {
    const struct figures figures = figures_in(string);
    uint64_t sums[FIGURES] = {0};
    (void)self;
    for (size_t site = 0; site < figures.sites; site++)
        for (int which = 0; which < FIGURES; which++) sums[which] += (uint64_t)figure_of(&figures, site, which);
    const struct hl_sum sum = {.count = {.allocations = sums[ALLOCATIONS],
                                         .frees = sums[FREES],
                                         .bytes_allocated = sums[BYTES_ALLOCATED],
                                         .bytes_freed = sums[BYTES_FREED]}};
    VALUE result = rbhl_sum_hash(&sum, SUMMED);
    rbhl_put(result, "base_live_bytes", LL2NUM((int64_t)sums[BASE]));
    RB_GC_GUARD(string);
    return result;
}

struct leader {
    int64_t value;
    size_t site;
};

/* Keep the `count` largest, the largest first. */
static size_t insert(struct leader *leaders, size_t known, size_t count, struct leader fresh) {
    size_t place = known;
    while (place > 0 && leaders[place - 1].value < fresh.value) place--;
    if (place == count) return known;
    const size_t moved = (known < count ? known : count - 1) - place;
    memmove(&leaders[place + 1], &leaders[place], moved * sizeof(*leaders));
    leaders[place] = fresh;
    return known < count ? known + 1 : known;
}

/* Native.leading_sites(figures, before, by, count) -> Array of numbers: the `count` sites with the most bytes, the
 * largest first, none without any. by: :live, or :growth (live now minus the baseline's live bytes in `before`), or
 * :allocated (since `before`). before: of an earlier moment; "": all were 0. */
static VALUE rbhl_leading_sites(VALUE self, VALUE string, VALUE before_string, VALUE by, VALUE limit) {
    const size_t count = NUM2UINT(limit);
    const int growth = by == ID2SYM(rb_intern("growth")), allocated = by == ID2SYM(rb_intern("allocated"));
    const struct figures figures = figures_in(string), before = figures_in(before_string);
    size_t known = 0;
    VALUE memory, result = rb_ary_new();
    (void)self;
    if (!growth && !allocated && by != ID2SYM(rb_intern("live")))
        rb_raise(rb_eArgError, "no such ranking: %+" PRIsVALUE, by);
    if (!count) return result;
    struct leader *leaders = rb_alloc_tmp_buffer2(&memory, (long)count, sizeof(*leaders));
    for (size_t site = 0; site < figures.sites; site++) {
        struct leader fresh = {live(&figures, site), site};
        if (growth) fresh.value = difference(fresh.value, figure_of(&before, site, BASE));
        if (allocated)
            fresh.value =
                difference(figure_of(&figures, site, BYTES_ALLOCATED), figure_of(&before, site, BYTES_ALLOCATED));
        if (fresh.value > 0) known = insert(leaders, known, count, fresh);
    }
    for (size_t i = 0; i < known; i++) rb_ary_push(result, SIZET2NUM(leaders[i].site));
    rb_free_tmp_buffer(&memory);
    RB_GC_GUARD(string);
    RB_GC_GUARD(before_string);
    return result;
}

void rbhl_define_site_figures(VALUE native) {
    VALUE names = rb_ary_new();
    for (int i = 0; i < HL_FIGURE_COUNT; i++) rb_ary_push(names, ID2SYM(rb_intern(hl_figure_names[i])));
    rb_define_const(native, "FIGURES", rb_ary_freeze(names));
    rb_define_singleton_method(native, "sum_figures", rbhl_sum_figures, 1);
    rb_define_singleton_method(native, "leading_sites", rbhl_leading_sites, 4);
}
