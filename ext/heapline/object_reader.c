/* SPDX-License-Identifier: MIT */
#include "object_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flight_pages.h"

static const char OTHER[] = "(other)";

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

/* Its class's name, type and flags; a class that is not there has none, and (other) is of all types. */
static int read_class(const struct hl_flight_copy *copy, const uint32_t *directory, uint32_t number,
                      struct hl_object_sums *sums, struct hl_problem *problem) {
    const void *page;
    if (number >= HL_OBJECT_CLASSES_MAX)
        return hl_flight_fail(problem, "it is damaged: it refers to class %u of %u", number, HL_OBJECT_CLASSES_MAX);
    if (number == HL_OBJECT_OTHER) {
        sums->class_name = (struct hl_span){OTHER, sizeof(OTHER) - 1};
        return 0;
    }
    sums->flags = HL_CLASS_UNNAMED;
    int failed = hl_flight_find_in_directory(copy, directory + HL_OBJECT_ROW_PAGES, number, HL_OBJECT_CLASSES_PER_PAGE,
                                             &page, problem);
    if (failed || !page) return failed;
    const struct hl_object_class *class = (const struct hl_object_class *)page + number % HL_OBJECT_CLASSES_PER_PAGE;
    sums->type = class->type;
    sums->flags = class->flags;
    return hl_flight_find_string(copy, class->name, &sums->class_name, problem);
}

static uint64_t beyond(uint64_t now, uint64_t before) {
    return now > before ? now - before : 0;
}

static uint64_t least(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

/* Frees whose allocations were not read yet did not happen yet (R1). */
static void sum_row(const struct hl_object_row *row, uint64_t baseline, struct hl_object_sums *sums) {
    sums->allocated = row->allocated;
    sums->bytes_allocated = row->bytes_allocated;
    sums->freed = least(row->freed, row->allocated);
    sums->bytes_freed = least(row->bytes_freed, row->bytes_allocated);
    sums->age_sum = row->age_sum;
    sums->age_max = row->age_max;
    sums->temporary = least(row->temporary, sums->freed);
    if (row->baseline != (uint32_t)baseline) return; /* nothing was counted since */
    sums->allocated_since = beyond(row->allocated, row->base_allocated);
    sums->bytes_allocated_since = beyond(row->bytes_allocated, row->base_bytes_allocated);
    sums->freed_since = beyond(sums->freed, row->base_freed);
    sums->bytes_freed_since = beyond(sums->bytes_freed, row->base_bytes_freed);
    sums->old_freed = least(row->old_freed, sums->freed_since);
    sums->old_bytes_freed = least(row->old_bytes_freed, sums->bytes_freed_since);
}

/* Row `number` into *sums; *known is 0 where nothing was counted in it. */
static int read_row(const struct hl_flight_copy *copy, const uint32_t *directory, uint32_t number,
                    struct hl_object_sums *sums, int *known, struct hl_problem *problem) {
    const struct hl_object_row *row;
    *known = 0;
    int failed = find_row(copy, directory, number, &row, problem);
    if (failed || !row || !row->class_index || !row->allocated) return failed;
    if (row->site >= HL_SITES_MAX)
        return hl_flight_fail(problem, "it is damaged: it refers to site %u of %u", row->site, HL_SITES_MAX);
    memset(sums, 0, sizeof(*sums));
    sums->site = row->site;
    sum_row(row, header_of(copy)->baseline, sums);
    *known = 1;
    return read_class(copy, directory, row->class_index, sums, problem);
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
static uint32_t merge(struct hl_object_sums *objects, uint32_t count) {
    uint32_t kept = 0;
    if (!count) return 0;
    qsort(objects, count, sizeof(*objects), compare);
    for (uint32_t i = 1; i < count; i++) {
        if (compare(&objects[kept], &objects[i]) == 0)
            add(&objects[kept], &objects[i]);
        else
            objects[++kept] = objects[i];
    }
    return kept + 1;
}

int hl_objects_read(const struct hl_flight_copy *copy, struct hl_object_sums **objects, uint32_t *count,
                    struct hl_problem *problem) {
    const uint32_t *directory;
    const uint32_t rows = header_of(copy)->object_rows;
    int failed = find_directory(copy, &directory, problem), known;
    if (failed || !directory) return failed;
    *objects = calloc(rows ? rows : 1, sizeof(**objects));
    if (!*objects) {
        hl_flight_fail(problem, "there is no memory for its %u rows of objects", rows);
        return -ENOMEM;
    }
    for (uint32_t number = HL_OBJECT_OTHER; number < rows && !failed; number++) {
        failed = read_row(copy, directory, number, &(*objects)[*count], &known, problem);
        if (!failed && known) ++*count;
    }
    *count = merge(*objects, *count);
    return failed;
}
