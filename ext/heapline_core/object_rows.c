/* SPDX-License-Identifier: MIT */
#include "object_rows.h"

#include <errno.h>
#include <string.h>

#include "object_classes.h"
#include "object_fold.h"
#include "object_table.h"
#include "own_memory.h"
#include "site_table.h"

enum { HASH_BITS = 19, HASH_SLOTS = 1 << HASH_BITS, HASH_PROBES = 64 };

/* Who a row counts for; the flight has it too, but a child's flight may lack what was made last (repair). */
struct identity {
    uint32_t site, class_index;
};

struct hl_object_rows hl_object_rows;
static uint32_t *hash;              /* open addressing: numbers of rows */
static struct identity *identities; /* by row; site 0: given back, class_index is the next one given back */
static uint32_t count;              /* numbers given, as in the header */
static uint32_t given_back;

static uint32_t *directory(void) {
    return hl_flight_page(hl_flight.header->object_directory);
}

void *hl_object_directory_page(uint32_t entry) {
    uint32_t *page = &directory()[entry];
    if (!*page) __atomic_store_n(page, hl_flight_pages(1), __ATOMIC_RELEASE);
    return *page ? hl_flight_page(*page) : NULL;
}

static struct hl_object_row *row_with_page(uint32_t number) {
    struct hl_object_row **page = &hl_object_rows.pages[number / HL_OBJECT_ROWS_PER_PAGE];
    if (!*page) *page = hl_object_directory_page(number / HL_OBJECT_ROWS_PER_PAGE);
    return *page ? hl_object_row(number) : NULL;
}

static void identify(uint32_t number, uint32_t site, uint32_t class_index) {
    struct hl_object_row *row = hl_object_row(number);
    row->site = site;
    row->class_index = class_index;
    identities[number] = (struct identity){site, class_index};
}

static uint32_t make_again(uint32_t site, uint32_t class_index) {
    const uint32_t number = given_back;
    given_back = identities[number].class_index;
    identify(number, site, class_index);
    hl_object_row(number)->baseline = hl_object_rows.baseline;
    return number;
}

/* The number of a new row; 0 where there is no room. */
static uint32_t make_row(uint32_t site, uint32_t class_index) {
    if (given_back) return make_again(site, class_index);
    if (count >= HL_OBJECT_ROWS_MAX || !row_with_page(count)) return 0;
    identify(count, site, class_index);
    hl_object_row(count)->baseline = hl_object_rows.baseline;
    __atomic_store_n(&hl_flight.header->object_rows, count + 1, __ATOMIC_RELEASE);
    return count++;
}

static int make_tables(void) {
    struct hl_object_rows *rows = &hl_object_rows;
    if (!rows->slots) rows->slots = hl_own_memory(HL_ROW_SLOTS * sizeof(*rows->slots));
    if (!hash) hash = hl_own_memory(HASH_SLOTS * sizeof(*hash));
    if (!identities) identities = hl_own_memory(HL_OBJECT_ROWS_MAX * sizeof(*identities));
    return rows->slots && hash && identities ? 0 : -ENOMEM;
}

int hl_object_rows_create(void) {
    struct hl_flight_header *header = hl_flight.header;
    if (make_tables()) return -ENOMEM;
    if (header->object_directory) return 0;
    const uint32_t first = hl_flight_pages(HL_OBJECT_DIRECTORY_PAGES);
    if (!first) return -ENOSPC;
    __atomic_store_n(&header->object_directory, first, __ATOMIC_RELEASE);
    hl_object_rows_rebase();
    count = HL_OBJECT_OTHER;
    return make_row(HL_SITE_OTHER, HL_OBJECT_OTHER) ? 0 : -ENOSPC;
}

void hl_object_rows_rebase(void) {
    const struct hl_flight_header *header = hl_flight.header;
    hl_object_rows.baseline = hl_load64(&header->baseline);
    /* The start is no baseline: nothing is older. */
    hl_object_rows.old_below =
        hl_object_rows.baseline ? hl_load64(&header->baseline_generation) + hl_object_rows.turns : 0;
}

void hl_object_rows_clear(void) {
    struct hl_flight_header *header = hl_flight.header;
    for (uint32_t number = HL_OBJECT_OTHER; number < count; number++) {
        struct hl_object_row *row = hl_object_row(number);
        const struct hl_object_row nothing = {.site = row->site, .class_index = row->class_index};
        *row = nothing;
        row->baseline = hl_object_rows.baseline;
    }
    hl_object_rows.allocated = hl_object_rows.freed = 0;
    header->objects_allocated = header->objects_freed = 0;
}

static uint32_t refuse(void) {
    hl_add(&hl_flight.header->objects_refused, 1);
    return HL_OBJECT_OTHER;
}

/* The slot of the row, or the empty one where it belongs; NULL where both are too far off. */
static uint32_t *slot_of(uint32_t site, uint32_t class_index) {
    const uint64_t key = (uint64_t)site << 32 | class_index;
    const uint32_t first = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> (64 - HASH_BITS));
    for (uint32_t probe = 0; probe < HASH_PROBES; probe++) {
        uint32_t *slot = &hash[(first + probe) % HASH_SLOTS];
        const struct identity *there = &identities[*slot];
        if (!*slot || (there->site == site && there->class_index == class_index)) return slot;
    }
    return NULL;
}

static uint32_t find_or_make(uint32_t site, uint32_t class_index) {
    uint32_t *slot = slot_of(site, class_index);
    const uint32_t there = slot ? *slot : 0;
    if (there || !slot) return there;
    const uint32_t number = make_row(site, class_index);
    if (number) *slot = number;
    return number;
}

static uint32_t find(uint32_t site, uint32_t class_index) {
    uint32_t number = find_or_make(site, class_index);
    if (!number && hl_object_fold()) number = find_or_make(site, class_index);
    return number ? number : refuse();
}

HL_COLD uint32_t hl_object_row_slow(uint32_t site, uint64_t class_key) {
    const int saved = errno;
    const uint32_t class_index = hl_object_class_find(class_key);
    const uint32_t row = class_index == HL_OBJECT_OTHER ? refuse() : find(site, class_index);
    if (row != HL_OBJECT_OTHER)
        *hl_row_slot(site, class_key) = (struct hl_row_slot){class_key, site, row, hl_object_rows.epoch};
    errno = saved;
    return row;
}

uint32_t hl_object_row_renamed(uint32_t number, uint32_t class_index) {
    uint32_t *slot = slot_of(identities[number].site, class_index);
    const uint32_t there = slot ? *slot : number;
    if (there) return there;
    identify(number, identities[number].site, class_index);
    return *slot = number;
}

void hl_object_row_release(uint32_t number) {
    static const struct hl_object_row nothing;
    *hl_object_row(number) = nothing;
    identities[number] = (struct identity){0, given_back};
    given_back = number;
}

void hl_object_rows_rehash(void) {
    memset(hash, 0, HASH_SLOTS * sizeof(*hash));
    for (uint32_t number = HL_OBJECT_OTHER; number < count; number++) {
        uint32_t *slot =
            identities[number].site ? slot_of(identities[number].site, identities[number].class_index) : NULL;
        if (slot) *slot = number;
    }
    hl_object_rows.epoch++;
}

void hl_object_resized(uint32_t number, uint32_t from_bytes, uint32_t to_bytes, int is_old) {
    struct hl_object_row *row = hl_object_row_now(number);
    hl_add(&row->bytes_allocated, to_bytes);
    hl_add(&row->bytes_freed, from_bytes);
    if (!is_old) return;
    hl_add(&row->base_bytes_allocated, to_bytes);
    hl_add(&row->old_bytes_freed, from_bytes);
}

/* ---- after fork ---- */

static void count_living(void *context, uintptr_t object, struct hl_object_entry entry) {
    uint32_t *living = context;
    (void)object;
    living[entry.row]++;
}

/* What lives is certain: the table was forked with the objects. So many were born and are gone. */
static void agree(struct hl_object_row *row, uint32_t living) {
    if (row->allocated < living) row->allocated = living;
    row->freed = row->allocated - living;
    if (row->bytes_freed > row->bytes_allocated) row->bytes_freed = row->bytes_allocated;
}

void hl_object_rows_repair(void) {
    struct hl_flight_header *header = hl_flight.header;
    uint32_t *living = hl_own_memory(HL_OBJECT_ROWS_MAX * sizeof(*living));
    if (!living) return;
    hl_object_table_each(count_living, living);
    header->objects_allocated = header->objects_freed = 0;
    for (uint32_t number = HL_OBJECT_OTHER; number < count; number++) {
        const char *page = (const char *)hl_object_rows.pages[number / HL_OBJECT_ROWS_PER_PAGE];
        directory()[number / HL_OBJECT_ROWS_PER_PAGE] = (uint32_t)((page - hl_flight.base) / HL_PAGE_SIZE);
        struct hl_object_row *row = hl_object_row(number);
        row->site = identities[number].site;
        row->class_index = row->site ? identities[number].class_index : 0;
        agree(row, living[number]);
        header->objects_allocated += row->allocated;
        header->objects_freed += row->freed;
    }
    header->object_rows = count;
    hl_object_rows.allocated = header->objects_allocated;
    hl_object_rows.freed = header->objects_freed;
    hl_own_memory_return(living, HL_OBJECT_ROWS_MAX * sizeof(*living));
}
