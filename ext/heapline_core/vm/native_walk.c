/* SPDX-License-Identifier: MIT */
#include "vm/native_walk.h"

#include <string.h>
#include <ucontext.h>

#include "flight/library.h"
#include "platform/probe.h"
#include "vm/ruby_walk.h"

enum { PAGE = 4096, NEAR_PAGES = 64 };

struct hl_native_vm hl_native_vm;

HL_COLD void hl_native_find_vm(void) {
    struct hl_loaded object;
    if (!hl_library_loaded((uintptr_t)hl_ruby.rb_thread_current, &object)) return;
    hl_native_vm.begin = object.begin;
    __atomic_store_n(&hl_native_vm.size, object.end - object.begin, __ATOMIC_RELEASE);
}

static int can_be_read(uintptr_t address) {
    uint64_t word;
    return !hl_probe(&word, (const void *)address, sizeof(word));
}

HL_COLD int hl_native_look_at_page(struct hl_thread *thread, uintptr_t address) {
    const uintptr_t page = address & ~(uintptr_t)(PAGE - 1);
    if (address % 8 || !can_be_read(address)) return 0;
    if (page != thread->stack_to) thread->stack_from = page;
    thread->stack_to = page + PAGE;
    return 1;
}

/* A stack that has grown down reaches what is known with no page between that cannot be read. */
HL_COLD void hl_native_begin_elsewhere(struct hl_thread *thread, uintptr_t sp) {
    const uintptr_t page = sp & ~(uintptr_t)(PAGE - 1);
    uintptr_t next = page + PAGE;
    if (thread->stack_from - page <= (uintptr_t)NEAR_PAGES * PAGE)
        while (next < thread->stack_from && can_be_read(next)) next += PAGE;
    if (next != thread->stack_from) thread->stack_to = page + PAGE;
    thread->stack_from = page;
}

/* Addresses are those of calls' returns (unwind_rule.h); this one is of the next instruction. */
static uintptr_t behind(uintptr_t instruction) {
    return instruction + 1;
}

HL_COLD int hl_native_leave_handler(struct hl_thread *thread, struct hl_registers *at) {
    static const uint8_t returning[HL_RETURNING_BYTES] = HL_RETURNING;
    uint8_t code[HL_RETURNING_BYTES];
    const ucontext_t *context = hl_handlers_context(at->sp);
    if (hl_probe(code, (const void *)at->pc, sizeof(code)) || memcmp(code, returning, sizeof(code))) return 0;
    if (!hl_native_may_read(thread, (uintptr_t)&context->uc_mcontext) ||
        !hl_native_may_read(thread, (uintptr_t)(&context->uc_mcontext + 1) - sizeof(uintptr_t)))
        return 0;
    *at = hl_registers_of_context(context);
    at->pc = behind(at->pc);
    return 1;
}

HL_COLD int hl_native_leave_jit(struct hl_thread *thread, struct hl_registers *at, uintptr_t *tag) {
    while (*tag) {
        const uintptr_t here = *tag, *words = (const uintptr_t *)here;
        if (!hl_native_may_read(thread, here) || !hl_native_may_read(thread, here + HL_TAG_OUTER)) return 0;
        *tag = words[HL_TAG_OUTER / sizeof(*words)];
        if (*tag <= here) *tag = 0; /* an outer one lies above: this is none, or the last */
        if (here <= at->sp) continue;
        /* As __builtin_setjmp of the compilers has them. Of a VM that was built with the C library's (Debian's 3.3 and
         * 3.4, which have no YJIT) they are something else, and refused. */
        const uintptr_t *jump = words + HL_TAG_JUMP / sizeof(*words);
        const struct hl_registers target = {.pc = behind(jump[1]), .sp = jump[2], .fp = jump[0]};
        if (target.sp <= at->sp || target.sp > here || !hl_native_in_vm(target.pc)) return 0;
        *at = target;
        return 1;
    }
    return 0;
}

/* ---- the interpreter ---- */

/* It is the VM's longest function or nearly so: 22 kB in Ruby 4.0.1. */
enum { SHORTEST = 4096 };

struct hl_interpreter hl_interpreter;

static uint64_t bounds_of(uintptr_t begin, uintptr_t size) {
    return (uint64_t)(begin - hl_native_vm.begin) << 32 | size;
}

/* The first one to say where it is, or that it is nowhere, is believed. */
static void settle(uint64_t bounds) {
    uint64_t unknown = 0;
    __atomic_compare_exchange_n(&hl_interpreter.bounds, &unknown, bounds, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* By the code of a frame: its pc is that of its next instruction. */
static void find_by(uint64_t pc) {
    uint64_t instruction;
    uintptr_t begin;
    if (hl_probe(&instruction, (const void *)pc, sizeof(instruction)) || !hl_native_in_vm(instruction)) return;
    const uintptr_t size = hl_unwind_function(instruction, &begin);
    if (size >= SHORTEST && size <= UINT32_MAX && hl_native_in_vm(begin)) settle(bounds_of(begin, size));
}

HL_COLD void hl_interpreter_find(struct hl_known_ecs *known) {
    enum { LOOKS = 256 }; /* of a VM whose code has no such addresses */
    static uint32_t looks;
    const char *frame, *end;
    if (!hl_walk_frames(known, &frame, &end)) return;
    for (; frame < end && !hl_interpreter.bounds; frame += hl_ruby_frame_size) {
        if (!hl_frame_runs_ruby(frame)) continue;
        find_by(hl_frame_pc(frame));
        if (__atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED) >= LOOKS) settle(HL_INTERPRETER_NOWHERE);
    }
}

/* 1: `what` was not among what is known, and is now. Where there is no room it stays unknown. */
static int learn(uint64_t known[HL_INTERPRETER_CALLERS], uint64_t what) {
    for (unsigned i = 0; i < HL_INTERPRETER_CALLERS; i++) {
        uint64_t there = 0;
        if (__atomic_compare_exchange_n(&known[i], &there, what, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return 1;
        if (there == what) return 0;
    }
    return 0;
}

HL_COLD void hl_interpreter_learn_function(uintptr_t address) {
    uintptr_t begin;
    const uintptr_t size = hl_unwind_function(address, &begin);
    if (size && size <= UINT32_MAX && hl_native_in_vm(begin)) learn(hl_interpreter.functions, bounds_of(begin, size));
}

HL_COLD void hl_interpreter_learn_caller(uint64_t address) {
    if (learn(hl_interpreter.callers, address)) hl_interpreter_learn_function(address);
}
