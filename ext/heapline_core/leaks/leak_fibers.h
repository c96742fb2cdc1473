/* SPDX-License-Identifier: MIT */
/*
 * The VM's fibers (R3 of leak_roots.h): each living one has a piece of the VM's pool of stacks, or, the first of a
 * thread, that thread's own. The rest of the pool is nobody's: what ended and collected fibers left there is no
 * reference, nor is what lies below the stack pointer of one that is suspended.
 *
 * A fiber is known by its block, which holds its ec (ruby_vm.h): as large as the running one's, and its ec points back
 * to it. The pool is a variable of the VM; it is known by its pieces' blocks, which point back to it. Where either is
 * not found, stacks of fibers count as a whole. In a copy of the process, without malloc.
 */
#ifndef HL_LEAK_FIBERS_H
#define HL_LEAK_FIBERS_H

#include <stddef.h>
#include <stdint.h>

#include "leaks/block_graph.h"
#include "platform/memory_maps.h"

struct hl_fiber {
    uintptr_t ec;
    uintptr_t bottom, top; /* its stack */
    uintptr_t pointer;     /* nothing below it is in use; 0: it runs, a thread's registers tell */
    int pooled;            /* its stack is one of the pool, and not its thread's own */
};

/* One mapping: stacks, each above a guard page. */
struct hl_fiber_pool {
    uintptr_t begin;
    size_t stride, count;
    uint32_t *fibers; /* whose each is: a number in the list plus 1 */
};

struct hl_fibers {
    struct hl_fiber *list; /* those with a stack; threads' first ones too */
    size_t count;
    struct hl_fiber_pool *pools;
    size_t pool_count;
    int unknown; /* there may be some that are not known */
};

/* 0 or -ENOMEM. */
int hl_fibers_find(struct hl_fibers *fibers, const struct hl_graph *graph, const struct hl_mapping *mappings,
                   size_t mapping_count);

/* So many ranges at most are told. */
size_t hl_fibers_room(const struct hl_fibers *fibers);

/* Call `each` for every part of a stack that nobody uses. */
void hl_fibers_without_use(const struct hl_fibers *fibers, void (*each)(void *context, uintptr_t begin, uintptr_t end),
                           void *context);

/* The fiber on whose stack `address` lies, or NULL. */
const struct hl_fiber *hl_fiber_at(const struct hl_fibers *fibers, uintptr_t address);

#endif
