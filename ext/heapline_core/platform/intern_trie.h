/* SPDX-License-Identifier: MIT */
/*
 * Interning without a size: equal things have one number, from 1, however many there are. The numbers make trees: the
 * first bits of the hash lead to a root, and one more from each number's node to the next one, until a node is that of
 * the thing or the place is free. The things lie with the user, complete before their number is known to anyone.
 *
 * N1  It grows by one node a thing: nothing is ever moved, copied or set up, so no call takes longer than others. Nodes
 *     lie in the order of the numbers, which are handed out in a row: memory is touched as far as there are things.
 * N2  Lookups take no lock. Two threads that bring the same thing at once meet at one free place: its number is that of
 *     one of them, the other's is told to nobody.
 * N3  In a forked child it is whole, whatever other threads were doing: it has a thing, or has it not.
 * Callable from any thread inside malloc.
 */
#ifndef HL_INTERN_TRIE_H
#define HL_INTERN_TRIE_H

#include <stddef.h>
#include <stdint.h>

#include "platform/intern_table.h"
#include "platform/own_memory.h"
#include "platform/platform.h"

struct hl_trie_node {
    uint32_t hash;    /* its lower half */
    uint32_t next[2]; /* by its next bit */
};

struct hl_trie {
    uint32_t *roots;            /* by the hash's first bits */
    struct hl_trie_node *nodes; /* by number; behind the roots */
    uint32_t limit;             /* of the numbers */
    unsigned root_bits;
};

HL_INLINE size_t hl_trie_root_bytes(const struct hl_trie *trie) {
    return sizeof(*trie->roots) << trie->root_bits;
}

/* An empty one for numbers below `limit`; 0 where there is no memory. */
HL_INLINE int hl_trie_create(struct hl_trie *trie, uint32_t limit, unsigned root_bits) {
    *trie = (struct hl_trie){.limit = limit, .root_bits = root_bits};
    trie->roots = hl_own_memory(hl_trie_root_bytes(trie) + (size_t)limit * sizeof(*trie->nodes));
    trie->nodes = (struct hl_trie_node *)((uintptr_t)trie->roots + hl_trie_root_bytes(trie));
    return trie->roots != NULL;
}

/* All roots are about to be used. */
HL_INLINE void hl_trie_populate_roots(const struct hl_trie *trie) {
    hl_populate(trie->roots, hl_trie_root_bytes(trie));
}

/* The number of what equals `key`; 0: there is none, and `add` (NULL: add nothing) had no room for it. */
HL_INLINE uint32_t hl_trie_find(struct hl_trie *trie, uint64_t hash, const void *key, hl_same_function *same,
                                hl_add_function *add) {
    uint32_t *link = &trie->roots[hash >> (64 - trie->root_bits)], fresh = 0;
    for (uint64_t path = hash << trie->root_bits;; path <<= 1) {
        uint32_t number = __atomic_load_n(link, __ATOMIC_ACQUIRE);
        if (!number) {
            if (!fresh && (!add || !(fresh = add(key)))) return 0;
            hl_populate_ahead(trie->nodes, trie->limit * sizeof(*trie->nodes), fresh * sizeof(*trie->nodes),
                              sizeof(*trie->nodes));
            trie->nodes[fresh].hash = (uint32_t)hash;
            if (__atomic_compare_exchange_n(link, &number, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fresh;
        }
        struct hl_trie_node *node = &trie->nodes[number];
        if (node->hash == (uint32_t)hash && same(number, key)) return number;
        link = &node->next[path >> 63];
    }
}

#endif
