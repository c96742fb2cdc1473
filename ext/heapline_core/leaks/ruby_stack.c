/* SPDX-License-Identifier: MIT */
#include "leaks/ruby_stack.h"

#include <errno.h>
#include <string.h>

#include "flight/site_table.h"
#include "platform/intern_table.h"
#include "vm/native_walk.h"
#include "vm/ruby_walk.h"

enum { NODES = 1 << 20, FRAMES = 1 << 17 };

static struct hl_lossy_cache by_pc;
static struct hl_intern_table node_slots = {NULL, 2 * NODES - 1}, frame_slots = {NULL, 2 * FRAMES - 1};
static struct hl_ruby_node *nodes;
static struct hl_ruby_stack_frame *frames;
static uint32_t node_count = 1, frame_count = 1;

int hl_ruby_stack_create(void) {
    nodes = hl_own_memory(NODES * sizeof(*nodes));
    frames = hl_own_memory(FRAMES * sizeof(*frames));
    const int created = nodes && frames && hl_lossy_create(&by_pc, HL_LOSSY_BITS) && hl_intern_create(&node_slots) &&
                        hl_intern_create(&frame_slots);
    if (!created) return -ENOMEM;
    hl_lossy_populate(&by_pc);
    return 0;
}

const struct hl_ruby_node *hl_ruby_node(uint32_t number) {
    return number ? &nodes[number] : NULL;
}

const struct hl_ruby_stack_frame *hl_ruby_stack_frame(uint32_t number) {
    return &frames[number];
}

/* The next number below `limit`; 0: none. */
static uint32_t next(uint32_t *count, uint32_t limit) {
    if (hl_load32(count) >= limit) return 0;
    const uint32_t number = __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
    return number < limit ? number : 0;
}

/* ---- frames ---- */

static int same_frame(uint32_t number, const void *key) {
    return memcmp(&frames[number], key, sizeof(*frames)) == 0;
}

static uint32_t add_frame(const void *key) {
    const uint32_t number = next(&frame_count, FRAMES);
    if (number) memcpy(&frames[number], key, sizeof(*frames));
    return number;
}

static uint32_t frame_of(const struct hl_ruby_line *line, uint32_t skipped) {
    char label[HL_LABEL_MAX];
    struct hl_ruby_stack_frame frame = {0, 0, 0};
    if (skipped) return 0; /* nobody tells of those */
    if (line) {
        frame.line = line->line;
        frame.path = hl_string_intern(line->path, line->path_length);
        frame.label = line->frame ? hl_string_intern(label, hl_ruby_frame_label(line, label)) : 0;
    }
    const uint64_t hash = hl_intern_mix(hl_intern_mix(frame.line, frame.path), frame.label);
    return hl_intern_near(&frame_slots, frame.path, hash, &frame, same_frame, add_frame);
}

/* ---- nodes ---- */

static int same_node(uint32_t number, const void *key) {
    return memcmp(&nodes[number], key, sizeof(*nodes)) == 0;
}

static uint32_t add_node(const void *key) {
    const uint32_t number = next(&node_count, NODES);
    if (number) memcpy(&nodes[number], key, sizeof(*nodes));
    return number;
}

static uint32_t node_of(uint32_t parent, uint32_t frame) {
    const struct hl_ruby_node node = {parent, frame};
    return hl_intern_near(&node_slots, 2ull * parent, hl_intern_mix((uint64_t)parent << 32 | frame, 1), &node,
                          same_node, add_node);
}

/* ---- stacks ---- */

static const struct hl_ruby_sink sink = {&by_pc, frame_of, node_of};

uint32_t hl_ruby_stack_here(struct hl_lane *lane) {
    if (hl_ruby.public_only || hl_thread.starting || hl_thread.exiting) return 0;
    if (HL_UNLIKELY(!lane->ruby_stack)) lane->ruby_stack = hl_own_memory(sizeof(*lane->ruby_stack));
    if (HL_UNLIKELY(!hl_interpreter.bounds)) hl_interpreter_find(&lane->ecs); /* where native stacks end */
    return lane->ruby_stack ? hl_walk_here(lane->ruby_stack, &sink, &lane->ecs) : 0;
}
