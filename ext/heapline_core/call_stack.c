/* SPDX-License-Identifier: MIT */
#include "call_stack.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "call_frames.h"
#include "flight.h"
#include "guard.h"
#include "own_memory.h"

static int with_native;

int hl_call_stack_create(int native) {
    with_native = native;
    if (native && hl_merged_stack_create()) return -ENOMEM;
    return hl_call_frames_create();
}

void hl_call_stack_destroy(void) {
    hl_call_frames_destroy();
}

void hl_call_stack_reset(struct hl_call_stack *stack) {
    struct hl_merged_stack *merged = stack->merged;
    memset(stack, 0, offsetof(struct hl_call_stack, ruby.pcs));
    stack->merged = merged;
    if (merged) merged->depth = 0;
}

HL_INLINE uint32_t with_caller(struct hl_call_stack *stack, uint32_t parent, uintptr_t caller) {
    const uint32_t frame = hl_call_native(caller, hl_location_epoch(caller));
    uint32_t node = parent;
    if (frame && !(frame & HL_CALL_IN_VM && parent)) node = hl_tree_node(parent, frame & ~HL_CALL_IN_VM);
    if (!node) node = parent;
    stack->caller = caller;
    stack->caller_parent = parent;
    return stack->caller_node = node;
}

HL_INLINE uint32_t ruby_stack(struct hl_call_stack *stack, struct hl_lane *lane, uintptr_t caller, int with_ruby) {
    uint32_t node = 0;
    if (HL_UNLIKELY(hl_ruby.public_only)) {
        const uint32_t frame = with_ruby ? hl_call_public_frame() : 0;
        node = frame ? hl_tree_node(0, frame) : 0;
    } else if (HL_LIKELY(with_ruby)) {
        node = hl_walk_here(&stack->ruby, &hl_call_sink, lane);
    }
    if (HL_LIKELY(caller == stack->caller && node == stack->caller_parent)) return stack->caller_node;
    return with_caller(stack, node, caller);
}

HL_COLD static struct hl_merged_stack *begin_merged(struct hl_call_stack *stack) {
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    stack->merged = hl_own_memory(sizeof(*stack->merged));
    if (stack->merged) hl_add_shared(&hl_flight.header->own_bytes, sizeof(*stack->merged));
    hl_guard_leave(&hl_thread);
    errno = saved;
    return stack->merged;
}

uint32_t hl_call_stack_here(struct hl_call_stack *stack, struct hl_lane *lane, uintptr_t caller, int with_ruby) {
    uint32_t node;
    if (HL_UNLIKELY(stack->walking)) return hl_call_note(0, "(in a signal handler)");
    stack->walking = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (HL_UNLIKELY(with_native) && with_ruby != HL_NO_C_FRAMES && !hl_ruby.public_only &&
        (stack->merged || begin_merged(stack)))
        node = hl_merged_stack_here(stack->merged, lane, caller, with_ruby);
    else
        node = ruby_stack(stack, lane, caller, with_ruby);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stack->walking = 0;
    return node;
}
