/* SPDX-License-Identifier: MIT */
#include "leaks/leak_fibers.h"

#include <errno.h>
#include <string.h>

#include "platform/own_memory.h"
#include "vm/ruby_vm.h"

enum {
    PAGE = 4096,
    POOLS = 1024,
    BELOW = 128, /* coroutine_transfer keeps registers below the pointer that the VM notes */
    /* Words before an ec: what the VM notes of the stack of a fiber that it leaves (rb_context_t.machine). */
    NOTED_POINTER = 3,
    NOTED_WORDS = 1,
};

struct search {
    struct hl_fibers *fibers;
    const struct hl_graph *graph;
};

static uint64_t field(uintptr_t base, size_t offset) {
    return hl_graph_peek(base + offset);
}

/* ---- the pool ---- */

/* What the VM notes of each mapping (struct fiber_pool_allocation): six words. */
static uintptr_t note_pool(struct hl_fibers *fibers, const struct hl_graph *graph, uintptr_t block, uintptr_t pool) {
    enum { BASE, SIZE, STRIDE, COUNT, POOL, NEXT, WORDS };
    uint64_t word[WORDS];
    const uint32_t number = hl_graph_find(graph, block);
    if (number == HL_NO_BLOCK || graph->begins[number] != block || graph->sizes[number] != sizeof(word)) return 0;
    memcpy(word, (const void *)block, sizeof(word));
    if (word[POOL] != pool || word[BASE] % PAGE || word[STRIDE] != word[SIZE] + PAGE || word[STRIDE] % PAGE ||
        !word[COUNT] || fibers->pool_count == POOLS)
        return 0;
    uint32_t *owners = hl_own_memory(word[COUNT] * sizeof(*owners));
    if (!owners) return 0;
    fibers->pools[fibers->pool_count++] = (struct hl_fiber_pool){word[BASE], word[STRIDE], word[COUNT], owners};
    return word[NEXT];
}

/* All that lies between the variables too, which the sanitizer forbids. */
__attribute__((no_sanitize("address"))) static void find_pool(void *context, uintptr_t begin, uintptr_t end) {
    struct search *search = context;
    for (uintptr_t at = begin; at + sizeof(at) <= end && !search->fibers->pool_count; at += sizeof(at)) {
        uintptr_t block = *(const uintptr_t *)at;
        while (block) block = note_pool(search->fibers, search->graph, block, at);
    }
}

static struct hl_fiber_pool *pool_at(const struct hl_fibers *fibers, uintptr_t address, size_t *stack) {
    for (size_t i = 0; i < fibers->pool_count; i++) {
        struct hl_fiber_pool *pool = &fibers->pools[i];
        *stack = (address - pool->begin) / pool->stride;
        if (address >= pool->begin && *stack < pool->count) return pool;
    }
    return NULL;
}

/* ---- the fibers ---- */

/* The stack pointer that the VM noted; it notes how far below the top it lies, too. */
static uintptr_t noted_pointer(uintptr_t ec, uintptr_t top) {
    const uintptr_t pointer = field(ec, -NOTED_POINTER * (intptr_t)sizeof(uintptr_t));
    const uint64_t words = field(ec, -NOTED_WORDS * (intptr_t)sizeof(uintptr_t));
    return pointer && pointer < top && (top - pointer) / sizeof(uintptr_t) == words ? pointer - BELOW : 0;
}

static void add(struct hl_fibers *fibers, uintptr_t ec) {
    const size_t machine = hl_ruby.layout->ec_machine;
    const uintptr_t top = field(ec, machine + HL_MACHINE_TOP), bytes = field(ec, machine + HL_MACHINE_BYTES);
    struct hl_fiber fiber = {.ec = ec, .bottom = top - bytes, .top = top};
    size_t stack;
    if (!field(ec, HL_EC_STACK) || !top || bytes >= top) return; /* it has none yet, or none any more */
    const int runs = field(field(ec, hl_ruby.layout->ec_thread), hl_ruby.layout->thread_ec) == ec;
    if (!runs) fiber.pointer = noted_pointer(ec, top);
    const struct hl_fiber_pool *pool = pool_at(fibers, top - 1, &stack);
    fiber.pooled = pool != NULL;
    fibers->list[fibers->count++] = fiber;
    if (pool) pool->fibers[stack] = (uint32_t)fibers->count;
    if (pool ? fiber.bottom < pool->begin + stack * pool->stride : !runs && !fibers->pool_count) fibers->unknown = 1;
}

/* The ec's distance from the beginning of its block, and the block's number in *like. */
static uintptr_t ec_offset(const struct hl_graph *graph, uint32_t *like) {
    const uintptr_t ec = (uintptr_t)hl_ruby_ec();
    if (!hl_ruby.layout || hl_ruby.public_only || !hl_ruby.layout->ec_machine || !ec) return 0;
    const uintptr_t fiber = field(ec, hl_ruby.layout->ec_fiber);
    *like = hl_graph_find(graph, fiber);
    if (*like == HL_NO_BLOCK || graph->begins[*like] != fiber || ec - fiber >= graph->sizes[*like]) return 0;
    return ec - fiber;
}

int hl_fibers_find(struct hl_fibers *fibers, const struct hl_graph *graph, const struct hl_mapping *mappings,
                   size_t mapping_count) {
    struct search search = {fibers, graph};
    uint32_t like, room = 0;
    uintptr_t known;
    memset(fibers, 0, sizeof(*fibers));
    const uintptr_t offset = ec_offset(graph, &like);
    fibers->unknown = hl_ruby.attached && !offset;
    if (!offset) return 0;
    for (uint32_t number = 0; number < graph->count; number++) room += graph->sizes[number] == graph->sizes[like];
    fibers->list = hl_own_memory(room * sizeof(*fibers->list));
    fibers->pools = hl_own_memory(POOLS * sizeof(*fibers->pools));
    if (!fibers->list || !fibers->pools) return -ENOMEM;
    memcpy(&known, &hl_ruby.rb_thread_current, sizeof(known));
    const uintptr_t header = hl_object_header(mappings, mapping_count, known);
    if (header) hl_variables_of(header, find_pool, &search);
    for (uint32_t number = 0; number < graph->count; number++)
        if (graph->sizes[number] == graph->sizes[like] &&
            field(graph->begins[number] + offset, hl_ruby.layout->ec_fiber) == graph->begins[number])
            add(fibers, graph->begins[number] + offset);
    return 0;
}

/* ---- what is not in use ---- */

size_t hl_fibers_room(const struct hl_fibers *fibers) {
    return 2 * (fibers->count + fibers->pool_count);
}

/* Stacks of nobody that lie one behind the other are told as one range; a guard page is no memory. */
void hl_fibers_without_use(const struct hl_fibers *fibers, void (*each)(void *context, uintptr_t begin, uintptr_t end),
                           void *context) {
    for (size_t i = 0; i < fibers->pool_count && !fibers->unknown; i++) {
        const struct hl_fiber_pool *pool = &fibers->pools[i];
        uintptr_t begin = pool->begin, at = begin;
        for (size_t stack = 0; stack < pool->count; stack++, at += pool->stride) {
            if (!pool->fibers[stack]) continue;
            const struct hl_fiber *fiber = &fibers->list[pool->fibers[stack] - 1];
            each(context, begin, fiber->pointer ? fiber->pointer : at);
            begin = at + pool->stride;
        }
        each(context, begin, at);
    }
}

const struct hl_fiber *hl_fiber_at(const struct hl_fibers *fibers, uintptr_t address) {
    size_t stack;
    const struct hl_fiber_pool *pool = pool_at(fibers, address, &stack);
    if (pool) return pool->fibers[stack] ? &fibers->list[pool->fibers[stack] - 1] : NULL;
    for (size_t i = 0; i < fibers->count; i++)
        if (address >= fibers->list[i].bottom && address < fibers->list[i].top) return &fibers->list[i];
    return NULL;
}
