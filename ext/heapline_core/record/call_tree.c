/* SPDX-License-Identifier: MIT */
#include "record/call_tree.h"

#include <errno.h>
#include <string.h>

#include "platform/intern_table.h"

enum { STRING_SLOTS = 1 << 16, FRAME_SLOTS = 1 << 18, NODE_SLOTS = 2 * HL_RING_NODES };

static struct hl_intern_table strings = {NULL, STRING_SLOTS - 1};
static struct hl_intern_table frames = {NULL, FRAME_SLOTS - 1};
static struct hl_intern_table nodes = {NULL, NODE_SLOTS - 1};

void hl_tree_destroy(void) {
    hl_intern_destroy(&strings);
    hl_intern_destroy(&frames);
    hl_intern_destroy(&nodes);
}

int hl_tree_create(void) {
    hl_tree_destroy();
    return hl_intern_create(&strings) && hl_intern_create(&frames) && hl_intern_create(&nodes) ? 0 : -ENOMEM;
}

HL_INLINE uint32_t told(uint32_t number) {
    if (HL_UNLIKELY(!number)) hl_add_shared(&hl_ring.header->stacks_refused, 1);
    return number;
}

/* ---- strings ---- */

struct text {
    const char *bytes;
    size_t length;
};

static int same_string(uint32_t number, const void *key) {
    const struct text *text = key;
    size_t length;
    const char *bytes = hl_ring_text(number, &length);
    return length == text->length && memcmp(bytes, text->bytes, length) == 0;
}

static uint32_t add_string(const void *key) {
    const struct text *text = key;
    return hl_ring_string(text->bytes, text->length);
}

uint32_t hl_tree_string(const char *bytes, size_t length) {
    enum { LONGEST = 4000 };
    const struct text text = {bytes, length < LONGEST ? length : LONGEST};
    uint64_t hash = text.length;
    if (!text.length) return 0;
    for (size_t i = 0; i < text.length; i++) hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3ull;
    return told(hl_intern(&strings, hl_intern_mix(hash, 0), &text, same_string, add_string));
}

/* ---- frames ---- */

static int same_frame(uint32_t number, const void *key) {
    return memcmp(&hl_ring.frames[number], key, sizeof(struct hl_ring_frame)) == 0;
}

static uint32_t add_frame(const void *key) {
    return hl_ring_add_frame(key);
}

uint32_t hl_tree_frame(const struct hl_ring_frame *frame) {
    const uint64_t hash =
        hl_intern_mix((uint64_t)frame->kind << 32 | frame->path, (uint64_t)frame->label << 32 | frame->line);
    return told(hl_intern_near(&frames, frame->path, hl_intern_mix(hash, frame->offset), frame, same_frame, add_frame));
}

uint32_t hl_tree_note(const char *words) {
    const struct hl_ring_frame frame = {.kind = HL_FRAME_NOTE, .label = hl_tree_string(words, strlen(words))};
    return hl_tree_frame(&frame);
}

/* ---- nodes ---- */

static int same_node(uint32_t number, const void *key) {
    return memcmp(&hl_ring.nodes[number], key, sizeof(struct hl_ring_node)) == 0;
}

static uint32_t add_node(const void *key) {
    const struct hl_ring_node *node = key;
    return hl_ring_add_node(node->parent, node->frame);
}

uint32_t hl_tree_node(uint32_t parent, uint32_t frame) {
    const struct hl_ring_node node = {parent, frame};
    const uint64_t hash = hl_intern_mix((uint64_t)parent << 32 | frame, 1);
    return told(hl_intern_near(&nodes, 2ull * parent, hash, &node, same_node, add_node));
}
