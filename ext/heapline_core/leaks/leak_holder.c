/* SPDX-License-Identifier: MIT */
#include "leaks/leak_holder.h"

#include <string.h>

#include "platform/platform.h"

enum { RED_ZONE = 128, CONTROL_BLOCK = 4096 };

/* ---- threads ---- */

struct thread {
    uint32_t tid;
    uintptr_t stack_pointer, control_block;
};

static struct thread thread_number(const struct hl_quiet_child *child, uint32_t number) {
    if (number == child->thread_count)
        return (struct thread){child->caller, child->caller_stack, (uintptr_t)hl_thread_pointer()};
    const struct hl_thread_state *state = &child->threads[number];
    return (struct thread){state->tid, hl_registers_stack(&state->registers),
                           hl_registers_thread_pointer(&state->registers)};
}

/* Several stacks may lie in one mapping: each ends with its thread's control block. */
static int is_of(const struct thread *thread, const struct hl_mapping *mapping, uintptr_t address) {
    const uintptr_t bytes = mapping->end - mapping->begin;
    if (thread->control_block - mapping->begin < bytes) return address < thread->control_block + CONTROL_BLOCK;
    return thread->stack_pointer - mapping->begin < bytes && address + RED_ZONE >= thread->stack_pointer;
}

static uint32_t thread_at(const struct hl_quiet_child *child, const struct hl_mapping *mapping, uintptr_t address) {
    uint32_t found = 0;
    uintptr_t nearest = ~(uintptr_t)0;
    for (uint32_t i = 0; i <= child->thread_count; i++) {
        const struct thread thread = thread_number(child, i);
        if (thread.control_block > nearest || !is_of(&thread, mapping, address)) continue;
        nearest = thread.control_block;
        found = thread.tid;
    }
    return found;
}

static uint32_t register_owner(const struct hl_quiet_child *child, uintptr_t address) {
    const uintptr_t offset = address - (uintptr_t)child->threads;
    return offset < child->thread_count * sizeof(*child->threads) ? child->threads[offset / sizeof(*child->threads)].tid
                                                                  : 0;
}

/* ---- other memory ---- */

static int is_object(const struct hl_roots *roots, uintptr_t address, uintptr_t *slot) {
    const struct hl_object_page *page = hl_roots_page(roots, address);
    if (page) *slot = address - (address - page->begin) % page->slot;
    return page != NULL;
}

/* A library's mappings follow one another; what it has of zeros (bss) lies behind them and has no name. */
static const struct hl_mapping *first_of_library(const struct hl_roots *roots, const struct hl_mapping *mapping) {
    if (!mapping->is_file && (mapping->path[0] || mapping == roots->mappings || mapping[-1].end != mapping->begin))
        return NULL;
    if (!mapping->is_file) mapping--;
    if (!mapping->is_file || mapping->shared) return NULL;
    while (mapping > roots->mappings && !strcmp(mapping[-1].path, mapping->path)) mapping--;
    return mapping;
}

static void tell_mapping(struct hl_holder *holder, const struct hl_roots *roots) {
    const struct hl_mapping *mapping = hl_roots_mapping(roots, holder->address);
    const struct hl_fiber *fiber = hl_fiber_at(&roots->fibers, holder->address);
    if (!mapping) return;
    if (fiber) holder->ec = fiber->ec;
    const struct hl_mapping *library = first_of_library(roots, mapping);
    holder->kind = library ? HL_HOLDER_DATA : HL_HOLDER_MAPPING;
    holder->path = library ? library->path : mapping->path;
    holder->offset = library ? holder->address - library->begin : 0;
    if (fiber && fiber->pooled)
        holder->kind = HL_HOLDER_FIBER;
    else if (!library && ((holder->thread = thread_at(roots->child, mapping, holder->address)) || fiber))
        holder->kind = HL_HOLDER_THREAD;
}

static void tell(struct hl_holder *holder, const struct hl_roots *roots) {
    if ((holder->thread = register_owner(roots->child, holder->address)))
        holder->kind = HL_HOLDER_REGISTER;
    else if (is_object(roots, holder->address, &holder->address))
        holder->kind = HL_HOLDER_OBJECT;
    else
        tell_mapping(holder, roots);
}

struct hl_holder hl_holder_of(const struct hl_graph *graph, const struct hl_roots *roots, uint32_t number) {
    struct hl_holder holder = {.kind = HL_HOLDER_NONE, .path = ""};
    if (graph->states[number] != HL_BLOCK_REACHABLE && graph->states[number] != HL_BLOCK_POSSIBLE) return holder;
    uintptr_t slot;
    for (;; holder.between++) {
        holder.address = graph->holders[number];
        if (!holder.address) break;
        /* Pages of objects may lie in blocks (Ruby 3.1). */
        const uint32_t block =
            is_object(roots, holder.address, &slot) ? HL_NO_BLOCK : hl_graph_find(graph, holder.address);
        if (block == HL_NO_BLOCK) break;
        number = block;
    }
    if (holder.address)
        tell(&holder, roots);
    else
        holder.kind = HL_HOLDER_LINKER;
    return holder;
}
