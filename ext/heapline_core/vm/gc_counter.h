/* SPDX-License-Identifier: MIT */
/*
 * Where the VM keeps GC.count, so that the hot path reads a word instead of calling rb_gc_count (1.8 ns a call).
 */
#ifndef HL_GC_COUNTER_H
#define HL_GC_COUNTER_H

#include <stddef.h>
#include <stdint.h>

#include "platform/platform.h"

/* GC.count, 0 without a VM; and the word that this returns, or hl_gc_counter_unknown, whose value no GC.count has. */
extern uint64_t (*hl_gc_count)(void) HL_HIDDEN;
extern const size_t *hl_gc_counter HL_HIDDEN;
extern const size_t hl_gc_counter_unknown HL_HIDDEN;

/* The word that `function` (rb_gc_count) returns, found by following its instructions; NULL where it is more than a
 * chain of loads. `objspace` is what a call inside it returns (rb_gc_get_objspace), or NULL. */
const size_t *hl_gc_counter_find(size_t (*function)(void), void *(*objspace)(void));

#endif
