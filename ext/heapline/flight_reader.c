/* SPDX-License-Identifier: MIT */
#include "flight_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flight_pages.h"
#include "object_reader.h"

enum { DIRECTORY_PAGES = HL_SITES_MAX / HL_SITES_PER_PAGE * sizeof(uint32_t) / HL_PAGE_SIZE, OLD_DIRECTORY_PAGES = 1 };

/* One lane in both copies. */
struct lane_pair {
    const struct hl_lane_record *freed, *allocated;
    int base_seen;    /* `allocated` saw the baseline in force */
    int is_unlimited; /* there is no baseline: all began with 0 */
};

int hl_flight_check_header(const struct hl_flight_header *header, struct hl_problem *problem) {
    if (memcmp(header->magic, HL_FLIGHT_MAGIC, sizeof(header->magic)))
        return hl_flight_fail(problem, "it is not a flight file: it does not begin with %s", HL_FLIGHT_MAGIC);
    if (header->byte_order != HL_FLIGHT_BYTE_ORDER)
        return hl_flight_fail(problem, "it was written on a machine of another byte order: read it there");
    if (header->version != HL_FLIGHT_VERSION)
        return hl_flight_fail(
            problem, "it has format version %u, this heapline reads version %u: use the heapline that wrote it",
            header->version, HL_FLIGHT_VERSION);
    if (header->page_count < HL_FIXED_PAGES || header->page_count > HL_PAGES_MAX)
        return hl_flight_fail(problem, "it is damaged: its header speaks of %llu pages",
                              (unsigned long long)header->page_count);
    if (header->site_count > HL_SITES_MAX)
        return hl_flight_fail(problem, "it is damaged: its header speaks of %u sites", header->site_count);
    if (header->library_count > HL_LIBRARIES_MAX || header->tag_count > HL_TAGS_MAX)
        return hl_flight_fail(problem, "it is damaged: its header speaks of %u libraries and %u tags",
                              header->library_count, header->tag_count);
    if (header->object_rows > HL_OBJECT_ROWS_MAX || header->object_classes > HL_OBJECT_CLASSES_MAX)
        return hl_flight_fail(problem, "it is damaged: its header speaks of %u rows of objects and %u classes",
                              header->object_rows, header->object_classes);
    if (header->command_length > sizeof(header->command))
        return hl_flight_fail(problem, "it is damaged: its header speaks of a command of %u bytes",
                              header->command_length);
    return 0;
}

static const struct hl_flight_header *header_of(const struct hl_flight_copy *copy) {
    return hl_flight_at(copy, HL_HEADER_PAGE);
}

static const struct hl_lane_record *lane_of(const struct hl_flight_copy *copy, uint32_t number) {
    return (const struct hl_lane_record *)hl_flight_at(copy, HL_LANE_TABLE_PAGE) + number;
}

/* Entry `index` of a table of strings with `count` entries; no string where the entry is newer than the copy. */
static int find_name(const struct hl_flight_copy *copy, uint32_t table, uint32_t index, uint32_t limit,
                     struct hl_span *span, struct hl_problem *problem) {
    int absent = 0;
    if (index >= limit) return hl_flight_fail(problem, "it is damaged: it refers to name %u of %u", index, limit);
    return hl_flight_find_string(copy, ((const uint32_t *)hl_flight_at(copy, table))[index], span, &absent, problem);
}

static int read_record(const struct hl_flight_copy *copy, const struct hl_site_record *record,
                       struct hl_site_sums *site, struct hl_problem *problem) {
    int absent = 0, failed;
    if (!record->ready) return 0;
    if (record->kind > HL_KIND_NATIVE)
        return hl_flight_fail(problem, "it is damaged: a site is of kind %u", record->kind);
    if ((failed = hl_flight_find_string(copy, record->path, &site->path, &absent, problem))) return failed;
    if ((failed = hl_flight_find_string(copy, record->label, &site->label, &absent, problem))) return failed;
    failed = find_name(copy, HL_LIBRARY_TABLE_PAGE, record->library, HL_LIBRARIES_MAX, &site->library, problem);
    if (failed) return failed;
    if ((failed = find_name(copy, HL_TAG_TABLE_PAGE, record->tag, HL_TAGS_MAX, &site->tag, problem))) return failed;
    site->kind = record->kind;
    site->line = record->line;
    site->offset = record->offset;
    site->symbol_offset = record->symbol_offset;
    site->known = !absent;
    return 0;
}

static int read_records(const struct hl_flight_copy *copy, struct hl_flight_sums *sums, struct hl_problem *problem) {
    const uint32_t *directory = hl_flight_at(copy, HL_SITE_DIRECTORY_PAGE);
    for (uint32_t number = 0; number < sums->site_count; number++) {
        const void *page;
        int failed = hl_flight_find_in_directory(copy, directory, number, HL_SITES_PER_PAGE, &page, problem);
        if (!failed && number < HL_SITE_FIRST)
            sums->sites[number].known = 1;
        else if (!failed && page)
            failed = read_record(copy, (const struct hl_site_record *)page + number % HL_SITES_PER_PAGE,
                                 &sums->sites[number], problem);
        if (failed) return failed;
    }
    return 0;
}

static void add_allocations(struct hl_count *sum, const struct hl_count *count) {
    sum->allocations += count->allocations;
    sum->bytes_allocated += count->bytes_allocated;
}

static void add_longest(struct hl_count *sum, const struct hl_count *count) {
    if (count->age_max > sum->age_max) sum->age_max = count->age_max;
    if (count->age_ms_max > sum->age_ms_max) sum->age_ms_max = count->age_ms_max;
}

static void add_frees(struct hl_count *sum, const struct hl_count *count) {
    sum->frees += count->frees;
    sum->bytes_freed += count->bytes_freed;
    sum->age_sum += count->age_sum;
    sum->age_ms_sum += count->age_ms_sum;
    sum->temporary += count->temporary;
    add_longest(sum, count);
}

static uint64_t beyond(uint64_t now, uint64_t before) {
    return now > before ? now - before : 0;
}

/* Add what one lane counted for one site. `base` is NULL where nothing was counted up to the baseline. */
static void add_lane(struct hl_site_sums *site, const struct hl_count *allocated, const struct hl_count *freed,
                     const struct hl_count *base, const struct hl_old *old) {
    add_allocations(&site->count, allocated);
    add_frees(&site->count, freed);
    add_longest(&site->count, base);
    site->base_allocations += base->allocations;
    site->base_bytes_allocated += base->bytes_allocated;
    site->base_frees += base->frees;
    site->base_bytes_freed += base->bytes_freed;
    site->new_frees += beyond(beyond(freed->frees, base->frees), old->frees);
    site->new_bytes_freed += beyond(beyond(freed->bytes_freed, base->bytes_freed), old->bytes_freed);
    site->base_age_sum += base->age_sum;
    site->base_age_ms_sum += base->age_ms_sum;
    site->base_temporary += base->temporary;
}

/* The pages of one lane that hold one block of HL_SITES_PER_PAGE sites. */
struct lane_pages {
    const struct hl_count *allocated, *freed, *base;
    const struct hl_old *old;
};

static void add_pages(struct hl_flight_sums *sums, const struct lane_pair *lane, const struct lane_pages *pages,
                      uint32_t first) {
    static const struct hl_count nothing;
    static const struct hl_old no_old;
    for (uint32_t i = 0; i < HL_SITES_PER_PAGE && first + i < sums->site_count; i++) {
        const struct hl_count *allocated = pages->allocated ? &pages->allocated[i] : &nothing;
        const struct hl_count *freed = pages->freed ? &pages->freed[i] : &nothing;
        struct hl_count now = *allocated;
        const struct hl_count *base = pages->base ? &pages->base[i] : &nothing;
        if (!lane->base_seen && !lane->is_unlimited) {
            add_longest(&now, base);
            now.frees = freed->frees;
            now.bytes_freed = freed->bytes_freed;
            now.age_sum = freed->age_sum;
            now.age_ms_sum = freed->age_ms_sum;
            now.temporary = freed->temporary;
            base = &now;
        }
        const int since = lane->is_unlimited || (lane->base_seen && lane->freed->baseline == lane->allocated->baseline);
        struct hl_site_sums *site = &sums->sites[first + i];
        if (since && freed->age_max > site->new_age_max) site->new_age_max = freed->age_max;
        add_lane(site, allocated, freed, base, pages->old ? &pages->old[(first + i) % HL_OLD_PER_PAGE] : &no_old);
    }
}

/* The four directories of a lane, each in the copy that it is read from. */
struct lane_directories {
    const uint32_t *allocated, *freed, *base, *old;
    const struct hl_flight_copy *old_copy;
};

static int find_directories(const struct hl_flight_copy *freed, const struct hl_flight_copy *allocated,
                            const struct lane_pair *lane, struct lane_directories *found, struct hl_problem *problem) {
    const uint64_t baseline = header_of(allocated)->baseline;
    const void *page;
    int failed;
    memset(found, 0, sizeof(*found));
    if ((failed = hl_flight_find_pages(allocated, lane->allocated->counts, DIRECTORY_PAGES, &page, problem)))
        return failed;
    found->allocated = page;
    if ((failed = hl_flight_find_pages(freed, lane->freed->counts, DIRECTORY_PAGES, &page, problem))) return failed;
    found->freed = page;
    if ((failed = hl_flight_find_pages(allocated, lane->allocated->base, DIRECTORY_PAGES, &page, problem)))
        return failed;
    found->base = page;
    if (!lane->base_seen) return 0;
    /* Where the lane saw the baseline only between the copies, the first one's `old` is of the baseline before. */
    const int both = lane->freed->baseline == baseline;
    found->old_copy = both ? freed : allocated;
    const uint32_t old = both ? lane->freed->old : lane->allocated->old;
    if ((failed = hl_flight_find_pages(found->old_copy, old, OLD_DIRECTORY_PAGES, &page, problem))) return failed;
    found->old = page;
    return 0;
}

static int sum_lane(const struct hl_flight_copy *freed, const struct hl_flight_copy *allocated, uint32_t number,
                    struct hl_flight_sums *sums, struct hl_problem *problem) {
    const uint64_t baseline = header_of(allocated)->baseline;
    struct lane_pair lane = {lane_of(freed, number), lane_of(allocated, number), 0, baseline == 0};
    struct lane_directories in;
    lane.base_seen = baseline != 0 && lane.allocated->baseline == baseline;
    int failed = find_directories(freed, allocated, &lane, &in, problem);
    for (uint32_t first = 0; !failed && first < sums->site_count; first += HL_SITES_PER_PAGE) {
        const void *page[4] = {NULL, NULL, NULL, NULL};
        failed = hl_flight_find_in_directory(allocated, in.allocated, first, HL_SITES_PER_PAGE, &page[0], problem);
        if (!failed) failed = hl_flight_find_in_directory(freed, in.freed, first, HL_SITES_PER_PAGE, &page[1], problem);
        if (!failed)
            failed = hl_flight_find_in_directory(allocated, in.base, first, HL_SITES_PER_PAGE, &page[2], problem);
        if (!failed)
            failed = hl_flight_find_in_directory(in.old_copy, in.old, first, HL_OLD_PER_PAGE, &page[3], problem);
        if (failed || !(page[0] || page[1] || page[2])) continue;
        struct lane_pages pages = {page[0], page[1], page[2], page[3]};
        add_pages(sums, &lane, &pages, first);
    }
    return failed;
}

/* The header knows the peak only as far as lanes published; each lane's own high mark may lie above. */
static void find_peak(const struct hl_flight_copy *copy, struct hl_flight_sums *sums) {
    const struct hl_flight_header *header = header_of(copy);
    sums->peak_bytes = header->peak_bytes;
    for (uint32_t number = 0; number < HL_LANES; number++) {
        const struct hl_lane_record *lane = lane_of(copy, number);
        const int64_t high = (int64_t)((uint64_t)header->live_bytes + (uint64_t)lane->high - (uint64_t)lane->published);
        if (lane->owner) sums->threads++;
        if (high > sums->peak_bytes) sums->peak_bytes = high;
    }
}

static void count_impossible(struct hl_flight_sums *sums) {
    for (uint32_t number = 0; number < sums->site_count; number++) {
        const struct hl_count *count = &sums->sites[number].count;
        if (count->frees > count->allocations || count->bytes_freed > count->bytes_allocated) sums->impossible++;
    }
}

int hl_flight_sum(const struct hl_flight_copy *freed, const struct hl_flight_copy *allocated,
                  struct hl_flight_sums *sums, struct hl_problem *problem) {
    memset(sums, 0, sizeof(*sums));
    int failed = hl_flight_check_header(header_of(freed), problem);
    if (!failed) failed = hl_flight_check_header(header_of(allocated), problem);
    if (failed) return failed;
    sums->header = header_of(allocated);
    sums->site_count = sums->header->site_count;
    if (sums->site_count < HL_SITE_FIRST) sums->site_count = HL_SITE_FIRST;
    sums->sites = calloc(sums->site_count, sizeof(*sums->sites));
    if (!sums->sites) {
        hl_flight_fail(problem, "there is no memory for its %u sites", sums->site_count);
        return -ENOMEM;
    }
    failed = read_records(allocated, sums, problem);
    for (uint32_t number = 0; !failed && number < HL_LANES; number++)
        failed = sum_lane(freed, allocated, number, sums, problem);
    if (!failed) failed = hl_objects_read(freed, allocated, sums, problem);
    if (failed) {
        hl_flight_sums_release(sums);
        return failed;
    }
    find_peak(allocated, sums);
    count_impossible(sums);
    return 0;
}

/* A page of the copy that is being settled: the functions that find pages have them for reading. */
static void *writable(const void *page) {
    return (void *)(uintptr_t)page;
}

static void settle_counts(struct hl_count *into, const struct hl_count *from) {
    static const struct hl_count nothing;
    for (uint32_t i = 0; i < HL_SITES_PER_PAGE; i++) {
        const uint64_t allocations = into[i].allocations, bytes_allocated = into[i].bytes_allocated;
        into[i] = from ? from[i] : nothing;
        into[i].allocations = allocations;
        into[i].bytes_allocated = bytes_allocated;
    }
}

static void settle_old(void *into, const void *from) {
    if (from)
        memcpy(into, from, HL_PAGE_SIZE);
    else
        memset(into, 0, HL_PAGE_SIZE);
}

/* Errors were seen when the copies were summed: here they only end the loops. */
static void settle_lane(const struct hl_flight_copy *freed, const struct hl_flight_copy *allocated, uint32_t number) {
    const uint64_t baseline = header_of(allocated)->baseline;
    struct lane_pair lane = {lane_of(freed, number), lane_of(allocated, number), 0, baseline == 0};
    lane.base_seen = baseline != 0 && lane.allocated->baseline == baseline;
    const uint32_t sites = header_of(allocated)->site_count;
    struct lane_directories in;
    struct hl_problem seen;
    const void *old, *into, *from;
    if (find_directories(freed, allocated, &lane, &in, &seen)) return;
    for (uint32_t first = 0; first < sites; first += HL_SITES_PER_PAGE) {
        if (hl_flight_find_in_directory(allocated, in.allocated, first, HL_SITES_PER_PAGE, &into, &seen)) return;
        if (hl_flight_find_in_directory(freed, in.freed, first, HL_SITES_PER_PAGE, &from, &seen)) return;
        if (into) settle_counts(writable(into), from);
    }
    if (in.old_copy != freed) return;
    if (hl_flight_find_pages(allocated, lane.allocated->old, OLD_DIRECTORY_PAGES, &old, &seen)) return;
    for (uint32_t first = 0; first < sites; first += HL_OLD_PER_PAGE) {
        if (hl_flight_find_in_directory(allocated, old, first, HL_OLD_PER_PAGE, &into, &seen)) return;
        if (hl_flight_find_in_directory(freed, in.old, first, HL_OLD_PER_PAGE, &from, &seen)) return;
        if (into) settle_old(writable(into), from);
    }
}

/* Sites whose strings are newer than the copy are not ready in it. */
static void settle_records(const struct hl_flight_copy *copy) {
    const uint32_t *directory = hl_flight_at(copy, HL_SITE_DIRECTORY_PAGE);
    struct hl_problem seen;
    const void *page;
    for (uint32_t number = HL_SITE_FIRST; number < header_of(copy)->site_count; number++) {
        struct hl_site_sums site = {0};
        if (hl_flight_find_in_directory(copy, directory, number, HL_SITES_PER_PAGE, &page, &seen)) return;
        if (!page) continue;
        struct hl_site_record *record = (struct hl_site_record *)writable(page) + number % HL_SITES_PER_PAGE;
        if (read_record(copy, record, &site, &seen)) return;
        record->ready = (uint8_t)site.known;
    }
}

static void settle_names(const struct hl_flight_copy *copy, uint32_t table, uint32_t count) {
    uint32_t *names = writable(hl_flight_at(copy, table));
    for (uint32_t i = 0; i < count; i++)
        if ((uint64_t)names[i] * 8 >= copy->pages * HL_PAGE_SIZE) names[i] = 0;
}

int hl_flight_settle(const struct hl_flight_copy *freed, struct hl_flight_copy *allocated, struct hl_problem *problem) {
    for (uint32_t number = 0; number < HL_LANES; number++) settle_lane(freed, allocated, number);
    hl_objects_settle(freed, allocated);
    settle_records(allocated);
    settle_names(allocated, HL_LIBRARY_TABLE_PAGE, HL_LIBRARIES_MAX);
    settle_names(allocated, HL_TAG_TABLE_PAGE, HL_TAGS_MAX);
    unsigned char *bytes = realloc(allocated->bytes, allocated->pages_now * HL_PAGE_SIZE);
    if (!bytes) {
        hl_flight_fail(problem, "there is no memory for its %llu pages", (unsigned long long)allocated->pages_now);
        return -ENOMEM;
    }
    memset(bytes + allocated->pages * HL_PAGE_SIZE, 0, (allocated->pages_now - allocated->pages) * HL_PAGE_SIZE);
    allocated->bytes = bytes;
    allocated->pages = allocated->pages_now;
    ((struct hl_flight_header *)bytes)->page_count = allocated->pages;
    return 0;
}

void hl_flight_sums_release(struct hl_flight_sums *sums) {
    free(sums->sites);
    free(sums->objects);
    sums->sites = NULL;
    sums->objects = NULL;
}
