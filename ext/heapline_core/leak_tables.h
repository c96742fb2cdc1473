/* SPDX-License-Identifier: MIT */
/*
 * Ruby's hash tables in C (ruby/st.h, which extensions use too; from Ruby 4.0 on sets beside them) leave the key and
 * the value of a deleted entry where they were: addresses of memory that was freed, and is somebody else's now. They
 * are no references. A table is known by its shape: a header that points to a constant, its type, and to a block of as
 * many entries as it says.
 */
#ifndef HL_LEAK_TABLES_H
#define HL_LEAK_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "block_graph.h"

/* The first word, a hash, of an entry that is none. */
#define HL_ST_DELETED (~(uint64_t)0)

struct hl_st_entries {
    uint32_t block;       /* which holds them */
    uintptr_t begin, end; /* of those that were ever used */
    size_t stride;        /* bytes of one: hash, key, and in a table also a value */
};

/* 1 where this block is a table's header, and its entries are a block of their own. */
int hl_st_entries_of(const struct hl_graph *graph, uint32_t number, struct hl_st_entries *entries);

#endif
