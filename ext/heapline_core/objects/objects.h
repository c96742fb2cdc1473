/* SPDX-License-Identifier: MIT */
/*
 * The room objects.
 *   owns: Ruby objects: who made them, of which class, and how long they lived
 *   invariant: one writer at a time, the VM's own lock (J1)
 *   uses: platform, allocator, state, flight, vm, account, record
 *
 * Ruby objects, each from its birth to its end: the hooks on the VM's internal events NEWOBJ and FREEOBJ, and what must
 * be told to them besides: objects that move (GC.compact), Ractors, classes that want a name.
 *
 * The hooks are registered through functions that every Ruby exports, found with dlsym as all others: an application
 * need not know of heapline, and no Ruby extension is loaded for it.
 *
 * J1  The VM calls the hooks under its lock (3.1–3.3: newobj_slowpath, 3.4 and later: newobj_of, both in
 *     RB_VM_LOCK_ENTER; obj_free: a sweep, behind gc_enter). So the tables have one writer at a time, with Ractors too.
 * J2  In a hook nothing of Ruby's is called that allocates, raises or waits; errno is kept.
 * J3  An object that was born before the start is in no row; its end is passed over.
 */
#ifndef HL_OBJECTS_H
#define HL_OBJECTS_H

#include <stdint.h>

#include "heapline_core.h"
#include "vm/ruby_vm.h"

/* Start at the VM's next safe point: called inside malloc, with the GVL. */
void hl_objects_ask(void);

/* Start now, anew where it was stopped before; NULL, or why it cannot. At a safe point, with the GVL. */
const char *hl_objects_start(void);
void hl_objects_stop(void);
int hl_objects_on(void);

/* Give the classes their names, before somebody reads them. At a safe point, with the GVL. */
void hl_objects_settle(void);

/* Make a generation of objects that begins here; its number. With the GVL. */
uint64_t hl_objects_next_generation(void);

/* Call `visit` with each object that lives and was born in generations `from` … `to`. With the GVL; what a sweep under
 * way is about to free is freed first. It must neither allocate objects nor free them. */
typedef void hl_objects_visitor(void *context, uintptr_t object, uint32_t site, uint64_t generation);
void hl_objects_each(uint64_t from, uint64_t to, hl_objects_visitor *visit, void *context);

/* Where and when a living object was born. 1, or 0 where it is in no row. With the GVL, or in a copy of the process. */
int hl_object_birth_of(uintptr_t object, struct heapline_birth *birth);

/* See to the objects of a Ractor that was there before the start (its VALUE). */
void hl_objects_join(hl_value ractor);

void hl_objects_become_child(void);

#endif
