/* SPDX-License-Identifier: MIT */
/*
 * The stack of an event: all Ruby frames, and on top of them the caller in a library other than the VM; or, where it is
 * asked for, with all C frames in their places (merged_stack.h).
 *
 * What the VM frees while it collects garbage is freed by the GC, on behalf of the line at which it runs: "(GC)" stands
 * above the Ruby frames, which stay what they are until it goes on.
 *
 * Ends that come when the VM ends have no Ruby frames: in the end it frees the frames' own memory, and then more.
 *
 * Callable from any thread inside malloc, by the lane's owner.
 */
#ifndef HL_CALL_STACK_H
#define HL_CALL_STACK_H

#include <stdint.h>

#include "record/merged_stack.h"
#include "vm/ruby_walk.h"

/* Of an event: its caller, the node below it, and with it. */
struct hl_called {
    uintptr_t caller;
    uint32_t parent, node, epoch;
};
enum { HL_CALLED_BITS = 5 };

struct hl_call_stack {
    uint32_t walking;                             /* a signal's handler may come meanwhile */
    uint32_t collecting;                          /* the VM collects garbage in this thread */
    uint32_t collected;                           /* the node of what it frees; 0: none was asked for yet */
    struct hl_called called[1 << HL_CALLED_BITS]; /* of the last events, each in its place */
    struct hl_merged_stack *merged;               /* NULL: none was looked at yet */
    struct hl_ruby_walks ruby;
};

/* Empty caches; 0 or -ENOMEM. `native`: with C frames. */
int hl_call_stack_create(int native);
void hl_call_stack_destroy(void);

/* Forget a lane's last stack: its nodes are those of another recording. */
void hl_call_stack_reset(struct hl_call_stack *stack);

/* As with_ruby: of a Ruby object, whose birth is a call of the VM's own. */
enum { HL_NO_C_FRAMES = 2 };

/* The node of this thread's stack for an event by `caller`: a birth, or an end; `with_ruby` 0: do not look at Ruby. */
uint32_t hl_call_stack_here(struct hl_call_stack *stack, struct hl_lane *lane, uintptr_t caller, int with_ruby);
uint32_t hl_call_stack_of_end(struct hl_call_stack *stack, struct hl_lane *lane, uintptr_t caller, int with_ruby);

/* The node of the Ruby frames alone. */
uint32_t hl_call_stack_of_ruby(struct hl_call_stack *stack, struct hl_lane *lane);

/* The VM begins (1) or ends (0) to collect garbage in this thread. */
HL_INLINE void hl_call_stack_collects(struct hl_call_stack *stack, int on) {
    stack->collecting = (uint32_t)on;
    stack->collected = 0;
}

#endif
