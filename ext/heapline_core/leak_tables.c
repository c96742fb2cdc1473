/* SPDX-License-Identifier: MIT */
#include "leak_tables.h"

#include <string.h>

enum { ENTRY_POWERS = 40 };

/* struct st_table of Ruby 3.1 to 4.0, and struct set_table of 4.0, in which bins follow the entries. */
struct table {
    uint8_t entry_power, bin_power, size_index, fill[5];
    uintptr_t type;
    uint64_t count;
    uintptr_t bins;
    uint64_t start, bound;
    uintptr_t entries;
};
struct set {
    uint8_t entry_power, bin_power, size_index, fill[5];
    uintptr_t type;
    uint64_t count, start, bound;
    uintptr_t entries;
};

static int fits(const struct hl_graph *graph, struct hl_st_entries *entries, const struct set *set) {
    if (set->entry_power > ENTRY_POWERS || set->start > set->bound || set->count > set->bound - set->start ||
        set->bound > (uint64_t)1 << set->entry_power || !hl_graph_is_constant(graph, set->type))
        return 0;
    entries->begin = set->entries;
    entries->end = set->entries + set->bound * entries->stride;
    entries->block = hl_graph_find(graph, set->entries);
    return entries->block != HL_NO_BLOCK && graph->begins[entries->block] == set->entries;
}

int hl_st_entries_of(const struct hl_graph *graph, uint32_t number, struct hl_st_entries *entries) {
    const void *header = (const void *)graph->begins[number];
    struct table table;
    struct set set;
    if (graph->sizes[number] == sizeof(table)) {
        memcpy(&table, header, sizeof(table));
        memcpy(&set, header, sizeof(set));
        set.start = table.start;
        set.bound = table.bound;
        set.entries = table.entries;
        entries->stride = 3 * sizeof(uint64_t);
        return fits(graph, entries, &set) && graph->sizes[entries->block] == entries->stride << set.entry_power;
    }
    if (graph->sizes[number] == sizeof(set)) {
        memcpy(&set, header, sizeof(set));
        entries->stride = 2 * sizeof(uint64_t);
        return fits(graph, entries, &set) && graph->sizes[entries->block] >= entries->stride << set.entry_power;
    }
    return 0;
}
