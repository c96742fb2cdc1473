/* SPDX-License-Identifier: MIT */
#include "lane_repair.h"

#include "flight.h"
#include "lane.h"

/* Forget a directory, or entries of it, that lie beyond the copy. */
static void cut(uint32_t *directory, uint32_t entries, uint32_t pages) {
    if (*directory >= pages) *directory = 0;
    uint32_t *entry = *directory ? hl_flight_page(*directory) : NULL;
    for (uint32_t i = 0; entry && i < entries; i++)
        if (entry[i] >= pages) entry[i] = 0;
}

/* A lane without its first page has none: that one is never missing later. */
static void cut_lane(struct hl_lane_record *record, uint32_t pages) {
    cut(&record->counts, HL_COUNT_PAGES, pages);
    cut(&record->base, HL_COUNT_PAGES, pages);
    cut(&record->old, HL_SITES_MAX / HL_OLD_PER_PAGE, pages);
    if (record->counts && !*(uint32_t *)hl_flight_page(record->counts)) record->counts = 0;
}

/* The lane's counters from `page` of its directory; NULL where it has none. */
static struct hl_count *counts_at(const struct hl_lane_record *record, uint32_t page) {
    const uint32_t *directory = record->counts ? hl_flight_page(record->counts) : NULL;
    return directory && directory[page] ? hl_flight_page(directory[page]) : NULL;
}

/* What was freed was allocated: count it so, in a lane that knows the site. A count may also have been copied between
 * its calls and its bytes: where no block is live, no byte is. */
static void balance(const struct hl_count *sum, struct hl_count *count) {
    uint64_t allocations = sum->allocations;
    if (sum->frees > allocations) {
        count->allocations += sum->frees - allocations;
        allocations = sum->frees;
    }
    if (sum->bytes_freed > sum->bytes_allocated) count->bytes_allocated += sum->bytes_freed - sum->bytes_allocated;
    if (sum->frees == allocations && sum->bytes_freed < sum->bytes_allocated)
        count->bytes_freed += sum->bytes_allocated - sum->bytes_freed;
}

static void add(struct hl_count *sum, const struct hl_count *count) {
    sum->allocations += count->allocations;
    sum->bytes_allocated += count->bytes_allocated;
    sum->frees += count->frees;
    sum->bytes_freed += count->bytes_freed;
}

static void balance_page(uint32_t page) {
    struct hl_count sums[HL_SITES_PER_PAGE] = {0}, *last = NULL;
    for (uint32_t index = 0; index < HL_LANES; index++) {
        struct hl_count *counts = counts_at(hl_lane_record(index), page);
        for (uint32_t i = 0; counts && i < HL_SITES_PER_PAGE; i++) add(&sums[i], &counts[i]);
        if (counts) last = counts;
    }
    for (uint32_t i = 0; last && i < HL_SITES_PER_PAGE; i++) balance(&sums[i], &last[i]);
}

static int64_t live_of(const struct hl_lane_record *record) {
    int64_t live = 0;
    for (uint32_t page = 0; page < HL_COUNT_PAGES; page++) {
        const struct hl_count *counts = counts_at(record, page);
        for (uint32_t i = 0; counts && i < HL_SITES_PER_PAGE; i++)
            if (page || i != HL_SITE_QUIET) live += (int64_t)(counts[i].bytes_allocated - counts[i].bytes_freed);
    }
    return live;
}

/* Did other threads count, ever? */
static int is_shared(void) {
    unsigned lanes = 0;
    for (uint32_t index = 0; index < HL_LANES; index++) lanes += hl_lane_record(index)->counts != 0;
    return lanes > 1;
}

void hl_lane_repair(uint32_t pages) {
    struct hl_flight_header *header = hl_flight.header;
    if (!is_shared()) return;
    for (uint32_t index = 0; index < HL_LANES; index++) cut_lane(hl_lane_record(index), pages);
    for (uint32_t page = 0; page < HL_COUNT_PAGES; page++) balance_page(page);
    header->live_bytes = 0;
    for (uint32_t index = 0; index < HL_LANES; index++) {
        struct hl_lane_record *record = hl_lane_record(index);
        record->live = record->high = record->published = live_of(record);
        header->live_bytes += record->live;
    }
    if (header->peak_bytes < header->live_bytes) header->peak_bytes = header->live_bytes;
}
