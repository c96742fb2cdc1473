/* SPDX-License-Identifier: MIT */
/*
 * Where the program's references begin: in a copy of the process (quiet_child.h) all that it holds besides malloc.
 *
 * R1  Of the allocator's memory only the bytes of live blocks count, and only once something leads to them: free chunks
 *     and the allocator's lists are no references.
 * R2  Of Ruby's object pages only the slots that hold an object count; of those that the VM keeps empty, none
 *     (leak_reserve.h).
 * R3  Of a stack what lies above the stack pointer counts, where that is known; the stack and the thread-local storage
 *     that glibc keeps of a thread that has ended do not count, nor do stacks of fibers that have (leak_fibers.h).
 * R4  heapline's own memory does not count.
 */
#ifndef HL_LEAK_ROOTS_H
#define HL_LEAK_ROOTS_H

#include "leaks/block_graph.h"
#include "leaks/leak_map.h"

/* Scan all of them; the graph is spread afterwards. 0 or -errno. */
int hl_roots_scan(struct hl_graph *graph, struct hl_roots *roots);

#endif
