/* SPDX-License-Identifier: MIT */
/*
 * One lane's part of a recording: how its events get into the ring. For those who say what is recorded (recorder.c,
 * record_objects.c); E1 to E3 stand in recorder.h.
 */
#ifndef HL_RECORDING_H
#define HL_RECORDING_H

#include <stdint.h>
#include <time.h>

#include "account/lane.h"
#include "platform/system_call.h"
#include "record/call_stack.h"
#include "record/ring.h"
#include "record/ring_layout.h"

/* `cursor` is where its next event goes: always inside a chunk, beyond the limit where it is full. */
struct hl_recording {
    uint64_t cursor;
    uint32_t writing; /* an event is on its way */
    uint32_t sequence;
    uint32_t owner;    /* the thread that the last event was of; 0: none */
    uint32_t number;   /* of the recording */
    uint32_t tag;      /* that the last event has */
    uint32_t lane;     /* its number in the ring */
    uint32_t taken;    /* by a lane */
    uint32_t borrowed; /* the shared lane's, for one event … */
    int saved;         /* … before which errno was this */
    uint64_t generation;
    struct hl_call_stack stack;
};

/* What all lanes share. */
struct hl_recordings {
    uint32_t count; /* so far: the number of the present one */
    uint32_t use_tsc;
    uint64_t generation; /* of the last mark of a GC */
    void (*at_generation)(void);
    uint64_t gave_up_at; /* chunks that the drain had freed when nobody got one in time, and 1 */
};
extern struct hl_recordings hl_recordings HL_HIDDEN;

/* ---- for the whole recording ---- */

/* A recording begins: the clock that it goes by, and nobody has waited in vain yet. `at_generation` is called as each
 * generation is first met by a thread. */
void hl_recording_begin(uint64_t gc_count, void (*at_generation)(void));

/* All threads see that it is over, and none is in the middle of an event; 0 where one stays there. */
int hl_recording_wait_for_writers(void);

/* In a forked child: no other thread is there any more. */
void hl_recording_become_child(void);

/* Nobody will ever read: the drain was killed, or none has come. */
int hl_recording_drain_is_gone(void);

void hl_recording_pause(long ns);

/* ---- time ---- */

HL_INLINE uint64_t hl_event_now(void) {
    if (HL_UNLIKELY(!hl_recordings.use_tsc)) return hl_clock_ns(CLOCK_MONOTONIC);
    return hl_clock_counter();
}

/* ---- one event ---- */

/* The event that would lie at `at` finds no room in its chunk. 1: try again. */
int hl_recording_next_chunk(struct hl_recording *recording, uint64_t at);

/* Room for so many words; NULL: the event is lost. A handler's event gets a place of its own (E2). */
HL_INLINE uint64_t *hl_event_reserve(struct hl_recording *recording, uint32_t words) {
    for (;;) {
        const uint64_t at = hl_advance(&recording->cursor, words * sizeof(uint64_t));
        if (HL_LIKELY(at % HL_CHUNK_BYTES + words * sizeof(uint64_t) <= HL_CHUNK_LIMIT)) return (uint64_t *)at;
        if (!hl_recording_next_chunk(recording, at)) break;
    }
    hl_add_shared(&hl_ring.header->lost, 1);
    return NULL;
}

/* The event is whole: the drain may read it. */
HL_INLINE void hl_event_show(uint64_t *place, uint32_t event, uint64_t time) {
    const uint64_t since = time - hl_ring.header->start;
    __atomic_store_n(place, (uint64_t)event << HL_EVENT_TIME_BITS | (since & ((1ull << HL_EVENT_TIME_BITS) - 1)),
                     __ATOMIC_RELEASE);
}

/* An event of `words` words, 2 or 3; 0: it is lost. */
HL_INLINE int hl_event_put(struct hl_recording *recording, uint32_t event, uint32_t words, uint64_t one,
                           uint64_t other) {
    uint64_t *place = hl_event_reserve(recording, words);
    if (HL_UNLIKELY(!place)) return 0;
    place[1] = one;
    if (words > 2) place[2] = other;
    hl_event_show(place, event, hl_event_now());
    return 1;
}

/* The event that tells the lane's thread: enum hl_event. */
void hl_event_tell_thread(struct hl_recording *recording, uint32_t event);

/* ---- a lane's part ---- */

/* Ready for an event; NULL where nothing can be recorded. So many lanes get parts of their own; all others borrow the
 * shared lane's, with its lock, until hl_recording_leave. */
struct hl_recording *hl_recording_prepare(struct hl_lane *lane);
void hl_recording_return(struct hl_recording *borrowed);
/* The lane's owner ends: its part is for another. */
void hl_recording_give_back(struct hl_lane *lane);

/* 1 for the first one who knows of this GC: its own hook, or who notices that GC.count has changed. */
int hl_recording_claims_gc(uint64_t count);

void hl_recording_begin_thread(struct hl_recording *recording, const struct hl_lane *lane);
void hl_recording_tell_generation(struct hl_recording *recording, const struct hl_lane *lane);
void hl_recording_tell_tag(struct hl_recording *recording, uint32_t tag);

HL_INLINE void hl_recording_leave(struct hl_recording *recording) {
    hl_store_in_order();
    recording->writing--;
    if (HL_UNLIKELY(recording->borrowed)) hl_recording_return(recording);
}

/* Begin to write in the lane's part, until hl_recording_leave; NULL: the recording is over, or nothing can be recorded.
 * The order of the first two steps is made by who ends it (hl_recording_wait_for_writers). */
HL_INLINE struct hl_recording *hl_recording_enter(struct hl_lane *lane) {
    struct hl_recording *recording = lane->recording;
    if (HL_UNLIKELY(!recording) && !(recording = hl_recording_prepare(lane))) return NULL;
    recording->writing++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (HL_UNLIKELY(!hl_load32(&hl_recording_on))) {
        hl_recording_leave(recording);
        return NULL;
    }
    if (HL_UNLIKELY(recording->owner != hl_load32(&lane->record->owner) || recording->number != hl_recordings.count))
        hl_recording_begin_thread(recording, lane);
    if (HL_UNLIKELY(recording->generation != lane->generation)) hl_recording_tell_generation(recording, lane);
    if (HL_UNLIKELY(recording->tag != hl_thread.tag)) hl_recording_tell_tag(recording, hl_thread.tag);
    return recording;
}

/* hl_event_put by the lane's owner, where a recording goes on. */
HL_INLINE void hl_recording_write(struct hl_lane *lane, uint32_t event, uint32_t words, uint64_t one, uint64_t other) {
    struct hl_recording *recording = hl_recording_enter(lane);
    if (HL_UNLIKELY(!recording)) return;
    hl_event_put(recording, event, words, one, other);
    hl_recording_leave(recording);
}

/* The same by a thread that may have no lane. */
void hl_recording_mark(uint32_t event, uint32_t words, uint64_t one, uint64_t other);

#endif
