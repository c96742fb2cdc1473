/* SPDX-License-Identifier: MIT */
#include "vm/native_stack.h"

#include <errno.h>
#include <string.h>

#include "flight/library.h"
#include "platform/own_memory.h"
#include "state/guard.h"
#include "vm/native_walk.h"

enum { BUCKETS = 1 << 18, ARENA_WORDS = 1 << 22, HEAD_WORDS = sizeof(struct hl_stack) / sizeof(uint64_t) };
enum { PAGE_BITS = 12, LIBRARY_BITS = 16 };

/* A number is a place in the arena, in words; a bucket holds the last one that was put there. */
static uint32_t *buckets;
static uint64_t *arena;
static uint32_t arena_used = 1; /* 0 is no stack */
/* The page where it is loaded and the library's number, in one word; the first is none. */
static uint64_t *loads;

int hl_stack_create(void) {
    buckets = hl_own_memory(BUCKETS * sizeof(*buckets));
    arena = hl_own_memory((size_t)ARENA_WORDS * sizeof(*arena));
    loads = hl_own_memory(HL_STACK_LOADS * sizeof(*loads));
    if (!buckets || !arena || !loads || hl_unwind_create()) return -ENOMEM;
    hl_populate(buckets, BUCKETS * sizeof(*buckets)); /* some hundreds of stacks touch all pages of both */
    hl_populate(hl_unwind_slots, HL_UNWIND_SLOTS * sizeof(*hl_unwind_slots));
    return 0;
}

/* ---- walking ---- */

static uint64_t hash_with(uint64_t hash, uint64_t frame) {
    return (hash + frame) * 0x9e3779b97f4a7c15ull;
}

struct walked {
    uint32_t count, hash;
};

static struct walked walked(uint32_t count, uint64_t hash) {
    return (struct walked){count, (uint32_t)(hash >> 32)};
}

/* The hash beside the frames: it costs nothing while the walk waits for memory. */
HL_NOINLINE static struct walked walk(uintptr_t caller, uint64_t *frames) {
    struct hl_thread *thread = &hl_thread;
    struct hl_registers at;
    uint32_t count = 1, own = 0, in_a_row = 0, left_vm = 0;
    uint64_t hash = hash_with(0, caller);
    HL_REGISTERS_HERE(at);
    hl_native_begin(thread, at.sp);
    frames[0] = caller;
    while (at.pc != caller)
        if (own++ == HL_NATIVE_OWN_FRAMES || hl_native_step(thread, &at) <= 0) return walked(1, hash);
    for (;;) {
        if (hl_native_in_vm(at.pc)) {
            if (hl_interpreter_has(at.pc) || ++in_a_row >= (left_vm ? HL_STACK_VM_AFTER : HL_STACK_VM_FRAMES)) break;
        } else {
            in_a_row = 0;
            left_vm = 1;
        }
        if (count == HL_STACK_FRAMES || hl_native_step(thread, &at) <= 0) break;
        frames[count++] = at.pc;
        hash = hash_with(hash, at.pc);
    }
    return walked(count, hash);
}

HL_NOINLINE uint32_t hl_stack_walk(uintptr_t caller, uint64_t *frames) {
    return walk(caller, frames).count;
}

/* ---- libraries ---- */

static uint16_t load_at(uintptr_t address) {
    const struct hl_library library = hl_library_at(address);
    const uint64_t word = library.base >> PAGE_BITS << LIBRARY_BITS | library.number;
    if (!library.number) return 0;
    for (uint32_t i = 1; i < HL_STACK_LOADS; i++) {
        uint64_t there = __atomic_load_n(&loads[i], __ATOMIC_RELAXED);
        if (!there && __atomic_compare_exchange_n(&loads[i], &there, word, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return (uint16_t)i;
        if (there == word) return (uint16_t)i;
    }
    return 0;
}

struct hl_stack_load hl_stack_load(uint16_t load) {
    const uint64_t word = __atomic_load_n(&loads[load], __ATOMIC_RELAXED);
    return (struct hl_stack_load){(uint16_t)word, word >> LIBRARY_BITS << PAGE_BITS};
}

uint16_t hl_stack_load_of(const struct hl_stack *stack, uint32_t frame) {
    return ((const uint16_t *)(stack->frames + stack->count))[frame];
}

/* Are its libraries those that lie there now (N2)? Looked at once after each that went. */
static int lies_there(struct hl_stack *stack) {
    const uint64_t epoch = hl_library_epoch();
    if (HL_LIKELY(__atomic_load_n(&stack->epoch, __ATOMIC_RELAXED) == epoch)) return 1;
    for (uint32_t i = 0; i < stack->count; i++)
        if (hl_stack_load_of(stack, i) != load_at(stack->frames[i])) return 0;
    __atomic_store_n(&stack->epoch, epoch, __ATOMIC_RELAXED);
    return 1;
}

/* ---- interning ---- */

/* Buckets are probed in a row; a full stretch of them refuses. */
static uint32_t *find(uint32_t hash, const uint64_t *frames, uint32_t count, uint32_t *number) {
    enum { TRIES = 64 };
    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t *bucket = &buckets[(hash + i) & (BUCKETS - 1)];
        *number = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
        if (!*number) return bucket;
        struct hl_stack *stack = (struct hl_stack *)(arena + *number);
        if (stack->hash == hash && stack->count == count && !memcmp(stack->frames, frames, count * sizeof(*frames)) &&
            lies_there(stack))
            return bucket;
    }
    *number = 0;
    return NULL;
}

static uint32_t write_stack(uint32_t hash, const uint64_t *frames, uint32_t count) {
    const uint32_t need = HEAD_WORDS + count + (count * sizeof(uint16_t) + 7) / sizeof(uint64_t);
    if (__atomic_load_n(&arena_used, __ATOMIC_RELAXED) + need > ARENA_WORDS) return 0;
    const uint32_t number = __atomic_fetch_add(&arena_used, need, __ATOMIC_RELAXED);
    if (number + need > ARENA_WORDS) return 0;
    hl_populate_ahead(arena, ARENA_WORDS * sizeof(*arena), number * sizeof(*arena), need * sizeof(*arena));
    struct hl_stack *stack = (struct hl_stack *)(arena + number);
    stack->count = count;
    stack->hash = hash;
    stack->epoch = hl_library_epoch(); /* before the look */
    memcpy(stack->frames, frames, count * sizeof(*frames));
    for (uint32_t i = 0; i < count; i++) ((uint16_t *)(stack->frames + count))[i] = load_at(frames[i]);
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
    const struct walked here = walk(caller, frames);
    const uint32_t *bucket = find(here.hash, frames, here.count, &number);
    return number || !bucket ? number : intern(here.hash, frames, here.count);
}

const struct hl_stack *hl_stack_at(uint32_t number) {
    return number ? (const struct hl_stack *)(arena + number) : NULL;
}
