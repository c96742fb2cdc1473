/* SPDX-License-Identifier: MIT */
/*
 * The stack of an event with the C frames where they belong, between the Ruby frames: `heapline record --native`.
 *
 * Every run of the VM's interpreter on the machine's stack began with one control frame, which says so (its FINISH
 * flag): C frames between two runs lie below the Ruby frame that the inner one began with. So the machine's stack is
 * walked from the allocation outwards and cut at each run, and the pieces are put below those Ruby frames, counted from
 * the innermost outwards. Frames of the VM itself and those outside of its outermost run are left out.
 *
 * Runs are told by the interpreter's function. A run may have no frame of it: the function that enters it has a JIT
 * compile first, and ends the frames that an exception leaves. Where fewer runs are met than began, the walk is done
 * again, and that function tells them too.
 *
 * M1  Nothing is guessed. Where the walk is lost (code of a JIT), what it has found so far is told, and a frame says
 *     that more C frames may lie there. Where it came to the thread's start and met another number of runs than there
 *     are Ruby frames that began one, the innermost piece alone is told.
 * M2  As of Ruby frames (ruby_walk.h) each lane keeps its last stack, merged, and its nodes; every frame of now, C or
 *     Ruby, is found anew and compared with it. No node is used again because of what lies further in alone.
 * Callable from any thread inside malloc, by the lane's owner, who sees to it that no walk begins within a walk.
 */
#ifndef HL_MERGED_STACK_H
#define HL_MERGED_STACK_H

#include <stdint.h>

#include "vm/ruby_walk.h"

enum {
    HL_MERGED_WALK = 4096, /* frames of the machine's stack that are walked, those of the VM included */
    HL_MERGED_DEPTH = HL_WALK_DEPTH + HL_MERGED_WALK + 2,
};

struct hl_merged_stack {
    uint32_t depth;   /* frames that are known */
    uint64_t forgets; /* hl_location_forgets as it was then */
    /* From the outermost on: a Ruby frame's pc, a return address, or a small number for what is said in words. */
    uint64_t keys[HL_MERGED_DEPTH];
    uint32_t nodes[HL_MERGED_DEPTH];
    uint32_t epochs[HL_MERGED_DEPTH];
    /* Of one walk, from the innermost on: return addresses outside of the VM; and of each run of the interpreter, how
     * many of those lie further in. */
    uint64_t addresses[HL_MERGED_WALK];
    uint32_t runs[HL_MERGED_WALK];
    /* Ruby frames that began one, the innermost first. */
    const char *beginnings[HL_WALK_DEPTH];
};

/* What unwinding needs; 0 or -ENOMEM. */
int hl_merged_stack_create(void);

/* The node of this thread's stack for an event by `caller`; 0: no frame is known, or `caller` is the VM and nothing but
 * it is there. */
uint32_t hl_merged_stack_here(struct hl_merged_stack *merged, struct hl_lane *lane, uintptr_t caller, int with_ruby);

#endif
