/* SPDX-License-Identifier: MIT */
#include "call_stack.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#include "call_tree.h"
#include "flight.h"
#include "library.h"
#include "location.h"
#include "own_memory.h"
#include "ruby_vm.h"
#include "site_table.h"
#include "text.h"

/* A pc, or a return address in a library → its frame; one entry a slot, lossy, shared by all lanes. */
enum { SLOTS = 1 << 14 };
static const uint32_t IN_VM = 1u << 31, NO_LINE = 1u << 30;
struct slot {
    uint64_t address; /* 0: empty */
    uint64_t value;   /* epoch << 32 | frame; IN_VM: the address lies in the VM's library; NO_LINE: see name_frame */
};
static struct slot *slots;
static const uint64_t NEVER = ~0ull; /* no pc */

void hl_call_stack_destroy(void) {
    if (slots) hl_own_memory_return(slots, SLOTS * sizeof(*slots));
    slots = NULL;
}

int hl_call_stack_create(void) {
    hl_call_stack_destroy();
    slots = hl_own_memory(SLOTS * sizeof(*slots));
    return slots ? 0 : -ENOMEM;
}

HL_INLINE struct slot *slot_of(uint64_t address) {
    return &slots[(address >> 2) * 0x9e3779b97f4a7c15ull >> (64 - 14)];
}

/* An entry is read whole or not at all: its address before and after must be the one looked for. */
HL_INLINE uint32_t find_slot(uint64_t address, uint32_t epoch) {
    const struct slot *slot = slot_of(address);
    if (__atomic_load_n(&slot->address, __ATOMIC_ACQUIRE) != address) return 0;
    const uint64_t value = __atomic_load_n(&slot->value, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&slot->address, __ATOMIC_ACQUIRE) != address || value >> 32 != epoch) return 0;
    return (uint32_t)value;
}

static void fill_slot(uint64_t address, uint32_t epoch, uint32_t frame) {
    struct slot *slot = slot_of(address);
    __atomic_store_n(&slot->address, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&slot->value, (uint64_t)epoch << 32 | frame, __ATOMIC_SEQ_CST);
    __atomic_store_n(&slot->address, address, __ATOMIC_SEQ_CST);
}

/* ---- Ruby frames ---- */

static uint32_t ruby_frame(const struct hl_ruby_line *line) {
    char label[HL_LABEL_MAX];
    const size_t length = line->frame ? hl_ruby_frame_label(line, label) : 0;
    const struct hl_ring_frame frame = {.kind = HL_FRAME_RUBY,
                                        .path = hl_tree_string(line->path, line->path_length),
                                        .label = hl_tree_string(label, length),
                                        .line = line->line};
    return hl_tree_frame(&frame);
}

/* 0: it cannot be told now. NO_LINE: a frame of the VM's own, which runs no line: below a program's first. */
HL_COLD static uint32_t name_frame(struct hl_frame frame, uint32_t epoch) {
    char buffer[HL_PATH_MAX];
    struct hl_ruby_line line = {0};
    uint32_t number = 0;
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    if (hl_location_provider(frame, &line, buffer, sizeof(buffer)) == 0) {
        number = line.line ? ruby_frame(&line) : NO_LINE;
        if (number && line.cacheable) fill_slot(frame.pc, epoch, number);
    }
    hl_guard_leave(&hl_thread);
    errno = saved;
    return number;
}

HL_COLD static uint32_t note(uint32_t parent, const char *words) {
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    const uint32_t frame = hl_tree_note(words);
    hl_guard_leave(&hl_thread);
    errno = saved;
    return hl_tree_node(parent, frame);
}

HL_COLD static void skip_outermost(struct hl_call_stack *stack, uint32_t skipped) {
    char words[64];
    stack->depth = 0;
    stack->skipped = skipped;
    hl_text(words, sizeof(words), "(%u outer frames)", skipped);
    stack->root = skipped ? note(0, words) : 0;
}

/* Keep nothing that rests on code which is gone. */
HL_COLD static void drop_stale(struct hl_call_stack *stack, uint64_t forgets) {
    uint32_t i = 0;
    while (i < stack->depth && stack->epochs[i] == hl_location_epoch(stack->pcs[i])) i++;
    stack->depth = i;
    stack->forgets = forgets;
}

/* Bring frame `i`, which lies at `frame`, into the stack; its node. */
HL_INLINE uint32_t look_up(struct hl_call_stack *stack, uint32_t i, const char *frame, uint32_t parent) {
    uint64_t pc = hl_frame_pc(frame);
    uint32_t node = parent;
    const uint32_t epoch = hl_location_epoch(pc); /* before the look (K1) */
    if (hl_frame_runs_ruby(frame)) {
        uint32_t number = find_slot(pc, epoch);
        if (HL_UNLIKELY(!number)) number = name_frame((struct hl_frame){pc, frame}, epoch);
        if (HL_UNLIKELY(!number)) {
            pc = NEVER;
            node = note(parent, "(unknown frame)");
        } else if (HL_LIKELY(number != NO_LINE)) {
            node = hl_tree_node(parent, number);
        }
        if (!node) node = parent; /* the tree is full */
    }
    stack->pcs[i] = pc;
    stack->epochs[i] = epoch;
    stack->nodes[i] = node;
    return node;
}

/* `end` is where the frames end, `count` of them are to be told. */
HL_INLINE uint32_t compare(struct hl_call_stack *stack, const char *end, uint32_t count) {
    const size_t size = hl_ruby_frame_size;
    const uint32_t known = count < stack->depth ? count : stack->depth;
    const char *frame = end - size * (stack->skipped + 1);
    uint32_t i = 0;
    for (; i < known && hl_frame_pc(frame) == stack->pcs[i]; i++) frame -= size;
    if (HL_LIKELY(i == count)) return count ? stack->nodes[count - 1] : stack->root;
    uint32_t node = i ? stack->nodes[i - 1] : stack->root;
    stack->depth = 0; /* while it is being changed */
    for (; i < count; i++, frame -= size) node = look_up(stack, i, frame, node);
    stack->depth = count;
    return node;
}

/* 1 where the running thread's frames may be followed: from `*frame`, the innermost, to `*end`. */
HL_INLINE int find_frames(struct hl_lane *lane, const char **frame, const char **end) {
    char *ec = hl_ruby_ec();
    if (!ec) return 0;
    if (HL_UNLIKELY(ec != hl_thread.ec || hl_thread.ec_epoch != hl_load64(&hl_location_ec_epoch)) &&
        !hl_ruby_prove(lane, ec))
        return 0;
    *frame = *(char **)(ec + HL_EC_FRAME);
    *end = *(char **)(ec + HL_EC_STACK) + *(size_t *)(ec + HL_EC_STACK_SIZE) * sizeof(void *);
    return *frame && *frame < *end;
}

HL_INLINE uint32_t ruby_stack(struct hl_call_stack *stack, struct hl_lane *lane) {
    const char *frame, *end;
    if (!find_frames(lane, &frame, &end)) return 0;
    const uint64_t forgets = hl_load64(&hl_location_forgets);
    if (HL_UNLIKELY(forgets != stack->forgets)) drop_stale(stack, forgets);
    const uint32_t frames = (uint32_t)((size_t)(end - frame) / hl_ruby_frame_size);
    const uint32_t beyond = frames > HL_CALL_DEPTH ? frames - HL_CALL_DEPTH : 0;
    const uint32_t skipped = (beyond + HL_CALL_STEP - 1) / HL_CALL_STEP * HL_CALL_STEP;
    if (HL_UNLIKELY(skipped != stack->skipped)) skip_outermost(stack, skipped);
    return compare(stack, end, frames - skipped);
}

/* Through Ruby's public API: the nearest frame alone. */
HL_COLD static uint32_t public_stack(void) {
    struct hl_ruby_line line = {0};
    uint32_t number = 0;
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    if (hl_ruby_line_public((struct hl_frame){0, NULL}, &line, NULL, 0) == 0) number = ruby_frame(&line);
    hl_guard_leave(&hl_thread);
    errno = saved;
    return number ? hl_tree_node(0, number) : 0;
}

/* ---- the caller ---- */

HL_COLD static uint32_t name_caller(uintptr_t caller, uint32_t epoch) {
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    const struct hl_library library = hl_library_at(caller);
    const struct link_map *map = library.map;
    const char *path = map && map->l_name ? map->l_name : "";
    const struct hl_ring_frame frame = {
        .kind = HL_FRAME_NATIVE, .path = hl_tree_string(path, strlen(path)), .offset = caller - library.base};
    uint32_t number = hl_tree_frame(&frame);
    if (number && map && map == hl_ruby.library) number |= IN_VM;
    /* Before the VM is known nobody can say whether this lies in it: it is named again then. */
    if (number && hl_ruby.library) fill_slot(caller, epoch, number);
    hl_guard_leave(&hl_thread);
    errno = saved;
    return number;
}

static uint32_t with_caller(struct hl_call_stack *stack, uint32_t parent, uintptr_t caller) {
    const uint32_t epoch = hl_location_epoch(caller);
    uint32_t frame = find_slot(caller, epoch), node = parent;
    if (HL_UNLIKELY(!frame)) frame = name_caller(caller, epoch);
    if (frame && !(frame & IN_VM && parent)) node = hl_tree_node(parent, frame & ~IN_VM);
    if (!node) node = parent;
    stack->caller = caller;
    stack->caller_parent = parent;
    return stack->caller_node = node;
}

uint32_t hl_call_stack_here(struct hl_call_stack *stack, struct hl_lane *lane, uintptr_t caller, int with_ruby) {
    uint32_t node = 0;
    if (HL_UNLIKELY(stack->walking)) return note(0, "(in a signal handler)");
    stack->walking = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (HL_UNLIKELY(hl_ruby.public_only))
        node = with_ruby ? public_stack() : 0;
    else if (HL_LIKELY(with_ruby))
        node = ruby_stack(stack, lane);
    if (HL_UNLIKELY(caller != stack->caller || node != stack->caller_parent))
        node = with_caller(stack, node, caller);
    else
        node = stack->caller_node;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stack->walking = 0;
    return node;
}
