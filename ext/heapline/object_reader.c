/* SPDX-License-Identifier: MIT */
#include "object_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flight_pages.h"

static const struct hl_flight_header *header_of(const struct hl_flight_copy *copy) {
    return hl_flight_at(copy, HL_HEADER_PAGE);
}

/* The directory of rows and classes, NULL where the copy has none. */
static int find_directory(const struct hl_flight_copy *copy, const uint32_t **found, struct hl_problem *problem) {
    const void *page;
    const uint32_t number = header_of(copy)->object_directory;
    const int failed = hl_flight_find_pages(copy, number, HL_OBJECT_DIRECTORY_PAGES, &page, problem);
    *found = page;
    return failed;
}

/* Row `number`, NULL where the copy has none. */
static int find_row(const struct hl_flight_copy *copy, const uint32_t *directory, uint32_t number,
                    const struct hl_object_row **found, struct hl_problem *problem) {
    const void *page;
    int failed = hl_flight_find_in_directory(copy, directory, number, HL_OBJECT_ROWS_PER_PAGE, &page, problem);
    *found = page ? (const struct hl_object_row *)page + number % HL_OBJECT_ROWS_PER_PAGE : NULL;
    return failed;
}

/* Its class's name, type and flags; a class that the copy does not know yet has none. */
static int read_class(const struct hl_flight_copy *copy, const uint32_t *directory, uint32_t number,
                      struct hl_object_sums *sums, struct hl_problem *problem) {
    const void *page;
    int absent = 0;
    if (number >= HL_OBJECT_CLASSES_MAX)
        return hl_flight_fail(problem, "it is damaged: it refers to class %u of %u", number, HL_OBJECT_CLASSES_MAX);
    sums->flags = HL_CLASS_UNNAMED;
    if (number == HL_OBJECT_OTHER) return 0;
    int failed = hl_flight_find_in_directory(copy, directory + HL_OBJECT_ROW_PAGES, number, HL_OBJECT_CLASSES_PER_PAGE,
                                             &page, problem);
    if (failed || !page) return failed;
    const struct hl_object_class *class = (const struct hl_object_class *)page + number % HL_OBJECT_CLASSES_PER_PAGE;
    sums->type = class->type;
    sums->flags = class->flags;
    return hl_flight_find_string(copy, class->name, &sums->class_name, &absent, problem);
}

static uint64_t beyond(uint64_t now, uint64_t before) {
    return now > before ? now - before : 0;
}

static uint64_t least(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

/* R1: what was allocated is the second copy's, what was freed the first's. */
static void sum_row(const struct hl_object_row *freed, const struct hl_object_row *allocated, uint64_t baseline,
                    struct hl_object_sums *sums) {
    sums->allocated = allocated->allocated;
    sums->bytes_allocated = allocated->bytes_allocated;
    sums->freed = least(freed->freed, allocated->allocated);
    sums->bytes_freed = least(freed->bytes_freed, allocated->bytes_allocated);
    sums->age_sum = freed->age_sum;
    sums->age_max = freed->age_max;
    sums->temporary = freed->temporary;
    if (allocated->baseline != baseline) return; /* nothing was counted since */
    sums->allocated_since = beyond(allocated->allocated, allocated->base_allocated);
    sums->bytes_allocated_since = beyond(allocated->bytes_allocated, allocated->base_bytes_allocated);
    sums->freed_since = beyond(sums->freed, allocated->base_freed);
    sums->bytes_freed_since = beyond(sums->bytes_freed, allocated->base_bytes_freed);
    const struct hl_object_row *old = freed->baseline == baseline ? freed : allocated;
    sums->old_freed = least(old->old_freed, sums->freed_since);
    sums->old_bytes_freed = least(old->old_bytes_freed, sums->bytes_freed_since);
}

struct directories {
    const uint32_t *freed, *allocated;
};

/* Row `number` into *sums; *known is 0 where the copies do not tell enough of it (R2). */
static int read_row(const struct hl_flight_copy *freed, const struct hl_flight_copy *allocated,
                    const struct directories *in, uint32_t number, struct hl_object_sums *sums, int *known,
                    struct hl_problem *problem) {
    static const struct hl_object_row nothing;
    const struct hl_object_row *now, *before;
    *known = 0;
    int failed = find_row(allocated, in->allocated, number, &now, problem);
    if (!failed) failed = find_row(freed, in->freed, number, &before, problem);
    if (failed || !now || !now->class_index || !now->allocated) return failed;
    if (now->site >= HL_SITES_MAX)
        return hl_flight_fail(problem, "it is damaged: it refers to site %u of %u", now->site, HL_SITES_MAX);
    memset(sums, 0, sizeof(*sums));
    sums->site = now->site;
    sum_row(before ? before : &nothing, now, header_of(allocated)->baseline, sums);
    *known = 1;
    return read_class(allocated, in->allocated, now->class_index, sums, problem);
}

/* ---- one row a name ---- */

static int by_name(const struct hl_object_sums *one, const struct hl_object_sums *other) {
    const uint32_t length = one->class_name.length;
    if (length != other->class_name.length) return length < other->class_name.length ? -1 : 1;
    return length ? memcmp(one->class_name.bytes, other->class_name.bytes, length) : 0;
}

static int compare(const void *one, const void *other) {
    const struct hl_object_sums *a = one, *b = other;
    if (a->site != b->site) return a->site < b->site ? -1 : 1;
    if (a->type != b->type) return a->type < b->type ? -1 : 1;
    const uint8_t kept = (uint8_t)~HL_CLASS_GONE;
    if ((a->flags & kept) != (b->flags & kept)) return (a->flags & kept) < (b->flags & kept) ? -1 : 1;
    return by_name(a, b);
}

static void add(struct hl_object_sums *sum, const struct hl_object_sums *more) {
    sum->flags &= more->flags | (uint8_t)~HL_CLASS_GONE;
    sum->allocated += more->allocated;
    sum->freed += more->freed;
    sum->bytes_allocated += more->bytes_allocated;
    sum->bytes_freed += more->bytes_freed;
    sum->age_sum += more->age_sum;
    if (more->age_max > sum->age_max) sum->age_max = more->age_max;
    sum->temporary += more->temporary;
    sum->allocated_since += more->allocated_since;
    sum->freed_since += more->freed_since;
    sum->bytes_allocated_since += more->bytes_allocated_since;
    sum->bytes_freed_since += more->bytes_freed_since;
    sum->old_freed += more->old_freed;
    sum->old_bytes_freed += more->old_bytes_freed;
}

/* Classes that are loaded again, and anonymous ones, have a number each and one name. */
static void merge(struct hl_flight_sums *sums) {
    uint32_t kept = 0;
    if (!sums->object_count) return;
    qsort(sums->objects, sums->object_count, sizeof(*sums->objects), compare);
    for (uint32_t i = 1; i < sums->object_count; i++) {
        if (compare(&sums->objects[kept], &sums->objects[i]) == 0)
            add(&sums->objects[kept], &sums->objects[i]);
        else
            sums->objects[++kept] = sums->objects[i];
    }
    sums->object_count = kept + 1;
}

static void mark_sites(struct hl_flight_sums *sums) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sums->object_count; i++) {
        const uint32_t site = sums->objects[i].site;
        if (site >= sums->site_count || !sums->sites[site].known) continue; /* made meanwhile (R2) */
        sums->sites[site].has_objects = 1;
        sums->objects[kept++] = sums->objects[i];
    }
    sums->object_count = kept;
}

int hl_objects_read(const struct hl_flight_copy *freed, const struct hl_flight_copy *allocated,
                    struct hl_flight_sums *sums, struct hl_problem *problem) {
    struct directories in;
    const uint32_t rows = header_of(allocated)->object_rows;
    int failed = find_directory(allocated, &in.allocated, problem), known;
    if (!failed) failed = find_directory(freed, &in.freed, problem);
    if (failed || !in.allocated) return failed;
    sums->objects = calloc(rows ? rows : 1, sizeof(*sums->objects));
    if (!sums->objects) {
        hl_flight_fail(problem, "there is no memory for its %u rows of objects", rows);
        return -ENOMEM;
    }
    for (uint32_t number = HL_OBJECT_OTHER; number < rows && !failed; number++) {
        struct hl_object_sums *row = &sums->objects[sums->object_count];
        failed = read_row(freed, allocated, &in, number, row, &known, problem);
        if (!failed && known) sums->object_count++;
    }
    mark_sites(sums);
    merge(sums);
    return failed;
}

/* ---- settling ---- */

static void settle_row(struct hl_object_row *into, const struct hl_object_row *from) {
    static const struct hl_object_row nothing;
    const struct hl_object_row *source = from ? from : &nothing;
    into->freed = source->freed;
    into->bytes_freed = source->bytes_freed;
    into->age_sum = source->age_sum;
    into->age_max = source->age_max;
    into->temporary = source->temporary;
    if (!from || from->baseline != into->baseline) return;
    into->old_freed = from->old_freed;
    into->old_bytes_freed = from->old_bytes_freed;
}

/* Names that are newer than the copy are not known in it. */
static void settle_class(const struct hl_flight_copy *copy, struct hl_object_class *class) {
    if ((uint64_t) class->name * 8 < copy->pages * HL_PAGE_SIZE) return;
    class->name = 0;
    class->flags |= HL_CLASS_UNNAMED;
}

/* Errors were seen when the copies were read: here they only end the loops. */
void hl_objects_settle(const struct hl_flight_copy *freed, const struct hl_flight_copy *allocated) {
    const struct hl_flight_header *header = header_of(allocated);
    struct directories in;
    struct hl_problem seen;
    const struct hl_object_row *into, *from;
    const void *page;
    if (find_directory(allocated, &in.allocated, &seen) || !in.allocated) return;
    if (find_directory(freed, &in.freed, &seen)) return;
    for (uint32_t number = HL_OBJECT_OTHER; number < header->object_rows; number++) {
        if (find_row(allocated, in.allocated, number, &into, &seen)) return;
        if (find_row(freed, in.freed, number, &from, &seen)) return;
        if (into) settle_row((struct hl_object_row *)(uintptr_t)into, from);
    }
    for (uint32_t number = 0; number < header->object_classes; number++) {
        if (hl_flight_find_in_directory(allocated, in.allocated + HL_OBJECT_ROW_PAGES, number,
                                        HL_OBJECT_CLASSES_PER_PAGE, &page, &seen))
            return;
        if (page)
            settle_class(allocated, (struct hl_object_class *)(uintptr_t)page + number % HL_OBJECT_CLASSES_PER_PAGE);
    }
}
