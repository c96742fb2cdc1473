/* SPDX-License-Identifier: MIT */
#include "record_gc.h"

#include <errno.h>

#include "call_stack.h"
#include "lifecycle.h"
#include "recording.h"

static void put(struct hl_recording *recording, struct hl_lane *lane, uint32_t event) {
    if (event == HL_EVENT_GC) {
        const uint64_t stack = hl_call_stack_of_ruby(&recording->stack, lane);
        hl_event_put(recording, lane->index, event, 3, hl_gc_count(), stack << HL_EVENT_STACK_SHIFT);
        return;
    }
    hl_event_put(recording, lane->index, event, 2, 0, 0);
    if (event != HL_EVENT_GC_END) hl_call_stack_collects(&recording->stack, event == HL_EVENT_GC_ENTER);
}

static void record(uint32_t event) {
    struct hl_lane *lane = hl_lifecycle_lane(&hl_thread);
    if (event == HL_EVENT_GC && !hl_recording_claims_gc(hl_gc_count())) return;
    if (!lane || !(lane->recording || hl_recording_prepare(lane))) {
        hl_recording_mark(event, hl_event_words(event, 0), event == HL_EVENT_GC ? hl_gc_count() : 0, 0);
        return;
    }
    if (hl_recording_enter(lane->recording, lane)) put(lane->recording, lane, event);
    hl_recording_leave(lane->recording);
}

void hl_record_gc(uint32_t event) {
    struct hl_thread *thread = &hl_thread;
    if (!hl_recording() || thread->busy || !hl_gate.open) return;
    const int saved = errno;
    hl_guard_enter(thread);
    record(event);
    hl_guard_leave(thread);
    errno = saved;
}
