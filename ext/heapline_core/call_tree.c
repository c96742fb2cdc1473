/* SPDX-License-Identifier: MIT */
#include "call_tree.h"

#include <errno.h>
#include <string.h>

#include "own_memory.h"

enum { STRING_SLOTS = 1 << 16, FRAME_SLOTS = 1 << 18, NODE_SLOTS = 1 << 21, TRIES = 64 };

struct table {
    uint32_t *slots;
    uint32_t mask;
};
static struct table strings = {NULL, STRING_SLOTS - 1};
static struct table frames = {NULL, FRAME_SLOTS - 1};
static struct table nodes = {NULL, NODE_SLOTS - 1};

static size_t bytes_of(const struct table *table) {
    return ((size_t)table->mask + 1) * sizeof(*table->slots);
}

static void destroy(struct table *table) {
    if (table->slots) hl_own_memory_return(table->slots, bytes_of(table));
    table->slots = NULL;
}

void hl_tree_destroy(void) {
    destroy(&strings);
    destroy(&frames);
    destroy(&nodes);
}

int hl_tree_create(void) {
    hl_tree_destroy();
    strings.slots = hl_own_memory(bytes_of(&strings));
    frames.slots = hl_own_memory(bytes_of(&frames));
    nodes.slots = hl_own_memory(bytes_of(&nodes));
    return strings.slots && frames.slots && nodes.slots ? 0 : -ENOMEM;
}

typedef int same_function(uint32_t number, const void *key);
typedef uint32_t add_function(const void *key);

/* Slots are probed in a row; a full stretch of them refuses. */
HL_INLINE uint32_t intern(const struct table *table, uint64_t hash, const void *key, same_function *same,
                          add_function *add) {
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t *slot = &table->slots[(hash + i) & table->mask];
        uint32_t number = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (!number) {
            if (!fresh && !(fresh = add(key))) break;
            if (__atomic_compare_exchange_n(slot, &number, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fresh;
        }
        if (HL_LIKELY(same(number, key))) return number;
    }
    hl_add_shared(&hl_ring.header->stacks_refused, 1);
    return 0;
}

HL_INLINE uint64_t mixed(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
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
    return intern(&strings, mixed(hash, 0), &text, same_string, add_string);
}

/* ---- frames ---- */

static int same_frame(uint32_t number, const void *key) {
    return memcmp(&hl_ring.frames[number], key, sizeof(struct hl_ring_frame)) == 0;
}

static uint32_t add_frame(const void *key) {
    return hl_ring_add_frame(key);
}

uint32_t hl_tree_frame(const struct hl_ring_frame *frame) {
    uint64_t hash = mixed((uint64_t)frame->kind << 32 | frame->path, (uint64_t)frame->label << 32 | frame->line);
    return intern(&frames, mixed(hash, frame->offset), frame, same_frame, add_frame);
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
    return intern(&nodes, mixed((uint64_t)parent << 32 | frame, 1), &node, same_node, add_node);
}
