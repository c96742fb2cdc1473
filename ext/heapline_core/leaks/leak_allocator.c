/* SPDX-License-Identifier: MIT */
#include "leaks/leak_allocator.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "allocator/real_malloc.h"
#include "flight/flight.h"
#include "platform/own_memory.h"
#include "state/block_map.h"

enum {
    PAGE = 4096,
    REGION_BYTES = 1 << HL_REGION_SHIFT,
    METADATA = 1 << 21,
    WINDOW_BYTES = PAGE * 16, /* of memory that one page of marks stands for */
};

struct telling {
    const struct hl_graph *graph;
    const struct hl_roots *roots;
    void (*each)(void *context, uintptr_t begin, uintptr_t end);
    void *context;
};

static int is_program_memory(const struct hl_mapping *mapping) {
    return mapping->readable && mapping->writable && !mapping->is_file;
}

/* ---- glibc ---- */

/* One of its further heaps lies at a multiple of its size and begins with the address of its arena, the heap before it
 * and its size. */
static int is_heap(uintptr_t base) {
    const uint64_t arena = hl_graph_peek(base), before = hl_graph_peek(base + 8), size = hl_graph_peek(base + 16);
    return arena && arena % REGION_BYTES < PAGE && before % REGION_BYTES == 0 && size && size % PAGE == 0 &&
           size <= REGION_BYTES;
}

void hl_glibc_heaps(const struct hl_roots *roots, void (*main_heap)(void *context, uintptr_t begin, uintptr_t end),
                    void (*further)(void *context, uintptr_t begin, uintptr_t end), void *context) {
    for (uintptr_t region = 0; region < HL_REGIONS; region++)
        if (hl_block_regions[region] && is_heap(region << HL_REGION_SHIFT))
            further(context, region << HL_REGION_SHIFT, (region + 1) << HL_REGION_SHIFT);
    for (size_t i = 0; i < roots->mapping_count; i++)
        if (!strcmp(roots->mappings[i].path, "[heap]"))
            main_heap(context, roots->mappings[i].begin, roots->mappings[i].end);
}

/* ---- jemalloc ---- */

/* What it says of a page ("experimental.utilization.batch_query", 5.2 and later): free and all regions, and the bytes
 * of the extent that begins there; 0: the page is not its own. It takes no lock for that. Pages of which its table of
 * pages knows nothing at all may make it fault. */
struct query {
    int (*by_mib)(const size_t *mib, size_t count, void *old, size_t *old_bytes, void *new, size_t new_bytes);
    size_t mib[3];
    uintptr_t page;
    size_t answer[3];
};

static struct query jemalloc;

static int ask(void *argument) {
    struct query *query = argument;
    size_t bytes = sizeof(query->answer);
    return query->by_mib(query->mib, 3, query->answer, &bytes, &query->page, sizeof(query->page));
}

static size_t extent_at(uintptr_t page) {
    jemalloc.page = page;
    return hl_graph_try(ask, &jemalloc) ? 0 : jemalloc.answer[2];
}

/* Extents one behind the other are told as one range. One may reach over the end of a mapping. */
static void tell_extents(const struct telling *telling) {
    uintptr_t begin = 0, end = 0;
    for (size_t i = 0; i < telling->roots->mapping_count; i++) {
        const struct hl_mapping *mapping = &telling->roots->mappings[i];
        if (!is_program_memory(mapping)) continue;
        for (uintptr_t page = end > mapping->begin ? end : mapping->begin; page < mapping->end;) {
            const size_t bytes = extent_at(page);
            if (bytes && page != end) {
                telling->each(telling->context, begin, end);
                begin = page;
            }
            if (bytes) end = page + bytes;
            page += bytes ? bytes : PAGE;
        }
    }
    telling->each(telling->context, begin, end);
}

/* What it knows of its memory, among it the address of each slab and each large block, it keeps in blocks at multiples
 * of 2 MB, which begin with their size and the next one; then three words tell what is left of the block, which ends
 * where it ends. */
static uintptr_t end_of_metadata(uintptr_t base) {
    enum { SIZE, NEXT, BITS, LEFT_AT, LEFT_BYTES, WORDS };
    uint64_t word[WORDS];
    for (unsigned i = 0; i < WORDS; i++) word[i] = hl_graph_peek(base + i * sizeof(*word));
    if (!word[SIZE] || word[SIZE] % METADATA || word[NEXT] % METADATA || word[LEFT_AT] <= base) return 0;
    return word[LEFT_AT] + word[LEFT_BYTES] == base + word[SIZE] ? base + word[SIZE] : 0;
}

static void tell_metadata(const struct telling *telling) {
    for (size_t i = 0; i < telling->roots->mapping_count; i++) {
        const struct hl_mapping *mapping = &telling->roots->mappings[i];
        if (!is_program_memory(mapping)) continue;
        uintptr_t base = (mapping->begin + METADATA - 1) & ~(uintptr_t)(METADATA - 1);
        for (; base < mapping->end; base += METADATA) telling->each(telling->context, base, end_of_metadata(base));
    }
}

/* Here, in the calling thread, it may still set up what it needs to answer. */
void hl_allocator_memory_prepare(void) {
    int (*to_mib)(const char *, size_t *, size_t *);
    size_t count = sizeof(jemalloc.mib) / sizeof(*jemalloc.mib);
    void *query;
    if (hl_real_chunked || !hl_real_find("mallctlnametomib", &to_mib) || !hl_real_find("mallctlbymib", &query)) return;
    if (to_mib("experimental.utilization.batch_query", jemalloc.mib, &count) || count != 3) return;
    memcpy(&jemalloc.by_mib, &query, sizeof(query));
}

/* ---- the others ---- */

static int note_windows(struct hl_roots *roots) {
    size_t regions = 0;
    for (uintptr_t region = 0; region < HL_REGIONS; region++) regions += hl_block_regions[region] != NULL;
    roots->windows = hl_own_memory((regions + 1) * sizeof(*roots->windows));
    if (!roots->windows) return -ENOMEM;
    for (uintptr_t region = 0; region < HL_REGIONS; region++) {
        struct hl_windows *windows = &roots->windows[roots->window_count];
        if (!hl_block_regions[region] || mincore(hl_block_regions[region], HL_REGION_BYTES, windows->written)) continue;
        windows->region = region;
        roots->window_count++;
    }
    return 0;
}

/* They keep small blocks together: what lies around one is theirs, also after it was freed. That a block was ever there
 * shows in its page of marks, which then was written. */
static void tell_windows(const struct telling *telling, const struct hl_windows *windows) {
    for (size_t page = 0; page < sizeof(windows->written); page++) {
        const uintptr_t begin = (windows->region << HL_REGION_SHIFT) + page * WINDOW_BYTES;
        if (windows->written[page] & 1) telling->each(telling->context, begin, begin + WINDOW_BYTES);
    }
}

/* Variables of a library that is an allocator and nothing else. */
static void tell_variables(const struct telling *telling) {
    static const char *const known[] = {"jemalloc", "tcmalloc", "mimalloc"};
    const char *name = hl_flight.header->allocator;
    uintptr_t function;
    size_t same = 0;
    memcpy(&function, &hl_real_malloc, sizeof(function));
    while (same < 3 && strncmp(name, known[same], strlen(known[same]))) same++;
    if (same == 3) return;
    const uintptr_t header = hl_object_header(telling->roots->mappings, telling->roots->mapping_count, function);
    if (header) hl_variables_of(header, telling->each, telling->context);
}

/* ---- all ---- */

int hl_allocator_memory_begin(struct hl_roots *roots) {
    return hl_real_chunked || jemalloc.by_mib ? 0 : note_windows(roots);
}

size_t hl_allocator_memory_room(const struct hl_graph *graph, const struct hl_roots *roots) {
    size_t room = 3 * roots->mapping_count;
    for (uint32_t number = 0; number < graph->count; number++) room += graph->sizes[number] >= HL_LARGE_LEAST;
    for (uintptr_t region = 0; region < HL_REGIONS; region++)
        if (hl_block_regions[region]) room += HL_REGION_BYTES / PAGE;
    return room;
}

static void tell_large_blocks(const struct telling *telling) {
    for (uint32_t number = 0; number < telling->graph->count; number++) {
        const uintptr_t begin = telling->graph->begins[number];
        if (telling->graph->sizes[number] >= HL_LARGE_LEAST)
            telling->each(telling->context, begin - 2 * sizeof(size_t), begin + hl_real_usable((void *)begin));
    }
}

void hl_allocator_memory(const struct hl_graph *graph, const struct hl_roots *roots,
                         void (*each)(void *context, uintptr_t begin, uintptr_t end), void *context) {
    const struct telling telling = {graph, roots, each, context};
    tell_large_blocks(&telling);
    if (hl_real_chunked) return hl_glibc_heaps(roots, each, each, context);
    tell_variables(&telling);
    tell_metadata(&telling);
    if (jemalloc.by_mib) tell_extents(&telling);
    for (size_t i = 0; i < roots->window_count; i++) tell_windows(&telling, &roots->windows[i]);
}
