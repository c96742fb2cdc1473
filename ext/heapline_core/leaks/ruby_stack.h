/* SPDX-License-Identifier: MIT */
/*
 * The Ruby call stack of a block, interned as a tree: a stack is a node, which has its innermost frame and the node of
 * the stack that called it. Equal stacks have one number.
 *
 * A frame or node is complete before its number is known to anyone, and never changes or goes away.
 * Callable from any thread inside malloc with the guard entered.
 */
#ifndef HL_RUBY_STACK_H
#define HL_RUBY_STACK_H

#include <stdint.h>

#include "account/lane.h"
#include "flight/flight_layout.h"

struct hl_ruby_stack_frame {
    uint32_t line;             /* 0: of no line */
    hl_string_ref path, label; /* path 0: a frame that could not be told */
};

struct hl_ruby_node {
    uint32_t parent; /* 0: none */
    uint32_t frame;
};

/* The tables' memory; 0 or -ENOMEM. */
int hl_ruby_stack_create(void);

/* The number of this thread's stack; 0: none, or no room. */
uint32_t hl_ruby_stack_here(struct hl_lane *lane);

/* NULL for 0. */
const struct hl_ruby_node *hl_ruby_node(uint32_t number);
/* A node's. */
const struct hl_ruby_stack_frame *hl_ruby_stack_frame(uint32_t number);

#endif
