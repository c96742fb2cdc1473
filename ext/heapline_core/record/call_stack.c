/* SPDX-License-Identifier: MIT */
#include "record/call_stack.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "account/lane.h"
#include "flight/flight.h"
#include "flight/library.h"
#include "platform/own_memory.h"
#include "record/call_frames.h"
#include "state/guard.h"
#include "vm/jit_compiler.h"
#include "vm/native_walk.h"

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
    memset(stack, 0, offsetof(struct hl_call_stack, ruby));
    hl_walk_reset(&stack->ruby);
    stack->merged = merged;
    if (merged) merged->depth = 0;
}

/* Whose code a caller is, is asked where its frame does not say so. */
static int is_jits(uintptr_t caller, uint32_t frame) {
    if (HL_LIKELY(hl_ruby.attached && frame && !(frame & HL_CALL_IN_VM))) return 0;
    return hl_jit_allocates(caller, hl_library_map(caller));
}

/* A caller elsewhere is the last of the C frames. */
HL_INLINE int may_be_jits(uintptr_t caller) {
    return hl_jit_is_there && hl_native_in_vm(caller);
}

HL_COLD static uint32_t name_caller(struct hl_called *called, uint32_t parent, uintptr_t caller) {
    const uint32_t epoch = hl_location_epoch(caller), frame = hl_call_native(caller, epoch);
    uint32_t node = parent;
    if (is_jits(caller, frame))
        node = hl_call_note(parent, hl_jit_name(parent != 0)); /* below it is what it compiles */
    else if (frame && !(frame & HL_CALL_IN_VM && parent))
        node = hl_tree_node(parent, frame & ~HL_CALL_IN_VM);
    if (!node) node = parent;
    *called = (struct hl_called){caller, parent, node, epoch};
    return node;
}

HL_INLINE uint32_t with_caller(struct hl_call_stack *stack, uint32_t parent, uintptr_t caller) {
    const uint64_t place = (caller + parent) * 0x9e3779b97f4a7c15ull >> (64 - HL_CALLED_BITS);
    struct hl_called *called = &stack->called[place];
    if (HL_LIKELY(caller == called->caller && parent == called->parent && called->epoch == hl_location_epoch(caller)))
        return called->node;
    return name_caller(called, parent, caller);
}

HL_INLINE uint32_t ruby_frames(struct hl_call_stack *stack, struct hl_lane *lane) {
    if (HL_LIKELY(!hl_ruby.public_only)) return hl_walk_here(&stack->ruby, &hl_call_sink, &lane->ecs);
    const uint32_t frame = hl_call_public_frame();
    return frame ? hl_tree_node(0, frame) : 0;
}

HL_COLD static struct hl_merged_stack *begin_merged(struct hl_call_stack *stack) {
    const int saved = hl_guard_enter(&hl_thread);
    stack->merged = hl_own_memory(sizeof(*stack->merged));
    if (stack->merged) hl_add_shared(&hl_flight.header->own_bytes, sizeof(*stack->merged));
    hl_guard_leave(&hl_thread, saved);
    return stack->merged;
}

HL_INLINE uint32_t all_frames(struct hl_call_stack *stack, struct hl_lane *lane, uintptr_t caller, int with_ruby) {
    if (HL_UNLIKELY(with_native) && with_ruby != HL_NO_C_FRAMES && !hl_ruby.public_only &&
        (stack->merged || begin_merged(stack))) {
        const uint32_t node = hl_merged_stack_here(stack->merged, lane, caller, with_ruby);
        return HL_LIKELY(node && !may_be_jits(caller)) ? node : with_caller(stack, node, caller);
    }
    return with_caller(stack, HL_LIKELY(with_ruby) ? ruby_frames(stack, lane) : 0, caller);
}

/* What ends while the VM collects garbage. */
static uint32_t collected_frames(struct hl_call_stack *stack, struct hl_lane *lane, uintptr_t caller) {
    if (!stack->collected) stack->collected = hl_call_note(ruby_frames(stack, lane), "(GC)");
    return with_caller(stack, stack->collected, caller);
}

/* One walk at a time: what a signal's handler does in the middle of one has no stack. */
HL_INLINE int begin_walk(struct hl_call_stack *stack) {
    if (HL_UNLIKELY(stack->walking)) return 0;
    stack->walking = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return 1;
}

HL_INLINE void end_walk(struct hl_call_stack *stack) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stack->walking = 0;
}

HL_COLD static uint32_t in_signal_handler(void) {
    return hl_call_note(0, "(in a signal handler)");
}

uint32_t hl_call_stack_here(struct hl_call_stack *stack, struct hl_lane *lane, uintptr_t caller, int with_ruby) {
    if (!begin_walk(stack)) return in_signal_handler();
    const uint32_t node = all_frames(stack, lane, caller, with_ruby);
    end_walk(stack);
    return node;
}

uint32_t hl_call_stack_of_end(struct hl_call_stack *stack, struct hl_lane *lane, uintptr_t caller, int with_ruby) {
    if (!begin_walk(stack)) return in_signal_handler();
    if (HL_UNLIKELY(hl_thread.ended)) with_ruby = 0;
    const uint32_t node = stack->collecting && with_ruby ? collected_frames(stack, lane, caller)
                                                         : all_frames(stack, lane, caller, with_ruby);
    end_walk(stack);
    return node;
}

uint32_t hl_call_stack_of_ruby(struct hl_call_stack *stack, struct hl_lane *lane) {
    if (!begin_walk(stack)) return in_signal_handler();
    const uint32_t node = ruby_frames(stack, lane);
    end_walk(stack);
    return node;
}
