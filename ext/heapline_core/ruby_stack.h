/* SPDX-License-Identifier: MIT */
/*
 * The Ruby call stack of an allocation, interned as a tree: a stack is a node, which has its innermost frame and the
 * node of the stack that called it. Equal stacks have one number.
 *
 * Each lane keeps the pcs of the last stack that it looked at, from the outermost frame on, and the node of each. Those
 * of now are compared with them, a load each; only from the first that differs on, frames are looked up.
 *
 * R1  A frame is named while its code lives; what is kept by pc is under the epoch of that code's memory (K1).
 * R2  A node is complete before its number is known to anyone, and never changes or goes away.
 * Callable from any thread inside malloc with the guard entered.
 */
#ifndef HL_RUBY_STACK_H
#define HL_RUBY_STACK_H

#include <stdint.h>

#include "flight_layout.h"
#include "lane.h"

enum {
    HL_RUBY_DEPTH = 1024, /* frames; of deeper stacks the outermost are left out */
    HL_RUBY_STEP = 256,   /* … so many at a time */
    HL_RUBY_NODES = 1 << 20,
};

struct hl_ruby_node {
    uint32_t parent;           /* 0: none */
    uint32_t line;             /* 0: of no line */
    hl_string_ref path, label; /* path 0: a frame that could not be told */
};

/* The tables' memory; 0 or -ENOMEM. */
int hl_ruby_stack_create(void);

/* The number of this thread's stack; 0: none, or no room. */
uint32_t hl_ruby_stack_here(struct hl_lane *lane);

/* NULL for 0. */
const struct hl_ruby_node *hl_ruby_node(uint32_t number);

#endif
