/* SPDX-License-Identifier: MIT */
/*
 * What keeps a block reachable: the way from it back to where the program's references begin, told from the words that
 * the graph noted. In a copy of the process, without malloc.
 */
#ifndef HL_LEAK_HOLDER_H
#define HL_LEAK_HOLDER_H

#include "leaks/block_graph.h"
#include "leaks/leak_map.h"

enum hl_holder_kind {
    HL_HOLDER_NONE,     /* nothing does */
    HL_HOLDER_REGISTER, /* of a thread */
    HL_HOLDER_THREAD,   /* a thread's stack or thread-local storage */
    HL_HOLDER_FIBER,    /* a fiber's stack */
    HL_HOLDER_OBJECT,   /* a slot of Ruby's heap */
    HL_HOLDER_DATA,     /* of a program or library */
    HL_HOLDER_MAPPING,  /* memory that is mapped otherwise */
    HL_HOLDER_LINKER    /* the dynamic linker asked for it, and needs it in ways of its own */
};

struct hl_holder {
    enum hl_holder_kind kind;
    uint64_t between;  /* blocks that lead from there to this one */
    uintptr_t address; /* of the word there; of an object: its slot */
    uint32_t thread;   /* kernel thread id */
    uintptr_t ec;      /* on a stack of Ruby's: its ec */
    const char *path;  /* of the program, library or mapping; "" */
    uint64_t offset;   /* of DATA: from where that begins in memory */
};

struct hl_holder hl_holder_of(const struct hl_graph *graph, const struct hl_roots *roots, uint32_t number);

#endif
