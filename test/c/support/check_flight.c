/* SPDX-License-Identifier: MIT */
#include "check_flight.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "flight.h"
#include "site_table.h"

enum {
    DIRECTORY_ENTRIES = HL_SITES_MAX / HL_SITES_PER_PAGE,
    DIRECTORY_PAGES = DIRECTORY_ENTRIES * sizeof(uint32_t) / HL_PAGE_SIZE,
    OLD_ENTRIES = HL_SITES_MAX / HL_OLD_PER_PAGE,
    PAGES_SEEN = 1 << 18,
};

/* By page: what it is used as; 0: not seen yet. Strings share pages, all else does not. */
enum use { UNUSED, FIXED, RECORDS, DIRECTORY, COUNTS, BASE, OLD, STRINGS };
static uint8_t uses[PAGES_SEEN];

static struct hl_lane_record *lane_record(uint32_t index) {
    return (struct hl_lane_record *)hl_flight_page(HL_LANE_TABLE_PAGE) + index;
}

static void claim(uint32_t first, uint32_t count, enum use use) {
    CHECK(first >= HL_FIXED_PAGES && first + count <= hl_flight.header->page_count);
    for (uint32_t page = first; page < first + count && page < PAGES_SEEN; page++) {
        CHECK(uses[page] == UNUSED || (use == STRINGS && uses[page] == STRINGS));
        uses[page] = (uint8_t)use;
    }
}

/* ---- header and strings ---- */

static void check_header(void) {
    const struct hl_flight_header *header = hl_flight.header;
    struct stat status;
    CHECK(memcmp(header->magic, HL_FLIGHT_MAGIC, sizeof(header->magic)) == 0);
    CHECK_EQUAL(header->version, HL_FLIGHT_VERSION);
    CHECK_EQUAL(header->byte_order, HL_FLIGHT_BYTE_ORDER);
    CHECK(header->page_count >= HL_FIXED_PAGES && header->page_count <= header->page_limit);
    CHECK(header->site_count <= header->site_limit && header->site_limit <= HL_SITES_MAX);
    CHECK(header->library_count <= HL_LIBRARIES_MAX && header->tag_count <= HL_TAGS_MAX);
    CHECK(header->peak_bytes >= header->live_bytes);
    if (hl_flight.fd < 0) return;
    CHECK(fstat(hl_flight.fd, &status) == 0 && status.st_size >= (off_t)(header->page_count * HL_PAGE_SIZE));
    CHECK((uint64_t)status.st_blocks * 512 >= header->page_count * HL_PAGE_SIZE); /* L1 */
}

static void check_string(hl_string_ref reference) {
    if (!reference) return;
    const uint64_t place = (uint64_t)reference * 8;
    size_t length;
    CHECK(place / HL_PAGE_SIZE < hl_flight.header->page_count);
    const char *text = hl_flight_text(reference, &length);
    CHECK(length <= HL_STRING_MAX);
    CHECK_EQUAL(text[length], 0);
    const uint64_t last = place + sizeof(uint16_t) + length;
    claim((uint32_t)(place / HL_PAGE_SIZE), (uint32_t)(last / HL_PAGE_SIZE - place / HL_PAGE_SIZE + 1), STRINGS);
}

static void check_names(uint32_t table, uint32_t count, uint32_t limit) {
    const uint32_t *entries = hl_flight_page(table);
    CHECK_EQUAL(entries[0], 0);
    for (uint32_t i = 1; i < limit; i++) {
        CHECK((entries[i] != 0) == (i < count));
        check_string(entries[i]);
    }
}

/* ---- sites ---- */

static void check_record(const struct hl_site_record *record) {
    CHECK(record->library < hl_flight.header->library_count);
    CHECK(record->tag < hl_flight.header->tag_count);
    CHECK(record->kind == HL_KIND_RUBY || record->kind == HL_KIND_NATIVE);
    CHECK((record->path != 0) == (record->kind == HL_KIND_RUBY));
    CHECK(record->born_ns != 0);
    check_string(record->path);
    check_string(record->label);
}

/* F1 */
static void check_records(void) {
    const uint32_t *directory = hl_flight_page(HL_SITE_DIRECTORY_PAGE);
    for (uint32_t i = 0; i < DIRECTORY_ENTRIES; i++)
        if (directory[i]) claim(directory[i], 1, RECORDS);
    for (uint32_t site = HL_SITE_FIRST; site < hl_flight.header->site_count; site++) {
        if (!directory[site / HL_SITES_PER_PAGE]) continue;
        const struct hl_site_record *record = hl_site_record(site);
        if (record->ready) check_record(record);
        struct flight_sums sums = flight_site(site);
        CHECK(record->ready || sums.allocations == 0);
    }
}

static struct hl_count *count_of(uint32_t directory_page, uint32_t site) {
    if (!directory_page) return NULL;
    uint32_t page = ((uint32_t *)hl_flight_page(directory_page))[site / HL_SITES_PER_PAGE];
    return page ? (struct hl_count *)hl_flight_page(page) + site % HL_SITES_PER_PAGE : NULL;
}

static struct hl_old *old_of(uint32_t directory_page, uint32_t site) {
    if (!directory_page) return NULL;
    uint32_t page = ((uint32_t *)hl_flight_page(directory_page))[site / HL_OLD_PER_PAGE];
    return page ? (struct hl_old *)hl_flight_page(page) + site % HL_OLD_PER_PAGE : NULL;
}

static void add_lane(struct flight_sums *sums, const struct hl_lane_record *lane, uint32_t site) {
    const struct hl_count *count = count_of(lane->counts, site);
    const uint64_t baseline = hl_flight.header->baseline;
    if (!count) return;
    sums->allocations += count->allocations;
    sums->bytes_allocated += count->bytes_allocated;
    sums->frees += count->frees;
    sums->bytes_freed += count->bytes_freed;
    sums->temporary += count->temporary;
    sums->age_sum += count->age_sum;
    if (count->age_max > sums->age_max) sums->age_max = count->age_max;
    if (!baseline) return;
    const struct hl_count *before = count_of(lane->base, site);
    if (before && before->age_max > sums->age_max) sums->age_max = before->age_max;
    /* A lane that has not seen the baseline counted nothing since: its counts are its base. */
    const struct hl_count *base = lane->baseline == baseline ? count_of(lane->base, site) : count;
    if (base) sums->base_live_bytes += base->bytes_allocated - base->bytes_freed;
    const struct hl_old *old = lane->baseline == baseline ? old_of(lane->old, site) : NULL;
    if (!old) return;
    sums->old_frees += old->frees;
    sums->old_bytes_freed += old->bytes_freed;
}

struct flight_sums flight_site(uint32_t site) {
    struct flight_sums sums = {0};
    for (uint32_t index = 0; index < HL_LANES; index++) add_lane(&sums, lane_record(index), site);
    return sums;
}

struct flight_sums flight_all(void) {
    struct flight_sums sums = {0};
    for (uint32_t site = 0; site < hl_flight.header->site_count; site++)
        for (uint32_t index = 0; site != HL_SITE_QUIET && index < HL_LANES; index++)
            add_lane(&sums, lane_record(index), site);
    return sums;
}

uint32_t flight_find(const char *path, uint32_t line) {
    for (uint32_t site = HL_SITE_FIRST; site < hl_flight.header->site_count; site++) {
        const struct hl_site_record *record = hl_site_record(site);
        size_t length;
        if (!record->ready || record->kind != HL_KIND_RUBY || record->line != line) continue;
        const char *text = hl_flight_text(record->path, &length);
        if (length == strlen(path) && memcmp(text, path, length) == 0) return site;
    }
    return 0;
}

/* ---- lanes ---- */

static void claim_directory(uint32_t page, uint32_t pages, uint32_t entries, enum use use) {
    if (!page) return;
    claim(page, pages, DIRECTORY);
    const uint32_t *directory = hl_flight_page(page);
    for (uint32_t i = 0; i < entries; i++)
        if (directory[i]) claim(directory[i], 1, use);
}

static void check_count(const struct hl_lane_record *lane, uint32_t site) {
    const struct hl_count *count = count_of(lane->counts, site), *base = count_of(lane->base, site);
    const struct hl_old *old = old_of(lane->old, site);
    if (!count) return;
    CHECK(count->temporary <= count->frees);
    CHECK(count->age_sum >= count->age_max && count->age_ms_sum >= count->age_ms_max);
    if (base) CHECK(base->allocations <= count->allocations && base->frees <= count->frees); /* F2 */
    if (old) CHECK(old->frees <= count->frees - (base ? base->frees : 0));
}

static void check_lane(const struct hl_lane_record *lane) {
    int64_t live = 0;
    claim_directory(lane->counts, DIRECTORY_PAGES, DIRECTORY_ENTRIES, COUNTS);
    claim_directory(lane->base, DIRECTORY_PAGES, DIRECTORY_ENTRIES, BASE);
    claim_directory(lane->old, 1, OLD_ENTRIES, OLD);
    CHECK(lane->baseline <= hl_flight.header->baseline);
    CHECK(lane->high >= lane->live && lane->high >= lane->published);
    for (uint32_t site = 0; site < hl_flight.header->site_count; site++) {
        const struct hl_count *count = count_of(lane->counts, site);
        check_count(lane, site);
        if (count && site != HL_SITE_QUIET) live += (int64_t)(count->bytes_allocated - count->bytes_freed);
    }
    CHECK_EQUAL(lane->live, live); /* C1: nothing lost by a second writer */
}

static void check_lanes(void) {
    int64_t published = 0;
    for (uint32_t index = 0; index < HL_LANES; index++) {
        const struct hl_lane_record *lane = lane_record(index);
        if (lane->counts) check_lane(lane);
        published += lane->published;
        for (uint32_t other = 0; other < index; other++)
            CHECK(!lane->owner || lane->owner != lane_record(other)->owner);
    }
    CHECK_EQUAL(hl_flight.header->live_bytes, published);
}

/* ---- sums over the lanes ---- */

static void check_sums(uint32_t site) {
    struct flight_sums sums = flight_site(site);
    CHECK(sums.frees <= sums.allocations);
    CHECK(sums.bytes_freed <= sums.bytes_allocated);
    CHECK(sums.old_bytes_freed <= sums.base_live_bytes); /* C2 */
    CHECK(sums.frees < sums.allocations || sums.bytes_freed == sums.bytes_allocated);
}

void check_flight(void) {
    memset(uses, UNUSED, sizeof(uses));
    memset(uses, FIXED, HL_FIXED_PAGES);
    check_header();
    check_records();
    check_names(HL_LIBRARY_TABLE_PAGE, hl_flight.header->library_count, HL_LIBRARIES_MAX);
    check_names(HL_TAG_TABLE_PAGE, hl_flight.header->tag_count, HL_TAGS_MAX);
    check_lanes();
    CHECK_EQUAL(flight_site(HL_SITE_NONE).allocations, 0);
    for (uint32_t site = HL_SITE_OTHER; site < hl_flight.header->site_count; site++) check_sums(site);
}
