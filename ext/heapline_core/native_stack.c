/* SPDX-License-Identifier: MIT */
#include "native_stack.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "guard.h"
#include "own_memory.h"
#include "probe.h"
#include "ruby_vm.h"
#include "unwind_rule.h"

extern int _dl_find_object(void *address, struct dl_find_object *result) HL_WEAK;

enum { BUCKETS = 1 << 18, ARENA_WORDS = 1 << 22, OWN_FRAMES = 16, PAGE = 4096 };

/* A number is a place in the arena, in words; a bucket holds the last one that was put there. */
static uint32_t *buckets;
static uint64_t *arena;
static uint32_t arena_used = 1; /* 0 is no stack */
static uintptr_t vm_begin, vm_end;

int hl_stack_create(void) {
    buckets = hl_own_memory(BUCKETS * sizeof(*buckets));
    arena = hl_own_memory((size_t)ARENA_WORDS * sizeof(*arena));
    return buckets && arena ? hl_unwind_create() : -ENOMEM;
}

/* ---- walking ---- */

struct registers {
    uintptr_t pc, rsp, rbp;
};

/* Extend what this thread knows to be mapped of its stack by the page of `address` (N2). */
HL_COLD static int look_at_page(struct hl_thread *thread, uintptr_t address) {
    const uintptr_t page = address & ~(uintptr_t)(PAGE - 1);
    uint64_t word;
    if (address % sizeof(word) || hl_probe(&word, (const void *)address, sizeof(word))) return 0;
    if (page != thread->stack_to) thread->stack_from = page;
    thread->stack_to = page + PAGE;
    return 1;
}

HL_INLINE int may_read(struct hl_thread *thread, uintptr_t address) {
    if (HL_LIKELY(address - thread->stack_from < thread->stack_to - thread->stack_from)) return address % 8 == 0;
    return look_at_page(thread, address);
}

/* To the caller; 0 where the walk ends. */
HL_INLINE int step(struct hl_thread *thread, struct registers *at) {
    const struct hl_unwind_rule rule = hl_unwind_rule(at->pc);
    const intptr_t offset = rule.offset;
    uintptr_t end, from;
    if (HL_LIKELY(rule.base == HL_UNWIND_RSP)) {
        from = end = at->rsp + (uintptr_t)offset;
    } else {
        if (rule.base == HL_UNWIND_STOP) return 0;
        from = end = at->rbp + (uintptr_t)offset;
        if (rule.base == HL_UNWIND_BEHIND_RBP) {
            if (end < at->rsp || !may_read(thread, end)) return 0;
            end = *(uintptr_t *)end;
            from = at->rbp;
        }
    }
    if (end <= at->rsp || !may_read(thread, end - sizeof(uintptr_t))) return 0;
    if (rule.saved_rbp || rule.base == HL_UNWIND_BEHIND_RBP) {
        const uintptr_t saved = from + (uintptr_t)(intptr_t)rule.saved_rbp;
        if (saved < at->rsp || !may_read(thread, saved)) return 0;
        at->rbp = *(uintptr_t *)saved;
    }
    at->pc = ((uintptr_t *)end)[-1];
    at->rsp = end;
    return at->pc != 0;
}

HL_COLD static void find_vm(void) {
    struct dl_find_object object;
    vm_begin = vm_end = 1;
    if (!_dl_find_object || _dl_find_object((void *)(uintptr_t)hl_ruby.rb_thread_current, &object)) return;
    vm_end = (uintptr_t)object.dlfo_map_end;
    vm_begin = (uintptr_t)object.dlfo_map_start;
}

HL_INLINE int in_vm(uintptr_t pc) {
    return pc - vm_begin < vm_end - vm_begin;
}

/* Where this function is, by all three registers at one instruction. */
#define HERE(at)                                                                                                       \
    __asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"                                           \
                     : "=&r"((at).pc), "=&r"((at).rsp), "=&r"((at).rbp))

__attribute__((noinline)) uint32_t hl_stack_walk(uintptr_t caller, uint64_t *frames) {
    struct hl_thread *thread = &hl_thread;
    struct registers at;
    uint32_t count = 1, own = 0, in_a_row = 0, left_vm = 0;
    HERE(at);
    /* Another fiber's stack, or another part of this one. */
    if (at.rsp - thread->stack_from >= thread->stack_to - thread->stack_from) {
        thread->stack_from = at.rsp & ~(uintptr_t)(PAGE - 1);
        thread->stack_to = thread->stack_from + PAGE;
    }
    if (HL_UNLIKELY(!vm_begin) && hl_ruby.rb_thread_current) find_vm();
    frames[0] = caller;
    while (at.pc != caller)
        if (own++ == OWN_FRAMES || !step(thread, &at)) return 1;
    for (;;) {
        if (in_vm(at.pc)) {
            if (++in_a_row >= (left_vm ? HL_STACK_VM_AFTER : HL_STACK_VM_FRAMES)) break;
        } else {
            in_a_row = 0;
            left_vm = 1;
        }
        if (count == HL_STACK_FRAMES || !step(thread, &at)) break;
        frames[count++] = at.pc;
    }
    return count;
}

/* ---- interning ---- */

static uint32_t hash_of(const uint64_t *frames, uint32_t count) {
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++) hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15ull >> 7 ^ hash << 9;
    return (uint32_t)(hash ^ hash >> 32);
}

/* Buckets are probed in a row; a full stretch of them refuses. */
static uint32_t *find(uint32_t hash, const uint64_t *frames, uint32_t count, uint32_t *number) {
    enum { TRIES = 64 };
    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t *bucket = &buckets[(hash + i) & (BUCKETS - 1)];
        *number = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
        if (!*number) return bucket;
        const struct hl_stack *stack = hl_stack_at(*number);
        if (stack->hash == hash && stack->count == count && !memcmp(stack->frames, frames, count * sizeof(*frames)))
            return bucket;
    }
    *number = 0;
    return NULL;
}

static uint32_t write_stack(uint32_t hash, const uint64_t *frames, uint32_t count) {
    const uint32_t need = count + 1;
    if (__atomic_load_n(&arena_used, __ATOMIC_RELAXED) + need > ARENA_WORDS) return 0;
    const uint32_t number = __atomic_fetch_add(&arena_used, need, __ATOMIC_RELAXED);
    if (number + need > ARENA_WORDS) return 0;
    struct hl_stack *stack = (struct hl_stack *)(arena + number);
    stack->count = count;
    stack->hash = hash;
    memcpy(stack->frames, frames, count * sizeof(*frames));
    return number;
}

HL_COLD static uint32_t intern(uint32_t hash, const uint64_t *frames, uint32_t count) {
    const uint32_t fresh = write_stack(hash, frames, count);
    uint32_t number = 0, *bucket;
    /* Another thread may be faster: with the same stack, or with another one in this bucket. */
    while (fresh && (bucket = find(hash, frames, count, &number)) && !number)
        if (__atomic_compare_exchange_n(bucket, &number, fresh, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) return fresh;
    return number;
}

uint32_t hl_stack_here(uintptr_t caller) {
    uint64_t frames[HL_STACK_FRAMES];
    uint32_t number;
    const uint32_t count = hl_stack_walk(caller, frames), hash = hash_of(frames, count);
    const uint32_t *bucket = find(hash, frames, count, &number);
    return number || !bucket ? number : intern(hash, frames, count);
}

const struct hl_stack *hl_stack_at(uint32_t number) {
    return number ? (const struct hl_stack *)(arena + number) : NULL;
}

size_t hl_stack_bytes(void) {
    return (size_t)__atomic_load_n(&arena_used, __ATOMIC_RELAXED) * sizeof(*arena);
}
