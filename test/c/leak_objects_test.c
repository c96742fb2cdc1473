/* SPDX-License-Identifier: MIT */
#include "leaks/leak_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core.h"
#include "vm/ruby_vm.h"

enum {
    OBJECT = 1,
    FLOAT = 4,
    STRING = 5,
    ARRAY = 7,
    HASH = 8,
    STRUCT = 9,
    DATA = 12,
    INTERNAL = 0x1a,
    USER_1 = 1 << 13,
    USER_3 = 1 << 15,
    USER_4 = 1 << 16,
    WORDS = 12,
    SLOTS = 6
};

static uint64_t slots[SLOTS][WORDS];
static void *blocks[SLOTS][WORDS];
static struct hl_graph graph;

/* Every word of every slot behind its class refers to a block of its own. */
static void fill(const char *version) {
    core_start(version, "quiet,blocks");
    CHECK(hl_ruby.layout != NULL);
    for (int slot = 0; slot < SLOTS; slot++)
        for (int word = 1; word < WORDS; word++) slots[slot][word] = (uintptr_t)(blocks[slot][word] = calloc(1, 32));
}

/* How many words of the slot count, from the first on. */
static int counted(int slot) {
    int words = 2;
    while (words < WORDS && graph.states[hl_graph_find(&graph, (uintptr_t)blocks[slot][words])] == HL_BLOCK_REACHABLE)
        words++;
    for (int word = words; word < WORDS; word++)
        CHECK(graph.states[hl_graph_find(&graph, (uintptr_t)blocks[slot][word])] != HL_BLOCK_REACHABLE);
    return words;
}

static void search(void) {
    static const struct hl_range none;
    struct hl_object_page page = {(uintptr_t)slots, (uintptr_t)slots + sizeof(slots), sizeof(slots[0])};
    struct hl_roots roots = {.pages = &page, .page_count = 1};
    const int64_t mappings = hl_memory_maps(&roots.mappings);
    CHECK(mappings > 0);
    roots.mapping_count = (size_t)mappings;
    CHECK_EQUAL(hl_graph_create(&graph, &none, 0), 0);
    hl_objects_scan(&graph, &roots);
    hl_graph_spread(&graph);
    hl_graph_finish(&graph);
}

static void each_kind(void) {
    fill("3.4.1");
    slots[0][0] = 0; /* free */
    slots[1][0] = DATA;
    slots[2][0] = STRING | USER_1;
    slots[3][0] = ARRAY;
    slots[4][0] = ARRAY | USER_1;
    slots[5][0] = FLOAT;
    search();
    CHECK_EQUAL(counted(0), 2);
    CHECK_EQUAL(counted(1), WORDS);
    CHECK_EQUAL(counted(2), 5);
    CHECK_EQUAL(counted(3), 5);
    CHECK_EQUAL(counted(4), 2);
    CHECK_EQUAL(counted(5), 2);
}

/* Flags of six objects, and how many words of each count. */
static void these(const char *version, const uint64_t *flags, const int *words) {
    fill(version);
    for (int slot = 0; slot < SLOTS; slot++) slots[slot][0] = flags[slot];
    search();
    for (int slot = 0; slot < SLOTS; slot++) CHECK_EQUAL(counted(slot), words[slot]);
}

/* What the slot holds itself, and what is elsewhere; bits that other versions have for it say nothing. */
static void of_ruby_3_1(void) {
    const uint64_t flags[] = {OBJECT | USER_1, ARRAY, HASH, STRUCT | 3 << 13, STRUCT | 8 << 13, INTERNAL | 13 << 12};
    const int words[] = {2, 5, 5, 2, 5, 2};
    these("3.1.2", flags, words);
}

/* The number of an object's values is half a word; the other half is somebody else's. */
static void a_number_of_values_is_none(void) {
    fill("3.1.2");
    slots[0][0] = OBJECT;
    search();
    CHECK(graph.states[hl_graph_find(&graph, (uintptr_t)blocks[0][2])] == HL_BLOCK_DEFINITE);
    CHECK(graph.states[hl_graph_find(&graph, (uintptr_t)blocks[0][3])] == HL_BLOCK_REACHABLE);
}

/* What is the class of other objects. */
static void of_the_vms_own_the_second_word_counts(void) {
    fill("3.1.2");
    slots[0][0] = INTERNAL | 11 << 12;
    slots[1][0] = DATA;
    search();
    CHECK(graph.states[hl_graph_find(&graph, (uintptr_t)blocks[0][1])] == HL_BLOCK_REACHABLE);
    CHECK(graph.states[hl_graph_find(&graph, (uintptr_t)blocks[1][1])] == HL_BLOCK_DEFINITE);
}

static void of_ruby_3_4(void) {
    const uint64_t flags[] = {OBJECT | USER_1, OBJECT | USER_4,  HASH,
                              HASH | USER_3,   STRUCT | 8 << 13, INTERNAL | 12 << 12};
    const int words[] = {2, 5, 2, 10, 2, WORDS};
    these("3.4.1", flags, words);
}

static void of_ruby_4_0(void) {
    const uint64_t flags[] = {
        OBJECT, OBJECT | USER_4, INTERNAL | 12 << 12, INTERNAL | 13 << 12, INTERNAL | 13 << 12 | USER_4, STRUCT};
    const int words[] = {2, 5, 2, 2, 5, 5};
    these("4.0.1", flags, words);
}

/* The last word of a method's cache and of a scope; of what looks otherwise all words count. */
static void numbers_that_are_not_written_as_a_whole(void) {
    for (int version = 0; version < 2; version++) {
        fill(version ? "4.1.0" : "4.0.1");
        for (int slot = 0; slot < SLOTS; slot++) slots[slot][0] = INTERNAL | (slot < 2 ? 11 : 1) << 12;
        slots[0][3] = (uintptr_t)hl_objects_scan;
        slots[2][1] = 4; /* nil */
        slots[2][2] = (uintptr_t)slots[0];
        slots[2][3] = 0;
        for (int word = 1; word < 4; word++) slots[4][word] = (uintptr_t)slots[word];
        slots[5][2] = 5;
        slots[5][3] = 0;
        search();
        CHECK_EQUAL(counted(0), 3);
        CHECK_EQUAL(counted(1), WORDS);
        CHECK_EQUAL(counted(2), 2);
        CHECK_EQUAL(counted(3), WORDS);
        CHECK_EQUAL(counted(4), 2);
        CHECK(graph.states[hl_graph_find(&graph, (uintptr_t)blocks[5][4])] == HL_BLOCK_REACHABLE);
    }
}

/* Before 4.0 they are. */
static void numbers_of_ruby_3_4(void) {
    fill("3.4.1");
    slots[0][0] = INTERNAL | 12 << 12;
    slots[0][3] = (uintptr_t)hl_objects_scan;
    slots[1][0] = INTERNAL | 1 << 12;
    for (int word = 1; word < 4; word++) slots[1][word] = (uintptr_t)slots[word];
    search();
    CHECK(graph.states[hl_graph_find(&graph, (uintptr_t)blocks[0][4])] == HL_BLOCK_REACHABLE);
    CHECK(graph.states[hl_graph_find(&graph, (uintptr_t)blocks[1][4])] == HL_BLOCK_REACHABLE);
}

/* Of a text of 23 bytes two words are whole; behind a length that cannot be, the slot ends. */
static void texts(void) {
    fill("3.4.1");
    for (int slot = 0; slot < SLOTS; slot++) slots[slot][0] = STRING;
    slots[0][2] = 23;
    slots[1][2] = 0;
    slots[2][2] = UINT64_MAX / 2;
    search();
    CHECK(graph.states[hl_graph_find(&graph, (uintptr_t)blocks[0][4])] == HL_BLOCK_REACHABLE);
    CHECK(graph.states[hl_graph_find(&graph, (uintptr_t)blocks[0][5])] == HL_BLOCK_DEFINITE);
    CHECK(graph.states[hl_graph_find(&graph, (uintptr_t)blocks[1][3])] == HL_BLOCK_DEFINITE);
    CHECK(graph.states[hl_graph_find(&graph, (uintptr_t)blocks[2][WORDS - 1])] == HL_BLOCK_REACHABLE);
}

static void texts_of_ruby_3_1(void) {
    fill("3.1.2");
    for (int slot = 0; slot < SLOTS; slot++) slots[slot][0] = STRING | (uint64_t)17 << 14;
    slots[1][0] = STRING;
    search();
    CHECK_EQUAL(counted(0), 4);
    CHECK_EQUAL(counted(1), 2);
}

static const struct check_test tests[] = {
    {"each_kind", each_kind},
    {"of_ruby_3_1", of_ruby_3_1},
    {"a_number_of_values_is_none", a_number_of_values_is_none},
    {"of_the_vms_own_the_second_word_counts", of_the_vms_own_the_second_word_counts},
    {"of_ruby_3_4", of_ruby_3_4},
    {"of_ruby_4_0", of_ruby_4_0},
    {"numbers_that_are_not_written_as_a_whole", numbers_that_are_not_written_as_a_whole},
    {"numbers_of_ruby_3_4", numbers_of_ruby_3_4},
    {"texts", texts},
    {"texts_of_ruby_3_1", texts_of_ruby_3_1},
};

CHECK_MAIN(tests)
