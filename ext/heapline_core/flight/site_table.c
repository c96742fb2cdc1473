/* SPDX-License-Identifier: MIT */
#include "flight/site_table.h"

#include <errno.h>
#include <string.h>

#include "flight/child_flight.h"
#include "flight/flight.h"
#include "platform/intern_trie.h"
#include "platform/platform.h"
#include "platform/system_call.h"

/* Where there are more strings than numbers for them, further ones lie in the file once a use. */
enum { STRINGS_MAX = 1 << 21, STRINGS_A_SITE = 2 };
/* Of trees: lines that run once want few steps to theirs; names and strings are looked for less often. */
enum { SITE_ROOT_BITS = 14, NAME_ROOT_BITS = 12 };
/* So many threads may be about to add a site when a fork begins, where any is. */
enum { ADDING = 256 };

/* Numbers that are handed out in a row; the header shows how many. */
struct numbers {
    uint32_t next, limit;
    uint32_t *shown;
};

/* Libraries, or tags. */
struct names {
    struct hl_trie trie;
    struct numbers numbers;
    uint32_t page; /* of their directory */
};

static struct {
    struct hl_trie trie;
    struct numbers numbers;
    uint32_t adding;    /* threads */
    uint32_t certain;   /* at the last fork, those below this one were complete */
    uint32_t inherited; /* below this one they came with the flight */
} sites;
static struct {
    struct hl_trie trie;
    struct numbers numbers;
    hl_string_ref *places; /* by number */
} strings;
static struct names libraries, tags;

/* A fresh number below `limit`, or 0. */
static uint32_t take_number(struct numbers *numbers, uint32_t limit) {
    uint32_t number = __atomic_load_n(&numbers->next, __ATOMIC_RELAXED);
    do
        if (number >= limit) return 0;
    while (!__atomic_compare_exchange_n(&numbers->next, &number, number + 1, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    uint32_t shown = numbers->shown ? __atomic_load_n(numbers->shown, __ATOMIC_RELAXED) : number + 1;
    while (shown <= number &&
           !__atomic_compare_exchange_n(numbers->shown, &shown, number + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return number;
}

/* ---- hashes ---- */

static uint64_t mix(uint64_t hash) {
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93ull;
    return hash ^ hash >> 29;
}

static uint64_t word_at(const char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

/* Sixteen bytes at a time, the last ones perhaps twice: the halves of the product of two words under masks. */
static uint64_t hash_bytes(struct hl_text_view text, uint64_t hash) {
    enum { WORD = sizeof(uint64_t), STEP = 2 * WORD };
    char shorter[STEP] = {0};
    const int is_shorter = text.length < STEP;
    if (is_shorter && text.length) memcpy(shorter, text.bytes, text.length);
    const char *at = is_shorter ? shorter : text.bytes, *last = is_shorter ? shorter : at + text.length - STEP;
    hash ^= text.length * 0x9e3779b97f4a7c15ull;
    for (;; at = at + STEP < last ? at + STEP : last) {
        const unsigned __int128 product = (unsigned __int128)(word_at(at) ^ 0xd6e8feb86659fd93ull ^ hash) *
                                          (word_at(at + WORD) ^ 0x9e3779b97f4a7c15ull);
        hash = ((uint64_t)product ^ (uint64_t)(product >> 64)) + 0x2545f4914f6cdd1dull;
        if (at == last) return mix(hash);
    }
}

/* Lines of a file that follow each other have their roots side by side. */
static uint64_t hash_key(const struct hl_site_key *key) {
    const uint64_t line = key->line, hash = mix(hash_bytes(key->path, key->kind) ^ key->offset ^ key->loading);
    return mix(mix(hash ^ key->library ^ (uint64_t)key->tag << 16)) + (line | line << (64 - SITE_ROOT_BITS));
}

/* ---- strings ---- */

static int same_text(hl_string_ref reference, struct hl_text_view text) {
    size_t length;
    const char *bytes = hl_flight_text(reference, &length);
    return length == text.length && memcmp(bytes, text.bytes, length) == 0;
}

static int is_string(uint32_t number, const void *text) {
    return same_text(strings.places[number], *(const struct hl_text_view *)text);
}

static uint32_t add_string(const void *wanted) {
    const struct hl_text_view *text = wanted;
    if (hl_load32(&strings.numbers.next) >= strings.numbers.limit) return 0;
    const hl_string_ref place = hl_flight_string(text->bytes, text->length);
    const uint32_t number = place ? take_number(&strings.numbers, strings.numbers.limit) : 0;
    if (number) strings.places[number] = place;
    return number;
}

/* The string's one place in the file. */
static hl_string_ref intern(struct hl_text_view text) {
    if (text.length == 0) return 0;
    if (text.length > HL_STRING_MAX) text.length = HL_STRING_MAX;
    const uint32_t number = hl_trie_find(&strings.trie, hash_bytes(text, 0), &text, is_string, add_string);
    return number ? strings.places[number] : hl_flight_string(text.bytes, text.length);
}

hl_string_ref hl_string_intern(const char *bytes, size_t length) {
    return intern((struct hl_text_view){bytes, length});
}

/* ---- records ---- */

static int ensure_record_page(uint32_t site) {
    uint32_t *directory = hl_flight_page(HL_SITE_DIRECTORY_PAGE);
    directory = hl_flight_page_behind(&directory[site / HL_SITES_PER_DIRECTORY]);
    if (!directory) return -ENOSPC;
    return hl_flight_page_behind(&directory[site % HL_SITES_PER_DIRECTORY / HL_SITES_PER_PAGE]) ? 0 : -ENOSPC;
}

/* The page of the site's record, or 0. */
static uint32_t record_page(uint32_t site) {
    const uint32_t *directory = hl_flight_page(HL_SITE_DIRECTORY_PAGE);
    const uint32_t page = __atomic_load_n(&directory[site / HL_SITES_PER_DIRECTORY], __ATOMIC_ACQUIRE);
    directory = hl_flight_page(page);
    if (!page) return 0;
    return __atomic_load_n(&directory[site % HL_SITES_PER_DIRECTORY / HL_SITES_PER_PAGE], __ATOMIC_ACQUIRE);
}

struct hl_site_record *hl_site_record(uint32_t site) {
    return (struct hl_site_record *)hl_flight_page(record_page(site)) + site % HL_SITES_PER_PAGE;
}

static int matches(const struct hl_site_record *record, const struct hl_site_key *key) {
    if (record->kind != key->kind || record->library != key->library || record->tag != key->tag) return 0;
    if (key->kind != HL_KIND_RUBY) return record->offset == key->offset;
    return record->line == key->line && record->loading == key->loading && same_text(record->path, key->path);
}

/* What is looked for, and what is needed to add it. */
struct wanted {
    struct hl_site_key key;
    hl_site_namer *namer;
    void *context;
    uint32_t fresh; /* the number that was taken for it: it is counted in sites.adding */
};

static int is_site(uint32_t site, const void *wanted) {
    return matches(hl_site_record(site), &((const struct wanted *)wanted)->key);
}

/* Lines of one method run for the first time one after the other: what the last one has need not be looked for. */
static hl_string_ref intern_beside(hl_string_ref last, struct hl_text_view text) {
    return last && same_text(last, text) ? last : intern(text);
}

/* The record before, where it is complete and this process's own. */
static const struct hl_site_record *record_beside(uint32_t site) {
    static const struct hl_site_record none;
    const struct hl_site_record *last = hl_site_record(site) - 1;
    if (site % HL_SITES_PER_PAGE == 0 || !hl_flight_may_change(site - 1)) return &none;
    return __atomic_load_n(&last->ready, __ATOMIC_ACQUIRE) ? last : &none;
}

/* 0 or -ENOSPC. */
static int fill_record(uint32_t site, const struct wanted *wanted) {
    struct hl_site_record *record = hl_site_record(site);
    const struct hl_site_record *last = record_beside(site);
    const struct hl_site_key *key = &wanted->key;
    char label[HL_LABEL_MAX];
    record->kind = key->kind;
    record->library = key->library;
    record->tag = key->tag;
    const size_t length = wanted->namer(wanted->context, label, &record->symbol_offset);
    if (key->kind != HL_KIND_RUBY) {
        record->offset = key->offset;
    } else {
        if (!(record->path = intern_beside(hl_site_fields(last).path, key->path))) return -ENOSPC;
        record->line = key->line;
        record->loading = key->loading;
    }
    record->label =
        intern_beside(__atomic_load_n(&last->label, __ATOMIC_ACQUIRE), (struct hl_text_view){label, length});
    return 0;
}

static void show_record(uint32_t site, int ready) {
    __atomic_store_n(&hl_site_record(site)->ready, (uint8_t)ready, __ATOMIC_RELEASE);
}

static uint32_t add_site(const void *context) {
    struct wanted *wanted = (struct wanted *)(uintptr_t)context;
    __atomic_fetch_add(&sites.adding, 1, __ATOMIC_SEQ_CST);
    const uint32_t site = take_number(&sites.numbers, sites.numbers.limit);
    if (site && !ensure_record_page(site) && !fill_record(site, wanted)) {
        show_record(site, 1); /* before another thread can find it, and count */
        return wanted->fresh = site;
    }
    __atomic_fetch_sub(&sites.adding, 1, __ATOMIC_SEQ_CST);
    return 0;
}

uint32_t hl_site_find(const struct hl_site_key *key, hl_site_namer *namer, void *context) {
    struct wanted wanted = {.key = *key, .namer = namer, .context = context};
    if (wanted.key.path.length > HL_STRING_MAX) wanted.key.path.length = HL_STRING_MAX;
    const uint32_t site = hl_trie_find(&sites.trie, hash_key(&wanted.key), &wanted, is_site, add_site);
    if (wanted.fresh) {
        if (site != wanted.fresh) show_record(wanted.fresh, 0); /* another thread was first */
        __atomic_fetch_sub(&sites.adding, 1, __ATOMIC_SEQ_CST);
    }
    if (HL_LIKELY(site)) return site;
    hl_add_shared(&hl_flight.header->sites_refused, 1);
    return HL_SITE_OTHER;
}

static int is_vague(hl_string_ref label) {
    size_t length;
    return label && hl_flight_text(label, &length)[0] == '<';
}

void hl_site_relabel(uint32_t site, struct hl_text_view instead_of, hl_site_namer *namer, void *context) {
    struct hl_site_record *record = hl_site_record(site);
    char label[HL_LABEL_MAX];
    uint32_t offset;
    const hl_string_ref before = __atomic_load_n(&record->label, __ATOMIC_RELAXED);
    if (site < HL_SITE_FIRST || !hl_flight_may_change(site) ||
        (before && !is_vague(before) && !same_text(before, instead_of)))
        return;
    const size_t length = namer(context, label, &offset);
    if (length == 0 || (before && label[0] == '<')) return;
    hl_string_ref fresh = intern((struct hl_text_view){label, length});
    if (fresh) __atomic_store_n(&record->label, fresh, __ATOMIC_RELEASE);
}

/* ---- libraries and tags ---- */

static hl_string_ref name_of(const struct names *names, uint32_t number) {
    const uint32_t *directory = hl_flight_page(names->page);
    const uint32_t page = __atomic_load_n(&directory[number / HL_NAMES_PER_PAGE], __ATOMIC_ACQUIRE);
    const hl_string_ref *entries = hl_flight_page(page);
    return page ? __atomic_load_n(&entries[number % HL_NAMES_PER_PAGE], __ATOMIC_ACQUIRE) : 0;
}

struct wanted_name {
    struct names *names;
    struct hl_text_view text;
    uint32_t limit;
};

static int is_name(uint32_t number, const void *context) {
    const struct wanted_name *wanted = context;
    return same_text(name_of(wanted->names, number), wanted->text);
}

/* Where the table is full, no string is left behind. */
static uint32_t add_name(const void *context) {
    const struct wanted_name *wanted = context;
    struct numbers *numbers = &wanted->names->numbers;
    uint32_t *directory = hl_flight_page(wanted->names->page);
    if (hl_load32(&numbers->next) >= wanted->limit) return 0;
    const hl_string_ref text = intern(wanted->text);
    const uint32_t number = text ? take_number(numbers, wanted->limit) : 0;
    hl_string_ref *page = number ? hl_flight_page_behind(&directory[number / HL_NAMES_PER_PAGE]) : NULL;
    if (!page) return 0;
    __atomic_store_n(&page[number % HL_NAMES_PER_PAGE], text, __ATOMIC_RELEASE);
    return number;
}

static uint32_t intern_name(struct names *names, struct hl_text_view text, uint32_t limit) {
    const struct wanted_name wanted = {names, text, limit};
    return hl_trie_find(&names->trie, hash_bytes(text, 0), &wanted, is_name, add_name);
}

/* The last number is that of "(other)", for those that find no room. */
static uint32_t intern_or_other(struct names *names, const char *name, size_t length) {
    static const char other[] = "(other)";
    if (length > HL_STRING_MAX) length = HL_STRING_MAX;
    const uint32_t number = intern_name(names, (struct hl_text_view){name, length}, names->numbers.limit - 1);
    if (number) return number;
    return intern_name(names, (struct hl_text_view){other, sizeof(other) - 1}, names->numbers.limit);
}

uint16_t hl_library_intern(const char *name, size_t length) {
    return (uint16_t)intern_or_other(&libraries, name, length);
}

uint32_t hl_tag_intern(const char *name, size_t length) {
    return length ? intern_or_other(&tags, name, length) : 0;
}

hl_string_ref hl_library_name(uint32_t library) {
    return library && library < libraries.numbers.limit ? name_of(&libraries, library) : 0;
}

hl_string_ref hl_tag_name(uint32_t tag) {
    return tag && tag < tags.numbers.limit ? name_of(&tags, tag) : 0;
}

/* ---- begin and fork ---- */

static int create_names(struct names *names, uint32_t page, uint32_t limit, uint32_t *shown) {
    names->page = page;
    names->numbers = (struct numbers){1, limit, shown};
    return hl_trie_create(&names->trie, limit, NAME_ROOT_BITS);
}

/* As many as there is room for in a part of what heapline may take. */
static uint32_t affordable(uint32_t wanted, size_t bytes_each, unsigned part) {
    const size_t most = hl_own_memory_share() / part / bytes_each;
    return wanted < most ? wanted : (uint32_t)most;
}

int hl_site_table_create(uint32_t limit_asked) {
    enum { NODE = sizeof(struct hl_trie_node), STRING = NODE + sizeof(hl_string_ref) };
    struct hl_flight_header *header = hl_flight.header;
    const uint32_t wanted = limit_asked < HL_SITES_LEAST || limit_asked > HL_SITES_MAX ? HL_SITES_MAX : limit_asked;
    const uint32_t limit = affordable(wanted, NODE + STRINGS_A_SITE * STRING, 4);
    const uint32_t string_limit = limit < STRINGS_MAX / STRINGS_A_SITE ? limit * STRINGS_A_SITE : STRINGS_MAX;
    const uint32_t library_limit = affordable(HL_LIBRARIES_MAX, NODE, 64);
    const uint32_t tag_limit = affordable(HL_TAGS_MAX, NODE, 16);
    sites.numbers = (struct numbers){HL_SITE_FIRST, limit, &header->site_count};
    strings.numbers = (struct numbers){1, string_limit, NULL};
    strings.places = hl_own_memory(string_limit * sizeof(*strings.places));
    if (!strings.places || !hl_trie_create(&strings.trie, string_limit, NAME_ROOT_BITS) ||
        !hl_trie_create(&sites.trie, limit, SITE_ROOT_BITS) ||
        !create_names(&libraries, HL_LIBRARY_DIRECTORY_PAGE, library_limit, &header->library_count) ||
        !create_names(&tags, HL_TAG_DIRECTORY_PAGE, tag_limit, &header->tag_count))
        return -ENOMEM;
    header->site_limit = limit;
    header->site_count = sites.certain = HL_SITE_FIRST;
    if (ensure_record_page(0)) return -ENOSPC;
    for (uint32_t site = HL_SITE_OTHER; site < HL_SITE_FIRST; site++) hl_site_record(site)->ready = 1;
    return 0;
}

void hl_site_table_expect_lines(void) {
    hl_trie_populate_roots(&strings.trie);
    hl_trie_populate_roots(&sites.trie);
}

/* The numbers first: who took one of these and adds no more has added it. */
void hl_site_table_before_fork(void) {
    const uint32_t next = __atomic_load_n(&sites.numbers.next, __ATOMIC_SEQ_CST);
    const uint32_t unsure = __atomic_load_n(&sites.adding, __ATOMIC_SEQ_CST) ? ADDING : 0;
    sites.certain = next > HL_SITE_FIRST + unsure ? next - unsure : HL_SITE_FIRST;
}

static uint32_t adopted; /* the site that is being adopted */

static uint32_t add_adopted(const void *context) {
    (void)context;
    return adopted;
}

static int is_whole(uint32_t site) {
    return record_page(site) && hl_site_record(site)->ready;
}

/* The table is to find it. Of two that were being made for one place, each may have been counted. */
static void adopt(uint32_t site) {
    struct hl_site_record *record = hl_site_record(site);
    struct wanted wanted = {.key = {.kind = record->kind, .library = record->library, .tag = record->tag}};
    struct hl_site_key *key = &wanted.key;
    if (record->kind == HL_KIND_RUBY) {
        key->line = record->line;
        key->loading = record->loading;
        key->path.bytes = hl_flight_text(record->path, &key->path.length);
    } else {
        key->offset = record->offset;
    }
    adopted = site;
    hl_trie_find(&sites.trie, hash_key(key), &wanted, is_site, add_adopted);
}

/* Numbers that the parent's other threads took since are those of the records that came with the flight. */
static void follow(struct numbers *numbers) {
    const uint32_t shown = hl_load32(numbers->shown);
    if (shown > numbers->next) numbers->next = shown < numbers->limit ? shown : numbers->limit;
    *numbers->shown = numbers->next;
}

uint32_t hl_site_table_certain(void) {
    return sites.certain;
}

uint32_t hl_site_table_inherited(void) {
    return sites.inherited;
}

int hl_site_came(uint32_t site) {
    return site < sites.certain || (site < sites.inherited && is_whole(site));
}

void hl_site_table_become_child(void) {
    sites.adding = 0;
    follow(&sites.numbers);
    follow(&libraries.numbers);
    follow(&tags.numbers);
    sites.inherited = sites.numbers.next;
    for (uint32_t site = sites.certain; site < sites.inherited; site++)
        if (is_whole(site)) adopt(site);
}

static void take_over_label(struct hl_site_record *record) {
    char label[HL_LABEL_MAX];
    const size_t length = hl_flight_parents_text(record->label, label, sizeof(label));
    const hl_string_ref fresh = intern((struct hl_text_view){label, length});
    __atomic_store_n(&record->label, fresh, __ATOMIC_RELEASE);
}

void hl_site_table_take_over(void) {
    const uint32_t end = sites.certain / HL_SITES_PER_PAGE * HL_SITES_PER_PAGE;
    for (uint32_t first = 0; first < end; first += HL_SITES_PER_PAGE) {
        struct hl_site_record *records = hl_site_record(first);
        for (uint32_t i = 0; i < HL_SITES_PER_PAGE; i++)
            if (hl_flight_is_of_parent(records[i].label)) take_over_label(&records[i]);
    }
}
