/* SPDX-License-Identifier: MIT */
/*
 * GC as the VM tells it to a recording: hooks on its internal events, through functions that every Ruby exports
 * (objects.h). They are in the VM's list from a safe point behind the recording's beginning on; until then, and in
 * Ractors that have a list of their own, a GC is known when the next event notices it (recorder.c).
 *
 * N1  Ruby 3.1 and 3.2 read the running thread's frame before they call any hook, and a Ractor's thread allocates
 *     before it has one: a GC of a Ractor that starts would crash. There the hooks go before the first Ractor is made,
 *     known by the code that makes it, and do not come again.
 * Hooks that no recording needs any more take themselves out.
 */
#ifndef HL_GC_EVENTS_H
#define HL_GC_EVENTS_H

#include <stdint.h>

/* Bring the hooks in at the next safe point. Any thread, any moment; without the GVL nothing is done: ask again. */
void hl_gc_events_ask(void);
/* The recording is over. */
void hl_gc_events_leave(void);

void hl_gc_events_become_child(void);

/* What a hook records, in the thread that collects: HL_EVENT_GC, with the stack that ran into it; or how it goes on:
 * _GC_END, _GC_ENTER, _GC_EXIT. */
void hl_record_gc(uint32_t event);

#endif
