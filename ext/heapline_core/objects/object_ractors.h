/* SPDX-License-Identifier: MIT */
/*
 * The hooks in every Ractor. Up to Ruby 3.4 internal events go to hooks of the Ractor in which they happen, and
 * rb_add_event_hook2 adds to the current one's list only; from 4.0 on there is one list for all.
 *
 * A Ractor's list is written where the Ractor is made, before its thread runs: the thread's object is born right then,
 * after the Ractor was set up, and the hook of the Ractor that makes it sees that. The list's place is proven at the
 * start: the hooks that were just added to the current Ractor's list must be found there. Where they are not, Ractors
 * are counted instead (`objects_ractors`). Ruby 3.1 and 3.2 crash on their own where a Ractor's thread starts under a
 * hook on NEWOBJ, ObjectSpace.trace_object_allocations' too: its first object is born before it has a frame, and the
 * event reads that frame. There the hooks are taken away before it comes to that.
 */
#ifndef HL_OBJECT_RACTORS_H
#define HL_OBJECT_RACTORS_H

#include "vm/ruby_vm.h"

typedef void hl_object_hook(hl_value data, const void *event);

/* The hooks were added to the current Ractor's list; `born` last. `give_up`: where the VM does not bear them. */
void hl_object_ractors_start(hl_object_hook *born, hl_object_hook *died, void (*give_up)(const char *why));
/* They are about to be removed there. */
void hl_object_ractors_stop(void);

/* An object of T_DATA was born. Inside a hook. */
void hl_object_ractors_born(hl_value object, hl_value klass);
/* Ractors that wait to be set up: while there are some, each death is told. */
extern uint32_t hl_object_ractors_waiting HL_HIDDEN;
void hl_object_ractors_died(hl_value object);
void hl_object_ractors_move(void);

/* A Ractor that was there before the start. */
void hl_object_ractors_join(hl_value ractor);

#endif
