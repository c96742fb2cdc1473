/* SPDX-License-Identifier: MIT */
#include "flight_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const struct hl_flight_header *header_of(const struct hl_flight_copy *copy) {
    return hl_flight_at(copy, HL_HEADER_PAGE);
}

/* Name `number` below `limit`, through its directory. */
static int find_name(const struct hl_flight_copy *copy, uint32_t directory, uint32_t number, uint32_t limit,
                     struct hl_span *span, struct hl_problem *problem) {
    const void *names;
    *span = (struct hl_span){0};
    if (!number) return 0;
    if (number >= limit) return hl_flight_fail(problem, "it is damaged: it refers to name %u of %u", number, limit);
    const int failed =
        hl_flight_find_in_directory(copy, hl_flight_at(copy, directory), number, HL_NAMES_PER_PAGE, &names, problem);
    if (failed || !names) return failed;
    return hl_flight_find_string(copy, ((const hl_string_ref *)names)[number % HL_NAMES_PER_PAGE], span, problem);
}

/* The page of records that was looked at last: most often the next site's lies there too. */
struct records {
    const void *page; /* NULL: there is none */
    uint32_t number;  /* + 1 */
};

/* A site's record into *record; NULL where there is none, or where it is not ready. */
static int find_record(const struct hl_flight_copy *copy, uint32_t number, struct records *last,
                       const struct hl_site_record **record, struct hl_problem *problem) {
    const uint32_t page = number / HL_SITES_PER_PAGE + 1;
    const void *directory;
    int failed = 0;
    *record = NULL;
    if (page != last->number) {
        failed = hl_flight_find_in_directory(copy, hl_flight_at(copy, HL_SITE_DIRECTORY_PAGE), number,
                                             HL_SITES_PER_DIRECTORY, &directory, problem);
        last->page = NULL;
        if (!failed && directory)
            failed = hl_flight_find_in_directory(copy, directory, number % HL_SITES_PER_DIRECTORY, HL_SITES_PER_PAGE,
                                                 &last->page, problem);
        last->number = page;
    }
    if (failed || !last->page) return failed;
    const struct hl_site_record *found = (const struct hl_site_record *)last->page + number % HL_SITES_PER_PAGE;
    if (!found->ready) return 0;
    if (found->kind > HL_KIND_NATIVE)
        return hl_flight_fail(problem, "it is damaged: a site is of kind %u", found->kind);
    *record = found;
    return 0;
}

static int read_place(const struct hl_flight_copy *copy, const struct hl_site_record *record,
                      struct hl_site_place *place, struct hl_problem *problem) {
    const struct hl_site_fields fields = hl_site_fields(record);
    int failed;
    if ((failed = hl_flight_find_string(copy, fields.path, &place->path, problem))) return failed;
    if ((failed = hl_flight_find_string(copy, record->label, &place->label, problem))) return failed;
    failed = find_name(copy, HL_LIBRARY_DIRECTORY_PAGE, record->library, HL_LIBRARIES_MAX, &place->library, problem);
    if (failed) return failed;
    if ((failed = find_name(copy, HL_TAG_DIRECTORY_PAGE, record->tag, HL_TAGS_MAX, &place->tag, problem)))
        return failed;
    place->kind = record->kind;
    place->line = fields.line;
    place->offset = fields.loading ? fields.loading : fields.offset;
    place->symbol_offset = fields.symbol_offset;
    return 0;
}

/* What the record before this one refers to: most have the same path, library and tag. */
struct referred {
    hl_string_ref path;
    uint32_t library, tag;
    int named; /* these two have names */
};

/* A name may be given meanwhile. */
static int find_names(const struct hl_flight_copy *copy, const struct hl_site_record *record, struct referred *last,
                      struct hl_problem *problem) {
    struct hl_span library, tag;
    if (record->library == last->library && record->tag == last->tag) return 0;
    int failed = find_name(copy, HL_LIBRARY_DIRECTORY_PAGE, record->library, HL_LIBRARIES_MAX, &library, problem);
    if (!failed) failed = find_name(copy, HL_TAG_DIRECTORY_PAGE, record->tag, HL_TAGS_MAX, &tag, problem);
    if (failed) return failed;
    last->library = record->library;
    last->tag = record->tag;
    last->named = (!record->library || library.bytes) && (!record->tag || tag.bytes);
    return 0;
}

/* All that names a site is looked at once here: afterwards it is known to be whole (hl_site_place). */
static int read_record(const struct hl_flight_copy *copy, const struct hl_site_record *record, struct referred *last,
                       struct hl_site_sums *site, struct hl_problem *problem) {
    const hl_string_ref path = hl_site_fields(record).path;
    struct hl_span span;
    int failed = path == last->path ? 0 : hl_flight_find_string(copy, path, &span, problem);
    if (!failed) failed = hl_flight_find_string(copy, record->label, &span, problem);
    if (!failed) failed = find_names(copy, record, last, problem);
    if (failed) return failed;
    last->path = path;
    site->kind = record->kind;
    site->known = (uint8_t)last->named;
    return 0;
}

int hl_flight_library(const struct hl_flight_sums *sums, uint32_t number, struct hl_span *name) {
    struct hl_problem problem = {{0}};
    return !find_name(sums->copy, HL_LIBRARY_DIRECTORY_PAGE, number, HL_LIBRARIES_MAX, name, &problem) && name->bytes;
}

struct hl_site_place hl_site_place(const struct hl_flight_sums *sums, uint32_t number) {
    struct hl_site_place place = {0};
    struct hl_problem problem = {{0}};
    struct records records = {NULL, 0};
    const struct hl_site_record *record;
    if (number < sums->site_count && sums->sites[number].stage) {
        place.label = sums->stage_names[sums->sites[number].stage];
        return place;
    }
    if (number < HL_SITE_FIRST || number >= sums->site_count ||
        find_record(sums->copy, number, &records, &record, &problem) || !record)
        return place;
    if (read_place(sums->copy, record, &place, &problem)) return (struct hl_site_place){0};
    return place;
}

static int is_wanted(const struct hl_flight_sums *sums, uint32_t number) {
    return !sums->wanted || (number < sums->wanted->count && sums->wanted->wanted[number]);
}

static int is_named(const struct hl_flight_sums *sums, uint32_t number) {
    return sums->wanted && number < sums->wanted->named_count && sums->wanted->named[number];
}

static int read_records(const struct hl_flight_copy *copy, struct hl_flight_sums *sums, struct hl_problem *problem) {
    struct records records = {NULL, 0};
    struct referred last = {.named = 1};
    for (uint32_t number = 0; number < sums->site_count; number++) {
        const struct hl_site_record *record;
        if (!is_wanted(sums, number)) continue;
        if (number < HL_SITE_FIRST || is_named(sums, number)) {
            sums->sites[number].known = 1;
            continue;
        }
        int failed = find_record(copy, number, &records, &record, problem);
        if (!failed && record) failed = read_record(copy, record, &last, &sums->sites[number], problem);
        if (failed) return failed;
    }
    return 0;
}

/* Behind the sites with a fixed number there is one for each kind. */
enum { ENTRY_NONE = 0xff, ENTRIES = HL_SITE_FIRST + HL_KIND_NATIVE + 1 };

static int read_kinds(const struct hl_flight_copy *copy, struct hl_flight_sums *sums, struct hl_problem *problem) {
    struct records records = {NULL, 0};
    int failed = 0;
    memset(sums->entries, ENTRY_NONE, sums->entry_count);
    for (uint32_t number = 0; number < ENTRIES; number++) {
        sums->sites[number].known = 1;
        if (number < HL_SITE_FIRST)
            sums->entries[number] = (unsigned char)number;
        else
            sums->sites[number].kind = (uint8_t)(number - HL_SITE_FIRST);
    }
    for (uint32_t number = HL_SITE_FIRST; !failed && number < sums->entry_count; number++) {
        const struct hl_site_record *record;
        failed = find_record(copy, number, &records, &record, problem);
        if (!failed && record) sums->entries[number] = (unsigned char)(HL_SITE_FIRST + record->kind);
    }
    return failed;
}

/* Which of `sites` a site adds to, of those that are wanted; UINT32_MAX: none. */
static uint32_t entry_of(const struct hl_flight_sums *sums, uint32_t number) {
    if (sums->entries)
        return number < sums->entry_count && sums->entries[number] != ENTRY_NONE ? sums->entries[number] : UINT32_MAX;
    return number < sums->site_count && is_wanted(sums, number) ? number : UINT32_MAX; /* a site may be newer */
}

static uint64_t beyond(uint64_t now, uint64_t before) {
    return now > before ? now - before : 0;
}

static uint64_t least(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

static uint64_t between(uint64_t one, uint64_t other) {
    return one < other ? other - one : one - other;
}

/* Add what one lane counted for one site up to the baseline, and since. */
static void add_base(struct hl_site_base *sum, const struct hl_count *count, const struct hl_count *base,
                     const struct hl_old *old) {
    hl_count_add(&sum->before, base);
    sum->new_frees += beyond(beyond(count->frees, base->frees), old->frees);
    sum->new_bytes_freed += beyond(beyond(count->bytes_freed, base->bytes_freed), old->bytes_freed);
}

/* A chunk of a lane, its base and its old frees; these two NULL: there are none. */
struct chunk {
    const struct hl_count_chunk *head;
    const struct hl_count *counts, *base;
    const struct hl_old *old;
    int base_seen; /* it saw the baseline in force */
};

static void add_slot(struct hl_flight_sums *sums, uint32_t number, const struct chunk *chunk, uint32_t slot) {
    static const struct hl_count nothing;
    static const struct hl_old no_old;
    struct hl_site_sums *site = &sums->sites[number];
    const struct hl_count *count = &chunk->counts[slot], *base = chunk->base ? &chunk->base[slot] : &nothing;
    hl_count_add(&site->count, count);
    hl_count_add_longest(&site->count, base);
    if (!sums->bases) return;
    struct hl_site_base *sum = &sums->bases[number];
    if (!chunk->base_seen)
        base = count;
    else if (count->age_max > sum->new_age_max)
        sum->new_age_max = count->age_max;
    add_base(sum, count, base, chunk->base_seen && chunk->old ? &chunk->old[slot] : &no_old);
}

/* What was counted between two readings. */
static uint64_t moved_bytes(const struct hl_count *count, const struct hl_count *again) {
    return between(count->bytes_allocated, again->bytes_allocated) + between(count->bytes_freed, again->bytes_freed);
}

static void sum_chunk(const struct hl_flight_copy *copy, const struct chunk *chunk, struct hl_flight_sums *sums) {
    const uint32_t used = hl_flight_chunk_used(chunk->head);
    const char *page = NULL, *other = NULL; /* where the count lies; the other reading of it */
    for (uint32_t slot = 0; slot < used; slot++) {
        const uint32_t number = chunk->head->sites[slot];
        const struct hl_count *count = &chunk->counts[slot];
        const char *of = hl_flight_page_of(copy, count);
        if (of != page) other = hl_flight_find_moving(copy, page = of);
        if (other)
            sums->moved_bytes += moved_bytes(count, (const struct hl_count *)(other + ((const char *)count - page)));
        const uint32_t entry = entry_of(sums, number);
        if (entry != UINT32_MAX) add_slot(sums, entry, chunk, slot);
    }
}

/* The chunk at `place`, whose head is `chunk->head`. */
static int find_chunk(const struct hl_flight_copy *copy, hl_cell_ref place, struct chunk *chunk,
                      struct hl_problem *problem) {
    const uint32_t capacity = chunk->head->capacity, head = hl_chunk_head_cells(capacity);
    const uint64_t baseline = header_of(copy)->baseline;
    const void *counts, *base;
    if (capacity > HL_CHUNK_MOST)
        return hl_flight_fail(problem, "it is damaged: there is room for %u sites in a lane's chunk", capacity);
    int failed = hl_flight_find_cells(copy, place + head, capacity, &counts, problem);
    if (!failed) failed = hl_flight_find_cells(copy, chunk->head->base, hl_base_cells(capacity), &base, problem);
    if (failed) return failed;
    chunk->counts = counts;
    chunk->base = base;
    chunk->old = chunk->base ? (const struct hl_old *)(chunk->base + capacity) : NULL;
    chunk->base_seen = baseline != 0 && chunk->head->baseline == baseline;
    return 0;
}

/* What is done with all lanes and their chunks. */
struct walk {
    const struct hl_flight_copy *copy;
    struct hl_flight_sums *sums; /* NULL: the chunks are only visited */
    hl_chunk_visit *visit;
    void *data;
    struct hl_problem *problem;
};

static int walk_lane(const struct walk *walk, const struct hl_lane_record *lane) {
    hl_cell_ref place = lane->chunks, last = 0;
    while (place) {
        struct chunk chunk = {0};
        const void *head;
        if (place <= last)
            return hl_flight_fail(walk->problem, "it is damaged: a lane's chunk at cell %u follows one at %u", place,
                                  last);
        int failed = hl_flight_find_cells(walk->copy, place, hl_chunk_cells(HL_CHUNK_LEAST), &head, walk->problem);
        chunk.head = head;
        if (!failed && !chunk.head->capacity) return 0; /* it was made meanwhile */
        if (!failed) failed = find_chunk(walk->copy, place, &chunk, walk->problem);
        if (failed) return failed;
        if (walk->sums)
            sum_chunk(walk->copy, &chunk, walk->sums);
        else
            walk->visit(walk->copy, place, chunk.head, walk->data);
        last = place;
        place = chunk.head->next;
    }
    return 0;
}

/* The header knows the peak only as far as lanes published; each lane's own high mark may lie above. */
static void add_live(const struct hl_flight_header *header, const struct hl_lane_record *lane,
                     struct hl_flight_sums *sums) {
    const int64_t high = (int64_t)((uint64_t)header->live_bytes + (uint64_t)lane->high - (uint64_t)lane->published);
    sums->lanes_live_bytes = (int64_t)((uint64_t)sums->lanes_live_bytes + (uint64_t)lane->live);
    sums->published_bytes = (int64_t)((uint64_t)sums->published_bytes + (uint64_t)lane->published);
    if (lane->owner) sums->threads++;
    if (high > sums->peak_bytes) sums->peak_bytes = high;
}

static int walk_lanes(const struct walk *walk) {
    const struct hl_flight_header *header = header_of(walk->copy);
    hl_cell_ref place = header->lanes;
    for (uint32_t number = 0; place; number++) {
        const void *found;
        int failed = hl_flight_find_cells(walk->copy, place, 1, &found, walk->problem);
        if (failed) return failed;
        const struct hl_lane_record *lane = found;
        if (number && !lane->number) return 0; /* it was made meanwhile */
        if (lane->number != number)
            return hl_flight_fail(walk->problem, "it is damaged: lane %u stands in the place of lane %u", lane->number,
                                  number);
        if ((failed = walk_lane(walk, lane))) return failed;
        if (walk->sums) add_live(header, lane, walk->sums);
        place = lane->next;
    }
    return 0;
}

int hl_flight_each_chunk(const struct hl_flight_copy *copy, hl_chunk_visit *visit, void *data,
                         struct hl_problem *problem) {
    return walk_lanes(&(struct walk){.copy = copy, .visit = visit, .data = data, .problem = problem});
}

/* Where a free was read and its allocation was not, it did not happen yet (R1). */
static void make_possible(struct hl_flight_sums *sums, uint32_t number) {
    struct hl_count *count = &sums->sites[number].count;
    const uint64_t blocks = beyond(count->frees, count->allocations);
    const uint64_t bytes = beyond(count->bytes_freed, count->bytes_allocated);
    if (bytes > sums->moved_bytes || (blocks && !sums->moved_bytes)) sums->impossible++;
    count->frees -= blocks;
    count->bytes_freed -= bytes;
    count->temporary = least(count->temporary, count->frees);
    if (!sums->bases) return;
    struct hl_site_base *base = &sums->bases[number];
    base->new_frees = least(base->new_frees, beyond(count->allocations, base->before.allocations));
    base->new_bytes_freed = least(base->new_bytes_freed, beyond(count->bytes_allocated, base->before.bytes_allocated));
}

/* Memory of zeros; all of it at once, or of which only what is touched is taken. */
static void *zeros(enum hl_spare which, size_t count, size_t size, int all) {
    void *spare = all ? hl_spare_take(which, count * size) : NULL;
    if (spare) return memset(spare, 0, count * size);
    void *block =
        mmap(NULL, count * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (all ? MAP_POPULATE : 0), -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

/* by_kind: see hl_flight_sum_kinds */
static int prepare(const struct hl_flight_copy *copy, const struct hl_wanted_sites *wanted, int by_kind,
                   struct hl_flight_sums *sums, struct hl_problem *problem) {
    memset(sums, 0, sizeof(*sums));
    sums->wanted = wanted;
    const int failed = hl_flight_check_header(header_of(copy), problem);
    if (failed) return failed;
    sums->copy = copy;
    sums->header = header_of(copy);
    sums->peak_bytes = sums->header->peak_bytes;
    const uint32_t count = sums->header->site_count < HL_SITE_FIRST ? HL_SITE_FIRST : sums->header->site_count;
    sums->site_count = by_kind ? ENTRIES : count;
    sums->sites = zeros(HL_SPARE_SUMS, sums->site_count, sizeof(*sums->sites), !wanted);
    if (sums->header->baseline) sums->bases = zeros(HL_SPARE_BASES, sums->site_count, sizeof(*sums->bases), !wanted);
    if (by_kind) sums->entries = malloc(sums->entry_count = count);
    if (!sums->sites || (sums->header->baseline && !sums->bases) || (by_kind && !sums->entries)) {
        hl_flight_sums_release(sums);
        hl_flight_fail(problem, "there is no memory for its %u sites", count);
        return -ENOMEM;
    }
    if (sums->header->state == HL_STATE_COPIED) sums->moved_bytes = sums->header->moved_bytes;
    return 0;
}

/* Rows of sites that were made meanwhile are left out. */
static void mark_sites(struct hl_flight_sums *sums) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sums->object_count; i++) {
        const uint32_t site = sums->objects[i].site;
        if (site >= sums->site_count || !sums->sites[site].known) continue;
        sums->sites[site].has_objects = 1;
        sums->objects[kept++] = sums->objects[i];
    }
    sums->object_count = kept;
}

/* Objects are summed where all sites are. */
static int sum(struct hl_flight_sums *sums, struct hl_problem *problem) {
    const int with_objects = !sums->wanted && !sums->entries;
    int failed = (sums->entries ? read_kinds : read_records)(sums->copy, sums, problem);
    if (!failed) failed = walk_lanes(&(struct walk){.copy = sums->copy, .sums = sums, .problem = problem});
    if (!failed && with_objects) failed = hl_objects_read(sums->copy, &sums->objects, &sums->object_count, problem);
    mark_sites(sums);
    if (failed) {
        hl_flight_sums_release(sums);
        return failed;
    }
    for (uint32_t number = 0; number < sums->site_count; number++)
        if (is_wanted(sums, number)) make_possible(sums, number);
    return 0;
}

int hl_flight_sum(const struct hl_flight_copy *copy, struct hl_flight_sums *sums, struct hl_problem *problem) {
    const int failed = prepare(copy, NULL, 0, sums, problem);
    return failed ? failed : sum(sums, problem);
}

int hl_flight_sum_kinds(const struct hl_flight_copy *copy, struct hl_flight_sums *sums, struct hl_problem *problem) {
    const int failed = prepare(copy, NULL, 1, sums, problem);
    return failed ? failed : sum(sums, problem);
}

int hl_flight_sum_wanted(const struct hl_flight_copy *copy, const struct hl_wanted_sites *wanted,
                         struct hl_flight_sums *sums, struct hl_problem *problem) {
    const int failed = prepare(copy, wanted, 0, sums, problem);
    return failed ? failed : sum(sums, problem);
}

void hl_flight_sums_release(struct hl_flight_sums *sums) {
    if (sums->sites) hl_spare_give(HL_SPARE_SUMS, sums->sites, sums->site_count * sizeof(*sums->sites));
    if (sums->bases) hl_spare_give(HL_SPARE_BASES, sums->bases, sums->site_count * sizeof(*sums->bases));
    free(sums->objects);
    free(sums->entries);
    sums->entries = NULL;
    sums->sites = NULL;
    sums->bases = NULL;
    sums->objects = NULL;
}
