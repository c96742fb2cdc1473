/* SPDX-License-Identifier: MIT */
#include "call_stack.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#include "call_tree.h"
#include "flight.h"
#include "library.h"
#include "location.h"
#include "site_table.h"
#include "text.h"

/* By pc, and by return address in a library. Of these IN_VM: it lies in the VM's. */
static struct hl_frame_cache known;
static const uint32_t IN_VM = 1u << 31, NO_LINE = 1u << 30;
/* Stands for frames that found no room. It is kept by pc as others are, or every event would look them up again. */
static uint32_t nameless;

void hl_call_stack_destroy(void) {
    hl_frame_cache_destroy(&known);
}

int hl_call_stack_create(void) {
    nameless = hl_tree_note("(a line for which there was no room)");
    return hl_frame_cache_create(&known) ? 0 : -ENOMEM;
}

/* ---- Ruby frames ---- */

static uint32_t ruby_frame(const struct hl_ruby_line *line) {
    char label[HL_LABEL_MAX];
    const size_t length = line->frame ? hl_ruby_frame_label(line, label) : 0;
    const struct hl_ring_frame frame = {.kind = HL_FRAME_RUBY,
                                        .path = hl_tree_string(line->path, line->path_length),
                                        .label = hl_tree_string(label, length),
                                        .line = line->line};
    const uint32_t number = hl_tree_frame(&frame);
    return number ? number : nameless;
}

/* NO_LINE: a frame of the VM's own, which runs no line: below a program's first. */
static uint32_t frame_of(const struct hl_ruby_line *line, uint32_t skipped) {
    char words[64];
    if (line) return line->line ? ruby_frame(line) : NO_LINE;
    if (!skipped) return hl_tree_note("(unknown frame)");
    hl_text(words, sizeof(words), "(%u outer frames)", skipped);
    return hl_tree_note(words);
}

HL_INLINE uint32_t node_of(uint32_t parent, uint32_t frame) {
    return HL_LIKELY(frame != NO_LINE) ? hl_tree_node(parent, frame) : parent;
}

static const struct hl_ruby_sink sink = {&known, frame_of, node_of};

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

HL_COLD static uint32_t in_handler(void) {
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    const uint32_t frame = hl_tree_note("(in a signal handler)");
    hl_guard_leave(&hl_thread);
    errno = saved;
    return hl_tree_node(0, frame);
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
    if (!number) number = nameless;
    if (number && map && map == hl_ruby.library) number |= IN_VM;
    /* Before the VM is known nobody can say whether this lies in it: it is named again then. */
    if (number && hl_ruby.library) hl_frame_keep(&known, caller, epoch, number);
    hl_guard_leave(&hl_thread);
    errno = saved;
    return number;
}

static uint32_t with_caller(struct hl_call_stack *stack, uint32_t parent, uintptr_t caller) {
    const uint32_t epoch = hl_location_epoch(caller);
    uint32_t frame = hl_frame_find(&known, caller, epoch), node = parent;
    if (HL_UNLIKELY(!frame)) frame = name_caller(caller, epoch);
    if (frame && !(frame & IN_VM && parent)) node = hl_tree_node(parent, frame & ~IN_VM);
    if (!node) node = parent;
    stack->caller = caller;
    stack->caller_parent = parent;
    return stack->caller_node = node;
}

uint32_t hl_call_stack_here(struct hl_call_stack *stack, struct hl_lane *lane, uintptr_t caller, int with_ruby) {
    uint32_t node = 0;
    if (HL_UNLIKELY(stack->walking)) return in_handler();
    stack->walking = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (HL_UNLIKELY(hl_ruby.public_only))
        node = with_ruby ? public_stack() : 0;
    else if (HL_LIKELY(with_ruby))
        node = hl_walk_here(&stack->ruby, &sink, lane);
    if (HL_UNLIKELY(caller != stack->caller || node != stack->caller_parent))
        node = with_caller(stack, node, caller);
    else
        node = stack->caller_node;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stack->walking = 0;
    return node;
}
