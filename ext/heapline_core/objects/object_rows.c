/* SPDX-License-Identifier: MIT */
#include "objects/object_rows.h"

#include <errno.h>
#include <string.h>

#include "flight/site_table.h"
#include "objects/object_classes.h"
#include "objects/object_table.h"
#include "platform/own_memory.h"

enum { FEWEST_HASH_BITS = 14, HASH_PROBES = 64 };
/* Of what was asked for lately: a slot has 16 bytes. */
enum { FEWEST_SLOTS = 1 << 12, MOST_SLOTS = 1 << 19, SLOTS_A_ROW = 4 };

/* Who a row counts for; the flight has it too, but a child's flight may lack what was made last (repair). */
struct identity {
    uint32_t site, class_index;
};

struct hl_object_rows hl_object_rows HL_PAGE_ALIGNED;
static uint32_t *hash; /* open addressing: numbers of rows; twice as many slots as rows, at least */
static uint32_t hash_bits;
static struct identity *identities; /* by row; site 0: given back, class_index is the next one given back */
static uint32_t count;              /* numbers given, as in the header */
static uint32_t given_back;

static struct hl_object_row *row_with_page(uint32_t number) {
    struct hl_object_row **page = &hl_object_rows.pages[number / HL_OBJECT_ROWS_PER_PAGE];
    if (!*page) *page = hl_flight_page_behind(&hl_object_directory()[number / HL_OBJECT_ROWS_PER_PAGE]);
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
    hl_object_row(number)->baseline = (uint32_t)hl_object_rows.baseline;
    return number;
}

/* The last rows are (other)'s, one for each class: Q2. */
static uint32_t end_for(uint32_t site) {
    return site == HL_SITE_OTHER ? HL_OBJECT_ROWS_MAX : HL_OBJECT_ROWS_MAX - HL_OBJECT_CLASSES_MAX;
}

/* The number of a new row; 0 where there is no room. */
static uint32_t make_row(uint32_t site, uint32_t class_index) {
    if (given_back) return make_again(site, class_index);
    if (count >= end_for(site) || !row_with_page(count)) return 0;
    identify(count, site, class_index);
    hl_object_row(count)->baseline = (uint32_t)hl_object_rows.baseline;
    __atomic_store_n(&hl_flight.header->object_rows, count + 1, __ATOMIC_RELEASE);
    return count++;
}

static int make_tables(void) {
    struct hl_object_rows *rows = &hl_object_rows;
    if (!rows->slots) rows->slots = hl_own_memory(FEWEST_SLOTS * sizeof(*rows->slots));
    if (!rows->slots_last) rows->slots_last = (FEWEST_SLOTS - 1) * sizeof(*rows->slots);
    if (!hash) hash = hl_own_memory(sizeof(*hash) << (hash_bits = FEWEST_HASH_BITS));
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

/* Of a birth before the origin-to-be no more is kept than on which side of the baseline it was. */
static void bring_forward(void *context, uintptr_t object, struct hl_object_entry entry) {
    const uint64_t origin = *(const uint64_t *)context, born = hl_object_born_at(entry.birth);
    uint32_t birth = born < hl_object_rows.old_below ? HL_BORN_BEFORE_BASELINE : HL_BORN_SINCE_BASELINE;
    if (born >= origin) birth = (uint32_t)(born - origin) + HL_BORN_AT_ORIGIN;
    hl_object_entry_write(hl_object_place(hl_object_region(object), object), entry.row, birth);
}

HL_COLD void hl_object_rows_move_origin(uint64_t now) {
    uint64_t origin = now - HL_OBJECT_BIRTH_EXACT;
    hl_object_table_each(bring_forward, &origin);
    hl_object_rows.origin = origin;
}

void hl_object_rows_clear(void) {
    struct hl_flight_header *header = hl_flight.header;
    for (uint32_t number = HL_OBJECT_OTHER; number < count; number++) {
        struct hl_object_row *row = hl_object_row(number);
        const struct hl_object_row nothing = {.site = row->site, .class_index = row->class_index};
        *row = nothing;
        row->baseline = (uint32_t)hl_object_rows.baseline;
    }
    hl_object_rows.allocated = hl_object_rows.freed = 0;
    header->objects_allocated = header->objects_freed = 0;
}

/* The slot of the row, or the empty one where it belongs; NULL where both are too far off. */
static uint32_t *slot_of(uint32_t site, uint32_t class_index) {
    const uint64_t key = (uint64_t)site << 32 | class_index;
    const uint32_t first = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> (64 - hash_bits));
    for (uint32_t probe = 0; probe < HASH_PROBES; probe++) {
        uint32_t *slot = &hash[(first + probe) & ((1u << hash_bits) - 1)];
        const struct identity *there = &identities[*slot];
        if (!*slot || (there->site == site && there->class_index == class_index)) return slot;
    }
    return NULL;
}

static void fill_hash(void) {
    for (uint32_t number = HL_OBJECT_OTHER; number < count; number++) {
        uint32_t *slot =
            identities[number].site ? slot_of(identities[number].site, identities[number].class_index) : NULL;
        if (slot) *slot = number;
    }
}

static void make_hash_room(void) {
    const size_t bytes = sizeof(*hash) << hash_bits;
    if (count <= 1u << (hash_bits - 1)) return;
    uint32_t *more = hl_own_memory(2 * bytes);
    if (!more) return;
    hl_populate(more, 2 * bytes);
    hl_own_memory_return(hash, bytes);
    hl_add_shared(&hl_flight.header->own_bytes, bytes);
    hash = more;
    hash_bits++;
    fill_hash();
}

/* 0 where there is no room. */
static uint32_t find_or_make(uint32_t site, uint32_t class_index) {
    make_hash_room();
    uint32_t *slot = slot_of(site, class_index);
    const uint32_t there = slot ? *slot : 0;
    if (there || !slot) return there;
    const uint32_t number = make_row(site, class_index);
    if (number) *slot = number;
    return number;
}

/* Make the row that of another class, whose site has no row yet; else that row, and nothing is done. */
static uint32_t rename_row(uint32_t number, uint32_t class_index) {
    uint32_t *slot = slot_of(identities[number].site, class_index);
    const uint32_t there = slot ? *slot : number;
    if (there) return there;
    identify(number, identities[number].site, class_index);
    return *slot = number;
}

static void release_row(uint32_t number) {
    static const struct hl_object_row nothing;
    *hl_object_row(number) = nothing;
    identities[number] = (struct identity){0, given_back};
    given_back = number;
}

static void rehash(void) {
    memset(hash, 0, sizeof(*hash) << hash_bits);
    fill_hash();
    hl_object_classes_epoch++;
}

/* ---- folding ----
 *
 * Programs that make classes without end: what is known of classes that were freed is brought together, so that their
 * numbers and rows can be given again.
 *
 * Of all freed classes of one name and type one number stays; the rows of the others, once all their objects are gone,
 * are added to that one's. The header's `objects_folds` is raised before and after: a reader whose copies lie on both
 * sides of it copies again.
 */

enum { WORTHWHILE = 1000, KEEPERS = 1 << 12 };

static uint32_t *keepers;   /* by hash of name, type and flags: the class that stays; a full table keeps more of them */
static uint8_t *has_living; /* by class: a row of it has objects that live */
static uint64_t gone_before;

static int make_keepers(void) {
    if (!keepers) keepers = hl_own_memory(KEEPERS * sizeof(*keepers));
    if (!has_living) has_living = hl_own_memory(HL_OBJECT_CLASSES_MAX);
    return keepers && has_living;
}

/* The class that stays for the name of this one: itself, where it is the first, or shares its place with another name.
 */
static uint32_t keeper_of(uint32_t number) {
    const struct hl_object_class *class = hl_object_class(number);
    const uint32_t word = class->name * 64u + class->type * 2u + class->flags;
    uint32_t *keeper = &keepers[word * 0x9e3779b1u >> 20];
    if (!*keeper) *keeper = number;
    const struct hl_object_class *other = hl_object_class(*keeper);
    return other->name == class->name && other->type == class->type && other->flags == class->flags ? *keeper : number;
}

static int is_gone(uint32_t number) {
    return number > HL_OBJECT_OTHER && (hl_object_class(number)->flags & HL_CLASS_GONE) != 0;
}

static void mark_living(void) {
    memset(has_living, 0, HL_OBJECT_CLASSES_MAX);
    for (uint32_t number = HL_OBJECT_OTHER; number < hl_flight.header->object_rows; number++) {
        const struct hl_object_row *row = hl_object_row(number);
        if (row->allocated != row->freed) has_living[row->class_index] = 1;
    }
}

static void add_row(struct hl_object_row *sum, const struct hl_object_row *row) {
    sum->allocated += row->allocated;
    sum->freed += row->freed;
    sum->bytes_allocated += row->bytes_allocated;
    sum->bytes_freed += row->bytes_freed;
    sum->age_sum += row->age_sum;
    sum->temporary += row->temporary;
    sum->base_allocated += row->base_allocated;
    sum->base_freed += row->base_freed;
    sum->base_bytes_allocated += row->base_bytes_allocated;
    sum->base_bytes_freed += row->base_bytes_freed;
    sum->old_freed += row->old_freed;
    sum->old_bytes_freed += row->old_bytes_freed;
    if (row->age_max > sum->age_max) sum->age_max = row->age_max;
}

/* The first row of a site for a class becomes that of the class that stays; all others are added to it. */
static void fold_row(uint32_t number) {
    struct hl_object_row *row = hl_object_row_now(number);
    if (!row->class_index || !is_gone(row->class_index) || has_living[row->class_index]) return;
    const uint32_t keeper = keeper_of(row->class_index);
    if (keeper == row->class_index) return;
    const uint32_t other = rename_row(number, keeper);
    if (other == number) return;
    add_row(hl_object_row_now(other), row);
    release_row(number);
}

static void fold_classes(void) {
    for (uint32_t number = HL_OBJECT_OTHER + 1; number < hl_flight.header->object_classes; number++)
        if (is_gone(number) && !has_living[number] && keeper_of(number) != number) hl_object_class_release(number);
}

/* Where a table is full. Does nothing where too few classes were freed since the last time. 1 where numbers were won.
 */
static int fold(void) {
    struct hl_flight_header *header = hl_flight.header;
    if (hl_object_classes_gone - gone_before < WORTHWHILE || !make_keepers()) return 0;
    gone_before = hl_object_classes_gone;
    __atomic_add_fetch(&header->objects_folds, 1, __ATOMIC_SEQ_CST);
    memset(keepers, 0, KEEPERS * sizeof(*keepers));
    mark_living();
    for (uint32_t number = HL_OBJECT_OTHER + 1; number < header->object_rows; number++) fold_row(number);
    fold_classes();
    rehash();
    __atomic_add_fetch(&header->objects_folds, 1, __ATOMIC_SEQ_CST);
    return 1;
}

/* ---- finding a row ---- */

static uint32_t find(uint32_t site, uint32_t class_index) {
    uint32_t number = find_or_make(site, class_index);
    if (!number && fold()) number = find_or_make(site, class_index);
    return number;
}

/* There is no room for its site, or not even for its class. */
static uint32_t other_row(uint32_t class_index) {
    hl_add(&hl_flight.header->objects_refused, 1);
    const uint32_t row = class_index == HL_OBJECT_OTHER ? 0 : find_or_make(HL_SITE_OTHER, class_index);
    return row ? row : HL_OBJECT_OTHER;
}

static size_t slots_bytes(void) {
    return hl_object_rows.slots_last + sizeof(struct hl_row_slot);
}

/* Where rows drive each other out again and again, and there are more rows than have room: twice as many slots. They
 * fill again as rows are asked for. */
static void make_room(void) {
    static uint32_t driven_out;
    struct hl_object_rows *rows = &hl_object_rows;
    const size_t bytes = slots_bytes(), slots = bytes / sizeof(*rows->slots);
    if (slots >= MOST_SLOTS || slots >= SLOTS_A_ROW * count) return;
    if (++driven_out < slots / 4) return;
    driven_out = 0;
    struct hl_row_slot *more = hl_own_memory(2 * bytes);
    if (!more) return;
    hl_populate(more, 2 * bytes);
    hl_own_memory_return(rows->slots, bytes);
    hl_add_shared(&hl_flight.header->own_bytes, bytes);
    rows->slots = more;
    rows->slots_last = 2 * bytes - sizeof(*rows->slots);
}

HL_COLD void hl_object_rows_forget(void) {
    struct hl_object_rows *rows = &hl_object_rows;
    rows->epoch = hl_object_classes_epoch;
    rows->tag = (rows->tag + HL_ROW_TAG) & HL_ROW_TAGS;
    if (!rows->tag) memset(rows->slots, 0, slots_bytes());
}

static int holds(const struct hl_row_slot *slot) {
    return slot->row && (slot->class_key & HL_ROW_TAGS) == hl_object_rows.tag;
}

/* In a way of its set that is free, or else in the last one. */
static void keep(uint32_t site, uint64_t class_key, uint32_t row) {
    struct hl_row_slot *slot = hl_row_set(site, class_key), *last = slot + HL_ROW_WAYS - 1;
    while (slot < last && holds(slot)) slot++;
    *slot = (struct hl_row_slot){class_key | hl_object_rows.tag, site, row};
}

HL_COLD uint32_t hl_object_row_slow(uint32_t site, uint64_t class_key) {
    const int saved = errno;
    uint32_t class_index = hl_object_class_find(class_key);
    if (class_index == HL_OBJECT_OTHER && fold()) class_index = hl_object_class_find(class_key);
    uint32_t row = class_index == HL_OBJECT_OTHER ? 0 : find(site, class_index);
    if (!row) {
        row = other_row(class_index);
    } else {
        if (holds(hl_row_set(site, class_key) + HL_ROW_WAYS - 1)) make_room();
        keep(site, class_key, row);
    }
    errno = saved;
    return row;
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
        hl_object_directory()[number / HL_OBJECT_ROWS_PER_PAGE] = (uint32_t)((page - hl_flight.base) / HL_PAGE_SIZE);
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
