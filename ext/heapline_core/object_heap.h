/* SPDX-License-Identifier: MIT */
/*
 * The object heap, as the VM counts it: its pages, and the slots for objects in them.
 */
#ifndef HL_OBJECT_HEAP_H
#define HL_OBJECT_HEAP_H

/* Take the object heap's figures into the flight's header. On a thread of Ruby's with the GVL, where Ruby may be
 * called: in a postponed job or an at_exit handler, never inside malloc. Without the guard: Ruby may switch threads. */
void hl_object_heap_measure(void);

#endif
