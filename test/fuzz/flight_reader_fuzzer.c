/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target over the flight reader: any bytes as a file. The second byte says whether the input's first half is
 * another reading of the same pages, which moved.
 */
#include <stdlib.h>
#include <string.h>

#include "../../ext/heapline/flight_file.h" /* what flight_pages.c uses */
#include "../../ext/heapline/flight_pages.h"
#include "../../ext/heapline/flight_reader.h"
#include "../../ext/heapline/object_reader.h"
#include "../../ext/heapline/site_groups.h"
#include "../../ext/heapline/site_stages.h" /* what site_groups.c uses */

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* Whole pages of `data`, padded with zeros up to the fixed pages, in memory of exactly that size. */
static struct hl_flight_copy copy_of(const unsigned char *data, size_t size) {
    struct hl_flight_copy copy;
    size_t pages = size / HL_PAGE_SIZE;
    if (pages < HL_FIXED_PAGES) pages = HL_FIXED_PAGES;
    memset(&copy, 0, sizeof(copy));
    copy.pages = pages;
    copy.bytes = calloc(pages, HL_PAGE_SIZE);
    if (!copy.bytes) abort();
    memcpy(copy.bytes, data, size < pages * HL_PAGE_SIZE ? size : pages * HL_PAGE_SIZE);
    return copy;
}

/* Most inputs would stop at the magic: give all a readable beginning, but let one in four keep its own. */
static void mend(struct hl_flight_copy *copy, unsigned char choice) {
    struct hl_flight_header *header = (struct hl_flight_header *)copy->bytes;
    if (choice % 4 == 0) return;
    memcpy(header->magic, HL_FLIGHT_MAGIC, sizeof(header->magic));
    header->version = HL_FLIGHT_VERSION;
    header->byte_order = HL_FLIGHT_BYTE_ORDER;
    header->page_count = copy->pages;
    header->site_count %= 1024;
    header->library_count %= HL_LIBRARIES_MAX;
    header->tag_count %= HL_TAGS_MAX;
    header->object_rows %= 1024;
    header->object_classes %= 1024;
    header->command_length %= sizeof(header->command);
}

/* Each page of `other` is another reading of the same one of `copy`. */
static void move(struct hl_flight_copy *copy, const struct hl_flight_copy *other) {
    const uint64_t pages = other->pages < copy->pages ? other->pages : copy->pages;
    copy->moving.pages = calloc(pages, sizeof(uint32_t));
    if (!copy->moving.pages) abort();
    for (uint32_t i = 0; i < pages; i++) copy->moving.pages[i] = i;
    copy->moving.bytes = other->bytes;
    copy->moving.count = (uint32_t)pages;
}

static uint64_t touch(struct hl_span span) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < span.length; i++) sum += (unsigned char)span.bytes[i];
    return sum;
}

/* The rows that are written: of each site that counts once, and of no more than were asked for. Returns what touch
 * does. */
static uint64_t order(const struct hl_flight_sums *sums, enum hl_figure figure, uint32_t top) {
    struct hl_problem problem;
    uint32_t *numbers, count;
    uint64_t sum = 0;
    if (hl_sites_order(sums, figure, top, &numbers, &count, &problem)) abort();
    if (count > sums->site_count || (top && count > top)) abort();
    for (uint32_t i = 0; i < count; i++) {
        if (!hl_site_counted(&sums->sites[numbers[i]])) abort();
        const struct hl_site_place place = hl_site_place(sums, numbers[i]);
        sum += touch(place.path) + touch(place.label) + touch(place.library) + touch(place.tag);
        sum += (uint64_t)hl_site_figure(sums, numbers[i], figure);
    }
    free(numbers);
    return sum;
}

/* Groups hold what their sites held together, and no more rows are left than were asked for, but for equal ones. */
static uint64_t choose(struct hl_flight_sums *sums, const unsigned char *data) {
    struct hl_totals before, after;
    struct hl_problem problem;
    uint32_t rows;
    hl_sites_total(sums, &before);
    if (hl_sites_group(sums, (enum hl_group_by)(data[0] % (HL_BY_OVERVIEW + 1)), &problem)) abort();
    hl_sites_total(sums, &after);
    if (memcmp(&before.all.count, &after.all.count, sizeof(before.all.count))) abort();
    if (before.all.growth_bytes != after.all.growth_bytes) abort();
    const enum hl_figure figure = (enum hl_figure)(data[1] % (HL_MEAN_AGE + 1));
    if (hl_sites_choose(sums, figure, 5, data[0], &rows, &problem)) abort();
    return order(sums, figure, 5) + order(sums, figure, 0);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    uint64_t sum = 0;
    struct hl_flight_sums sums;
    struct hl_problem problem;
    if (size < 2) return 0;
    const size_t split = data[1] % 2 ? (size - 2) / 2 : 0;
    struct hl_flight_copy copy = copy_of(data + 2 + split, size - 2 - split);
    struct hl_flight_copy other = copy_of(data + 2, split);
    mend(&copy, data[0]);
    if (split) move(&copy, &other);
    if (hl_flight_sum(&copy, &sums, &problem) == 0) {
        for (uint32_t i = 0; i < sums.site_count; i++) {
            if (sums.sites[i].count.frees > sums.sites[i].count.allocations) abort();
            const struct hl_site_place place = hl_site_place(&sums, i);
            sum += touch(place.path) + touch(place.label) + touch(place.library) + touch(place.tag);
        }
        sum += choose(&sums, data);
        for (uint32_t i = 0; i < sums.object_count; i++) sum += touch(sums.objects[i].class_name);
        __asm__ volatile("" : : "r"(sum)); /* the reads must not be optimised away */
        hl_flight_sums_release(&sums);
    }
    if (hl_flight_sum_kinds(&copy, &sums, &problem) == 0) {
        for (uint32_t i = 0; i < sums.site_count; i++)
            if (sums.sites[i].count.frees > sums.sites[i].count.allocations) abort();
        hl_flight_sums_release(&sums);
    }
    free(copy.moving.pages);
    free(copy.bytes);
    free(other.bytes);
    return 0;
}
