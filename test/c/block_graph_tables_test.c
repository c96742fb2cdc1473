/* SPDX-License-Identifier: MIT */
#include "leaks/block_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core.h"

/* As in ruby/st.h; its type is a constant. */
struct table {
    unsigned char entry_power, bin_power, size_index;
    unsigned rebuilds;
    const void *type;
    uint64_t count;
    uint64_t *bins;
    uint64_t start, bound;
    uint64_t (*entries)[3];
};
struct set {
    unsigned char entry_power, bin_power, size_index;
    unsigned rebuilds;
    const void *type;
    uint64_t count, start, bound;
    uint64_t (*entries)[2];
};

static const long type[2] = {1, 2};
static struct hl_graph graph;

static struct table *table(unsigned power) {
    struct table *fresh = calloc(1, sizeof(*fresh));
    fresh->entry_power = (unsigned char)power;
    fresh->type = type;
    fresh->entries = calloc((size_t)1 << power, sizeof(*fresh->entries));
    return fresh;
}

static void search(const void *roots, size_t bytes) {
    static struct hl_range constants;
    constants = (struct hl_range){(uintptr_t)type, (uintptr_t)(type + 2)};
    CHECK_EQUAL(hl_graph_create(&graph, &constants, 1), 0);
    hl_graph_scan(&graph, (uintptr_t)roots, (uintptr_t)roots + bytes);
    hl_graph_spread(&graph);
    hl_graph_finish(&graph);
}

static int state(const void *block) {
    return graph.states[hl_graph_find(&graph, (uintptr_t)block)];
}

static void *block(void) {
    return calloc(1, 64);
}

/* Entries: one in use, one deleted, one in use; one that was never used again. */
static void deleted_entries_are_no_references(void) {
    core_start("3.4.1", "quiet,blocks");
    struct table *held = table(2);
    void *key = block(), *value = block(), *old_key = block(), *old_value = block(), *last = block(), *unused = block();
    const uint64_t entries[4][3] = {{7, (uintptr_t)key, (uintptr_t)value},
                                    {HL_ST_DELETED, (uintptr_t)old_key, (uintptr_t)old_value},
                                    {8, 1, (uintptr_t)last},
                                    {9, 1, (uintptr_t)unused}};
    memcpy(held->entries, entries, sizeof(entries));
    held->count = 2;
    held->bound = 3;
    /* However the entries were reached first. */
    const uintptr_t roots[] = {(uintptr_t)held->entries, (uintptr_t)held};
    search(roots, sizeof(roots));
    CHECK_EQUAL(state(held), HL_BLOCK_REACHABLE);
    CHECK_EQUAL(state(key), HL_BLOCK_REACHABLE);
    CHECK_EQUAL(state(value), HL_BLOCK_REACHABLE);
    CHECK_EQUAL(state(last), HL_BLOCK_REACHABLE);
    CHECK_EQUAL(state(old_key), HL_BLOCK_DEFINITE);
    CHECK_EQUAL(state(old_value), HL_BLOCK_DEFINITE);
    CHECK_EQUAL(state(unused), HL_BLOCK_DEFINITE);
}

static void sets_have_keys_alone(void) {
    core_start("3.4.1", "quiet,blocks");
    struct set *held = calloc(1, sizeof(*held));
    void *key = block(), *old = block();
    held->entry_power = 1;
    held->type = type;
    held->count = 1;
    held->bound = 2;
    held->entries = calloc(1, 2 * sizeof(*held->entries) + 16);
    const uint64_t entries[2][2] = {{HL_ST_DELETED, (uintptr_t)old}, {7, (uintptr_t)key}};
    memcpy(held->entries, entries, sizeof(entries));
    search(&held, sizeof(held));
    CHECK_EQUAL(state(key), HL_BLOCK_REACHABLE);
    CHECK_EQUAL(state(old), HL_BLOCK_DEFINITE);
}

/* A block that only looks a little like a table is scanned as a whole. */
static void what_is_no_table(void) {
    core_start("3.4.1", "quiet,blocks");
    struct table *headers[4];
    void *behind[4];
    for (int i = 0; i < 4; i++) {
        headers[i] = table(1);
        headers[i]->bound = headers[i]->count = 1;
        behind[i] = block();
        headers[i]->entries[0][0] = HL_ST_DELETED;
        headers[i]->entries[0][1] = (uintptr_t)behind[i];
    }
    headers[1]->type = headers; /* no constant */
    headers[2]->bound = 3;      /* more than there is room for */
    headers[3]->entry_power = 2;
    search(headers, sizeof(headers));
    CHECK_EQUAL(state(behind[0]), HL_BLOCK_DEFINITE);
    for (int i = 1; i < 4; i++) CHECK_EQUAL(state(behind[i]), HL_BLOCK_REACHABLE);
}

static const struct check_test tests[] = {
    {"deleted_entries_are_no_references", deleted_entries_are_no_references},
    {"sets_have_keys_alone", sets_have_keys_alone},
    {"what_is_no_table", what_is_no_table},
};

CHECK_MAIN(tests)
