/* SPDX-License-Identifier: MIT */
#include "ruby_stack.h"

#include <errno.h>
#include <string.h>

#include "guard.h"
#include "location.h"
#include "own_memory.h"
#include "ruby_vm.h"
#include "site_table.h"

enum { NODE_SLOTS = 2 * HL_RUBY_NODES, TRIES = 64, NEAR = 16, FRAME_SLOTS = 1 << 14 };

/* What a lane knows of its last stack. */
struct hl_ruby_stack {
    uint32_t depth;   /* frames that are known */
    uint32_t skipped; /* outermost frames that are left out */
    uint64_t forgets; /* hl_location_forgets as it was then */
    uint64_t pcs[HL_RUBY_DEPTH];
    uint32_t nodes[HL_RUBY_DEPTH];
    uint32_t epochs[HL_RUBY_DEPTH];
};

/* pc → its frame; one entry a slot, lossy, shared by all lanes. */
struct frame_slot {
    uint64_t pc; /* 0: empty */
    uint32_t epoch, line;
    hl_string_ref path, label;
};

static struct frame_slot *frames;
static struct hl_ruby_node *nodes;
static uint32_t *node_slots; /* numbers, by hash */
static uint32_t node_count = 1;
static const uint64_t NEVER = ~0ull; /* no pc */

int hl_ruby_stack_create(void) {
    frames = hl_own_memory(FRAME_SLOTS * sizeof(*frames));
    nodes = hl_own_memory(HL_RUBY_NODES * sizeof(*nodes));
    node_slots = hl_own_memory(NODE_SLOTS * sizeof(*node_slots));
    return frames && nodes && node_slots ? 0 : -ENOMEM;
}

const struct hl_ruby_node *hl_ruby_node(uint32_t number) {
    return number ? &nodes[number] : NULL;
}

/* ---- nodes ---- */

static uint64_t hash_of(const struct hl_ruby_node *node) {
    uint64_t hash = ((uint64_t)node->parent << 32 | node->line) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 29 ^ (uint64_t)node->path << 32 ^ node->label) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 32;
}

static uint32_t add_node(const struct hl_ruby_node *node) {
    if (__atomic_load_n(&node_count, __ATOMIC_RELAXED) >= HL_RUBY_NODES) return 0;
    const uint32_t number = __atomic_fetch_add(&node_count, 1, __ATOMIC_RELAXED);
    if (number >= HL_RUBY_NODES) return 0;
    nodes[number] = *node;
    return number;
}

/* Most nodes have few children, and their numbers are dense: slots near twice the parent's number are tried first, so
 * that as many pages are touched as there are nodes for. */
HL_INLINE uint32_t *slot_at(const struct hl_ruby_node *node, uint64_t hash, uint32_t i) {
    const uint64_t place = i < NEAR ? 2 * (uint64_t)node->parent + (hash & (NEAR - 1)) : hash;
    return &node_slots[(place + i) & (NODE_SLOTS - 1)];
}

/* The node's number; 0 where there is no room. Two threads that bring the same at once may use up one more number. */
static uint32_t intern(struct hl_ruby_node node) {
    const uint64_t hash = hash_of(&node);
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t *slot = slot_at(&node, hash, i);
        uint32_t number = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (!number) {
            if (!fresh && !(fresh = add_node(&node))) return 0;
            if (__atomic_compare_exchange_n(slot, &number, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fresh;
        }
        if (memcmp(&nodes[number], &node, sizeof(node)) == 0) return number;
    }
    return 0;
}

/* ---- frames ---- */

static struct frame_slot *slot_of(uint64_t pc) {
    return &frames[(pc >> 3) * 0x9e3779b97f4a7c15ull >> (64 - 14)];
}

/* An entry is read whole or not at all: its pc before and after must be the one looked for. */
static int find_frame(uint64_t pc, uint32_t epoch, struct hl_ruby_node *node) {
    const struct frame_slot *slot = slot_of(pc);
    if (__atomic_load_n(&slot->pc, __ATOMIC_ACQUIRE) != pc) return 0;
    const uint32_t written = hl_load32(&slot->epoch);
    node->line = hl_load32(&slot->line);
    node->path = hl_load32(&slot->path);
    node->label = hl_load32(&slot->label);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&slot->pc, __ATOMIC_RELAXED) == pc && written == epoch;
}

static void keep_frame(uint64_t pc, uint32_t epoch, const struct hl_ruby_node *node) {
    struct frame_slot *slot = slot_of(pc);
    __atomic_store_n(&slot->pc, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&slot->epoch, epoch, __ATOMIC_SEQ_CST);
    __atomic_store_n(&slot->line, node->line, __ATOMIC_SEQ_CST);
    __atomic_store_n(&slot->path, node->path, __ATOMIC_SEQ_CST);
    __atomic_store_n(&slot->label, node->label, __ATOMIC_SEQ_CST);
    __atomic_store_n(&slot->pc, pc, __ATOMIC_SEQ_CST);
}

/* Name a frame; 0: it cannot be told now, or will have to be told anew. */
HL_COLD static int name_frame(struct hl_frame frame, uint32_t epoch, struct hl_ruby_node *node) {
    char buffer[HL_PATH_MAX], label[HL_LABEL_MAX];
    struct hl_ruby_line line = {0};
    const int saved = errno;
    const int found = hl_location_provider(frame, &line, buffer, sizeof(buffer)) == 0;
    if (found) {
        node->path = hl_string_intern(line.path, line.path_length);
        node->label = line.frame ? hl_string_intern(label, hl_ruby_frame_label(&line, label)) : 0;
        node->line = line.line;
        if (line.cacheable) keep_frame(frame.pc, epoch, node);
    }
    errno = saved;
    return found && line.cacheable;
}

/* ---- stacks ---- */

/* Bring frame `i`, which lies at `frame`, into the stack; its node. */
static uint32_t look_up(struct hl_ruby_stack *stack, uint32_t i, const char *frame, uint32_t parent) {
    struct hl_ruby_node node = {.parent = parent};
    uint64_t pc = hl_frame_pc(frame);
    uint32_t number = parent;
    const uint32_t epoch = hl_location_epoch(pc); /* before the look (K1) */
    if (hl_frame_runs_ruby(frame)) {
        if (!find_frame(pc, epoch, &node)) {
            node = (struct hl_ruby_node){.parent = parent};
            if (!name_frame((struct hl_frame){pc, frame}, epoch, &node)) pc = NEVER;
        }
        /* Below a program's own frames the VM has one of no line. */
        if (parent || node.line || !node.path) number = intern(node);
        if (!number) number = parent; /* no room */
    }
    stack->pcs[i] = pc;
    stack->epochs[i] = epoch;
    stack->nodes[i] = number;
    return number;
}

/* Keep nothing that rests on code which is gone. */
HL_COLD static void drop_stale(struct hl_ruby_stack *stack, uint64_t forgets) {
    uint32_t i = 0;
    while (i < stack->depth && stack->epochs[i] == hl_location_epoch(stack->pcs[i])) i++;
    stack->depth = i;
    stack->forgets = forgets;
}

/* `end` is where the frames end, `count` of them are to be told, the outermost first. */
static uint32_t compare(struct hl_ruby_stack *stack, const char *end, uint32_t count) {
    const size_t size = hl_ruby_frame_size;
    const uint32_t known = count < stack->depth ? count : stack->depth;
    const char *frame = end - size * (stack->skipped + 1);
    uint32_t i = 0;
    for (; i < known && hl_frame_pc(frame) == stack->pcs[i]; i++) frame -= size;
    uint32_t node = i ? stack->nodes[i - 1] : 0;
    if (HL_LIKELY(i == count)) return node;
    for (; i < count; i++, frame -= size) node = look_up(stack, i, frame, node);
    stack->depth = count;
    return node;
}

static struct hl_ruby_stack *stack_of(struct hl_lane *lane) {
    if (HL_UNLIKELY(!lane->ruby_stack)) lane->ruby_stack = hl_own_memory(sizeof(*lane->ruby_stack));
    return lane->ruby_stack;
}

uint32_t hl_ruby_stack_here(struct hl_lane *lane) {
    char *ec = hl_ruby_ec();
    if (!ec || hl_ruby.public_only || hl_thread.starting || hl_thread.exiting) return 0;
    if (HL_UNLIKELY(ec != hl_thread.ec || hl_thread.ec_epoch != hl_load64(&hl_location_ec_epoch)) &&
        !hl_ruby_prove(lane, ec))
        return 0;
    struct hl_ruby_stack *stack = stack_of(lane);
    const char *frame = *(char **)(ec + HL_EC_FRAME);
    const char *end = *(char **)(ec + HL_EC_STACK) + *(size_t *)(ec + HL_EC_STACK_SIZE) * sizeof(void *);
    if (!stack || !frame || frame >= end) return 0;
    const uint64_t forgets = hl_load64(&hl_location_forgets);
    if (HL_UNLIKELY(forgets != stack->forgets)) drop_stale(stack, forgets);
    const uint32_t count = (uint32_t)((size_t)(end - frame) / hl_ruby_frame_size);
    const uint32_t beyond = count > HL_RUBY_DEPTH ? count - HL_RUBY_DEPTH : 0;
    const uint32_t skipped = (beyond + HL_RUBY_STEP - 1) / HL_RUBY_STEP * HL_RUBY_STEP;
    if (HL_UNLIKELY(skipped != stack->skipped)) stack->depth = 0;
    stack->skipped = skipped;
    return compare(stack, end, count - skipped);
}
