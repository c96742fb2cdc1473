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

/* In the number of a C frame: it lies in the VM's library. */
static const uint32_t HL_CALL_IN_VM = 1u << 31;

/* By pc, and by return address. */
extern struct hl_lossy_cache hl_call_known HL_HIDDEN;

/* Empty caches; 0 or -ENOMEM. */
int hl_call_frames_create(void);
void hl_call_frames_destroy(void);

uint32_t hl_call_frame_of(const struct hl_ruby_line *line, uint32_t skipped);

static const struct hl_ruby_sink hl_call_sink = {&hl_call_known, hl_call_frame_of, hl_tree_node};

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
