/* SPDX-License-Identifier: MIT */
/*
 * A recording's strings, frames and stacks, interned: equal ones have one number, in the ring's tables. A stack is a
 * node: its last frame, and the node of the stack that called it.
 *
 * Callable from any thread inside malloc, with the guard entered (but for hl_tree_node, which needs none).
 */
#ifndef HL_CALL_TREE_H
#define HL_CALL_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "record/ring.h"

/* Empty tables; 0 or -ENOMEM. */
int hl_tree_create(void);
void hl_tree_destroy(void);

/* Each: a number, 0 where there is no room. */
uint32_t hl_tree_string(const char *bytes, size_t length);
uint32_t hl_tree_frame(const struct hl_ring_frame *frame);
uint32_t hl_tree_node(uint32_t parent, uint32_t frame);

/* A frame that says in words what is not told. */
uint32_t hl_tree_note(const char *words);

#endif
