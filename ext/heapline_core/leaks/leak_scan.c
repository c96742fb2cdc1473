/* SPDX-License-Identifier: MIT */
#include "leaks/leak_scan.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "leaks/leak_allocator.h"
#include "leaks/leak_roots.h"
#include "leaks/leak_uncopied.h"
#include "platform/own_memory.h"
#include "platform/system_call.h"
#include "state/block_map.h"
#include "state/guard.h"
#include "vm/object_heap.h"
#include "vm/ruby_vm.h"

static uint64_t now_ns(void) {
    return hl_clock_ns(CLOCK_MONOTONIC);
}

/* ---- in the program: where Ruby's objects lie ---- */

static int add_page(void *begin, void *end, size_t slot, void *context) {
    struct hl_leak_scan *scan = context;
    if (scan->page_count == scan->page_room) return 1;
    scan->pages[scan->page_count++] = (struct hl_object_page){(uintptr_t)begin, (uintptr_t)end, slot};
    return 0;
}

static int list_object_pages(struct hl_leak_scan *scan) {
    enum { PAGES = 1 << 22 }; /* of 16 kB at least: 64 GB of objects */
    scan->pages = NULL;
    scan->page_count = 0;
    if (!hl_ruby.attached) return 0;
    scan->page_room = PAGES;
    scan->pages = hl_own_memory(PAGES * sizeof(*scan->pages));
    return scan->pages ? hl_object_heap_each_page(add_page, scan) : -ENOMEM;
}

/* ---- in the copy ---- */

static size_t read_only_data(const struct hl_mapping *mappings, size_t count, struct hl_range *ranges) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (mappings[i].is_file && mappings[i].readable && !mappings[i].writable && !mappings[i].executable)
            ranges[found++] = (struct hl_range){mappings[i].begin, mappings[i].end};
    return found;
}

static int look(struct hl_leak_scan *scan) {
    struct hl_graph graph;
    struct hl_roots roots = {
        .child = &scan->child, .pages = scan->pages, .page_count = scan->page_count, .page_room = scan->page_room};
    const uint64_t begun = now_ns();
    hl_leak_uncopied_bring(scan->child.attendant);
    int failed = hl_allocator_memory_begin(&roots);
    if (failed) return failed;
    const int64_t count = hl_memory_maps(&roots.mappings);
    if (count < 0) return (int)count;
    roots.mapping_count = (size_t)count;
    struct hl_range *tables = hl_own_memory((roots.mapping_count + 1) * sizeof(*tables));
    if (!tables) return -ENOMEM;
    failed = hl_graph_create(&graph, tables, read_only_data(roots.mappings, roots.mapping_count, tables));
    if (!failed) failed = hl_fibers_find(&roots.fibers, &graph, roots.mappings, roots.mapping_count);
    if (!failed) failed = hl_roots_scan(&graph, &roots);
    if (failed) return failed;
    hl_graph_finish(&graph);
    struct hl_leak_figures figures = scan->figures;
    figures.pause_ns = *scan->child.pause_ns;
    figures.scan_ns = now_ns() - begun;
    return hl_leak_report(scan->fd, &graph, &roots, &scan->wish, &figures);
}

static int work(void *argument) {
    struct hl_leak_scan *scan = argument;
    const int failed = look(scan);
    if (failed || !scan->final) return -failed;
    return rename(scan->partial, scan->final) ? errno : 0;
}

/* ---- in the program ---- */

uint64_t hl_leak_scan_collect(void) {
    const uint64_t begun = now_ns();
    if (!hl_ruby.attached) return 0;
    hl_ruby_collect();
    return now_ns() - begun;
}

static void return_pages(struct hl_leak_scan *scan) {
    if (scan->pages) hl_own_memory_return(scan->pages, scan->page_room * sizeof(*scan->pages));
    scan->pages = NULL;
}

int hl_leak_scan_start(struct hl_leak_scan *scan) {
    if (!hl_block_tail_size) return -ENODATA;
    hl_allocator_memory_prepare();
    int failed = list_object_pages(scan);
    scan->child = (struct hl_quiet_child){.work = work, .argument = scan, .fd = scan->fd, .stop_threads = 1};
    if (!failed) failed = hl_quiet_child_start(&scan->child);
    if (failed) return_pages(scan);
    return failed;
}

void hl_leak_scan_forget(struct hl_leak_scan *scan) {
    return_pages(scan);
    hl_quiet_child_forget(&scan->child);
}

int hl_leak_scan_wait(struct hl_leak_scan *scan) {
    const int status = hl_quiet_child_wait(&scan->child);
    return_pages(scan);
    return status >= 127 ? -ECHILD : -status;
}
