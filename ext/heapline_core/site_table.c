/* SPDX-License-Identifier: MIT */
#include "site_table.h"

#include <errno.h>
#include <string.h>
#include <urcu/urcu-bp.h>

#include <urcu/rculfhash.h>

#include "flight.h"
#include "own_memory.h"
#include "platform.h"

/* Chains stay short up to this many sites and grow evenly beyond; a bucket costs 16 bytes from the start. Where more
 * would be allowed, liburcu maps the buckets by themselves: in the program's heap, whatever writes before or behind its
 * own block there would damage them. */
enum { BUCKETS = 1 << 12, BUCKETS_ALLOWED = 2 * BUCKETS, STRING_SLOTS = 1 << 15 };
/* So many threads may be about to add a site when a fork begins. */
enum { ADDING = 256 };

struct site_node {
    struct cds_lfht_node node;
    uint32_t site;
};

static struct cds_lfht *sites;
static struct site_node *nodes; /* by site number; sparse */
static uint32_t sites_before_fork;
static uint32_t *strings; /* open addressing, by hash of the bytes: each string lies in the file once */

static uint64_t mix(uint64_t hash) {
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93ull;
    return hash ^ hash >> 29;
}

static uint64_t hash_bytes(const char *bytes, size_t length, uint64_t hash) {
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = mix(hash ^ word) + 0x9e3779b97f4a7c15ull;
    }
    uint64_t rest = length;
    for (size_t i = 0; i < length; i++) rest = rest << 8 | (uint8_t)bytes[i];
    return mix(hash ^ rest);
}

static uint64_t hash_key(const struct hl_site_key *key) {
    uint64_t hash = hash_bytes(key->path.bytes, key->path.length, key->kind);
    hash = mix(hash ^ key->offset ^ (uint64_t)key->line << 32);
    return mix(hash ^ key->library ^ (uint64_t)key->tag << 16);
}

static int same_text(hl_string_ref reference, struct hl_text_view text) {
    size_t length;
    const char *bytes = hl_flight_text(reference, &length);
    return length == text.length && memcmp(bytes, text.bytes, length) == 0;
}

/* The string's one place in the file; a second copy where the slots are full or two threads bring the same at once. */
static hl_string_ref intern(struct hl_text_view text) {
    if (text.length == 0) return 0;
    if (text.length > HL_STRING_MAX) text.length = HL_STRING_MAX;
    uint64_t hash = hash_bytes(text.bytes, text.length, 0);
    hl_string_ref fresh = 0;
    for (unsigned probe = 0; probe < 32; probe++) {
        uint32_t *slot = &strings[(hash + probe) % STRING_SLOTS];
        uint32_t there = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (!there) {
            if (!fresh) fresh = hl_flight_string(text.bytes, text.length);
            if (!fresh || __atomic_compare_exchange_n(slot, &there, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
                return fresh;
        }
        if (same_text(there, text)) return there;
    }
    return fresh ? fresh : hl_flight_string(text.bytes, text.length);
}

hl_string_ref hl_string_intern(const char *bytes, size_t length) {
    return intern((struct hl_text_view){bytes, length});
}

/* Whoever reads the number sees the record behind it, also one that does not know of liburcu's own barriers. */
static uint32_t site_of(struct cds_lfht_node *node) {
    return __atomic_load_n(&caa_container_of(node, struct site_node, node)->site, __ATOMIC_ACQUIRE);
}

static int matches(struct cds_lfht_node *node, const void *wanted) {
    const struct hl_site_key *key = wanted;
    const struct hl_site_record *record = hl_site_record(site_of(node));
    if (record->kind != key->kind || record->library != key->library || record->tag != key->tag ||
        record->line != key->line || record->offset != key->offset)
        return 0;
    return key->kind != HL_KIND_RUBY || same_text(record->path, key->path);
}

/* Make sure that the page of records for `site` exists. */
static int ensure_record_page(uint32_t site) {
    uint32_t *directory = hl_flight_page(HL_SITE_DIRECTORY_PAGE);
    uint32_t *entry = &directory[site / HL_SITES_PER_PAGE];
    uint32_t expected = 0;
    if (__atomic_load_n(entry, __ATOMIC_ACQUIRE)) return 0;
    uint32_t page = hl_flight_pages(1);
    if (!page) return -ENOSPC;
    __atomic_compare_exchange_n(entry, &expected, page, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE);
    return 0;
}

struct hl_site_record *hl_site_record(uint32_t site) {
    const uint32_t *directory = hl_flight_page(HL_SITE_DIRECTORY_PAGE);
    uint32_t page = __atomic_load_n(&directory[site / HL_SITES_PER_PAGE], __ATOMIC_ACQUIRE);
    return (struct hl_site_record *)hl_flight_page(page) + site % HL_SITES_PER_PAGE;
}

/* A fresh number, or 0 at the limit. */
static uint32_t take_number(void) {
    struct hl_flight_header *header = hl_flight.header;
    uint32_t site = __atomic_load_n(&header->site_count, __ATOMIC_RELAXED);
    do
        if (site >= header->site_limit) return 0;
    while (!__atomic_compare_exchange_n(&header->site_count, &site, site + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return ensure_record_page(site) ? 0 : site;
}

/* 0 or -ENOSPC. */
static int fill_record(uint32_t site, const struct hl_site_key *key, uint64_t hash, hl_site_namer *namer,
                       void *context) {
    struct hl_site_record *record = hl_site_record(site);
    char label[HL_LABEL_MAX];
    record->kind = key->kind;
    record->library = key->library;
    record->tag = key->tag;
    record->line = key->line;
    record->offset = key->offset;
    record->hash = hash;
    record->born_ns = hl_flight_now();
    if (key->kind == HL_KIND_RUBY && !(record->path = intern(key->path))) return -ENOSPC;
    size_t length = namer(context, label, &record->symbol_offset);
    record->label = intern((struct hl_text_view){label, length});
    return 0;
}

static uint32_t refuse(void) {
    hl_add_shared(&hl_flight.header->sites_refused, 1);
    return HL_SITE_OTHER;
}

static uint32_t add(const struct hl_site_key *key, uint64_t hash, hl_site_namer *namer, void *context) {
    uint32_t site = take_number();
    if (!site || fill_record(site, key, hash, namer, context)) return refuse();
    struct site_node *node = &nodes[site];
    cds_lfht_node_init(&node->node);
    __atomic_store_n(&node->site, site, __ATOMIC_RELEASE);
    /* Another thread may bring the same site at once: its number stays, ours is never shown. */
    struct cds_lfht_node *kept = cds_lfht_add_unique(sites, hash, matches, key, &node->node);
    if (kept != &node->node) return site_of(kept);
    __atomic_store_n(&hl_site_record(site)->ready, 1, __ATOMIC_RELEASE);
    return site;
}

uint32_t hl_site_find(const struct hl_site_key *given, hl_site_namer *namer, void *context) {
    struct hl_site_key key = *given;
    if (key.path.length > HL_STRING_MAX) key.path.length = HL_STRING_MAX;
    const uint64_t hash = hash_key(&key);
    struct cds_lfht_iter iterator;
    urcu_bp_read_lock();
    cds_lfht_lookup(sites, hash, matches, &key, &iterator);
    struct cds_lfht_node *node = cds_lfht_iter_get_node(&iterator);
    uint32_t site = node ? site_of(node) : add(&key, hash, namer, context);
    urcu_bp_read_unlock();
    return site;
}

static int is_vague(hl_string_ref label) {
    size_t length;
    return label && hl_flight_text(label, &length)[0] == '<';
}

void hl_site_relabel(uint32_t site, hl_site_namer *namer, void *context) {
    struct hl_site_record *record = hl_site_record(site);
    char label[HL_LABEL_MAX];
    uint32_t offset;
    if (site < HL_SITE_FIRST || !is_vague(__atomic_load_n(&record->label, __ATOMIC_RELAXED))) return;
    const size_t length = namer(context, label, &offset);
    if (length == 0 || label[0] == '<') return;
    hl_string_ref fresh = intern((struct hl_text_view){label, length});
    if (fresh) __atomic_store_n(&record->label, fresh, __ATOMIC_RELEASE);
}

/* Libraries and tags are few: an array of strings, searched from the front. */
static uint16_t intern_in(uint32_t page, uint32_t *count, uint32_t limit, struct hl_text_view text) {
    hl_string_ref *entries = hl_flight_page(page);
    hl_string_ref fresh = 0;
    for (uint32_t i = 1; i < limit; i++) {
        uint32_t there = __atomic_load_n(&entries[i], __ATOMIC_ACQUIRE);
        if (!there) {
            if (!fresh) fresh = intern(text);
            if (!fresh) return 0;
            if (__atomic_compare_exchange_n(&entries[i], &there, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
                __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
                return (uint16_t)i;
            }
        }
        if (same_text(there, text)) return (uint16_t)i;
    }
    return 0;
}

uint16_t hl_library_intern(const char *name, size_t length) {
    struct hl_text_view text = {name, length};
    return intern_in(HL_LIBRARY_TABLE_PAGE, &hl_flight.header->library_count, HL_LIBRARIES_MAX, text);
}

uint16_t hl_tag_intern(const char *name, size_t length) {
    static const char other[] = "(other)";
    struct hl_text_view text = {name, length};
    uint32_t *count = &hl_flight.header->tag_count;
    if (length == 0) return 0;
    uint16_t tag = intern_in(HL_TAG_TABLE_PAGE, count, HL_TAGS_MAX - 1, text);
    if (tag) return tag;
    return intern_in(HL_TAG_TABLE_PAGE, count, HL_TAGS_MAX, (struct hl_text_view){other, sizeof(other) - 1});
}

int hl_site_table_create(uint32_t limit) {
    nodes = hl_own_memory(HL_SITES_MAX * sizeof(*nodes));
    strings = hl_own_memory(STRING_SLOTS * sizeof(*strings));
    sites = cds_lfht_new_flavor(BUCKETS, BUCKETS, BUCKETS_ALLOWED, 0, &urcu_bp_flavor, NULL);
    if (!nodes || !strings || !sites) return -ENOMEM;
    hl_flight.header->site_limit = limit;
    hl_flight.header->site_count = HL_SITE_FIRST;
    if (ensure_record_page(0)) return -ENOSPC;
    for (uint32_t site = HL_SITE_OTHER; site < HL_SITE_FIRST; site++) hl_site_record(site)->ready = 1;
    return 0;
}

void hl_site_table_before_fork(void) {
    sites_before_fork = hl_load32(&hl_flight.header->site_count);
    urcu_bp_before_fork();
}

void hl_site_table_after_fork_parent(void) {
    urcu_bp_after_fork_parent();
}

void hl_site_table_after_fork_child(void) {
    urcu_bp_after_fork_child();
}

static int has_record(uint32_t site) {
    const uint32_t *directory = hl_flight_page(HL_SITE_DIRECTORY_PAGE);
    /* The number is stored when the record is complete; `ready` is set a little later. */
    return directory[site / HL_SITES_PER_PAGE] && (hl_site_record(site)->ready || nodes[site].site == site);
}

/* Make sure that the table finds the site of a complete record. */
static void adopt(uint32_t site) {
    struct hl_site_record *record = hl_site_record(site);
    struct hl_site_key key = {.kind = record->kind, .library = record->library, .tag = record->tag};
    struct cds_lfht_iter iterator;
    key.line = record->line;
    key.offset = record->offset;
    if (record->path) key.path.bytes = hl_flight_text(record->path, &key.path.length);
    cds_lfht_lookup(sites, record->hash, matches, &key, &iterator);
    struct cds_lfht_node *node = cds_lfht_iter_get_node(&iterator);
    if (!node) {
        cds_lfht_node_init(&nodes[site].node);
        nodes[site].site = site;
        node = cds_lfht_add_unique(sites, record->hash, matches, &key, &nodes[site].node);
    }
    if (site_of(node) == site) record->ready = 1;
}

void hl_site_table_become_child(void) {
    const uint32_t count = hl_flight.header->site_count;
    uint32_t site = sites_before_fork > HL_SITE_FIRST + ADDING ? sites_before_fork - ADDING : HL_SITE_FIRST;
    urcu_bp_read_lock();
    for (; site < count && site < hl_flight.header->site_limit; site++)
        if (has_record(site)) adopt(site);
    urcu_bp_read_unlock();
}
