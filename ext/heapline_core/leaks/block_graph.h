/* SPDX-License-Identifier: MIT */
/*
 * All live blocks and what refers to them, in a copy of the process (quiet_child.h): nothing else runs or changes.
 *
 * A word is a pointer to a block where its value lies in the block's requested bytes (a block of none has one); to its
 * beginning, or into it. Four ways of pointing into a block count as pointing to its beginning, those that Valgrind's
 * manual describes under --leak-check-heuristics: behind the length of an array or of memory that knows its own, to the
 * text of a std::string of the old kind, to a part of a C++ object that has its own table of virtual functions.
 *
 * The order of the calls: create, scan and spread what is reachable (as often as wanted), then finish.
 */
#ifndef HL_BLOCK_GRAPH_H
#define HL_BLOCK_GRAPH_H

#include <stddef.h>
#include <stdint.h>

enum { HL_NO_BLOCK = 0xffffffff };

/* The first word, a hash, of an entry of Ruby's tables (ruby/st.h) that was deleted. */
#define HL_ST_DELETED (~(uint64_t)0)

enum hl_block_state {
    HL_BLOCK_DEFINITE = 0, /* nothing leads to it */
    HL_BLOCK_INDIRECT = 1, /* only lost blocks lead to it */
    HL_BLOCK_POSSIBLE = 2, /* reachable, but only through pointers into blocks */
    HL_BLOCK_REACHABLE = 3,
    HL_BLOCK_UNSEEN = 4 /* until it is finished */
};

struct hl_graph {
    uintptr_t *begins;  /* ascending */
    size_t *sizes;      /* requested bytes */
    uint8_t *states;    /* enum hl_block_state */
    uint32_t *leaders;  /* of INDIRECT blocks: the DEFINITE block that leads to it */
    uintptr_t *holders; /* of REACHABLE and POSSIBLE blocks: the word that led to it; 0: hl_graph_reach */
    uint32_t count;

    /* Private. */
    uint8_t *hints;    /* bits, below */
    uint32_t *headers; /* of the entries of a table: the number of its header, plus 1 */
    uint32_t **index;
    uint32_t *work, work_count;
    int mode;
    uint32_t leader;
    const struct hl_range *tables; /* where constants of loaded objects lie */
    size_t table_count;
};

struct hl_range {
    uintptr_t begin, end;
};

/* `tables`: read-only parts of loaded objects, ascending. 0 or -ENOMEM. */
int hl_graph_create(struct hl_graph *graph, const struct hl_range *tables, size_t table_count);

/* The block that `address` points to or into. */
uint32_t hl_graph_find(const struct hl_graph *graph, uintptr_t address);

/* Does a word-aligned constant of a loaded object lie there? (Tables of virtual functions, descriptions of types.) */
int hl_graph_is_constant(const struct hl_graph *graph, uintptr_t address);

/* The words from `begin` to `end` are the program's: what they point to is reachable. Pages that cannot be read are
 * left out. */
void hl_graph_scan(struct hl_graph *graph, uintptr_t begin, uintptr_t end);

/* This block is reachable. */
void hl_graph_reach(struct hl_graph *graph, uint32_t number);

/* The bytes of this block are no references by themselves (pages of Ruby's objects, which are scanned by slot). */
void hl_graph_do_not_enter(struct hl_graph *graph, uint32_t number);

/* Follow what was found reachable to the end. */
void hl_graph_spread(struct hl_graph *graph);

/* Decide about all others. */
void hl_graph_finish(struct hl_graph *graph);

/* The first address in steps of `step` bytes from `at` on whose word is this very address; `end` where there is none.
 */
uintptr_t hl_graph_next_own_address(uintptr_t at, uintptr_t end, size_t step);

/* call(context), or -EFAULT where it reads memory that is not there. */
int hl_graph_try(int (*call)(void *context), void *context);

/* The word at `address`, or 0 where there is no memory; a 0 that was read is one too. */
uint64_t hl_graph_peek(uintptr_t address);

#endif
