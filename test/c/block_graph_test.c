/* SPDX-License-Identifier: MIT */
#include "leaks/block_graph.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "check.h"
#include "core.h"
#include "platform/platform.h"
#include "state/block_map.h"

#if CHECK_ADDRESS_SANITIZER || defined(HL_THREAD_SANITIZER)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static struct hl_graph graph;

/* The thread sanitizer hands a signal on later; a fault is one that cannot wait. */
static void faults(void) {
#ifdef HL_THREAD_SANITIZER
    check_skip("the thread sanitizer delays signals");
#endif
}

static void begin(void) {
    core_start("3.4.1", "quiet,blocks");
    CHECK(hl_block_tail_size != 0);
}

/* Zeroed, as every block is while blocks are kept. */
static uintptr_t *block(size_t words) {
    uintptr_t *fresh = malloc(words * sizeof(*fresh));
    for (size_t i = 0; i < words; i++) CHECK_EQUAL(fresh[i], 0);
    return fresh;
}

/* What follows from these words alone. */
static void search(const void *roots, size_t bytes) {
    static const struct hl_range none;
    CHECK_EQUAL(hl_graph_create(&graph, &none, 0), 0);
    hl_graph_scan(&graph, (uintptr_t)roots, (uintptr_t)roots + bytes);
    hl_graph_spread(&graph);
    hl_graph_finish(&graph);
}

static int state(const void *block) {
    const uint32_t number = hl_graph_find(&graph, (uintptr_t)block);
    CHECK(number != HL_NO_BLOCK);
    return number == HL_NO_BLOCK ? -1 : graph.states[number];
}

static void each_class(void) {
    begin();
    uintptr_t *held = block(4), *behind = block(4), *into = block(40), *from_into = block(4), *lost = block(4),
              *led = block(4);
    held[3] = (uintptr_t)behind;
    into[10] = (uintptr_t)from_into;
    lost[0] = (uintptr_t)led + 3;
    const uintptr_t roots[] = {(uintptr_t)held, 1, (uintptr_t)into + 17};
    search(roots, sizeof(roots));
    CHECK_EQUAL(state(held), HL_BLOCK_REACHABLE);
    CHECK_EQUAL(state(behind), HL_BLOCK_REACHABLE);
    CHECK_EQUAL(state(into), HL_BLOCK_POSSIBLE);
    CHECK_EQUAL(state(from_into), HL_BLOCK_POSSIBLE);
    CHECK_EQUAL(state(lost), HL_BLOCK_DEFINITE);
    CHECK_EQUAL(state(led), HL_BLOCK_INDIRECT);
    CHECK_EQUAL(graph.leaders[hl_graph_find(&graph, (uintptr_t)led)], hl_graph_find(&graph, (uintptr_t)lost));
}

/* A pointer to the beginning that is found later outweighs one into the middle. */
static void the_better_pointer_counts(void) {
    begin();
    uintptr_t *twice = block(8), *first = block(4);
    first[0] = (uintptr_t)twice;
    const uintptr_t roots[] = {(uintptr_t)twice + 8, (uintptr_t)first};
    search(roots, sizeof(roots));
    CHECK_EQUAL(state(twice), HL_BLOCK_REACHABLE);
}

static uintptr_t holder(const void *block) {
    return graph.holders[hl_graph_find(&graph, (uintptr_t)block)];
}

static void the_word_that_holds_a_block_is_known(void) {
    begin();
    uintptr_t *held = block(4), *behind = block(4), *into = block(40), *lost = block(4);
    held[3] = (uintptr_t)behind;
    const uintptr_t roots[] = {1, (uintptr_t)held, (uintptr_t)into + 17};
    search(roots, sizeof(roots));
    CHECK_EQUAL(holder(held), (uintptr_t)&roots[1]);
    CHECK_EQUAL(holder(behind), (uintptr_t)&held[3]);
    CHECK_EQUAL(holder(into), (uintptr_t)&roots[2]);
    CHECK_EQUAL(holder(lost), 0);
}

static void own_addresses_are_found(void) {
    uintptr_t *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uintptr_t begin_at = (uintptr_t)pages, end = begin_at + 3 * 4096;
    faults();
    begin();
    search(NULL, 0); /* from then on faults are caught */
    CHECK_EQUAL(hl_graph_next_own_address(begin_at, end, 64), end);
    pages[8] = (uintptr_t)&pages[8];
    pages[9] = (uintptr_t)&pages[9]; /* not a multiple of 64 */
    pages[2 * 512 + 16] = (uintptr_t)&pages[2 * 512 + 16];
    mprotect(pages + 512, 4096, PROT_NONE);
    CHECK_EQUAL(hl_graph_next_own_address(begin_at, end, 64), (uintptr_t)&pages[8]);
    CHECK_EQUAL(hl_graph_next_own_address((uintptr_t)&pages[16], end, 64), (uintptr_t)&pages[2 * 512 + 16]);
    CHECK_EQUAL(hl_graph_next_own_address((uintptr_t)&pages[2 * 512 + 24], end, 64), end);
}

/* Also large memory that an earlier owner wrote to. */
static void what_was_used_before_is_zero(void) {
    begin();
    char *small = malloc(100000), *fence = malloc(100);
    CHECK(fence != NULL);
    memset(small, 7, 100000);
    volatile uintptr_t there = (uintptr_t)small; /* or the compiler takes the address for the freed block */
    free(small);
    char *again = malloc(90000);
    int nonzero = 0;
    for (int i = 0; i < 90000; i++) nonzero += again[i] != 0;
    CHECK_EQUAL(nonzero, 0);
    if (!SANITIZED) CHECK_EQUAL((uintptr_t)again, there); /* they keep freed memory aside */
}

static void a_ring_has_one_leader(void) {
    begin();
    uintptr_t *ring[5];
    for (int i = 0; i < 5; i++) ring[i] = block(4);
    for (int i = 0; i < 5; i++) ring[i][0] = (uintptr_t)ring[(i + 3) % 5];
    search(NULL, 0);
    int definite = 0, indirect = 0;
    for (int i = 0; i < 5; i++) {
        definite += state(ring[i]) == HL_BLOCK_DEFINITE;
        indirect += state(ring[i]) == HL_BLOCK_INDIRECT;
    }
    CHECK_EQUAL(definite, 1);
    CHECK_EQUAL(indirect, 4);
}

/* In whatever order lost blocks are met, the one that leads to all others is the definite one. */
static void the_head_of_a_list_is_the_leader(void) {
    begin();
    uintptr_t *list[20];
    for (int i = 0; i < 20; i++) list[i] = block(4);
    for (int i = 19; i > 0; i--) list[i][0] = (uintptr_t)list[i - 1];
    search(NULL, 0);
    CHECK_EQUAL(state(list[19]), HL_BLOCK_DEFINITE);
    for (int i = 0; i < 19; i++) {
        CHECK_EQUAL(state(list[i]), HL_BLOCK_INDIRECT);
        CHECK_EQUAL(graph.leaders[hl_graph_find(&graph, (uintptr_t)list[i])],
                    hl_graph_find(&graph, (uintptr_t)list[19]));
    }
}

/* Each node's leader goes over to the next one, as a list that grew at its head is met. That takes no step twice. */
static void a_long_list(void) {
    enum { COUNT = 200000 };
    uintptr_t *last = NULL, *first = NULL;
    begin();
    for (int i = 0; i < COUNT; i++) {
        uintptr_t *next = block(1);
        next[0] = (uintptr_t)last;
        last = next;
        if (!first) first = next;
    }
    const clock_t begun = clock();
    search(NULL, 0);
    CHECK(clock() - begun < 10 * CLOCKS_PER_SEC);
    CHECK_EQUAL(state(last), HL_BLOCK_DEFINITE);
    CHECK_EQUAL(graph.leaders[hl_graph_find(&graph, (uintptr_t)first)], hl_graph_find(&graph, (uintptr_t)last));
}

/* Only requested bytes belong to a block, and a block of none has one. */
static void bounds(void) {
    begin();
    char *odd = malloc(101), *none = malloc(0), *large = malloc(3 << 20), *huge = malloc(200u << 20);
    search(NULL, 0);
    const uint32_t number = hl_graph_find(&graph, (uintptr_t)odd);
    CHECK_EQUAL(graph.sizes[number], 101);
    CHECK_EQUAL(hl_graph_find(&graph, (uintptr_t)odd + 100), number);
    CHECK_EQUAL(hl_graph_find(&graph, (uintptr_t)odd + 101), HL_NO_BLOCK);
    CHECK_EQUAL(hl_graph_find(&graph, (uintptr_t)odd - 1), HL_NO_BLOCK);
    CHECK(hl_graph_find(&graph, (uintptr_t)none) != HL_NO_BLOCK);
    CHECK_EQUAL(hl_graph_find(&graph, (uintptr_t)none + 1), HL_NO_BLOCK);
    for (size_t at = 0; at < 3 << 20; at += 4097)
        CHECK_EQUAL(graph.begins[hl_graph_find(&graph, (uintptr_t)large + at)], (uintptr_t)large);
    /* Over several regions. */
    for (size_t at = 0; at < 200u << 20; at += 1 << 20)
        CHECK_EQUAL(graph.begins[hl_graph_find(&graph, (uintptr_t)huge + at)], (uintptr_t)huge);
    CHECK_EQUAL(hl_graph_find(&graph, (uintptr_t)huge + (200u << 20)), HL_NO_BLOCK);
    CHECK_EQUAL(hl_graph_find(&graph, 0), HL_NO_BLOCK);
    CHECK_EQUAL(hl_graph_find(&graph, UINTPTR_MAX), HL_NO_BLOCK);
}

/* Among 20,000 blocks of all sizes with half of them freed, each address is its block's. */
static void many(void) {
    enum { COUNT = 20000 };
    static char *blocks[COUNT];
    begin();
    srandom(7);
    for (int i = 0; i < COUNT; i++) blocks[i] = malloc((size_t)random() % 700);
    for (int i = 0; i < COUNT; i += 2) free(blocks[i]);
    search(NULL, 0);
    int wrong = 0;
    for (int i = 1; i < COUNT; i += 2) {
        const uint32_t number = hl_graph_find(&graph, (uintptr_t)blocks[i]);
        wrong += number == HL_NO_BLOCK || graph.begins[number] != (uintptr_t)blocks[i];
    }
    CHECK_EQUAL(wrong, 0);
    for (uint32_t number = 1; number < graph.count; number++) wrong += graph.begins[number] <= graph.begins[number - 1];
    CHECK_EQUAL(wrong, 0);
}

static void behind_a_length_is_the_beginning(void) {
    begin();
    uintptr_t *array = malloc(8 + 6 * 24), *plain = malloc(8 + 6 * 24);
    array[0] = 6;
    plain[0] = 7;
    const uintptr_t roots[] = {(uintptr_t)(array + 1), (uintptr_t)(plain + 1)};
    search(roots, sizeof(roots));
    CHECK_EQUAL(state(array), HL_BLOCK_REACHABLE);
    CHECK_EQUAL(state(plain), HL_BLOCK_POSSIBLE);
}

static void what_cannot_be_read_is_left_out(void) {
    faults();
    begin();
    uintptr_t *held = block(4);
    uintptr_t *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pages[2 * 512 + 5] = (uintptr_t)held;
    mprotect(pages + 512, 4096, PROT_NONE);
    search(pages, 3 * 4096);
    CHECK_EQUAL(state(held), HL_BLOCK_REACHABLE);
    CHECK_EQUAL(hl_graph_peek((uintptr_t)(pages + 512)), 0);
    CHECK_EQUAL(hl_graph_peek((uintptr_t)(pages + 2 * 512 + 5)), (uintptr_t)held);
}

static void realloc_moves_the_mark(void) {
    begin();
    char *block = malloc(50), *other = malloc(50);
    char *moved = realloc(block, 5000);
    search(NULL, 0);
    CHECK_EQUAL(graph.sizes[hl_graph_find(&graph, (uintptr_t)moved)], 5000);
    CHECK_EQUAL(graph.sizes[hl_graph_find(&graph, (uintptr_t)other)], 50);
    for (int i = 50; i < 5000; i++) CHECK(moved[i] == 0);
    const uintptr_t address = (uintptr_t)moved;
    free(moved);
    search(NULL, 0);
    CHECK_EQUAL(hl_graph_find(&graph, address), HL_NO_BLOCK);
}

static const struct check_test tests[] = {
    {"each_class", each_class},
    {"the_better_pointer_counts", the_better_pointer_counts},
    {"the_word_that_holds_a_block_is_known", the_word_that_holds_a_block_is_known},
    {"own_addresses_are_found", own_addresses_are_found},
    {"what_was_used_before_is_zero", what_was_used_before_is_zero},
    {"a_ring_has_one_leader", a_ring_has_one_leader},
    {"the_head_of_a_list_is_the_leader", the_head_of_a_list_is_the_leader},
    {"a_long_list", a_long_list},
    {"bounds", bounds},
    {"many", many},
    {"behind_a_length_is_the_beginning", behind_a_length_is_the_beginning},
    {"what_cannot_be_read_is_left_out", what_cannot_be_read_is_left_out},
    {"realloc_moves_the_mark", realloc_moves_the_mark},
};

CHECK_MAIN(tests)
