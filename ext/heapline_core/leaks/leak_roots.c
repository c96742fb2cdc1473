/* SPDX-License-Identifier: MIT */
#include "leaks/leak_roots.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "allocator/real_malloc.h"
#include "flight/flight.h"
#include "leaks/leak_allocator.h"
#include "leaks/leak_objects.h"
#include "leaks/leak_older.h"
#include "leaks/leak_reserve.h"
#include "leaks/leak_stacks.h"
#include "platform/own_memory.h"
#include "state/block_map.h"
#include "state/guard.h"
#include "vm/native_stack.h"
#include "vm/ruby_vm.h"

enum {
    TRANSIENT_BLOCK = 1 << 15,
    TRANSIENT_HEAP = 1 << 25,
    PAGE = 4096,
    PAGES = 512,
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
    if (!hl_ruby_knows_heap() || !hl_ruby_before(3, 3)) return;
    for (size_t i = 0; i < scan->roots->mapping_count; i++) {
        const struct hl_mapping *mapping = &scan->roots->mappings[i];
        if (!mapping->readable || !mapping->writable || mapping->path[0]) continue;
        uintptr_t begin = (mapping->begin + TRANSIENT_BLOCK - 1) & ~(uintptr_t)(TRANSIENT_BLOCK - 1);
        while (begin + TRANSIENT_HEAP <= mapping->end && !is_transient_heap(begin)) begin += TRANSIENT_BLOCK;
        if (begin + TRANSIENT_HEAP <= mapping->end) exclude(scan, begin, begin + TRANSIENT_HEAP);
    }
}

/* ---- ranges by address ---- */

/* Items that begin with a range, of `size` bytes each. */
struct items {
    char *first;
    size_t size;
};

static uintptr_t begin_of(struct items items, size_t at) {
    return *(const uintptr_t *)(items.first + at * items.size);
}

static void swap(struct items items, size_t one, size_t other) {
    uintptr_t *left = (uintptr_t *)(items.first + one * items.size),
              *right = (uintptr_t *)(items.first + other * items.size);
    for (size_t word = 0; word < items.size / sizeof(uintptr_t); word++) {
        const uintptr_t moved = left[word];
        left[word] = right[word];
        right[word] = moved;
    }
}

static void sink(struct items items, size_t at, size_t count) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && begin_of(items, child + 1) > begin_of(items, child)) child++;
        if (begin_of(items, child) <= begin_of(items, at)) return;
        swap(items, at, child);
    }
}

/* A heap sort: qsort may allocate. */
static void sort(void *first, size_t count, size_t size) {
    const struct items items = {first, size};
    for (size_t at = count / 2; at-- > 0;) sink(items, at, count);
    for (size_t last = count; last-- > 1;) {
        swap(items, 0, last);
        sink(items, 0, last);
    }
}

/* ---- the list of what is excluded ---- */

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

/* This library's own variables: what they know of the program's memory is no reference. But for blocks that were asked
 * for before the allocator was known. */
static void exclude_variables(void *context, uintptr_t begin, uintptr_t end) {
    const uintptr_t boot = (uintptr_t)hl_boot_arena;
    if (boot < begin || boot >= end) {
        exclude(context, begin, end);
    } else {
        exclude(context, begin, boot);
        exclude(context, boot + HL_BOOT_BYTES, end);
    }
}

static void exclude_own(struct scan *scan) {
    const struct hl_own_range *own;
    const size_t count = hl_own_ranges(&own);
    for (size_t i = 0; i < count; i++) exclude(scan, own[i].begin, own[i].end);
    const uintptr_t flight = (uintptr_t)hl_flight.base;
    exclude(scan, flight, flight + (uintptr_t)hl_flight.header->page_limit * HL_PAGE_SIZE);
    hl_variables_of((uintptr_t)&__ehdr_start, exclude_variables, scan);
}

static int list_excluded(struct scan *scan) {
    scan->excluded_room = hl_allocator_memory_room(scan->graph, scan->roots) + scan->roots->page_count +
                          scan->roots->reserve_count + hl_fibers_room(&scan->roots->fibers) +
                          2 * scan->roots->mapping_count + 65536;
    scan->excluded = hl_own_memory(scan->excluded_room * sizeof(*scan->excluded));
    if (!scan->excluded) return -ENOMEM;
    hl_allocator_memory(scan->graph, scan->roots, exclude, scan);
    hl_stacks_without_use(scan->graph, scan->roots, exclude, scan);
    hl_fibers_without_use(&scan->roots->fibers, exclude, scan);
    exclude_transient_heap(scan);
    for (size_t i = 0; i < scan->roots->page_count; i++)
        exclude(scan, scan->roots->pages[i].begin, scan->roots->pages[i].end);
    for (size_t i = 0; i < scan->roots->reserve_count; i++)
        exclude(scan, scan->roots->reserve[i].begin, scan->roots->reserve[i].end);
    exclude_own(scan);
    sort(scan->excluded, scan->excluded_count, sizeof(*scan->excluded));
    scan->excluded_count = merge(scan->excluded, scan->excluded_count);
    return 0;
}

/* ---- scanning ---- */

/* Memory that processes share: of shm_open, and what has no name (any more), as of memfd_create, mmap and shmget. */
static int is_shared_memory(const struct hl_mapping *mapping) {
    static const char nameless[] = " (deleted)";
    const size_t length = strlen(mapping->path), ending = sizeof(nameless) - 1;
    return !strncmp(mapping->path, "/dev/shm/", 9) ||
           (length > ending && !strcmp(mapping->path + length - ending, nameless));
}

/* What the program can write, or could: its data, stacks, own mappings. A file that is shared (a database) holds no
 * pointers, and to read it all takes long. */
static int is_root(const struct hl_mapping *mapping) {
    if (!mapping->readable || !strncmp(mapping->path, "[v", 2)) return 0;
    if (mapping->is_file && mapping->shared) return is_shared_memory(mapping);
    return mapping->writable || !mapping->is_file;
}

/* Only pages that are there: to read the others would make them, for all who share it. */
static void scan_shared(struct hl_graph *graph, uintptr_t begin, uintptr_t end) {
    unsigned char there[PAGES];
    for (uintptr_t page = begin & ~(uintptr_t)(PAGE - 1); page < end; page += PAGES * PAGE) {
        const uintptr_t bytes = end - page < PAGES * PAGE ? end - page : PAGES * PAGE;
        if (mincore((void *)page, bytes, there)) memset(there, 1, sizeof(there));
        for (uintptr_t i = 0, at = page; at < page + bytes; i++, at += PAGE)
            if (there[i] & 1) hl_graph_scan(graph, at < begin ? begin : at, at + PAGE < end ? at + PAGE : end);
    }
}

static void scan_mappings(struct scan *scan) {
    size_t next = 0;
    for (size_t i = 0; i < scan->roots->mapping_count; i++) {
        const struct hl_mapping *mapping = &scan->roots->mappings[i];
        void (*const look)(struct hl_graph *, uintptr_t, uintptr_t) = mapping->shared ? scan_shared : hl_graph_scan;
        uintptr_t at = mapping->begin;
        if (!is_root(mapping)) continue;
        while (next > 0 && scan->excluded[next - 1].end > at) next--;
        for (; next < scan->excluded_count && scan->excluded[next].begin < mapping->end; next++) {
            if (scan->excluded[next].begin > at) look(scan->graph, at, scan->excluded[next].begin);
            if (scan->excluded[next].end > at) at = scan->excluded[next].end;
        }
        if (at < mapping->end) look(scan->graph, at, mapping->end);
    }
}

static void scan_registers(struct scan *scan) {
    const struct hl_quiet_child *child = scan->roots->child;
    for (uint32_t i = 0; i < child->thread_count; i++) {
        const uintptr_t begin = (uintptr_t)&child->threads[i].registers;
        if (child->threads[i].known) hl_graph_scan(scan->graph, begin, begin + sizeof(child->threads[i].registers));
    }
}

/* ---- the dynamic linker ---- */

static struct hl_range linkers_code(const struct hl_roots *roots) {
    const uintptr_t base = getauxval(AT_BASE);
    struct hl_range code = {base, base};
    for (size_t i = 0; base && i < roots->mapping_count; i++)
        if (roots->mappings[i].begin == code.end && roots->mappings[i].is_file) code.end = roots->mappings[i].end;
    return code;
}

/* What the dynamic linker keeps for itself (a thread's table of thread-local storage, names, scopes) it points to in
 * ways of its own. Of a thread that has ended it leads no further (leak_stacks.h). */
static void reach_linkers_blocks(struct scan *scan) {
    for (uint32_t number = 0; number < scan->graph->count; number++)
        if (hl_roots_linkers(scan->roots, scan->graph, number)) hl_graph_reach(scan->graph, number);
}

int hl_roots_scan(struct hl_graph *graph, struct hl_roots *roots) {
    struct scan scan = {.graph = graph, .roots = roots};
    roots->linker = linkers_code(roots);
    sort(roots->pages, roots->page_count, sizeof(*roots->pages));
    int failed = hl_reserve_find(roots);
    if (failed) return failed;
    sort(roots->pages, roots->page_count, sizeof(*roots->pages));
    failed = list_excluded(&scan);
    if (failed) return failed;
    scan_mappings(&scan);
    scan_registers(&scan);
    if (hl_started_late) hl_older_scan(graph, roots);
    hl_objects_scan(graph, roots);
    reach_linkers_blocks(&scan);
    hl_graph_spread(graph);
    return 0;
}
