/* SPDX-License-Identifier: MIT */
#include "check_flight.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "account/lane_counts.h"
#include "check.h"
#include "flight/flight.h"
#include "flight/site_table.h"
#include "state/guard.h"

enum {
    DIRECTORY_ENTRIES = HL_SITES_MAX / HL_SITES_PER_PAGE,
    ENTRIES = HL_PAGE_SIZE / sizeof(uint32_t),
    PAGES_SEEN = 1 << 18,
};

/* By page: what it is used as; 0: not seen yet. Strings share pages, and so do cells; all else does not. */
enum use { UNUSED, FIXED, DIRECTORY, RECORDS, CELLS, STRINGS };
static uint8_t uses[PAGES_SEEN];
static uint64_t cells_used[PAGES_SEEN]; /* by page: a bit for each cell */

static void claim(uint32_t first, uint32_t count, enum use use) {
    CHECK(first >= HL_FIXED_PAGES && first + count <= hl_flight.header->page_count);
    for (uint32_t page = first; page < first + count && page < PAGES_SEEN; page++) {
        CHECK(uses[page] == UNUSED || (use >= CELLS && uses[page] == use));
        uses[page] = (uint8_t)use;
    }
}

static void claim_cells(hl_cell_ref first, uint32_t count) {
    for (uint32_t cell = first; cell < first + count; cell++) {
        const uint32_t page = cell / 64;
        claim(page, 1, CELLS);
        CHECK(page < PAGES_SEEN && !(cells_used[page] & 1ull << cell % 64));
        if (page < PAGES_SEEN) cells_used[page] |= 1ull << cell % 64;
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
    /* A forked child's has holes where its parent had counts. */
    CHECK(header->forked_from || (uint64_t)status.st_blocks * 512 >= header->page_count * HL_PAGE_SIZE); /* L1 */
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

static void check_names(uint32_t directory_page, uint32_t count, uint32_t limit) {
    const uint32_t *directory = hl_flight_page(directory_page);
    for (uint32_t i = 0; i < ENTRIES; i++)
        if (directory[i]) claim(directory[i], 1, DIRECTORY);
    for (uint32_t number = 0; number < limit; number++) {
        const uint32_t page = directory[number / HL_NAMES_PER_PAGE];
        const hl_string_ref *names = hl_flight_page(page), name = page ? names[number % HL_NAMES_PER_PAGE] : 0;
        CHECK((name != 0) == (number && number < count));
        check_string(name);
    }
}

/* ---- sites ---- */

static struct flight_sums sums_of_sites[HL_SITES_MAX];

static void check_record(const struct hl_site_record *record) {
    CHECK(record->library < hl_flight.header->library_count);
    CHECK(record->tag < hl_flight.header->tag_count);
    CHECK(record->kind == HL_KIND_RUBY || record->kind == HL_KIND_NATIVE);
    CHECK(record->kind != HL_KIND_RUBY || (record->path != 0 && record->loading <= HL_RUBY_LOADING));
    if (record->kind == HL_KIND_RUBY) check_string(record->path);
    check_string(record->label);
}

/* F1 */
static void check_records(void) {
    const uint32_t *top = hl_flight_page(HL_SITE_DIRECTORY_PAGE);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        const uint32_t *directory = hl_flight_page(top[i]);
        if (top[i]) claim(top[i], 1, DIRECTORY);
        for (uint32_t j = 0; top[i] && j < ENTRIES; j++)
            if (directory[j]) claim(directory[j], 1, RECORDS);
    }
    for (uint32_t site = HL_SITE_FIRST; site < hl_flight.header->site_count; site++) {
        const uint32_t *directory = hl_flight_page(top[site / HL_SITES_PER_DIRECTORY]);
        if (!directory[site % HL_SITES_PER_DIRECTORY / HL_SITES_PER_PAGE]) continue;
        const struct hl_site_record *record = hl_site_record(site);
        if (record->ready) check_record(record);
        CHECK(record->ready || sums_of_sites[site].allocations == 0);
    }
}

static void add_count(struct flight_sums *sums, const struct hl_count_chunk *chunk, uint32_t slot) {
    const struct hl_count *count = &hl_chunk_counts(chunk)[slot];
    const uint64_t baseline = hl_flight.header->baseline;
    const struct hl_count *before = chunk->base ? (struct hl_count *)hl_flight_cell(chunk->base) + slot : NULL;
    sums->allocations += count->allocations;
    sums->bytes_allocated += count->bytes_allocated;
    sums->frees += count->frees;
    sums->bytes_freed += count->bytes_freed;
    sums->temporary += count->temporary;
    sums->age_sum += count->age_sum;
    sums->age_ms_sum += count->age_ms_sum;
    if (count->age_max > sums->age_max) sums->age_max = count->age_max;
    if (!baseline) return;
    if (before && before->age_max > sums->age_max) sums->age_max = before->age_max;
    /* A chunk that has not seen the baseline counted nothing since: its counts are its base. */
    const struct hl_count *base = chunk->baseline == baseline ? before : count;
    if (base) sums->base_live_bytes += base->bytes_allocated - base->bytes_freed;
    if (chunk->baseline != baseline || !chunk->base) return;
    const struct hl_old *old = (struct hl_old *)hl_flight_cell(chunk->base + chunk->capacity) + slot;
    sums->old_frees += old->frees;
    sums->old_bytes_freed += old->bytes_freed;
}

/* Call `each` for each count of each lane. */
static void each_count(void (*each)(const struct hl_count_chunk *chunk, uint32_t slot)) {
    for (struct hl_lane_record *record = NULL; (record = hl_lane_record_after(record));)
        for (struct hl_count_chunk *chunk = NULL; (chunk = hl_chunk_after(record, chunk));)
            for (uint32_t slot = 0; slot < chunk->used; slot++) each(chunk, slot);
}

static uint32_t wanted;
static struct flight_sums found;

static void add_wanted(const struct hl_count_chunk *chunk, uint32_t slot) {
    if (chunk->sites[slot] == wanted) add_count(&found, chunk, slot);
}

struct flight_sums flight_site(uint32_t site) {
    wanted = site;
    memset(&found, 0, sizeof(found));
    each_count(add_wanted);
    return found;
}

static void add_to_site(const struct hl_count_chunk *chunk, uint32_t slot) {
    CHECK(chunk->sites[slot] < hl_flight.header->site_count);
    if (chunk->sites[slot] < HL_SITES_MAX) add_count(&sums_of_sites[chunk->sites[slot]], chunk, slot);
}

const struct flight_sums *flight_sites(void) {
    memset(sums_of_sites, 0, sizeof(sums_of_sites));
    each_count(add_to_site);
    return sums_of_sites;
}

static void add_to_all(const struct hl_count_chunk *chunk, uint32_t slot) {
    if (chunk->sites[slot] != HL_SITE_QUIET) add_count(&found, chunk, slot);
}

struct flight_sums flight_all(void) {
    memset(&found, 0, sizeof(found));
    each_count(add_to_all);
    return found;
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

/* The live bytes of a chunk. */
static int64_t check_chunk(const struct hl_count_chunk *chunk) {
    const struct hl_count *counts = hl_chunk_counts(chunk);
    const struct hl_count *base = chunk->base ? hl_flight_cell(chunk->base) : NULL;
    const struct hl_old *old = chunk->base ? hl_flight_cell(chunk->base + chunk->capacity) : NULL;
    int64_t live = 0;
    claim_cells((hl_cell_ref)(((const char *)chunk - hl_flight.base) / HL_CELL_SIZE), hl_chunk_cells(chunk->capacity));
    if (base) claim_cells(chunk->base, hl_base_cells(chunk->capacity));
    CHECK(chunk->used <= chunk->capacity && chunk->baseline <= hl_flight.header->baseline);
    for (uint32_t i = 0; i < chunk->used; i++) {
        CHECK(counts[i].temporary <= counts[i].frees);
        CHECK(counts[i].age_sum >= counts[i].age_max && counts[i].age_ms_sum >= counts[i].age_ms_max);
        if (base) CHECK(base[i].allocations <= counts[i].allocations && base[i].frees <= counts[i].frees); /* F2 */
        if (base) CHECK(old[i].frees <= counts[i].frees - base[i].frees);
        if (chunk->sites[i] != HL_SITE_QUIET) live += (int64_t)(counts[i].bytes_allocated - counts[i].bytes_freed);
    }
    return live;
}

static void check_lane(const struct hl_lane_record *lane) {
    int64_t live = 0;
    claim_cells((hl_cell_ref)(((const char *)lane - hl_flight.base) / HL_CELL_SIZE), 1);
    CHECK(lane->high >= lane->live && lane->high >= lane->published);
    for (const struct hl_count_chunk *chunk = NULL; (chunk = hl_chunk_after(lane, chunk));) live += check_chunk(chunk);
    CHECK_EQUAL(lane->live, live); /* C1: nothing lost by a second writer */
}

/* C3 */
void check_lanes(void) {
    int64_t published = 0, live = 0;
    memset(cells_used, 0, sizeof(cells_used));
    uint32_t number = 0;
    for (const struct hl_lane_record *lane = NULL; (lane = hl_lane_record_after(lane));) {
        check_lane(lane);
        published += lane->published;
        live += lane->live;
        CHECK_EQUAL(lane->number, number++);
        for (const struct hl_lane_record *other = lane; (other = hl_lane_record_after(other));)
            CHECK(!lane->owner || lane->owner != other->owner);
    }
    CHECK(number > 0 || !hl_gate.open); /* tables alone have none */
    CHECK_EQUAL(hl_flight.header->live_bytes, published);
    const struct flight_sums all = flight_all();
    CHECK_EQUAL(live, (int64_t)(all.bytes_allocated - all.bytes_freed));
}

/* ---- sums over the lanes ---- */

static void check_sums(uint32_t site) {
    const struct flight_sums sums = sums_of_sites[site];
    CHECK(sums.frees <= sums.allocations);
    CHECK(sums.bytes_freed <= sums.bytes_allocated);
    CHECK(sums.old_bytes_freed <= sums.base_live_bytes); /* C2 */
    CHECK(sums.frees < sums.allocations || sums.bytes_freed == sums.bytes_allocated);
}

void check_flight(void) {
    memset(uses, UNUSED, sizeof(uses));
    memset(uses, FIXED, HL_FIXED_PAGES);
    flight_sites();
    check_header();
    check_records();
    check_names(HL_LIBRARY_DIRECTORY_PAGE, hl_flight.header->library_count, HL_LIBRARIES_MAX);
    check_names(HL_TAG_DIRECTORY_PAGE, hl_flight.header->tag_count, HL_TAGS_MAX);
    check_lanes();
    CHECK_EQUAL(flight_site(HL_SITE_NONE).allocations, 0);
    for (uint32_t site = HL_SITE_OTHER; site < hl_flight.header->site_count; site++) check_sums(site);
}
