/* SPDX-License-Identifier: MIT */
/*
 * The stack of an event: all Ruby frames, and on top of them the caller in a library other than the VM; or, where it is
 * asked for, with all C frames in their places (merged_stack.h).
 *
 * Callable from any thread inside malloc, by the lane's owner.
 */
#ifndef HL_CALL_STACK_H
#define HL_CALL_STACK_H

#include <stdint.h>

#include "merged_stack.h"
#include "ruby_walk.h"

struct hl_call_stack {
    uint32_t walking; /* a signal's handler may come meanwhile */
    uint32_t caller_parent;
    uint32_t caller_node;
    uintptr_t caller; /* of the last event; caller_parent: the node that it was for; caller_node: its own */
    struct hl_merged_stack *merged; /* NULL: none was looked at yet */
    struct hl_ruby_walk ruby;
};

/* Empty caches; 0 or -ENOMEM. `native`: with C frames. */
int hl_call_stack_create(int native);
void hl_call_stack_destroy(void);

/* Forget a lane's last stack: its nodes are those of another recording. */
void hl_call_stack_reset(struct hl_call_stack *stack);

/* As with_ruby: of a Ruby object, whose birth is a call of the VM's own. */
enum { HL_NO_C_FRAMES = 2 };

/* The node of this thread's stack for an event by `caller`; `with_ruby` 0: do not look at Ruby. */
uint32_t hl_call_stack_here(struct hl_call_stack *stack, struct hl_lane *lane, uintptr_t caller, int with_ruby);

#endif
