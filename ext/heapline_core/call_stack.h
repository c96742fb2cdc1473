/* SPDX-License-Identifier: MIT */
/*
 * The stack of an event: all Ruby frames, and on top of them the caller in a library other than the VM.
 *
 * Each lane keeps the pcs of the last stack that it looked at, from the outermost frame on, with the node of each. All
 * pcs are compared with those of now, a load each; only from the first that differs on, frames are looked up and
 * brought into the tree. No pc can stand for another line meanwhile: code that is freed moves its epoch on
 * (location_cache.h), and what is kept under an older one is looked up again.
 *
 * Of a stack of more than HL_CALL_DEPTH frames the innermost are told, and the number of the others.
 * Callable from any thread inside malloc, by the lane's owner.
 */
#ifndef HL_CALL_STACK_H
#define HL_CALL_STACK_H

#include <stdint.h>

#include "lane.h"

enum { HL_CALL_DEPTH = 1024, HL_CALL_STEP = 256 };

struct hl_call_stack {
    uint32_t walking; /* a signal's handler may come meanwhile */
    uint32_t depth;   /* frames that are known */
    uint32_t skipped; /* outermost frames that are not told */
    uint32_t root;    /* the node that says so */
    uint64_t forgets; /* hl_location_forgets as it was then */
    uintptr_t caller; /* of the last event, the node that it was for, and its own */
    uint32_t caller_parent;
    uint32_t caller_node;
    uint64_t pcs[HL_CALL_DEPTH];
    uint32_t nodes[HL_CALL_DEPTH];
    uint32_t epochs[HL_CALL_DEPTH];
};

/* Empty caches; 0 or -ENOMEM. */
int hl_call_stack_create(void);
void hl_call_stack_destroy(void);

/* The node of this thread's stack for an event by `caller`; `with_ruby` 0: do not look at Ruby. */
uint32_t hl_call_stack_here(struct hl_call_stack *stack, struct hl_lane *lane, uintptr_t caller, int with_ruby);

#endif
