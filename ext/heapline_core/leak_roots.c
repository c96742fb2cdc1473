/* SPDX-License-Identifier: MIT */
#include "leak_roots.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "block_map.h"
#include "flight.h"
#include "leak_objects.h"
#include "leak_stacks.h"
#include "native_stack.h"
#include "own_memory.h"
#include "ruby_vm.h"

enum {
    PAGE = 4096,
    REGION_BYTES = 1 << HL_REGION_SHIFT,
    METADATA = 1 << 21,
    WINDOW_BYTES = PAGE * 16, /* of memory that one page of marks stands for */
    TRANSIENT_BLOCK = 1 << 15,
    TRANSIENT_HEAP = 1 << 25,
};

struct scan {
    struct hl_graph *graph;
    const struct hl_roots *roots;
    struct hl_range *excluded;
    size_t excluded_count, excluded_room;
};

static void exclude(void *context, uintptr_t begin, uintptr_t end) {
    struct scan *scan = context;
    if (begin < end && scan->excluded_count < scan->excluded_room)
        scan->excluded[scan->excluded_count++] = (struct hl_range){begin, end};
}

/* ---- the allocator's memory (R1) ---- */

/* One of glibc's further heaps lies at a multiple of its size and begins with the address of its arena, the heap before
 * it and its size. */
static int is_arena(uintptr_t base) {
    const uint64_t arena = hl_graph_peek(base), before = hl_graph_peek(base + 8), size = hl_graph_peek(base + 16);
    return arena && arena % REGION_BYTES < PAGE && before % REGION_BYTES == 0 && size && size % PAGE == 0 &&
           size <= REGION_BYTES;
}

static void exclude_glibc(struct scan *scan) {
    for (uintptr_t region = 0; region < HL_REGIONS; region++)
        if (hl_block_regions[region] && is_arena(region << HL_REGION_SHIFT))
            exclude(scan, region << HL_REGION_SHIFT, (region + 1) << HL_REGION_SHIFT);
    for (size_t i = 0; i < scan->roots->mapping_count; i++)
        if (!strcmp(scan->roots->mappings[i].path, "[heap]"))
            exclude(scan, scan->roots->mappings[i].begin, scan->roots->mappings[i].end);
}

int hl_roots_begin(struct hl_roots *roots) {
    size_t regions = 0;
    if (hl_real_chunked) return 0;
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

/* Other allocators keep small blocks together: what lies around one is theirs, also after it was freed. That a block
 * was ever there shows in its page of marks, which then was written. */
static void exclude_windows(struct scan *scan, const struct hl_windows *windows) {
    for (size_t page = 0; page < sizeof(windows->written); page++) {
        const uintptr_t begin = (windows->region << HL_REGION_SHIFT) + page * WINDOW_BYTES;
        if (windows->written[page] & 1) exclude(scan, begin, begin + WINDOW_BYTES);
    }
}

/* What jemalloc knows of its memory, among it the address of each slab and each large block, it keeps in blocks at
 * multiples of 2 MB, which begin with their size and the next one; then three words tell what is left of the block,
 * which ends where it ends. */
static uintptr_t end_of_metadata(uintptr_t base) {
    enum { SIZE, NEXT, BITS, LEFT_AT, LEFT_BYTES, WORDS };
    uint64_t word[WORDS];
    for (unsigned i = 0; i < WORDS; i++) word[i] = hl_graph_peek(base + i * sizeof(*word));
    if (!word[SIZE] || word[SIZE] % METADATA || word[NEXT] % METADATA || word[LEFT_AT] <= base) return 0;
    return word[LEFT_AT] + word[LEFT_BYTES] == base + word[SIZE] ? base + word[SIZE] : 0;
}

static void exclude_jemalloc(struct scan *scan) {
    for (size_t i = 0; i < scan->roots->mapping_count; i++) {
        const struct hl_mapping *mapping = &scan->roots->mappings[i];
        if (!mapping->readable || !mapping->writable || mapping->is_file) continue;
        uintptr_t base = (mapping->begin + METADATA - 1) & ~(uintptr_t)(METADATA - 1);
        for (; base < mapping->end; base += METADATA) exclude(scan, base, end_of_metadata(base));
    }
}

static void exclude_allocator(struct scan *scan) {
    if (hl_real_chunked)
        exclude_glibc(scan);
    else
        exclude_jemalloc(scan);
    for (size_t i = 0; i < scan->roots->window_count; i++) exclude_windows(scan, &scan->roots->windows[i]);
    for (uint32_t number = 0; number < scan->graph->count; number++) {
        const uintptr_t begin = scan->graph->begins[number];
        if (scan->graph->sizes[number] >= HL_MAPPED_LEAST)
            exclude(scan, begin - 2 * sizeof(size_t), begin + hl_real_usable((void *)begin));
    }
}

/* ---- Ruby's transient heap ---- */

/* Ruby 3.1 and 3.2 keep the elements of young arrays, hashes and structs in 32 MB of blocks that are written over again
 * and again. They are references to objects, which are scanned themselves. At 8 a block has the address of the next
 * one: when most have one, and all that they have lies in these 32 MB, it is this heap. */
static int is_transient_heap(uintptr_t begin) {
    unsigned linked = 0;
    for (uintptr_t block = begin; block < begin + TRANSIENT_HEAP; block += TRANSIENT_BLOCK) {
        const uint64_t next = ((const uint64_t *)block)[1];
        if (next && (next - begin >= TRANSIENT_HEAP || next % TRANSIENT_BLOCK)) return 0;
        linked += next != 0;
    }
    return linked > TRANSIENT_HEAP / TRANSIENT_BLOCK / 2;
}

static void exclude_transient_heap(struct scan *scan) {
    if (!hl_ruby.layout || hl_ruby.layout->major != 3 || hl_ruby.layout->minor > 2) return;
    for (size_t i = 0; i < scan->roots->mapping_count; i++) {
        const struct hl_mapping *mapping = &scan->roots->mappings[i];
        if (!mapping->readable || !mapping->writable || mapping->path[0]) continue;
        uintptr_t begin = (mapping->begin + TRANSIENT_BLOCK - 1) & ~(uintptr_t)(TRANSIENT_BLOCK - 1);
        while (begin + TRANSIENT_HEAP <= mapping->end && !is_transient_heap(begin)) begin += TRANSIENT_BLOCK;
        if (begin + TRANSIENT_HEAP <= mapping->end) exclude(scan, begin, begin + TRANSIENT_HEAP);
    }
}

/* ---- the list of what is excluded ---- */

static void sink(struct hl_range *ranges, size_t at, size_t count) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && ranges[child + 1].begin > ranges[child].begin) child++;
        if (ranges[child].begin <= ranges[at].begin) return;
        const struct hl_range moved = ranges[at];
        ranges[at] = ranges[child];
        ranges[child] = moved;
    }
}

/* A heap sort: qsort may allocate. */
static void sort(struct hl_range *ranges, size_t count) {
    for (size_t at = count / 2; at-- > 0;) sink(ranges, at, count);
    for (size_t last = count; last-- > 1;) {
        const struct hl_range highest = ranges[0];
        ranges[0] = ranges[last];
        ranges[last] = highest;
        sink(ranges, 0, last);
    }
}

/* In place: ascending, and none touches another. */
static size_t merge(struct hl_range *ranges, size_t count) {
    size_t merged = 0;
    for (size_t i = 0; i < count; i++) {
        if (merged && ranges[i].begin <= ranges[merged - 1].end) {
            if (ranges[i].end > ranges[merged - 1].end) ranges[merged - 1].end = ranges[i].end;
        } else {
            ranges[merged++] = ranges[i];
        }
    }
    return merged;
}

static void exclude_own(struct scan *scan) {
    const struct hl_own_range *own;
    const size_t count = hl_own_ranges(&own);
    for (size_t i = 0; i < count; i++) exclude(scan, own[i].begin, own[i].end);
    const uintptr_t flight = (uintptr_t)hl_flight.base;
    exclude(scan, flight, flight + (uintptr_t)hl_flight.header->page_limit * HL_PAGE_SIZE);
}

static int list_excluded(struct scan *scan) {
    size_t large = 0;
    for (uint32_t number = 0; number < scan->graph->count; number++)
        large += scan->graph->sizes[number] >= HL_MAPPED_LEAST;
    size_t regions = 0;
    for (uintptr_t region = 0; region < HL_REGIONS; region++) regions += hl_block_regions[region] != NULL;
    scan->excluded_room =
        large + regions * (HL_REGION_BYTES / PAGE) + scan->roots->page_count + 4 * scan->roots->mapping_count + 65536;
    scan->excluded = hl_own_memory(scan->excluded_room * sizeof(*scan->excluded));
    if (!scan->excluded) return -ENOMEM;
    exclude_allocator(scan);
    hl_stacks_without_use(scan->roots, exclude, scan);
    exclude_transient_heap(scan);
    for (size_t i = 0; i < scan->roots->page_count; i++)
        exclude(scan, scan->roots->pages[i].begin, scan->roots->pages[i].end);
    exclude_own(scan);
    sort(scan->excluded, scan->excluded_count);
    scan->excluded_count = merge(scan->excluded, scan->excluded_count);
    return 0;
}

/* ---- scanning ---- */

/* What the program can write, or could: its data, stacks, own mappings. A file that is shared (a database) holds no
 * pointers; memory that has no name is shared under this one. */
static int is_root(const struct hl_mapping *mapping) {
    if (!mapping->readable || !strncmp(mapping->path, "[v", 2)) return 0;
    if (mapping->is_file && mapping->shared) return !strncmp(mapping->path, "/dev/zero", 9);
    return mapping->writable || !mapping->is_file;
}

static void scan_mappings(struct scan *scan) {
    size_t next = 0;
    for (size_t i = 0; i < scan->roots->mapping_count; i++) {
        const struct hl_mapping *mapping = &scan->roots->mappings[i];
        uintptr_t at = mapping->begin;
        if (!is_root(mapping)) continue;
        while (next > 0 && scan->excluded[next - 1].end > at) next--;
        for (; next < scan->excluded_count && scan->excluded[next].begin < mapping->end; next++) {
            if (scan->excluded[next].begin > at) hl_graph_scan(scan->graph, at, scan->excluded[next].begin);
            if (scan->excluded[next].end > at) at = scan->excluded[next].end;
        }
        if (at < mapping->end) hl_graph_scan(scan->graph, at, mapping->end);
    }
}

static void scan_registers(struct scan *scan) {
    const struct hl_quiet_child *child = scan->roots->child;
    for (uint32_t i = 0; i < child->thread_count; i++) {
        const uintptr_t begin = (uintptr_t)&child->threads[i].registers;
        if (child->threads[i].known) hl_graph_scan(scan->graph, begin, begin + sizeof(child->threads[i].registers));
    }
}

/* What the dynamic linker keeps for itself (a thread's table of thread-local storage, names, scopes) it points to in
 * ways of its own. */
static void reach_linkers_blocks(struct scan *scan) {
    const uintptr_t base = getauxval(AT_BASE);
    uintptr_t end = base;
    for (size_t i = 0; base && i < scan->roots->mapping_count; i++)
        if (scan->roots->mappings[i].begin == end && scan->roots->mappings[i].is_file)
            end = scan->roots->mappings[i].end;
    for (uint32_t number = 0; number < scan->graph->count; number++) {
        void *block = (void *)scan->graph->begins[number];
        const struct hl_stack *stack =
            hl_stack_at(hl_block_tail(block, hl_real_usable(block) - hl_block_tail_size).stack);
        if (stack && stack->frames[0] - base < end - base) hl_graph_reach(scan->graph, number);
    }
}

int hl_roots_scan(struct hl_graph *graph, const struct hl_roots *roots) {
    struct scan scan = {.graph = graph, .roots = roots};
    const int failed = list_excluded(&scan);
    if (failed) return failed;
    scan_mappings(&scan);
    scan_registers(&scan);
    hl_objects_scan(graph, roots);
    reach_linkers_blocks(&scan);
    hl_graph_spread(graph);
    return 0;
}
