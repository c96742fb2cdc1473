/* SPDX-License-Identifier: MIT */
#include "tally.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "flight_copy.h"

enum {
    NAME_ROOM = 64, /* for what a name has besides its texts */
    TOLD = 64,      /* blocks whose sums are given back together */
    KEPT = 1 << 14  /* pages: the copy of a larger file does not lie there between two readings */
};

/* ---- memory ---- */

static int grow(struct hl_tally *tally, void *block, uint32_t *room, uint32_t needed, size_t size) {
    void **place = block;
    if (needed <= *room) return 1;
    uint64_t wanted = *room ? *room : 64;
    while (wanted < needed) wanted += wanted > 4096 ? wanted / 8 : wanted;
    void *fresh = wanted <= UINT32_MAX ? realloc(*place, wanted * size) : NULL;
    if (!fresh) {
        tally->failed = 1;
        return 0;
    }
    *place = fresh;
    *room = (uint32_t)wanted;
    return 1;
}

static void release(struct hl_tally_process *process) {
    for (uint32_t i = 0; i < process->held_count; i++) free(process->held[i]);
    free(process->held);
    free(process->places);
    hl_flight_changes_release(&process->changes);
}

void hl_tally_destroy(struct hl_tally *tally) {
    for (uint32_t i = 0; i < tally->process_count; i++) release(&tally->processes[i]);
    hl_flight_news_release(&tally->news);
    free(tally->bytes);
    free(tally->texts);
    free(tally->places);
    free(tally->now);
    free(tally->groups);
    free(tally->location_places);
    free(tally->text_table.slots);
    free(tally->place_table.slots);
    free(tally->location_table.slots);
    free(tally->processes);
    memset(tally, 0, sizeof(*tally));
}

static size_t table_size(const struct hl_tally_table *table) {
    return table->slots ? ((size_t)table->mask + 1) * sizeof(*table->slots) : 0;
}

size_t hl_tally_size(const struct hl_tally *tally) {
    size_t size = tally->byte_room + tally->text_room * sizeof(*tally->texts) +
                  tally->place_room * sizeof(*tally->places) + tally->group_room * sizeof(*tally->groups) +
                  tally->now_room * sizeof(*tally->now) + tally->news.copy.pages * HL_PAGE_SIZE +
                  tally->location_room * sizeof(*tally->location_places) + table_size(&tally->text_table) +
                  table_size(&tally->place_table) + table_size(&tally->location_table);
    for (uint32_t i = 0; i < tally->process_count; i++) {
        const struct hl_tally_process *process = &tally->processes[i];
        size += process->site_count * sizeof(uint32_t) + process->changes.pages * sizeof(uint64_t);
        for (uint32_t block = 0; block < process->held_count; block++)
            size += process->held[block] ? malloc_usable_size(process->held[block]) : 0;
    }
    return size;
}

/* ---- tables: from a thing to its number ---- */

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

typedef uint64_t hash_function(const struct hl_tally *tally, uint32_t number);

static void put(struct hl_tally_table *table, uint64_t hash, uint32_t number) {
    uint32_t slot = (uint32_t)hash & table->mask;
    while (table->slots[slot]) slot = (slot + 1) & table->mask;
    table->slots[slot] = number + 1;
}

/* Room for one more. */
static int make_room(struct hl_tally *tally, struct hl_tally_table *table, hash_function *hash_of) {
    struct hl_tally_table larger = {.mask = table->slots ? table->mask : 31, .count = table->count};
    if (table->slots && 3 * ((uint64_t)table->count + 1) <= 2 * ((uint64_t)table->mask + 1)) return 1;
    larger.mask = 2 * larger.mask + 1;
    larger.slots = calloc((size_t)larger.mask + 1, sizeof(*larger.slots));
    if (!larger.slots) {
        tally->failed = 1;
        return 0;
    }
    for (uint32_t i = 0; table->slots && i <= table->mask; i++)
        if (table->slots[i]) put(&larger, hash_of(tally, table->slots[i] - 1), table->slots[i] - 1);
    free(table->slots);
    *table = larger;
    return 1;
}

/* ---- texts ---- */

static uint64_t hash_bytes(const char *bytes, size_t length) {
    uint64_t hash = length + 1, word;
    for (; length >= sizeof(word); bytes += sizeof(word), length -= sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, bytes, length);
    return mix(hash, word);
}

const char *hl_tally_bytes(const struct hl_tally *tally, uint32_t text, size_t *length) {
    *length = tally->texts[text].length;
    return *length ? tally->bytes + tally->texts[text].at : "";
}

static uint64_t hash_text(const struct hl_tally *tally, uint32_t number) {
    size_t length;
    const char *bytes = hl_tally_bytes(tally, number, &length);
    return hash_bytes(bytes, length);
}

static uint32_t add_text(struct hl_tally *tally, const char *bytes, size_t length) {
    if (!grow(tally, &tally->texts, &tally->text_room, tally->text_count + 1, sizeof(*tally->texts))) return 0;
    if (tally->byte_room - tally->byte_count < length) {
        const size_t room = tally->byte_room + tally->byte_room / 2 + length + 4096;
        char *fresh = room < UINT32_MAX ? realloc(tally->bytes, room) : NULL;
        if (!fresh) {
            tally->failed = 1;
            return 0;
        }
        tally->bytes = fresh;
        tally->byte_room = room;
    }
    if (length) memcpy(tally->bytes + tally->byte_count, bytes, length);
    tally->texts[tally->text_count] =
        (struct hl_tally_text){.at = (uint32_t)tally->byte_count, .length = (uint32_t)length};
    tally->byte_count += length;
    return tally->text_count++;
}

uint32_t hl_tally_intern(struct hl_tally *tally, const char *bytes, size_t length) {
    struct hl_tally_table *table = &tally->text_table;
    if (!bytes || !make_room(tally, table, hash_text)) return 0;
    const uint64_t hash = hash_bytes(bytes, length);
    for (uint32_t slot = (uint32_t)hash & table->mask; table->slots[slot]; slot = (slot + 1) & table->mask) {
        const struct hl_tally_text *known = &tally->texts[table->slots[slot] - 1];
        if (known->length == length && memcmp(tally->bytes + known->at, bytes, length) == 0)
            return table->slots[slot] - 1;
    }
    const uint32_t number = add_text(tally, bytes, length);
    if (!number) return 0;
    put(table, hash, number);
    table->count++;
    return number;
}

/* ---- places ---- */

static uint64_t hash_location_of(const struct hl_tally_place *place) {
    uint64_t hash = mix(place->kind, place->path);
    hash = mix(hash, (uint64_t)place->line << 1 | place->is_fixed);
    hash = mix(hash, place->kind == HL_KIND_NATIVE ? place->offset : 0);
    hash = mix(hash, place->kind == HL_KIND_SPECIAL ? place->label : 0);
    return mix(hash, place->kind == HL_KIND_NATIVE ? place->base_library : 0);
}

static int is_same_location(const struct hl_tally_place *one, const struct hl_tally_place *other) {
    return one->kind == other->kind && one->path == other->path && one->line == other->line &&
           one->is_fixed == other->is_fixed &&
           (one->kind != HL_KIND_NATIVE ||
            (one->offset == other->offset && one->base_library == other->base_library)) &&
           (one->kind != HL_KIND_SPECIAL || one->label == other->label);
}

static uint64_t hash_location(const struct hl_tally *tally, uint32_t number) {
    return hash_location_of(&tally->places[tally->location_places[number]]);
}

static uint64_t hash_place_of(const struct hl_tally_place *place) {
    uint64_t hash = mix(hash_location_of(place), (uint64_t)place->label << 32 | place->library);
    hash = mix(hash, place->stage);
    return mix(hash, (uint64_t)place->tag << 32 | place->symbol_offset);
}

static uint64_t hash_place(const struct hl_tally *tally, uint32_t number) {
    return hash_place_of(&tally->places[number]);
}

/* The location of a place that is about to have this number. */
static uint32_t find_location(struct hl_tally *tally, const struct hl_tally_place *place, uint32_t number) {
    struct hl_tally_table *table = &tally->location_table;
    if (!make_room(tally, table, hash_location) || !grow(tally, &tally->location_places, &tally->location_room,
                                                         tally->location_count + 1, sizeof(*tally->location_places)))
        return 0;
    const uint64_t hash = hash_location_of(place);
    for (uint32_t slot = (uint32_t)hash & table->mask; table->slots[slot]; slot = (slot + 1) & table->mask) {
        const uint32_t known = table->slots[slot] - 1;
        if (is_same_location(place, &tally->places[tally->location_places[known]])) return known;
    }
    tally->location_places[tally->location_count] = number;
    put(table, hash, tally->location_count);
    table->count++;
    return tally->location_count++;
}

static int is_same_place(const struct hl_tally_place *one, const struct hl_tally_place *other) {
    return is_same_location(one, other) && one->label == other->label && one->library == other->library &&
           one->tag == other->tag && one->symbol_offset == other->symbol_offset && one->stage == other->stage;
}

static int room_for_places(struct hl_tally *tally) {
    const uint32_t needed = tally->place_count + 1;
    return grow(tally, &tally->places, &tally->place_room, needed, sizeof(*tally->places)) &&
           grow(tally, &tally->now, &tally->now_room, needed, sizeof(*tally->now));
}

/* The number of a place + 1; 0: there is no memory. */
static uint32_t find_place(struct hl_tally *tally, struct hl_tally_place *place) {
    struct hl_tally_table *table = &tally->place_table;
    if (tally->failed || !make_room(tally, table, hash_place) || !room_for_places(tally)) return 0;
    const uint64_t hash = hash_place_of(place);
    for (uint32_t slot = (uint32_t)hash & table->mask; table->slots[slot]; slot = (slot + 1) & table->mask)
        if (is_same_place(place, &tally->places[table->slots[slot] - 1])) return table->slots[slot];
    const uint32_t number = tally->place_count;
    place->location = find_location(tally, place, number);
    if (tally->failed) return 0;
    tally->places[number] = *place;
    memset(&tally->now[number], 0, sizeof(*tally->now));
    put(table, hash, number);
    table->count++;
    return ++tally->place_count;
}

static uint32_t intern(struct hl_tally *tally, struct hl_span span) {
    return hl_tally_intern(tally, span.bytes, span.length);
}

static uint32_t intern_base_name(struct hl_tally *tally, struct hl_span path) {
    const char *slash = path.bytes ? memrchr(path.bytes, '/', path.length) : NULL;
    if (slash) path = (struct hl_span){slash + 1, path.length - (uint32_t)(slash + 1 - path.bytes)};
    return intern(tally, path);
}

static uint32_t place_of(struct hl_tally *tally, const struct hl_flight_sums *sums, uint32_t number) {
    static const struct hl_span unknown = {"(unknown)", 9}, none;
    struct hl_site_place site = hl_site_place(sums, number);
    if (site.kind == HL_KIND_RUBY && !site.path.bytes) site.path = unknown;
    if (site.kind == HL_KIND_SPECIAL) site.library = none; /* it is called by its name alone */
    struct hl_tally_place place = {.kind = site.kind,
                                   .path = intern(tally, site.path),
                                   .label = intern(tally, site.label),
                                   .library = intern(tally, site.library),
                                   .base_library = intern_base_name(tally, site.library),
                                   .tag = intern(tally, site.tag),
                                   .line = number < HL_SITE_FIRST ? number : site.line,
                                   .is_fixed = number < HL_SITE_FIRST,
                                   .offset = site.offset,
                                   .symbol_offset = site.symbol_offset,
                                   .stage = (uint8_t)hl_stage_of(&site)};
    return find_place(tally, &place);
}

int hl_tally_create(struct hl_tally *tally) {
    memset(tally, 0, sizeof(*tally));
    if (!grow(tally, &tally->texts, &tally->text_room, 2, sizeof(*tally->texts))) return -ENOMEM;
    memset(tally->texts, 0, 2 * sizeof(*tally->texts));
    tally->text_count = 2;
    for (int stage = HL_STAGE_RUN + 1; stage < HL_STAGES; stage++) {
        struct hl_tally_place place = {.kind = HL_KIND_SPECIAL, .label = intern(tally, hl_stage_names[stage])};
        find_place(tally, &place);
    }
    if (!tally->failed) return 0;
    hl_tally_destroy(tally);
    return -ENOMEM;
}

/* ---- a reading ---- */

void hl_tally_begin(struct hl_tally *tally, const uint64_t *same, size_t count) {
    tally->readings++;
    free(tally->groups); /* they are of no use any more (T1), and memory is wanted for the reading */
    tally->groups = NULL;
    tally->group_room = 0;
    for (uint32_t i = 0; i < tally->process_count; i++) {
        struct hl_tally_process *process = &tally->processes[i];
        process->present = process->same = 0;
        for (size_t j = 0; j < count && !process->same; j++) process->same = process->id == same[j];
    }
}

int hl_tally_is_due(const struct hl_tally_process *process) {
    return !process->same || !process->changes.prints;
}

struct hl_tally_process *hl_tally_process(struct hl_tally *tally, uint64_t id) {
    for (uint32_t i = 0; i < tally->process_count; i++) {
        if (tally->processes[i].id != id) continue;
        tally->processes[i].present = 1;
        return &tally->processes[i];
    }
    if (!grow(tally, &tally->processes, &tally->process_room, tally->process_count + 1, sizeof(*tally->processes)))
        return NULL;
    struct hl_tally_process *fresh = &tally->processes[tally->process_count++];
    *fresh = (struct hl_tally_process){.id = id, .present = 1};
    return fresh;
}

static uint64_t share(uint64_t figure, uint64_t own, uint64_t all) {
    return (uint64_t)((unsigned __int128)figure * own / all);
}

/* T3. Of those that were freed since the fork, inherited and own ones together, the own ones get their share. */
static struct hl_tally_figures own_figures(const struct hl_count *count, const struct hl_site_base *base) {
    const uint64_t calls = count->allocations - base->before.allocations,
                   bytes = count->bytes_allocated - base->before.bytes_allocated;
    const uint64_t frees = count->frees - base->before.frees;
    struct hl_tally_figures own = {.count = {.allocations = calls,
                                             .bytes_allocated = bytes,
                                             .frees = base->new_frees,
                                             .bytes_freed = base->new_bytes_freed}};
    own.growth_bytes = own.retained_bytes = (int64_t)(bytes - base->new_bytes_freed);
    if (!frees) return own;
    own.count.age_sum = share(count->age_sum - base->before.age_sum, base->new_frees, frees);
    own.count.age_ms_sum = share(count->age_ms_sum - base->before.age_ms_sum, base->new_frees, frees);
    own.count.temporary = share(count->temporary - base->before.temporary, base->new_frees, frees);
    own.count.age_max = count->age_max;
    own.count.age_ms_max = count->age_ms_max;
    return own;
}

static struct hl_tally_figures figures_of(const struct hl_flight_sums *sums, uint32_t number, int own) {
    const struct hl_count *count = &sums->sites[number].count;
    const struct hl_site_base base = hl_site_base(sums, number);
    if (own) return own_figures(count, &base);
    struct hl_tally_figures all = {.count = *count};
    all.growth_bytes = hl_site_growth_bytes(count, &base);
    all.retained_bytes = hl_site_retained_bytes(count, &base);
    return all;
}

static int64_t sum_of(int64_t one, int64_t other) {
    return (int64_t)((uint64_t)one + (uint64_t)other);
}

static int64_t less_of(int64_t one, int64_t other) {
    return (int64_t)((uint64_t)one - (uint64_t)other);
}

static void add_figures(struct hl_tally_figures *sum, const struct hl_tally_figures *more) {
    hl_count_add(&sum->count, &more->count);
    sum->growth_bytes = sum_of(sum->growth_bytes, more->growth_bytes);
    sum->retained_bytes = sum_of(sum->retained_bytes, more->retained_bytes);
    sum->base_live = sum_of(sum->base_live, more->base_live);
}

static void take_off(struct hl_tally_figures *sum, const struct hl_tally_figures *less) {
    struct hl_count *count = &sum->count;
    count->allocations -= less->count.allocations;
    count->bytes_allocated -= less->count.bytes_allocated;
    count->frees -= less->count.frees;
    count->bytes_freed -= less->count.bytes_freed;
    count->age_sum -= less->count.age_sum;
    count->age_ms_sum -= less->count.age_ms_sum;
    count->temporary -= less->count.temporary;
    sum->growth_bytes = less_of(sum->growth_bytes, less->growth_bytes);
    sum->retained_bytes = less_of(sum->retained_bytes, less->retained_bytes);
    sum->base_live = less_of(sum->base_live, less->base_live);
}

/* ---- what is held of each process (T2) ---- */

enum {
    WORDS = sizeof(struct hl_tally_figures) / sizeof(uint64_t),
    WORD_MOST = 10, /* bytes */
    BLOCK_MOST = HL_TALLY_BLOCK * (2 + WORDS * WORD_MOST) + 8
};
_Static_assert(sizeof(struct hl_tally_figures) == 11 * sizeof(uint64_t), "figures are words");

/* Small numbers, also those below 0, take one byte; each further byte seven bits more. */
static unsigned char *pack_word(unsigned char *at, uint64_t word) {
    for (word = word << 1 ^ (0 - (word >> 63)); word >= 0x80; word >>= 7) *at++ = (unsigned char)(word | 0x80);
    *at++ = (unsigned char)word;
    return at;
}

static const unsigned char *unpack_word(const unsigned char *at, uint64_t *word) {
    uint64_t packed = 0;
    unsigned shift = 0;
    for (; *at & 0x80; shift += 7) packed |= (uint64_t)(*at++ & 0x7f) << shift;
    packed |= (uint64_t)*at++ << shift;
    *word = packed >> 1 ^ (0 - (packed & 1));
    return at;
}

/* What is alike at most sites is left out: what lives is what grew, and what was freed was temporary. */
static struct hl_tally_figures relate(const struct hl_tally_figures *figures) {
    struct hl_tally_figures related = *figures;
    const struct hl_count *count = &figures->count;
    related.count.frees = count->allocations - count->frees;
    related.count.bytes_freed = count->bytes_allocated - count->bytes_freed;
    related.count.temporary = count->frees - count->temporary;
    related.growth_bytes = less_of(figures->growth_bytes, hl_count_live_bytes(count));
    related.retained_bytes = less_of(figures->retained_bytes, hl_count_live_bytes(count));
    return related;
}

static void unrelate(struct hl_tally_figures *figures) {
    struct hl_count *count = &figures->count;
    count->frees = count->allocations - count->frees;
    count->bytes_freed = count->bytes_allocated - count->bytes_freed;
    count->temporary = count->frees - count->temporary;
    figures->growth_bytes = sum_of(figures->growth_bytes, hl_count_live_bytes(count));
    figures->retained_bytes = sum_of(figures->retained_bytes, hl_count_live_bytes(count));
}

/* A bit for each site that is not 0; then of each of these a bit for each word that is not 0, and the words. */
static size_t pack(const struct hl_tally_figures *figures, unsigned char *block) {
    unsigned char *at = block + sizeof(uint64_t);
    uint64_t sites = 0, words[WORDS];
    for (uint32_t i = 0; i < HL_TALLY_BLOCK; i++) {
        unsigned char *mask = at;
        uint32_t bits = 0;
        const struct hl_tally_figures related = relate(&figures[i]);
        memcpy(words, &related, sizeof(words));
        for (uint32_t word = 0; word < WORDS; word++) bits |= (uint32_t)(words[word] != 0) << word;
        if (!bits) continue;
        sites |= UINT64_C(1) << i;
        mask[0] = (unsigned char)bits;
        mask[1] = (unsigned char)(bits >> 8);
        at += 2;
        for (; bits; bits &= bits - 1) at = pack_word(at, words[__builtin_ctz(bits)]);
    }
    memcpy(block, &sites, sizeof(sites));
    return sites ? (size_t)(at - block) : 0;
}

static void unpack(const unsigned char *block, struct hl_tally_figures *figures) {
    memset(figures, 0, HL_TALLY_BLOCK * sizeof(*figures));
    if (!block) return;
    uint64_t sites, words[WORDS];
    memcpy(&sites, block, sizeof(sites));
    const unsigned char *at = block + sizeof(sites);
    for (; sites; sites &= sites - 1) {
        uint32_t bits = (uint32_t)at[0] | (uint32_t)at[1] << 8;
        at += 2;
        memset(words, 0, sizeof(words));
        for (; bits; bits &= bits - 1) at = unpack_word(at, &words[__builtin_ctz(bits)]);
        struct hl_tally_figures *site = &figures[__builtin_ctzll(sites)];
        memcpy(site, words, sizeof(words));
        unrelate(site);
    }
}

static void hold(struct hl_tally *tally, struct hl_tally_process *process, uint32_t block,
                 const struct hl_tally_figures *figures) {
    unsigned char packed[BLOCK_MOST];
    const size_t size = pack(figures, packed);
    unsigned char *room = process->held[block];
    if (!size || !room || malloc_usable_size(room) < size || malloc_usable_size(room) > 2 * size + 32) {
        free(room);
        room = process->held[block] = size ? malloc(size) : NULL;
        if (size && !room) tally->failed = 1;
    }
    if (room) memcpy(room, packed, size);
}

static int64_t *live_of(struct hl_totals *totals, const struct hl_tally_place *place) {
    if (place->kind == HL_KIND_RUBY) return &totals->live_ruby_bytes;
    return place->kind == HL_KIND_SPECIAL && !place->is_fixed ? &totals->live_jit_bytes : &totals->live_native_bytes;
}

static void add_total(struct hl_totals *totals, const struct hl_tally_place *place,
                      const struct hl_tally_figures *more) {
    int64_t *live = live_of(totals, place);
    *live = sum_of(*live, hl_count_live_bytes(&more->count));
    hl_count_add(&totals->all.count, &more->count);
    totals->all.growth_bytes = sum_of(totals->all.growth_bytes, more->growth_bytes);
    totals->all.retained_bytes = sum_of(totals->all.retained_bytes, more->retained_bytes);
}

/* What is held of a site changes. */
static void replace(struct hl_tally *tally, struct hl_tally_process *process, uint32_t place,
                    struct hl_tally_figures *held, const struct hl_tally_figures *figures) {
    struct hl_tally_figures *now = &tally->now[place], change = *figures;
    if (figures->count.age_max < held->count.age_max || figures->count.age_ms_max < held->count.age_ms_max)
        tally->maxima_fell = 1;
    take_off(now, held);
    add_figures(now, figures);
    take_off(&change, held);
    add_total(&process->totals, &tally->places[place], &change);
    *held = *figures;
}

/* With the place of each site whose figures are not 0. */
typedef int change_held(struct hl_tally *tally, uint32_t place, struct hl_tally_figures *held);

static void each_held(struct hl_tally *tally, struct hl_tally_process *process, change_held *change) {
    struct hl_tally_figures held[HL_TALLY_BLOCK];
    for (uint32_t block = 0; block < process->held_count; block++) {
        int changed = 0;
        if (!process->held[block]) continue;
        unpack(process->held[block], held);
        for (uint32_t i = 0; i < HL_TALLY_BLOCK; i++) {
            const uint32_t number = block * HL_TALLY_BLOCK + i;
            if (number < process->site_count && process->places[number])
                changed |= change(tally, process->places[number] - 1, &held[i]);
        }
        if (changed) hold(tally, process, block, held);
    }
}

static int leave(struct hl_tally *tally, uint32_t place, struct hl_tally_figures *held) {
    take_off(&tally->now[place], held);
    return 0;
}

/* Nothing of this process counts any more. */
static void forget(struct hl_tally *tally, struct hl_tally_process *process) {
    each_held(tally, process, leave);
    release(process);
    tally->maxima_fell = 1;
}

/* ---- a process ---- */

/* Room for its sites. */
static int prepare(struct hl_tally_process *process, uint32_t sites) {
    const uint32_t blocks = (sites + HL_TALLY_BLOCK - 1) / HL_TALLY_BLOCK;
    if (process->site_count < sites) {
        uint32_t *fresh = realloc(process->places, sites * sizeof(*fresh));
        if (!fresh) return 0;
        memset(fresh + process->site_count, 0, (sites - process->site_count) * sizeof(*fresh));
        process->places = fresh;
        process->site_count = sites;
    }
    if (process->held_count < blocks) {
        unsigned char **fresh = realloc(process->held, blocks * sizeof(*fresh));
        if (!fresh) return 0;
        memset(fresh + process->held_count, 0, (blocks - process->held_count) * sizeof(*fresh));
        process->held = fresh;
        process->held_count = blocks;
    }
    return 1;
}

static void tell_site(struct hl_tally *tally, struct hl_tally_process *process, uint32_t number, int own,
                      struct hl_tally_figures *held) {
    const struct hl_flight_sums *sums = &tally->news.sums;
    uint32_t *place = &process->places[number];
    struct hl_tally_figures figures = figures_of(sums, number, own);
    if (number == HL_SITE_QUIET) {
        process->totals.live_quiet_bytes = hl_count_live_bytes(&sums->sites[number].count);
        return;
    }
    if (!hl_site_counted(&sums->sites[number])) return;
    figures.base_live = held->base_live;
    if (own && !*place && !figures.count.allocations && !figures.retained_bytes) return;
    if (!*place) *place = place_of(tally, sums, number);
    if (*place) replace(tally, process, *place - 1, held, &figures);
}

static void tell_block(struct hl_tally *tally, struct hl_tally_process *process, uint32_t block, int own) {
    const struct hl_wanted_sites *wanted = &tally->news.wanted;
    const uint32_t first = block * HL_TALLY_BLOCK;
    const uint32_t end = wanted->count - first < HL_TALLY_BLOCK ? wanted->count : first + HL_TALLY_BLOCK;
    struct hl_tally_figures held[HL_TALLY_BLOCK];
    if (!memchr(wanted->wanted + first, 1, end - first)) return;
    unpack(process->held[block], held);
    for (uint32_t number = first; number < end && !tally->failed; number++)
        if (wanted->wanted[number]) tell_site(tally, process, number, own, &held[number - first]);
    hold(tally, process, block, held);
}

/* What these sites counted is told: in a first reading all are, and memory is wanted for what is made of them. */
static void give_back_told(const struct hl_flight_sums *sums, uint32_t first, uint32_t end) {
    const uintptr_t page = HL_PAGE_SIZE;
    const uintptr_t from = (uintptr_t)&sums->sites[first] & ~(page - 1),
                    to = (uintptr_t)&sums->sites[end] & ~(page - 1);
    if (to > from) madvise((void *)from, to - from, MADV_DONTNEED);
}

static void tell_sites(struct hl_tally *tally, struct hl_tally_process *process, int own, int is_first) {
    const uint32_t count = tally->news.wanted.count;
    for (uint32_t block = 0; !tally->failed && block * HL_TALLY_BLOCK < count; block++) {
        tell_block(tally, process, block, own);
        if (is_first && block % TOLD == TOLD - 1 && (block + 1) * HL_TALLY_BLOCK < count)
            give_back_told(&tally->news.sums, (block + 1 - TOLD) * HL_TALLY_BLOCK, (block + 1) * HL_TALLY_BLOCK);
    }
}

/* Where the file is another process's, what is held of the former one goes. */
static int follow(struct hl_tally *tally, struct hl_tally_process *process, int fd, struct hl_problem *problem) {
    struct hl_flight_header header;
    int failed = hl_flight_read_header(fd, &header, problem);
    if (!failed) failed = hl_flight_check_whole(&header, problem);
    if (failed || (process->pid == header.pid && process->started_ns == header.started_ns)) return failed;
    if (process->pid) forget(tally, process);
    *process =
        (struct hl_tally_process){.id = process->id, .present = 1, .pid = header.pid, .started_ns = header.started_ns};
    return 0;
}

int hl_tally_read(struct hl_tally *tally, struct hl_tally_process *process, int fd, int own,
                  struct hl_flight_sums *sums, struct hl_flight_header *header, struct hl_problem *problem) {
    struct hl_flight_news *news = &tally->news;
    int failed = follow(tally, process, fd, problem);
    if (failed) return failed;
    const int is_first = !process->changes.prints;
    tally->read_names |= is_first;
    failed = hl_flight_read_changes(fd, &process->changes, process->places, process->site_count, news, problem);
    if (!failed) {
        if (!prepare(process, news->wanted.count)) tally->failed = 1;
        tell_sites(tally, process, own, is_first);
        if (news->sums.impossible > process->impossible) process->impossible = news->sums.impossible;
        process->is_based = !own && news->sums.header->baseline;
        *header = *news->sums.header;
        *sums = news->sums;
        sums->copy = NULL;
        sums->header = NULL;
        sums->sites = NULL;
        sums->bases = NULL;
        sums->impossible = process->impossible;
    }
    hl_flight_news_done(news);
    return failed;
}

/* ---- the end of a reading ---- */

static int add_longest(struct hl_tally *tally, uint32_t place, struct hl_tally_figures *held) {
    hl_count_add_longest(&tally->now[place].count, &held->count);
    return 0;
}

static void find_longest(struct hl_tally *tally) {
    for (uint32_t i = 0; i < tally->place_count; i++) tally->now[i].count.age_max = tally->now[i].count.age_ms_max = 0;
    for (uint32_t i = 0; i < tally->process_count; i++) each_held(tally, &tally->processes[i], add_longest);
    tally->maxima_fell = 0;
}

static int forget_base(struct hl_tally *tally, uint32_t place, struct hl_tally_figures *held) {
    const int changed = held->base_live != 0;
    tally->now[place].base_live = less_of(tally->now[place].base_live, held->base_live);
    held->base_live = 0;
    return changed;
}

static int set_base(struct hl_tally *tally, uint32_t place, struct hl_tally_figures *held) {
    const int64_t live = hl_count_live_bytes(&held->count);
    int64_t *sum = &tally->now[place].base_live;
    *sum = sum_of(*sum, less_of(live, held->base_live));
    held->base_live = live;
    return 1;
}

void hl_tally_end(struct hl_tally *tally, int baseline) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < tally->process_count; i++) {
        struct hl_tally_process *process = &tally->processes[i];
        if (process->present) {
            tally->processes[kept++] = *process;
            continue;
        }
        forget(tally, process);
    }
    tally->process_count = kept;
    if (tally->maxima_fell) find_longest(tally);
    for (uint32_t i = 0; baseline && i < kept; i++) each_held(tally, &tally->processes[i], set_base);
    if (tally->read_names || tally->news.copy.pages > KEPT) hl_flight_copy_release(&tally->news.copy);
    tally->read_names = 0;
    tally->now_count = tally->place_count;
}

void hl_tally_forget_baseline(struct hl_tally *tally) {
    for (uint32_t i = 0; i < tally->process_count; i++) each_held(tally, &tally->processes[i], forget_base);
}

void hl_tally_before(const struct hl_tally *tally, struct hl_tally_before *before) {
    for (uint32_t i = 0; i < tally->now_count; i++) {
        const struct hl_count *count = &tally->now[i].count;
        before[i] = (struct hl_tally_before){.live_bytes = (uint64_t)hl_count_live_bytes(count),
                                             .allocations = count->allocations,
                                             .bytes_allocated = count->bytes_allocated,
                                             .frees = count->frees,
                                             .temporary = count->temporary};
    }
}

struct hl_tally_figures hl_tally_total(const struct hl_tally *tally) {
    struct hl_tally_figures total = {0};
    for (uint32_t i = 0; i < tally->now_count; i++) add_figures(&total, &tally->now[i]);
    return total;
}

/* ---- groups ---- */

uint32_t hl_tally_owner(const struct hl_tally_place *place) {
    if (place->kind == HL_KIND_RUBY) return place->path;
    if (place->kind == HL_KIND_SPECIAL) return place->label;
    return place->library ? place->library : HL_TALLY_VM;
}

static int has_grown(const struct hl_tally *tally, const struct hl_tally_view *view,
                     const struct hl_tally_figures *now) {
    if (view->has_baseline) return hl_count_live_bytes(&now->count) > now->base_live;
    if (now->growth_bytes <= 0) return 0;
    for (uint32_t i = 0; i < tally->process_count; i++)
        if (tally->processes[i].is_based) return 1;
    return 0;
}

/* The place of its stage. What grew since a baseline stays where it is: it may be a leak. */
static const struct hl_tally_place *overview_of(const struct hl_tally *tally, const struct hl_tally_view *view,
                                                const struct hl_tally_place *place) {
    if (place->stage == HL_STAGE_RUN || has_grown(tally, view, &tally->now[place - tally->places])) return place;
    return &tally->places[place->stage - 1];
}

static uint32_t group_of(const struct hl_tally *tally, const struct hl_tally_place *place, enum hl_tally_by by) {
    switch (by) {
    case HL_TALLY_LOCATION:
    case HL_TALLY_OVERVIEW:
        return place->location;
    case HL_TALLY_GEM:
        return tally->texts[hl_tally_owner(place)].gem;
    case HL_TALLY_FILE:
        return place->path;
    case HL_TALLY_LIBRARY:
        return place->base_library;
    case HL_TALLY_TAG:
        return place->tag;
    }
    return 0;
}

/* The group of a view that a place is in. */
static uint32_t row_of(const struct hl_tally *tally, const struct hl_tally_view *view, uint32_t number) {
    const struct hl_tally_place *place = &tally->places[number];
    return group_of(tally, view->by == HL_TALLY_OVERVIEW ? overview_of(tally, view, place) : place, view->by);
}

/* What a view's figure is made of, so that it adds up. */
static void measure(const struct hl_tally_view *view, const struct hl_tally_figures *now,
                    const struct hl_tally_before *before, int64_t *a, int64_t *b) {
    const struct hl_count *count = &now->count;
    *a = *b = 0;
    switch (view->figure) {
    case HL_TALLY_GROWTH:
        *a = now->growth_bytes;
        break;
    case HL_TALLY_BASELINE_GROWTH:
        *a = hl_count_live_bytes(count) - now->base_live;
        break;
    case HL_TALLY_LIVE:
        *a = hl_count_live_bytes(count);
        break;
    case HL_TALLY_CHANGE:
        *a = view->before ? hl_count_live_bytes(count) - (int64_t)before->live_bytes : 0;
        break;
    case HL_TALLY_RATE:
        *a = view->before ? (int64_t)(count->bytes_allocated - before->bytes_allocated) : 0;
        break;
    case HL_TALLY_BLOCKS:
        *a = (int64_t)(count->allocations - count->frees);
        break;
    case HL_TALLY_TEMPORARY:
        *a = view->before ? (int64_t)(count->temporary - before->temporary) : 0;
        *b = view->before ? (int64_t)(count->frees - before->frees) : 0;
        break;
    case HL_TALLY_LIFE:
        *a = (int64_t)count->age_sum;
        *b = (int64_t)count->frees;
        break;
    }
}

static double value_of(const struct hl_tally_view *view, const struct hl_tally_group *group) {
    if (view->figure != HL_TALLY_TEMPORARY && view->figure != HL_TALLY_LIFE) return (double)group->a;
    const double share = group->b > 0 ? (double)group->a / (double)group->b : 0;
    if (view->figure == HL_TALLY_LIFE) return share;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

static const struct hl_tally_before *before_of(const struct hl_tally_view *view, uint32_t place) {
    static const struct hl_tally_before nothing;
    return place < view->before_count ? &view->before[place] : &nothing;
}

static int is_counted(const struct hl_tally_figures *figures) {
    return figures->count.allocations || figures->count.frees;
}

static int is_shown(const struct hl_tally *tally, const struct hl_tally_view *view, uint32_t number) {
    return is_counted(&tally->now[number]) &&
           (!view->is_within || group_of(tally, &tally->places[number], view->within) == view->within_text);
}

static void join(const struct hl_tally *tally, const struct hl_tally_view *view, uint32_t number,
                 struct hl_tally_group *group) {
    const struct hl_tally_figures *now = &tally->now[number];
    int64_t a, b;
    measure(view, now, before_of(view, number), &a, &b);
    if (!group->seen) {
        group->seen = 1;
        group->largest = number;
        group->growth = now->growth_bytes;
        group->tag = tally->places[number].tag;
        group->library = tally->places[number].base_library;
    } else if (now->growth_bytes > group->growth) {
        group->largest = number;
        group->growth = now->growth_bytes;
    }
    if (group->tag != tally->places[number].tag) group->mixed_tags = 1;
    if (group->library != tally->places[number].base_library) group->mixed_libraries = 1;
    group->a = sum_of(group->a, a);
    group->b = sum_of(group->b, b);
    group->live = sum_of(group->live, hl_count_live_bytes(&now->count));
}

/* ---- names ---- */

static const char *const fixed_names[] = {"(none)", "(other)", "(quiet)", "(exiting threads)"};

struct name {
    char *bytes;
    size_t length, room;
};

static void append(struct name *name, const char *bytes, size_t length) {
    if (name->room - name->length < length) {
        const size_t room = 2 * name->room + length + NAME_ROOM;
        char *fresh = realloc(name->bytes, room);
        if (!fresh) return;
        name->bytes = fresh;
        name->room = room;
    }
    memcpy(name->bytes + name->length, bytes, length);
    name->length += length;
}

/* folded: in lower case. */
static void append_text(const struct hl_tally *tally, struct name *name, uint32_t text, int folded) {
    size_t length;
    const char *bytes =
        hl_tally_bytes(tally, folded && tally->texts[text].folded ? tally->texts[text].folded : text, &length);
    const size_t at = name->length;
    append(name, bytes, length);
    for (size_t i = at; folded && i < name->length; i++)
        if (name->bytes[i] >= 'A' && name->bytes[i] <= 'Z') name->bytes[i] += 'a' - 'A';
}

static void append_words(struct name *name, const char *words) {
    append(name, words, strlen(words));
}

/* As Places::Location#to_s has it. */
static void append_location(const struct hl_tally *tally, struct name *name, const struct hl_tally_place *place,
                            int folded) {
    char number[NAME_ROOM];
    if (place->kind == HL_KIND_RUBY) {
        append_text(tally, name, place->path, folded);
        snprintf(number, sizeof(number), ":%u", place->line);
        append_words(name, number);
    } else if (place->kind == HL_KIND_NATIVE) {
        if (place->base_library)
            append_text(tally, name, place->base_library, folded);
        else
            append_words(name, "ruby");
        snprintf(number, sizeof(number), "+0x%llx", (unsigned long long)place->offset);
        append_words(name, number);
    } else if (place->label) {
        append_text(tally, name, place->label, folded);
    } else {
        append_words(name, place->is_fixed ? fixed_names[place->line] : "(unknown)");
    }
}

static void append_group(const struct hl_tally *tally, struct name *name, const struct hl_tally_view *view,
                         const struct hl_tally_group *group, int folded) {
    static const char *const unnamed[] = {"", "(application)", "(native code)", "ruby", "(no tag)"};
    if (hl_tally_has_lines(view->by))
        append_location(tally, name, &tally->places[tally->location_places[group->number]], folded);
    else if (group->number || !folded)
        append_text(tally, name, group->number, folded);
    else
        append_words(name, unnamed[view->by]); /* it is found by what it is shown as, and has its place by no name */
}

/* ---- the filter ---- */

static int contains(const struct name *name, const struct hl_tally_view *view) {
    return memmem(name->bytes, name->length, view->pattern, view->pattern_length) != NULL;
}

/* "symbol+0x12" of native code. */
static int label_contains(const struct hl_tally *tally, struct name *name, const struct hl_tally_place *place,
                          const struct hl_tally_view *view) {
    char offset[NAME_ROOM];
    if (!place->label || place->kind == HL_KIND_SPECIAL) return 0;
    name->length = 0;
    append_text(tally, name, place->label, 1);
    snprintf(offset, sizeof(offset), "+0x%x", place->symbol_offset);
    if (place->kind == HL_KIND_NATIVE) append_words(name, offset);
    return contains(name, view);
}

static int text_contains(const struct hl_tally *tally, struct name *name, uint32_t text,
                         const struct hl_tally_view *view) {
    if (!text) return 0;
    name->length = 0;
    append_text(tally, name, text, 1);
    return contains(name, view);
}

/* In its name, or, of a line, in what else names it. */
static int matches(const struct hl_tally *tally, const struct hl_tally_view *view, const struct hl_tally_group *group,
                   struct name *name) {
    const struct hl_tally_place *place = &tally->places[group->largest];
    name->length = 0;
    append_group(tally, name, view, group, 1);
    if (contains(name, view)) return 1;
    if (hl_tally_has_lines(view->by)) {
        if (label_contains(tally, name, place, view)) return 1;
        if (!group->no_library && text_contains(tally, name, place->base_library, view)) return 1;
        if (text_contains(tally, name, group_of(tally, place, HL_TALLY_GEM), view)) return 1;
    }
    return !group->mixed_tags && text_contains(tally, name, group->tag, view);
}

static uint32_t filter(const struct hl_tally *tally, const struct hl_tally_view *view, struct hl_tally_group *groups,
                       uint32_t count) {
    struct name name = {0};
    uint32_t kept = 0;
    append(&name, "", 0);
    for (uint32_t i = 0; i < count; i++)
        if (matches(tally, view, &groups[i], &name)) groups[kept++] = groups[i];
    free(name.bytes);
    return kept;
}

/* What a line allocated through one library. */
struct part {
    int64_t growth, live, largest_growth;
    uint64_t allocated;
    uint32_t location, library, largest;
    uint32_t first; /* place */
};

static int compare_parts(const void *left, const void *right) {
    const struct part *one = left, *other = right;
    if (one->location != other->location) return one->location < other->location ? -1 : 1;
    if (one->library != other->library) return one->library < other->library ? -1 : 1;
    return (one->largest > other->largest) - (one->largest < other->largest);
}

/* Those of one line and library become one. */
static uint32_t join_parts(struct part *parts, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct part *last = kept ? &parts[kept - 1] : NULL, part = parts[i];
        if (!last || last->location != part.location || last->library != part.library) {
            parts[kept++] = part;
            continue;
        }
        if (part.largest_growth > last->largest_growth) {
            last->largest = part.largest;
            last->largest_growth = part.largest_growth;
        }
        last->growth = sum_of(last->growth, part.growth);
        last->live = sum_of(last->live, part.live);
        last->allocated += part.allocated;
    }
    return kept;
}

/* The line is shown as the part of it that grew most, and by its library where that is more than half of what lives
 * (where nothing does: of what was allocated). */
static void lead(struct hl_tally_group *group, const struct part *parts, uint32_t count) {
    const struct part *first = &parts[0];
    uint64_t allocated = 0;
    for (uint32_t i = 0; i < count; i++) {
        allocated += parts[i].allocated;
        const int more = parts[i].growth > first->growth, as_much = parts[i].growth == first->growth;
        if (more || (as_much && parts[i].first < first->first)) first = &parts[i];
    }
    const int64_t half = group->live >= 0 ? group->live / 2 : -((1 - group->live) / 2);
    group->largest = first->largest;
    group->no_library = group->live ? first->live <= half : first->allocated <= allocated / 2;
}

static void find_leads(struct hl_tally *tally, const struct hl_tally_view *view, struct hl_tally_group *groups) {
    struct part *parts = NULL;
    uint32_t room = 0, count = 0;
    for (uint32_t number = 0; number < tally->now_count; number++) {
        const struct hl_tally_place *place = &tally->places[number];
        const struct hl_tally_figures *now = &tally->now[number];
        const uint32_t group = row_of(tally, view, number);
        if (!is_shown(tally, view, number) || !groups[group].mixed_libraries) continue;
        if (!grow(tally, &parts, &room, count + 1, sizeof(*parts))) break;
        parts[count++] = (struct part){.growth = now->growth_bytes,
                                       .live = hl_count_live_bytes(&now->count),
                                       .largest_growth = now->growth_bytes,
                                       .allocated = now->count.bytes_allocated,
                                       .location = group,
                                       .library = place->base_library,
                                       .largest = number,
                                       .first = number};
    }
    if (count) qsort(parts, count, sizeof(*parts), compare_parts);
    count = join_parts(parts, count);
    for (uint32_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && parts[to].location == parts[from].location; to++) {
        }
        lead(&groups[parts[from].location], parts + from, to - from);
    }
    free(parts);
}

/* They have no name but that of the stage. */
static void name_stages(const struct hl_tally *tally, struct hl_tally_group *groups) {
    for (uint32_t i = 0; i < HL_TALLY_STAGES; i++) {
        struct hl_tally_group *group = &groups[tally->places[i].location];
        group->largest = i;
        group->mixed_libraries = 0;
    }
}

struct hl_tally_group *hl_tally_groups(struct hl_tally *tally, const struct hl_tally_view *view, uint32_t *count) {
    const uint32_t room = hl_tally_has_lines(view->by) ? tally->location_count : tally->text_count;
    *count = 0;
    if (!grow(tally, &tally->groups, &tally->group_room, room + 1, sizeof(*tally->groups))) return NULL;
    struct hl_tally_group *groups = tally->groups;
    memset(groups, 0, room * sizeof(*groups));
    for (uint32_t number = 0; number < tally->now_count; number++)
        if (is_shown(tally, view, number)) join(tally, view, number, &groups[row_of(tally, view, number)]);
    if (view->by == HL_TALLY_OVERVIEW) name_stages(tally, groups);
    if (hl_tally_has_lines(view->by)) find_leads(tally, view, groups);
    for (uint32_t number = 0; number < room; number++) {
        if (!groups[number].seen) continue;
        groups[*count] = groups[number];
        groups[(*count)++].number = number;
    }
    if (view->pattern) *count = filter(tally, view, groups, *count);
    return groups;
}

/* ---- order ---- */

struct sorting {
    const struct hl_tally *tally;
    const struct hl_tally_view *view;
    struct name one, other;
};

static int compare_bytes(const char *one, size_t one_length, const char *other, size_t other_length) {
    const int order = memcmp(one, other, one_length < other_length ? one_length : other_length);
    return order ? order : (one_length > other_length) - (one_length < other_length);
}

/* Of two lines the paths tell in most cases, and then nothing need be written. */
static int compare_paths(const struct sorting *sorting, const struct hl_tally_group *one,
                         const struct hl_tally_group *other) {
    const struct hl_tally *tally = sorting->tally;
    if (!hl_tally_has_lines(sorting->view->by)) return 0;
    const struct hl_tally_place *a = &tally->places[tally->location_places[one->number]];
    const struct hl_tally_place *b = &tally->places[tally->location_places[other->number]];
    size_t a_length, b_length;
    if (a->path == b->path || !a->path || !b->path) return 0;
    const char *a_bytes = hl_tally_bytes(tally, a->path, &a_length),
               *b_bytes = hl_tally_bytes(tally, b->path, &b_length);
    return memcmp(a_bytes, b_bytes, a_length < b_length ? a_length : b_length);
}

static int compare_names(struct sorting *sorting, const struct hl_tally_group *one,
                         const struct hl_tally_group *other) {
    const int order = compare_paths(sorting, one, other);
    if (order) return order;
    sorting->one.length = sorting->other.length = 0;
    append_group(sorting->tally, &sorting->one, sorting->view, one, 0);
    append_group(sorting->tally, &sorting->other, sorting->view, other, 0);
    return compare_bytes(sorting->one.bytes, sorting->one.length, sorting->other.bytes, sorting->other.length);
}

/* Below 0: `one` comes first. */
static int compare(const void *left, const void *right, void *data) {
    struct sorting *sorting = data;
    const struct hl_tally_group *one = left, *other = right;
    const double a = value_of(sorting->view, one), b = value_of(sorting->view, other);
    if (a > b || a < b) return a > b ? -1 : 1;
    if (one->live != other->live) return one->live > other->live ? -1 : 1;
    return compare_names(sorting, one, other);
}

/* A heap of the first `limit`, the last of them at its root: put `group` into its place, from `at` down. */
static void sink(struct sorting *sorting, struct hl_tally_group *heap, uint32_t limit, uint32_t at) {
    const struct hl_tally_group group = heap[at];
    for (uint64_t below = 2 * (uint64_t)at + 1; below < limit; below = 2 * (uint64_t)at + 1) {
        if (below + 1 < limit && compare(&heap[below], &heap[below + 1], sorting) < 0) below++;
        if (compare(&heap[below], &group, sorting) <= 0) break;
        heap[at] = heap[below];
        at = (uint32_t)below;
    }
    heap[at] = group;
}

void hl_tally_sort(const struct hl_tally *tally, const struct hl_tally_view *view, struct hl_tally_group *groups,
                   uint32_t count, uint32_t limit) {
    struct sorting sorting = {.tally = tally, .view = view};
    append(&sorting.one, "", 0);
    append(&sorting.other, "", 0);
    if (limit < count) {
        for (uint32_t at = limit / 2; at-- > 0;) sink(&sorting, groups, limit, at);
        for (uint32_t i = limit; limit && i < count; i++) {
            if (compare(&groups[i], &groups[0], &sorting) >= 0) continue;
            const struct hl_tally_group last = groups[0];
            groups[0] = groups[i];
            groups[i] = last;
            sink(&sorting, groups, limit, 0);
        }
    }
    qsort_r(groups, limit < count ? limit : count, sizeof(*groups), compare, &sorting);
    free(sorting.one.bytes);
    free(sorting.other.bytes);
}

/* Most lines are told apart by their paths: then nothing need be written. */
static int may_be(const struct hl_tally *tally, const struct hl_tally_view *view, const struct hl_tally_group *group,
                  const char *bytes, size_t length) {
    if (!hl_tally_has_lines(view->by)) return 1;
    const struct hl_tally_place *place = &tally->places[tally->location_places[group->number]];
    size_t path_length;
    const char *path = hl_tally_bytes(tally, place->path, &path_length);
    return place->kind != HL_KIND_RUBY || (path_length < length && memcmp(path, bytes, path_length) == 0);
}

/* How many groups come before this one. */
static int64_t rank(const struct hl_tally *tally, const struct hl_tally_view *view, const struct hl_tally_group *groups,
                    uint32_t count, const struct hl_tally_group *of) {
    struct sorting sorting = {.tally = tally, .view = view};
    int64_t before = 0;
    append(&sorting.one, "", 0);
    append(&sorting.other, "", 0);
    for (uint32_t i = 0; i < count; i++) before += compare(&groups[i], of, &sorting) < 0;
    free(sorting.one.bytes);
    free(sorting.other.bytes);
    return before;
}

int64_t hl_tally_find(const struct hl_tally *tally, const struct hl_tally_view *view,
                      const struct hl_tally_group *groups, uint32_t count, const char *bytes, size_t length) {
    struct name name = {0};
    int64_t found = -1;
    for (uint32_t i = 0; found < 0 && i < count; i++) {
        if (!may_be(tally, view, &groups[i], bytes, length)) continue;
        name.length = 0;
        append_group(tally, &name, view, &groups[i], 0);
        if (name.length == length && memcmp(name.bytes, bytes, length) == 0)
            found = rank(tally, view, groups, count, &groups[i]);
    }
    free(name.bytes);
    return found;
}

/* ---- rows ---- */

int hl_tally_rows(const struct hl_tally *tally, const struct hl_tally_view *view, struct hl_tally_row *rows,
                  uint32_t count) {
    const uint32_t room = hl_tally_has_lines(view->by) ? tally->location_count : tally->text_count;
    uint32_t *wanted = calloc((size_t)room + 1, sizeof(*wanted)); /* row + 1 */
    if (!wanted) return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) wanted[rows[i].group->number] = i + 1;
    for (uint32_t number = 0; number < tally->now_count; number++) {
        const uint32_t row = wanted[row_of(tally, view, number)];
        if (!row || !is_shown(tally, view, number)) continue;
        const struct hl_tally_before *before = before_of(view, number);
        struct hl_tally_before *sum = &rows[row - 1].before;
        add_figures(&rows[row - 1].figures, &tally->now[number]);
        sum->live_bytes += before->live_bytes;
        sum->allocations += before->allocations;
        sum->bytes_allocated += before->bytes_allocated;
        sum->frees += before->frees;
        sum->temporary += before->temporary;
    }
    free(wanted);
    return 0;
}
