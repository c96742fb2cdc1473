/* SPDX-License-Identifier: MIT */
#include "leaks/leak_map.h"

#include "allocator/real_malloc.h"
#include "vm/native_stack.h"

static const void *range_at(const void *first, size_t count, size_t size, uintptr_t address) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct hl_range *range = (const void *)((const char *)first + middle * size);
        if (address >= range->begin && address < range->end) return range;
        if (address < range->begin)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct hl_mapping *hl_roots_mapping(const struct hl_roots *roots, uintptr_t address) {
    return range_at(roots->mappings, roots->mapping_count, sizeof(*roots->mappings), address);
}

const struct hl_object_page *hl_roots_page(const struct hl_roots *roots, uintptr_t address) {
    return range_at(roots->pages, roots->page_count, sizeof(*roots->pages), address);
}

int hl_roots_linkers(const struct hl_roots *roots, const struct hl_graph *graph, uint32_t number) {
    void *block = (void *)graph->begins[number];
    const struct hl_stack *stack = hl_stack_at(hl_block_tail(block, hl_real_usable(block) - hl_block_tail_size).stack);
    return stack && stack->frames[0] - roots->linker.begin < roots->linker.end - roots->linker.begin;
}
