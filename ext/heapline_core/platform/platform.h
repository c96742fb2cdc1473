/* SPDX-License-Identifier: MIT */
/*
 * The room platform.
 *   owns: what compiler and kernel give: attributes, system calls, own memory and processes, text, tables
 *   invariant: nothing here knows of Ruby, of blocks or of the flight file, or calls malloc
 *   uses: none
 *
 * What the compiler and the platform give, under names of our own: the only header with attributes and builtins.
 */
#ifndef HL_PLATFORM_H
#define HL_PLATFORM_H

#include <stdint.h>

#define HL_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define HL_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define HL_EXPORT __attribute__((visibility("default")))
#define HL_COLD __attribute__((cold, noinline))
#define HL_NOINLINE __attribute__((noinline))
#define HL_INLINE static inline __attribute__((always_inline))
#define HL_CALLER ((uintptr_t)__builtin_return_address(0))
#define HL_WEAK __attribute__((weak))
/* On what the hot path reads: addressed directly, not through the global offset table. */
#define HL_HIDDEN __attribute__((visibility("hidden")))
/* What nearly every call reads and hardly any writes, together: so it takes few cache lines. */
#define HL_HOT __attribute__((section("heapline_hot")))

/* Of the processor's caches, in bytes; and to begin with one. */
#define HL_CACHE_LINE 64
#define HL_LINE_ALIGNED __attribute__((aligned(HL_CACHE_LINE)))
/* Of what takes pages of its own. The linker puts the strictest alignment first, so that the small words which are left
 * lie in two or three pages: a forked child takes a fault for each page that it writes. */
#define HL_PAGE_ALIGNED __attribute__((aligned(4096)))

/* One TLS access is one load relative to the thread pointer; the object must then be loaded at start-up. */
#define HL_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

/* The sanitizer sees no assembler. */
#if defined(__SANITIZE_THREAD__)
#define HL_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HL_THREAD_SANITIZER 1
#endif
#endif

/* What differs from one kind of processor to the other, in one file each. */
#if defined(__x86_64__)
#include "x86_64.h"
#elif defined(__aarch64__)
#include "aarch64.h"
#else
#error "heapline supports Linux on x86-64 and on 64-bit ARM only"
#endif

/* Single words that others write: what they stored before is seen, too, as every load on x86-64 has it. */
HL_INLINE uint32_t hl_load32(const uint32_t *field) {
    return __atomic_load_n(field, HL_LOAD_ORDER);
}
HL_INLINE uint64_t hl_load64(const uint64_t *field) {
    return __atomic_load_n(field, HL_LOAD_ORDER);
}

/* The same where a call reads the word once: whole, since it is aligned, and free to be an instruction's operand. */
HL_INLINE uint32_t hl_look32(const uint32_t *field) {
#ifdef HL_THREAD_SANITIZER
    return hl_load32(field);
#else
    return hl_machine_look32(field);
#endif
}
HL_INLINE uint64_t hl_look64(const uint64_t *field) {
#ifdef HL_THREAD_SANITIZER
    return hl_load64(field);
#else
    return hl_machine_look64(field);
#endif
}

/* Counters with one writer: whole words for a reader at any time, and one step for the writer, so that a signal handler
 * that counts too comes before or after it. */
HL_INLINE void hl_add(uint64_t *counter, uint64_t amount) {
#ifdef HL_THREAD_SANITIZER
    __atomic_store_n(counter, *counter + amount, __ATOMIC_RELAXED);
#else
    hl_machine_add(counter, amount);
#endif
}

HL_INLINE void hl_subtract(uint64_t *counter, uint64_t amount) {
#ifdef HL_THREAD_SANITIZER
    hl_add(counter, -amount);
#else
    hl_machine_subtract(counter, amount);
#endif
}

/* The same, and what was there before. */
HL_INLINE uint64_t hl_advance(uint64_t *counter, uint64_t amount) {
#ifdef HL_THREAD_SANITIZER
    return __atomic_fetch_add(counter, amount, __ATOMIC_RELAXED);
#else
    return hl_machine_advance(counter, amount);
#endif
}

/* Counters with several writers, off the hot path. */
HL_INLINE void hl_add_shared(uint64_t *counter, uint64_t amount) {
    __atomic_fetch_add(counter, amount, __ATOMIC_RELAXED);
}

#endif
