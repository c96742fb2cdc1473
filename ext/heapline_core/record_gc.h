/* SPDX-License-Identifier: MIT */
/* A recording's marks of GC, for gc_events.h, in the thread that collects. */
#ifndef HL_RECORD_GC_H
#define HL_RECORD_GC_H

#include <stdint.h>

/* HL_EVENT_GC, with the stack that ran into it; or how it goes on: _GC_END, _GC_ENTER, _GC_EXIT. */
void hl_record_gc(uint32_t event);

#endif
