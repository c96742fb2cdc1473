/* SPDX-License-Identifier: MIT */
#include "record/call_tree.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "core.h"
#include "state/guard.h"

enum { KEYS = 3000, THREADS = 8 };

static void begin(void) {
    core_tables(100);
    hl_guard_enter(&hl_thread);
    CHECK_EQUAL(hl_ring_create(), 0);
    CHECK_EQUAL(hl_tree_create(), 0);
}

static struct hl_ring_frame line(uint32_t number) {
    const struct hl_ring_frame frame = {.kind = HL_FRAME_RUBY, .path = 8, .line = number};
    return frame;
}

static void equal_ones_have_one_number(void) {
    begin();
    const uint32_t text = hl_tree_string("app.rb", 6), longer = hl_tree_string("app.rb ", 7);
    CHECK(text && longer && text != longer);
    CHECK_EQUAL(hl_tree_string("app.rb", 6), text);
    CHECK_EQUAL(hl_tree_string("", 0), 0);
    const struct hl_ring_frame one = line(1), other = line(2);
    const uint32_t frame = hl_tree_frame(&one);
    CHECK(frame && frame != hl_tree_frame(&other));
    CHECK_EQUAL(hl_tree_frame(&one), frame);
    const uint32_t node = hl_tree_node(0, frame), below = hl_tree_node(node, frame);
    CHECK(node && below > node); /* a parent is older than its children */
    CHECK_EQUAL(hl_tree_node(0, frame), node);
    CHECK_EQUAL(hl_tree_node(node, frame), below);
    CHECK_EQUAL(hl_ring.nodes[below].parent, node);
    CHECK_EQUAL(hl_tree_note("(why)"), hl_tree_note("(why)"));
    CHECK_EQUAL(hl_ring.header->stacks_refused, 0);
}

static void what_is_long_is_cut(void) {
    static char path[5000];
    size_t length;
    begin();
    memset(path, 'p', sizeof(path));
    const uint32_t text = hl_tree_string(path, sizeof(path));
    hl_ring_text(text, &length);
    CHECK_EQUAL(length, 4000);
    CHECK_EQUAL(hl_tree_string(path, 4500), text);
    CHECK(hl_tree_string(path, 3999) != text);
}

static uint32_t found[THREADS][KEYS];

static void intern_all(unsigned thread) {
    char text[32];
    const int saved = hl_guard_enter(&hl_thread);
    for (uint32_t i = 0; i < KEYS; i++) {
        const uint32_t key = thread % 2 ? i : KEYS - 1 - i;
        const int length = snprintf(text, sizeof(text), "/app/%u.rb", key);
        const struct hl_ring_frame frame = {
            .kind = HL_FRAME_RUBY, .path = hl_tree_string(text, (size_t)length), .line = key};
        found[thread][key] = hl_tree_node(hl_tree_node(0, hl_tree_frame(&frame)), 1);
    }
    hl_guard_leave(&hl_thread, saved);
}

/* At most one number a thread is used up for nothing, for each of string, frame and the two nodes. */
static void threads_agree(void) {
    begin();
    core_threads(THREADS, intern_all);
    for (unsigned thread = 1; thread < THREADS; thread++)
        for (uint32_t i = 0; i < KEYS; i++) CHECK_EQUAL(found[thread][i], found[0][i]);
    for (uint32_t i = 0; i < KEYS; i++) {
        size_t length;
        char text[32];
        const uint32_t parent = hl_ring.nodes[found[0][i]].parent;
        const struct hl_ring_frame *frame = &hl_ring.frames[hl_ring.nodes[parent].frame];
        const int wanted = snprintf(text, sizeof(text), "/app/%u.rb", i);
        const char *path = hl_ring_text(frame->path, &length);
        CHECK_EQUAL(frame->line, i);
        CHECK(length == (size_t)wanted && memcmp(path, text, length) == 0);
    }
    CHECK(hl_ring.header->nodes_used <= 1 + 2 * KEYS * THREADS);
    CHECK_EQUAL(hl_ring.header->stacks_refused, 0);
}

/* What is known stays known; what is new is refused, and that is counted. */
static void full_tables_refuse(void) {
    uint32_t i = 1, last = 0, number;
    begin();
    for (struct hl_ring_frame frame = line(i); (number = hl_tree_frame(&frame)); frame = line(++i)) last = number;
    CHECK_EQUAL(i, HL_RING_FRAMES);
    CHECK_EQUAL(last, HL_RING_FRAMES - 1);
    CHECK_EQUAL(hl_ring.header->stacks_refused, 1);
    const struct hl_ring_frame first = line(1);
    CHECK_EQUAL(hl_tree_frame(&first), 1);
    for (i = 0; hl_tree_node(i, 1); i++)
        ;
    CHECK_EQUAL(i, HL_RING_NODES - 1);
    CHECK_EQUAL(hl_tree_node(0, 1), 1);
    CHECK_EQUAL(hl_ring.header->stacks_refused, 2);
    char text[4000];
    memset(text, 's', sizeof(text));
    for (i = 0; snprintf(text, 10, "%9u", i) && (text[9] = '.', hl_tree_string(text, sizeof(text))); i++)
        ;
    CHECK(i > HL_RING_STRINGS / 4100 && i < HL_RING_STRINGS / 4000);
    CHECK_EQUAL(hl_ring.header->stacks_refused, 3);
}

static const struct check_test tests[] = {
    {"equal_ones_have_one_number", equal_ones_have_one_number},
    {"what_is_long_is_cut", what_is_long_is_cut},
    {"threads_agree", threads_agree},
    {"full_tables_refuse", full_tables_refuse},
};

CHECK_MAIN(tests)
