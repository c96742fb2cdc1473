/* SPDX-License-Identifier: MIT */
/*
 * The object heap, as the VM counts it: its pages, and the slots for objects in them.
 */
#ifndef HL_OBJECT_HEAP_H
#define HL_OBJECT_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "vm/ruby_vm.h"

/* Take the object heap's figures into the flight's header. On a thread of Ruby's with the GVL, where Ruby may be
 * called: in a postponed job or an at_exit handler, never inside malloc. Without the guard: Ruby may switch threads. */
void hl_object_heap_measure(void);

/* Bytes of a page of the object heap, by the version; 0 where it is not known. */
size_t hl_object_heap_page_bytes(void);

/* Is the object heap laid out as it is known of this version? Its pages are asked once. On a thread of Ruby's with the
 * GVL, outside GC. Where it is not, what is said of slots below may not be asked for. */
int hl_object_heap_fits(void);

/* Bytes of the smallest slots: no two objects are nearer. 0 where it is not known. */
uint32_t hl_object_heap_least_slot(void);

/* Bytes of the slot that holds an object. Also inside a hook. */
uint16_t hl_object_heap_slot_bytes(hl_value object);

/* Call `each` for every page's slots: where they begin and end, and their size; it returns other than 0 to stop. On a
 * thread of Ruby's with the GVL, outside GC. 0, or -ENOSYS where this Ruby does not tell. */
int hl_object_heap_each_page(int (*each)(void *begin, void *end, size_t slot, void *context), void *context);

#endif
