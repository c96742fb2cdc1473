/* SPDX-License-Identifier: MIT */
#include "site_groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flight_pages.h"
#include "site_stages.h"

const char *const hl_figure_names[HL_FIGURE_COUNT] = {
#define HL_NAME(figure, name) #name,
    HL_FIGURES(HL_NAME)
#undef HL_NAME
};

int hl_site_counted(const struct hl_site_sums *site) {
    return site->known && (site->count.allocations || site->count.frees || site->has_objects);
}

static int64_t live_blocks(const struct hl_count *count) {
    return (int64_t)(count->allocations - count->frees);
}

static int64_t growth_bytes(const struct hl_flight_sums *sums, uint32_t number) {
    const struct hl_site_base base = hl_site_base(sums, number);
    return hl_site_growth_bytes(&sums->sites[number].count, &base);
}

static int64_t retained_bytes(const struct hl_flight_sums *sums, uint32_t number) {
    const struct hl_site_base base = hl_site_base(sums, number);
    return hl_site_retained_bytes(&sums->sites[number].count, &base);
}

static int64_t blocks_grown(const struct hl_count *count, const struct hl_site_base *base) {
    return (int64_t)((uint64_t)live_blocks(count) - (base->before.allocations - base->before.frees));
}

static int64_t blocks_retained(const struct hl_count *count, const struct hl_site_base *base) {
    return (int64_t)(count->allocations - base->before.allocations - base->new_frees);
}

static int64_t growth_blocks(const struct hl_flight_sums *sums, uint32_t number) {
    const struct hl_site_base base = hl_site_base(sums, number);
    return blocks_grown(&sums->sites[number].count, &base);
}

static int64_t retained_blocks(const struct hl_flight_sums *sums, uint32_t number) {
    const struct hl_site_base base = hl_site_base(sums, number);
    return blocks_retained(&sums->sites[number].count, &base);
}

/* ---- totals ---- */

/* What a damaged file says may be more than a sum holds. */
static void add(int64_t *sum, uint64_t more) {
    *sum = (int64_t)((uint64_t)*sum + more);
}

/* What is special and has no fixed number is a JIT compiler's. */
static int64_t *live_of(struct hl_totals *totals, uint32_t number, uint8_t kind) {
    if (kind == HL_KIND_RUBY) return &totals->live_ruby_bytes;
    return kind == HL_KIND_SPECIAL && number >= HL_SITE_FIRST ? &totals->live_jit_bytes : &totals->live_native_bytes;
}

/* What all sites grew by together. */
static void add_growth(struct hl_sum *all, const struct hl_site_base *base) {
    all->growth_bytes = hl_site_growth_bytes(&all->count, base);
    all->growth_blocks = blocks_grown(&all->count, base);
    all->retained_bytes = hl_site_retained_bytes(&all->count, base);
    all->retained_blocks = blocks_retained(&all->count, base);
}

void hl_sites_total(const struct hl_flight_sums *sums, struct hl_totals *totals) {
    struct hl_site_base base = {0};
    memset(totals, 0, sizeof(*totals));
    for (uint32_t number = 0; number < sums->site_count; number++) {
        const struct hl_site_sums *site = &sums->sites[number];
        if (!site->known) continue;
        if (number == HL_SITE_QUIET) {
            totals->live_quiet_bytes = hl_count_live_bytes(&site->count);
            continue;
        }
        const struct hl_site_base *more = sums->bases ? &sums->bases[number] : NULL;
        totals->sites += (uint64_t)(hl_site_counted(site) != 0);
        add(live_of(totals, number, site->kind), (uint64_t)hl_count_live_bytes(&site->count));
        hl_count_add(&totals->all.count, &site->count);
        if (more) hl_count_add(&base.before, &more->before);
        base.new_frees += more ? more->new_frees : site->count.frees;
        base.new_bytes_freed += more ? more->new_bytes_freed : site->count.bytes_freed;
    }
    add_growth(&totals->all, &base);
}

/* ---- groups ---- */

static struct hl_span base_name(struct hl_span path) {
    for (uint32_t i = path.length; i > 0; i--)
        if (path.bytes[i - 1] == '/') return (struct hl_span){path.bytes + i, path.length - i};
    return path;
}

static int same(struct hl_span one, struct hl_span other) {
    return one.length == other.length &&
           (one.bytes == other.bytes || !one.length || memcmp(one.bytes, other.bytes, one.length) == 0);
}

/* What names the group of a site. */
struct name {
    struct hl_span path, label, library, tag;
    uint64_t place; /* line, offset or number */
    uint32_t kind;
};

static struct name name_of(const struct hl_flight_sums *sums, uint32_t number, enum hl_group_by by) {
    const struct hl_site_place site = hl_site_place(sums, number);
    struct name name = {.kind = site.kind};
    const uint64_t place = site.kind == HL_KIND_RUBY ? site.line : site.kind == HL_KIND_NATIVE ? site.offset : 0;
    const int special = site.kind == HL_KIND_SPECIAL;
    switch (by) {
    case HL_BY_SITE:
        break;
    case HL_BY_KEY:
        name.label = site.label;
        name.tag = site.tag;
        /* fall through */
    case HL_BY_LOCATION:
    case HL_BY_OVERVIEW:
    case HL_BY_CALLER:
        name.place = special && number < HL_SITE_FIRST ? number : place;
        if (special) {
            name.label = site.label; /* it has no other name */
        } else {
            name.path = site.path;
            if (by != HL_BY_LOCATION || site.kind == HL_KIND_NATIVE) name.library = base_name(site.library);
        }
        break;
    case HL_BY_FILE:
        if (!special) name.path = site.kind == HL_KIND_NATIVE ? site.library : site.path;
        break;
    case HL_BY_LIBRARY:
        name.library = site.library;
        break;
    case HL_BY_TAG:
        name.tag = site.tag;
        break;
    }
    return name;
}

static int is_same(const struct name *one, const struct name *other) {
    return one->kind == other->kind && one->place == other->place && same(one->path, other->path) &&
           same(one->library, other->library) && same(one->label, other->label) && same(one->tag, other->tag);
}

/* The ends of names tell more than their beginnings, and there are many. */
static uint64_t mix(uint64_t hash, struct hl_span span) {
    uint64_t word = 0;
    const uint32_t size = span.length < sizeof(word) ? span.length : sizeof(word);
    for (uint32_t end = span.length, i = 0; i < 3 && end; i++, end -= end < 8 ? end : 8) {
        word = 0;
        memcpy(&word, span.bytes + (end < size ? 0 : end - size), end < size ? end : size);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return (hash ^ span.length) * 0x9e3779b97f4a7c15u;
}

static uint64_t hash_of(const struct name *name) {
    uint64_t hash = (name->place + 1) * 0x9e3779b97f4a7c15u ^ name->kind;
    hash = mix(mix(mix(mix(hash, name->path), name->library), name->label), name->tag);
    return hash ^ hash >> 32;
}

/* One group: the site that has its sum while it is made, and the one that grew most, with its figures. */
struct group {
    uint32_t first, largest, sites;
    uint32_t hash; /* part of it: names are looked at where it is the same */
    int64_t growth, live;
    uint64_t allocated;
};

struct groups {
    struct group *list;
    uint32_t *slots; /* number in the list + 1; 0: free */
    uint64_t mask;
    uint32_t count;
};

static int make_groups(struct groups *groups, uint32_t sites, struct hl_problem *problem) {
    uint64_t size = 16;
    while (size < 2 * (uint64_t)sites) size *= 2;
    groups->mask = size - 1;
    groups->list = calloc(sites, sizeof(*groups->list));
    groups->slots = calloc(size, sizeof(*groups->slots));
    if (groups->list && groups->slots) return 0;
    hl_flight_fail(problem, "there is no memory for its %u sites", sites);
    return -ENOMEM;
}

/* The group of a site; a new one where it is the first of it. */
static struct group *group_of(struct groups *groups, const struct hl_flight_sums *sums, uint32_t number,
                              enum hl_group_by by) {
    const struct name name = name_of(sums, number, by);
    const uint64_t hash = hash_of(&name);
    uint64_t slot = hash & groups->mask;
    for (; groups->slots[slot]; slot = (slot + 1) & groups->mask) {
        struct group *group = &groups->list[groups->slots[slot] - 1];
        if (group->hash != (uint32_t)(hash >> 24)) continue;
        const struct name other = name_of(sums, group->first, by);
        if (is_same(&name, &other)) return group;
    }
    struct group *fresh = &groups->list[groups->count];
    groups->slots[slot] = ++groups->count;
    fresh->first = number;
    fresh->hash = (uint32_t)(hash >> 24);
    return fresh;
}

static void add_base(struct hl_site_base *sum, const struct hl_site_base *more) {
    hl_count_add(&sum->before, &more->before);
    sum->new_frees += more->new_frees;
    sum->new_bytes_freed += more->new_bytes_freed;
    if (more->new_age_max > sum->new_age_max) sum->new_age_max = more->new_age_max;
}

static void add_site(struct hl_flight_sums *sums, uint32_t first, uint32_t number) {
    struct hl_site_sums *sum = &sums->sites[first], *more = &sums->sites[number];
    hl_count_add(&sum->count, &more->count);
    if (sums->bases) add_base(&sums->bases[first], &sums->bases[number]);
    sum->has_objects |= more->has_objects;
    if (more->mixed_tags || !same(hl_site_place(sums, first).tag, hl_site_place(sums, number).tag)) sum->mixed_tags = 1;
    more->known = 0;
}

/* The site is the group's largest if it grew more than the one before. */
static void compare(struct group *group, const struct hl_flight_sums *sums, uint32_t number) {
    const int64_t growth = growth_bytes(sums, number);
    if (group->sites++ && growth <= group->growth) return;
    group->largest = number;
    group->growth = growth;
    group->live = hl_count_live_bytes(&sums->sites[number].count);
    group->allocated = sums->sites[number].count.bytes_allocated;
}

/* Is the largest site of the group more than half of it? */
static int is_most(const struct group *group, const struct hl_site_sums *sum) {
    const int64_t live = hl_count_live_bytes(&sum->count);
    return live ? group->live > live / 2 : group->allocated > sum->count.bytes_allocated / 2;
}

/* The sum moves to the place of the site whose name it is shown by. The other's own figures are in it. */
static void hand_over(struct hl_flight_sums *sums, const struct group *group) {
    struct hl_site_sums *sum = &sums->sites[group->first], *named = &sums->sites[group->largest];
    if (sum == named) return;
    const uint8_t kind = named->kind;
    *named = *sum;
    named->kind = kind;
    if (sums->bases) sums->bases[group->largest] = sums->bases[group->first];
    sum->known = 0;
}

static int make_sums(struct hl_flight_sums *sums, enum hl_group_by by, struct hl_problem *problem) {
    struct groups groups = {0};
    const int failed = make_groups(&groups, sums->site_count, problem);
    for (uint32_t number = 0; !failed && number < sums->site_count; number++) {
        if (number == HL_SITE_QUIET || !hl_site_counted(&sums->sites[number])) continue;
        struct group *group = group_of(&groups, sums, number, by);
        compare(group, sums, number);
        if (group->first != number) add_site(sums, group->first, number);
    }
    for (uint32_t i = 0; i < groups.count; i++) {
        const struct group *group = &groups.list[i];
        struct hl_site_sums *sum = &sums->sites[group->first];
        sum->mixed_callers = by == HL_BY_LOCATION && group->sites > 1 && !is_most(group, sum);
        hand_over(sums, group);
    }
    free(groups.list);
    free(groups.slots);
    return failed;
}

static int by_text(const void *one, const void *other) {
    const struct hl_span *a = one, *b = other;
    const uint32_t common = a->length < b->length ? a->length : b->length;
    const int order = common ? memcmp(a->bytes, b->bytes, common) : 0;
    return order ? order : a->length < b->length ? -1 : a->length > b->length;
}

/* Are there two libraries of one name in different directories? Else no two sites of a process differ in nothing that
 * is printed: the core has one site for each place, library and tag. */
static int has_twins(const struct hl_flight_sums *sums) {
    struct hl_span *names = calloc(HL_LIBRARIES_MAX, sizeof(*names));
    uint32_t count = 0, twins = !names;
    for (uint32_t number = 1; names && number < sums->header->library_count && number < HL_LIBRARIES_MAX; number++)
        if (hl_flight_library(sums, number, &names[count])) names[count] = base_name(names[count]), count++;
    if (names) qsort(names, count, sizeof(*names), by_text);
    for (uint32_t i = 1; i < count; i++) twins += same(names[i - 1], names[i]);
    free(names);
    return twins != 0;
}

/* What start-up and loading took is in one place each. What grew since the baseline stays where it is: it may be a
 * leak. */
static void join_stages(struct hl_flight_sums *sums) {
    uint32_t firsts[HL_STAGES] = {0};
    sums->stage_names = hl_stage_names;
    for (uint32_t number = HL_SITE_FIRST; number < sums->site_count; number++) {
        if (!hl_site_counted(&sums->sites[number]) || (sums->bases && growth_bytes(sums, number) > 0)) continue;
        const struct hl_site_place place = hl_site_place(sums, number);
        const enum hl_stage stage = hl_stage_of(&place);
        if (stage == HL_STAGE_RUN) continue;
        if (firsts[stage])
            add_site(sums, firsts[stage], number);
        else
            firsts[stage] = number;
    }
    for (int stage = HL_STAGE_RUN + 1; stage < HL_STAGES; stage++) {
        struct hl_site_sums *sum = &sums->sites[firsts[stage]];
        if (!firsts[stage]) continue;
        sum->stage = (uint8_t)stage;
        sum->kind = HL_KIND_SPECIAL;
        sum->mixed_callers = 0;
    }
}

int hl_sites_group(struct hl_flight_sums *sums, enum hl_group_by by, struct hl_problem *problem) {
    if (by == HL_BY_SITE || (by == HL_BY_KEY && !has_twins(sums))) return 0;
    const enum hl_group_by group = by == HL_BY_OVERVIEW ? HL_BY_LOCATION : by;
    if (by == HL_BY_OVERVIEW) join_stages(sums);
    const int failed = group == HL_BY_LOCATION ? make_sums(sums, HL_BY_CALLER, problem) : 0;
    return failed ? failed : make_sums(sums, group, problem);
}

/* ---- choosing ---- */

int hl_figure_is_signed(enum hl_figure figure) {
    return figure == HL_LIVE_BYTES || figure == HL_LIVE_BLOCKS || figure == HL_GROWTH_BYTES ||
           figure == HL_GROWTH_BLOCKS || figure == HL_RETAINED_BYTES || figure == HL_RETAINED_BLOCKS;
}

/* A figure that needs no baseline. */
static int64_t counted(const struct hl_count *count, enum hl_figure figure) {
    switch (figure) {
    case HL_ALLOCATIONS:
        return (int64_t)count->allocations;
    case HL_FREES:
        return (int64_t)count->frees;
    case HL_BYTES_ALLOCATED:
        return (int64_t)count->bytes_allocated;
    case HL_BYTES_FREED:
        return (int64_t)count->bytes_freed;
    case HL_LIVE_BYTES:
        return hl_count_live_bytes(count);
    case HL_LIVE_BLOCKS:
        return live_blocks(count);
    case HL_TEMPORARY:
        return (int64_t)count->temporary;
    case HL_AGE_SUM:
    case HL_MEAN_AGE:
        return (int64_t)count->age_sum;
    case HL_AGE_MAX:
        return count->age_max;
    case HL_AGE_MS_SUM:
    case HL_MEAN_AGE_MS:
        return (int64_t)count->age_ms_sum;
    case HL_AGE_MS_MAX:
        return count->age_ms_max;
    default:
        return 0;
    }
}

int64_t hl_site_figure(const struct hl_flight_sums *sums, uint32_t number, enum hl_figure figure) {
    switch (figure) {
    case HL_GROWTH_BYTES:
        return growth_bytes(sums, number);
    case HL_GROWTH_BLOCKS:
        return growth_blocks(sums, number);
    case HL_RETAINED_BYTES:
        return retained_bytes(sums, number);
    case HL_RETAINED_BLOCKS:
        return retained_blocks(sums, number);
    default:
        return counted(&sums->sites[number].count, figure);
    }
}

int64_t hl_sum_figure(const struct hl_sum *sum, enum hl_figure figure) {
    switch (figure) {
    case HL_GROWTH_BYTES:
        return sum->growth_bytes;
    case HL_GROWTH_BLOCKS:
        return sum->growth_blocks;
    case HL_RETAINED_BYTES:
        return sum->retained_bytes;
    case HL_RETAINED_BLOCKS:
        return sum->retained_blocks;
    default:
        return counted(&sum->count, figure);
    }
}

static double value_of(const struct hl_flight_sums *sums, uint32_t number, enum hl_figure figure) {
    const double value = (double)hl_site_figure(sums, number, figure);
    const uint64_t frees = sums->sites[number].count.frees;
    return figure != HL_MEAN_AGE && figure != HL_MEAN_AGE_MS ? value : frees ? value / (double)frees : 0;
}

/* What rows are in order by. */
struct rank {
    double value;
    uint64_t bytes;
};

static int is_less(struct rank one, struct rank other) {
    return one.value < other.value || (one.value <= other.value && one.bytes < other.bytes);
}

static struct rank rank_of(const struct hl_flight_sums *sums, uint32_t number, enum hl_figure figure) {
    return (struct rank){value_of(sums, number, figure), sums->sites[number].count.bytes_allocated};
}

/* A heap of the `count` largest, the least of them first: put `rank` into its place, from the root down. */
static void sink(struct rank *heap, uint32_t count, struct rank rank) {
    uint32_t at = 0;
    for (uint32_t below = 1; below < count; below = 2 * at + 1) {
        if (below + 1 < count && is_less(heap[below + 1], heap[below])) below++;
        if (!is_less(heap[below], rank)) break;
        heap[at] = heap[below];
        at = below;
    }
    heap[at] = rank;
}

static uint64_t magnitude(int64_t value) {
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static int is_row(const struct hl_flight_sums *sums, uint32_t number, uint64_t min) {
    const struct hl_site_sums *site = &sums->sites[number];
    if (number == HL_SITE_QUIET || !hl_site_counted(site)) return 0;
    return !min || magnitude(hl_count_live_bytes(&site->count)) >= min || magnitude(growth_bytes(sums, number)) >= min;
}

int hl_sites_choose(struct hl_flight_sums *sums, enum hl_figure figure, uint32_t top, uint64_t min, uint32_t *rows,
                    struct hl_problem *problem) {
    *rows = 0;
    for (uint32_t number = 0; number < sums->site_count; number++) {
        if (is_row(sums, number, min))
            ++*rows;
        else if (number != HL_SITE_QUIET)
            sums->sites[number].known = 0;
    }
    if (!top || *rows <= top) return 0;
    struct rank *heap = malloc(top * sizeof(*heap));
    if (!heap) {
        hl_flight_fail(problem, "there is no memory for %u rows", top);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < top; i++) heap[i] = (struct rank){-__builtin_inf(), 0};
    for (uint32_t number = 0; number < sums->site_count; number++) {
        if (!is_row(sums, number, 0)) continue;
        const struct rank rank = rank_of(sums, number, figure);
        if (is_less(heap[0], rank)) sink(heap, top, rank);
    }
    for (uint32_t number = 0; number < sums->site_count; number++)
        if (is_row(sums, number, 0) && is_less(rank_of(sums, number, figure), heap[0])) sums->sites[number].known = 0;
    free(heap);
    return 0;
}

/* ---- order ---- */

/* A site that counts. */
struct entry {
    struct rank rank;
    uint32_t number;
};

static int by_rank(const void *one, const void *other) {
    const struct entry *a = one, *b = other;
    if (is_less(b->rank, a->rank)) return -1;
    if (is_less(a->rank, b->rank)) return 1;
    return a->number < b->number ? -1 : 1;
}

/* What a location is printed as: a text, and what comes behind it. */
struct spot {
    const char *text;
    uint32_t number;
    uint16_t length;
    uint8_t tail_length;
    char tail[20];
};

static void end_in(struct spot *spot, const char *format, unsigned long long value) {
    char tail[sizeof(spot->tail) + 1];
    spot->tail_length = (uint8_t)snprintf(tail, sizeof(tail), format, value);
    memcpy(spot->tail, tail, sizeof(spot->tail));
}

static struct spot spot_of(const struct hl_flight_sums *sums, uint32_t number) {
    const struct hl_site_place place = hl_site_place(sums, number);
    struct hl_span text = place.label;
    if (place.kind == HL_KIND_RUBY) text = place.path;
    if (place.kind == HL_KIND_NATIVE)
        text = place.library.bytes ? base_name(place.library) : (struct hl_span){"ruby", 4};
    struct spot spot = {.text = text.bytes, .length = (uint16_t)text.length, .number = number};
    if (place.kind == HL_KIND_RUBY) end_in(&spot, ":%llu", place.line);
    if (place.kind == HL_KIND_NATIVE) end_in(&spot, "+0x%llx", place.offset);
    return spot;
}

static int byte_of(const struct spot *spot, uint32_t at) {
    const uint32_t behind = at - spot->length;
    if (at < spot->length) return (unsigned char)spot->text[at];
    return behind < spot->tail_length ? (unsigned char)spot->tail[behind] : -1;
}

static int compare_spots(const struct spot *a, const struct spot *b) {
    uint32_t at = a->length < b->length ? a->length : b->length;
    const int order = a->text == b->text || !at ? 0 : memcmp(a->text, b->text, at);
    if (order) return order;
    while (byte_of(a, at) == byte_of(b, at) && byte_of(a, at) >= 0) at++;
    return byte_of(a, at) - byte_of(b, at);
}

static int by_location(const void *one, const void *other) {
    const struct spot *a = one, *b = other;
    const int order = compare_spots(a, b);
    if (order) return order;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Put sites of equal rank in the order of their locations. */
static int order_equals(const struct hl_flight_sums *sums, uint32_t *numbers, uint32_t count) {
    struct spot *spots = malloc(count * sizeof(*spots));
    if (!spots) return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) spots[i] = spot_of(sums, numbers[i]);
    qsort(spots, count, sizeof(*spots), by_location);
    for (uint32_t i = 0; i < count; i++) numbers[i] = spots[i].number;
    free(spots);
    return 0;
}

static uint32_t list_entries(const struct hl_flight_sums *sums, enum hl_figure figure, struct entry *entries) {
    uint32_t count = 0;
    for (uint32_t number = 0; number < sums->site_count; number++)
        if (is_row(sums, number, 0)) entries[count++] = (struct entry){rank_of(sums, number, figure), number};
    return count;
}

/* Their numbers in the order of their ranks; with this bit, of what ranks as the one before it. The ranks themselves
 * are gone by then: there may be a million. NULL: there is no memory. */
static const uint32_t SAME_RANK = 1u << 31;

static uint32_t *ranked(const struct hl_flight_sums *sums, enum hl_figure figure, uint32_t *count) {
    struct entry *entries = malloc(sums->site_count * sizeof(*entries));
    *count = entries ? list_entries(sums, figure, entries) : 0;
    uint32_t *numbers = entries ? malloc((*count + 1) * sizeof(*numbers)) : NULL;
    if (numbers) {
        qsort(entries, *count, sizeof(*entries), by_rank);
        for (uint32_t i = 0; i < *count; i++)
            numbers[i] = entries[i].number | (i && !is_less(entries[i].rank, entries[i - 1].rank) ? SAME_RANK : 0);
    }
    free(entries);
    return numbers;
}

int hl_sites_order(const struct hl_flight_sums *sums, enum hl_figure figure, uint32_t top, uint32_t **numbers,
                   uint32_t *count, struct hl_problem *problem) {
    uint32_t *ordered = *numbers = ranked(sums, figure, count);
    int failed = ordered ? 0 : -ENOMEM;
    for (uint32_t i = 0, end; i < *count && !failed; i = end) {
        for (end = i + 1; end < *count && ordered[end] & SAME_RANK; end++) ordered[end] &= ~SAME_RANK;
        if (end - i > 1) failed = order_equals(sums, ordered + i, end - i);
    }
    if (top && *count > top) *count = top;
    if (!failed) return 0;
    free(ordered);
    *numbers = NULL;
    hl_flight_fail(problem, "there is no memory for its %u sites", sums->site_count);
    return -ENOMEM;
}
