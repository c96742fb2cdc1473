/* SPDX-License-Identifier: MIT */
#include "leaks/leak_older.h"

#include <string.h>

#include "allocator/glibc_arena.h"
#include "allocator/real_malloc.h"
#include "leaks/leak_allocator.h"
#include "state/block_map.h"

enum {
    WORD = 8,
    FENCES = 4 * WORD, /* the two small chunks at the end of a heap that has another behind it */
    ARENAS_MOST = 1 << 16,
    LISTED_MOST = 1 << 26, /* a list that goes round */
    PAGE_OFFSET = 12
};
static const uintptr_t HEAP_BYTES = (uintptr_t)1 << HL_REGION_SHIFT;

static uint64_t size_of(uintptr_t chunk) {
    return hl_graph_peek(chunk + HL_CHUNK_SIZE) & ~(uint64_t)HL_CHUNK_FLAGS;
}

/* ---- chunks ---- */

/* From chunk to chunk; `each` gets those that look in use and are not marked. Returns where it ended, before `end`
 * where no chunk was. */
static uintptr_t walk(uintptr_t at, uintptr_t end, uintptr_t top, void (*each)(struct hl_graph *, uintptr_t, uint64_t),
                      struct hl_graph *graph) {
    while (at != top && at + FENCES < end) {
        const uint64_t size = size_of(at);
        if (size < HL_CHUNK_LEAST || size % HL_CHUNK_HEADER || size > end - at) return at;
        if (at + size == end) break; /* the top chunk of the main arena */
        const uint8_t *mark = hl_block_mark_there(at + HL_CHUNK_HEADER);
        if (hl_graph_peek(at + size + HL_CHUNK_SIZE) & HL_CHUNK_BEFORE_IN_USE && !(mark && *mark))
            each(graph, at, size);
        at += size;
    }
    return end;
}

static void scan(struct hl_graph *graph, uintptr_t chunk, uint64_t size) {
    hl_graph_scan(graph, chunk + HL_CHUNK_HEADER, chunk + size + HL_CHUNK_SIZE);
}

/* ---- lists of what is free and looks in use ---- */

/* From the first block on: marked, each is passed over. A link leads to the next block, or `header` bytes before it, to
 * its chunk; from 2.32 on it is mixed with the address where it stands. */
static void mark_list(uintptr_t block, uintptr_t header) {
    for (uint32_t i = 0; block && block % HL_CHUNK_HEADER == 0 && i < LISTED_MOST; i++) {
        uint8_t *mark = hl_block_mark_there(block);
        if (!mark || *mark) return;
        *mark = UINT8_MAX;
        uint64_t next = hl_graph_peek(block);
        if (next % HL_CHUNK_HEADER || next >> HL_ADDRESS_BITS) next ^= block >> PAGE_OFFSET;
        block = next ? next + header : 0;
    }
}

/* Is it what a thread keeps its lists in? Then a list is where its number is not 0, with chunks of its size. */
static int is_thread_cache(uintptr_t block, uint64_t size, unsigned number_bytes) {
    const uintptr_t lists = block + (uintptr_t)HL_THREAD_LISTS * number_bytes;
    if (size != HL_CHUNK_HEADER + (uint64_t)HL_THREAD_LISTS * (number_bytes + WORD)) return 0;
    for (uintptr_t i = 0; i < HL_THREAD_LISTS; i++) {
        const uint64_t first = hl_graph_peek(lists + i * WORD),
                       number = hl_graph_peek(block + i * number_bytes) & ((1u << number_bytes * 8) - 1);
        if (!first != !number || first % HL_CHUNK_HEADER) return 0;
        if (first && size_of(first - HL_CHUNK_HEADER) != HL_CHUNK_LEAST + i * HL_CHUNK_HEADER) return 0;
    }
    return 1;
}

/* Numbers have two bytes, until 2.29 one. */
static void mark_thread_cache(struct hl_graph *graph, uintptr_t chunk, uint64_t size) {
    (void)graph;
    for (unsigned number_bytes = 1; number_bytes <= 2; number_bytes++) {
        const uintptr_t block = chunk + HL_CHUNK_HEADER;
        if (!is_thread_cache(block, size, number_bytes)) continue;
        for (uintptr_t i = 0; i < HL_THREAD_LISTS; i++)
            mark_list(hl_graph_peek(block + (uintptr_t)HL_THREAD_LISTS * number_bytes + i * WORD), 0);
    }
}

static void mark_fast_lists(uintptr_t arena) {
    for (uintptr_t i = 0; i < HL_ARENA_FAST_LISTS; i++) {
        const uint64_t chunk = hl_graph_peek(arena + HL_ARENA_FAST + i * WORD);
        if (chunk) mark_list(chunk + HL_CHUNK_HEADER, HL_CHUNK_HEADER);
    }
}

/* ---- arenas ---- */

static int is_arena(uintptr_t at) {
    for (uintptr_t i = 0; i < HL_ARENA_BIN_COUNT; i++) {
        const uintptr_t bin = at + HL_ARENA_BINS + i * 2 * WORD - HL_CHUNK_HEADER;
        const uint64_t first = hl_graph_peek(bin + HL_CHUNK_HEADER);
        if (!first || hl_graph_peek(first + HL_CHUNK_HEADER + WORD) != bin) return 0;
    }
    return 1;
}

/* The main one is a variable of the C library's. Most words fail the first test. */
static void look_for_arenas(void *context, uintptr_t begin, uintptr_t end) {
    uintptr_t *main = context;
    for (uintptr_t at = begin; !*main && at + HL_ARENA_BYTES <= end; at += WORD) {
        const uint64_t next = hl_graph_peek(at + HL_ARENA_NEXT);
        if (next && next % WORD == 0 && hl_graph_peek(at + HL_ARENA_TOP) && is_arena(at)) *main = at;
    }
}

static void mark_all_fast_lists(const struct hl_roots *roots) {
    uintptr_t function, main = 0;
    memcpy(&function, &hl_real_malloc, sizeof(function));
    const uintptr_t header = hl_object_header(roots->mappings, roots->mapping_count, function);
    if (header) hl_variables_of(header, look_for_arenas, &main);
    uintptr_t arena = main;
    for (int i = 0; arena && i < ARENAS_MOST; i++) {
        mark_fast_lists(arena);
        arena = hl_graph_peek(arena + HL_ARENA_NEXT);
        if (arena == main) return;
    }
}

/* ---- all ---- */

/* The chunks of a heap of another arena, which itself lies in the first of its heaps, behind what each begins with. */
struct chunks {
    uintptr_t begin, end, top;
};

static struct chunks chunks_of(uintptr_t base) {
    const uint64_t arena = hl_graph_peek(base), first = arena & ~(HEAP_BYTES - 1);
    const uintptr_t begin = base == first
                                ? (arena + HL_ARENA_BYTES + HL_CHUNK_HEADER - 1) & ~(uint64_t)(HL_CHUNK_HEADER - 1)
                                : base + (arena - first);
    return (struct chunks){begin, base + hl_graph_peek(base + HL_HEAP_SIZE), hl_graph_peek(arena + HL_ARENA_TOP)};
}

static void mark_in(struct hl_graph *graph, struct chunks chunks) {
    walk(chunks.begin, chunks.end, chunks.top, mark_thread_cache, graph);
}

static void scan_in(struct hl_graph *graph, struct chunks chunks) {
    const uintptr_t end = walk(chunks.begin, chunks.end, chunks.top, scan, graph);
    if (end < chunks.end) hl_graph_scan(graph, end, chunks.end); /* O2 */
}

static void mark_main(void *graph, uintptr_t begin, uintptr_t end) {
    mark_in(graph, (struct chunks){begin, end, 0});
}

static void mark_further(void *graph, uintptr_t begin, uintptr_t end) {
    (void)end;
    mark_in(graph, chunks_of(begin));
}

static void scan_main(void *graph, uintptr_t begin, uintptr_t end) {
    scan_in(graph, (struct chunks){begin, end, 0});
}

static void scan_further(void *graph, uintptr_t begin, uintptr_t end) {
    (void)end;
    scan_in(graph, chunks_of(begin));
}

void hl_older_scan(struct hl_graph *graph, const struct hl_roots *roots) {
    mark_all_fast_lists(roots);
    hl_glibc_heaps(roots, mark_main, mark_further, graph);
    hl_glibc_heaps(roots, scan_main, scan_further, graph);
}
