/* SPDX-License-Identifier: MIT */
#include "native_stack.h"

#include <errno.h>
#include <string.h>

#include "guard.h"
#include "native_walk.h"
#include "own_memory.h"

enum { BUCKETS = 1 << 18, ARENA_WORDS = 1 << 22 };

/* A number is a place in the arena, in words; a bucket holds the last one that was put there. */
static uint32_t *buckets;
static uint64_t *arena;
static uint32_t arena_used = 1; /* 0 is no stack */

int hl_stack_create(void) {
    buckets = hl_own_memory(BUCKETS * sizeof(*buckets));
    arena = hl_own_memory((size_t)ARENA_WORDS * sizeof(*arena));
    return buckets && arena ? hl_unwind_create() : -ENOMEM;
}

/* ---- walking ---- */

__attribute__((noinline)) uint32_t hl_stack_walk(uintptr_t caller, uint64_t *frames) {
    struct hl_thread *thread = &hl_thread;
    struct hl_registers at;
    uint32_t count = 1, own = 0, in_a_row = 0, left_vm = 0;
    HL_REGISTERS_HERE(at);
    hl_native_begin(thread, at.rsp);
    frames[0] = caller;
    while (at.pc != caller)
        if (own++ == HL_NATIVE_OWN_FRAMES || hl_native_step(thread, &at) <= 0) return 1;
    for (;;) {
        if (hl_native_in_vm(at.pc)) {
            if (++in_a_row >= (left_vm ? HL_STACK_VM_AFTER : HL_STACK_VM_FRAMES)) break;
        } else {
            in_a_row = 0;
            left_vm = 1;
        }
        if (count == HL_STACK_FRAMES || hl_native_step(thread, &at) <= 0) break;
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
