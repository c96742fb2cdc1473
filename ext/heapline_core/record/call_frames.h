/* SPDX-License-Identifier: MIT */
/*
 * The frames of a recording's stacks, as call_tree.h numbers them: Ruby frames by pc, C frames by return address, and
 * what is said in words. Callable from any thread inside malloc.
 */
#ifndef HL_CALL_FRAMES_H
#define HL_CALL_FRAMES_H

#include <stdint.h>

#include "record/call_tree.h"
#include "vm/ruby_walk.h"

/* In the number of a C frame: it lies in the VM's library. Of a Ruby frame, instead of a number: it is one of the VM's
 * own, which runs no line: below a program's first. */
static const uint32_t HL_CALL_IN_VM = 1u << 31, HL_CALL_NO_LINE = 1u << 30;

/* By pc, and by return address. */
extern struct hl_lossy_cache hl_call_known HL_HIDDEN;

/* Empty caches; 0 or -ENOMEM. */
int hl_call_frames_create(void);
void hl_call_frames_destroy(void);

uint32_t hl_call_frame_of(const struct hl_ruby_line *line, uint32_t skipped);

HL_INLINE uint32_t hl_call_node_of(uint32_t parent, uint32_t frame) {
    return HL_LIKELY(frame != HL_CALL_NO_LINE) ? hl_tree_node(parent, frame) : parent;
}

static const struct hl_ruby_sink hl_call_sink = {&hl_call_known, hl_call_frame_of, hl_call_node_of};

/* The nearest Ruby frame, through Ruby's public API; 0: none. */
uint32_t hl_call_public_frame(void);

/* The number of a C frame, with HL_CALL_IN_VM; 0: there is no room. */
uint32_t hl_call_name_native(uintptr_t address, uint32_t epoch);

HL_INLINE uint32_t hl_call_native(uintptr_t address, uint32_t epoch) {
    const uint32_t frame = hl_lossy_find(&hl_call_known, address, epoch);
    return HL_LIKELY(frame) ? frame : hl_call_name_native(address, epoch);
}

/* The node of a frame that says something in words. */
uint32_t hl_call_note(uint32_t parent, const char *words);
/* … of so many outermost frames that are left out. */
uint32_t hl_call_skipped(uint32_t skipped);

#endif
