/* SPDX-License-Identifier: MIT */
#include "leaks/leak_stacks.h"

#include <string.h>

#include "platform/platform.h"
#include "platform/probe.h"

enum {
    PAGE = 4096,
    RED_ZONE = 128,
    /* struct pthread, which ends a thread's stack */
    TCB_STORAGE = 8, /* the table of thread-local storage: (block, what to free) for each object, from the second on */
    TCB_SELF = 16,
    TCB_BYTES = 2304,
    TCB_ALIGNMENT = 64,
};

struct search {
    struct hl_graph *graph;
    const struct hl_roots *roots;
    void (*each)(void *context, uintptr_t begin, uintptr_t end);
    void *context;
    uint32_t tid_offset; /* in struct pthread; 0: unknown */
};

/* ---- below a stack pointer ---- */

/* The lowest address from which memory can be read without a gap up to `top`: behind the stack's guard, which may lie
 * inside the mapping (glibc 2.42 and later). */
static uintptr_t stack_bottom(uintptr_t least, uintptr_t top) {
    uintptr_t page = top & ~(uintptr_t)(PAGE - 1);
    uint64_t word;
    while (page > least && !hl_probe(&word, (const void *)(page - PAGE), sizeof(word))) page -= PAGE;
    return page < least ? least : page;
}

static void below(const struct search *search, uintptr_t stack_pointer) {
    for (size_t i = 0; i < search->roots->mapping_count; i++) {
        const struct hl_mapping *mapping = &search->roots->mappings[i];
        if (stack_pointer - mapping->begin >= mapping->end - mapping->begin) continue;
        search->each(search->context, stack_bottom(mapping->begin, stack_pointer - RED_ZONE), stack_pointer - RED_ZONE);
    }
}

/* ---- of threads that have ended ---- */

/* Where struct pthread has the thread's id: found in our own, which every forked child inherits. */
static uint32_t find_tid_offset(const struct hl_quiet_child *child) {
    const char *self = hl_thread_pointer();
    uint32_t value;
    if (!HL_CONTROL_BLOCK_TELLS) return 0;
    for (uint32_t offset = 512; offset < 1024; offset += sizeof(value)) {
        memcpy(&value, self + offset, sizeof(value));
        if (value == child->caller) return offset;
    }
    return 0;
}

static int is_dead(const struct search *search, uintptr_t control_block) {
    const struct hl_quiet_child *child = search->roots->child;
    const uint32_t tid = (uint32_t)hl_graph_peek(control_block + search->tid_offset);
    for (uint32_t i = 0; i < child->thread_count; i++)
        if (child->threads[i].tid == tid) return 0;
    return tid != child->caller;
}

/* Objects that were loaded later have their thread-local storage in blocks: glibc frees them with the stack. */
static void close_storage(const struct search *search, uintptr_t control_block) {
    struct hl_graph *graph = search->graph;
    const uint32_t table = hl_graph_find(graph, hl_graph_peek(control_block + TCB_STORAGE));
    if (table == HL_NO_BLOCK || !hl_roots_linkers(search->roots, graph, table)) return;
    const uintptr_t end = graph->begins[table] + graph->sizes[table];
    hl_graph_do_not_enter(graph, table);
    for (uintptr_t at = graph->begins[table]; at + sizeof(at) <= end; at += sizeof(at)) {
        const uint32_t block = hl_graph_find(graph, *(const uintptr_t *)at);
        if (block != HL_NO_BLOCK && hl_roots_linkers(search->roots, graph, block)) hl_graph_do_not_enter(graph, block);
    }
}

/* Without a guard below it nobody knows where a stack begins: other memory may lie in one mapping with it. */
static int is_guarded(const struct search *search, size_t number, uintptr_t from, uintptr_t bottom) {
    const struct hl_mapping *mapping = &search->roots->mappings[number];
    if (bottom > from) return 1;
    return from == mapping->begin && number > 0 && mapping[-1].end == mapping->begin && !mapping[-1].readable;
}

/* Each from its guard to its control block, with what is left of that page. */
static void dead_stacks(const struct search *search, size_t number) {
    const struct hl_mapping *mapping = &search->roots->mappings[number];
    uintptr_t at = mapping->begin, from = at;
    while ((at = hl_graph_next_own_address(at, mapping->end, TCB_ALIGNMENT)) < mapping->end) {
        const uintptr_t end = (at + TCB_BYTES + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
        if (end <= mapping->end && hl_graph_peek(at + TCB_SELF) == at) {
            const uintptr_t bottom = stack_bottom(from, at);
            if (is_dead(search, at) && is_guarded(search, number, from, bottom)) {
                search->each(search->context, bottom, end);
                close_storage(search, at);
            }
            from = end;
        }
        at += TCB_ALIGNMENT;
    }
}

static int may_hold_stacks(const struct hl_mapping *mapping) {
    const int nameless = !mapping->path[0] || !strncmp(mapping->path, "[anon", 5);
    return mapping->readable && mapping->writable && !mapping->shared && nameless;
}

void hl_stacks_without_use(struct hl_graph *graph, const struct hl_roots *roots,
                           void (*each)(void *context, uintptr_t begin, uintptr_t end), void *context) {
    const struct hl_quiet_child *child = roots->child;
    const struct search search = {graph, roots, each, context, find_tid_offset(child)};
    below(&search, child->caller_stack);
    for (uint32_t i = 0; i < child->thread_count; i++)
        if (child->threads[i].known) below(&search, hl_registers_stack(&child->threads[i].registers));
    for (size_t i = 0; i < roots->fibers.count; i++) {
        const struct hl_fiber *fiber = &roots->fibers.list[i];
        if (fiber->pointer && !fiber->pooled) below(&search, fiber->pointer);
    }
    for (size_t i = 0; search.tid_offset && i < roots->mapping_count; i++)
        if (may_hold_stacks(&roots->mappings[i])) dead_stacks(&search, i);
}
