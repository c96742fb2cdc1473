/* SPDX-License-Identifier: MIT */
#include "record/record_objects.h"

#include "flight/flight.h"
#include "platform/own_memory.h"
#include "record/call_stack.h"
#include "record/call_tree.h"
#include "record/recorder.h"
#include "record/recording.h"

static uint32_t *told; /* by class: the recording that knows it */

/* ---- classes ---- */

/* The third word of HL_EVENT_CLASS. */
static uint64_t description(const struct hl_object_class *known) {
    size_t length;
    const char *name = known && known->name ? hl_flight_text(known->name, &length) : NULL;
    const uint64_t string = name ? hl_tree_string(name, length) : 0;
    return (known ? known->type : 0) | string << 32;
}

static void tell_class(struct hl_recording *recording, uint32_t class, const struct hl_object_class *known) {
    if (hl_event_put(recording, HL_EVENT_CLASS, 3, class, description(known) | HL_EVENT_FRESH_CLASS))
        told[class] = hl_recordings.count;
}

HL_COLD static void tell_fresh_class(struct hl_recording *recording, uint32_t class,
                                     const struct hl_object_class *known) {
    const int saved = hl_guard_enter(&hl_thread);
    if (!told) told = hl_own_memory(HL_OBJECT_CLASSES_MAX * sizeof(*told));
    if (told) tell_class(recording, class, known);
    hl_guard_leave(&hl_thread, saved);
}

/* What the name is put into is there between enter and leave alone. */
void hl_record_class_named(uint32_t class, const struct hl_object_class *known) {
    if (!hl_recording() || !told || told[class] != hl_recordings.count) return;
    const struct hl_stay stay = hl_lane_enter(&hl_thread);
    struct hl_recording *recording = stay.lane ? hl_recording_enter(stay.lane) : NULL;
    if (recording) {
        hl_event_put(recording, HL_EVENT_CLASS, 3, class, description(known));
        hl_recording_leave(recording);
    }
    hl_lane_leave(&hl_thread, stay);
}

void hl_record_class_gone(uint32_t class) {
    if (told) told[class] = 0;
}

/* ---- objects ---- */

void hl_record_objects_end(void) {
    if (!hl_recording()) return;
    const struct hl_stay stay = hl_lane_enter(&hl_thread);
    struct hl_recording *recording = stay.lane ? hl_recording_enter(stay.lane) : NULL;
    if (recording) {
        __atomic_store_n(&hl_ring.header->objects_end, hl_event_now(), __ATOMIC_RELEASE);
        hl_recording_leave(recording);
    }
    hl_lane_leave(&hl_thread, stay);
}

void hl_record_object(struct hl_lane *lane, uintptr_t object, uint32_t bytes, uint32_t class,
                      const struct hl_object_class *known, uintptr_t caller, int with_ruby) {
    struct hl_recording *recording = hl_recording_enter(lane);
    if (HL_UNLIKELY(!recording)) return;
    if (HL_UNLIKELY(!told || told[class] != hl_recordings.count)) tell_fresh_class(recording, class, known);
    const uint64_t stack = hl_call_stack_here(&recording->stack, lane, caller, with_ruby ? HL_NO_C_FRAMES : 0);
    hl_event_put(recording, HL_EVENT_OBJECT, 3, object,
                 bytes | (uint64_t) class << HL_EVENT_CLASS_SHIFT | stack << HL_EVENT_STACK_SHIFT);
    hl_recording_leave(recording);
}

void hl_record_object_freed(uintptr_t object) {
    struct hl_lane *lane = hl_thread.lane;
    if (HL_LIKELY(lane && lane->recording))
        hl_recording_write(lane, HL_EVENT_OBJECT_FREED, 2, object, 0);
    else
        hl_record_mark(HL_EVENT_OBJECT_FREED, object);
}

void hl_record_object_moved(uintptr_t from, uintptr_t to, uint32_t bytes) {
    hl_recording_mark(HL_EVENT_OBJECT_MOVED, 3, from, to | (uint64_t)bytes << HL_EVENT_ADDRESS_BITS);
}
