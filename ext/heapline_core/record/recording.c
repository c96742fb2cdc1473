/* SPDX-License-Identifier: MIT */
#include "record/recording.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "flight/site_table.h"
#include "platform/own_memory.h"
#include "platform/own_process.h"
#include "platform/system_call.h"
#include "record/call_tree.h"

enum {
    WAIT_STEP_NS = 200 * 1000,
    WAIT_MOST_NS = 200 * 1000 * 1000, /* for one chunk (E3) */
    QUIET_STEP_NS = 1000 * 1000,
    QUIET_STEPS = 2000, /* for threads that are writing an event when the recording ends */
};
/* After so long a drain that was not told its ring does not come any more. */
static const uint64_t ATTACH_MOST_NS = 10ull * 1000 * 1000 * 1000;
/* In no chunk at all, and full. */
static const uint64_t NOWHERE = HL_CHUNK_LIMIT;

struct hl_recordings hl_recordings;
static struct hl_recording *parts[HL_RING_LANES]; /* by their numbers; they stay. The first is the shared lane's */
static uint32_t parts_taken = 1;

/* ---- time ---- */

void hl_recording_pause(long ns) {
    const struct timespec step = {0, ns};
    nanosleep(&step, NULL);
}

/* ---- the whole recording ---- */

void hl_recording_begin(uint64_t gc_count, void (*at_generation)(void)) {
    hl_recordings.at_generation = at_generation;
    hl_recordings.use_tsc = (uint32_t)hl_clock_counter_is_steady();
    hl_recordings.generation = gc_count;
    hl_recordings.gave_up_at = 0;
}

int hl_recording_wait_for_writers(void) {
    uint32_t writing = 0;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0)) {
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0);
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0);
    }
    for (uint32_t i = 0, step = 0; i < HL_RING_LANES && step < QUIET_STEPS; i++) {
        const struct hl_recording *part = __atomic_load_n(&parts[i], __ATOMIC_ACQUIRE);
        while (part && (writing = hl_load32(&part->writing)) && step++ < QUIET_STEPS) hl_recording_pause(QUIET_STEP_NS);
    }
    return !writing;
}

void hl_recording_become_child(void) {
    for (uint32_t i = 0; i < HL_RING_LANES; i++)
        if (parts[i]) parts[i]->writing = parts[i]->owner = parts[i]->taken = parts[i]->borrowed = 0;
    parts_taken = 1;
    for (struct hl_lane *lane = hl_lane_newest(); lane; lane = lane->made_before)
        if (lane->recording) lane->recording = NULL;
}

int hl_recording_drain_is_gone(void) {
    const uint32_t attached = hl_load32(&hl_ring.header->drain_pid);
    const uint32_t drain = attached ? attached : hl_ring.header->asked_by;
    if (drain) return hl_process_ended(drain);
    return hl_clock_ns(CLOCK_MONOTONIC) - hl_ring.header->start_ns > ATTACH_MOST_NS;
}

/* ---- room for events ---- */

HL_INLINE uint32_t ring_chunk_of(uint64_t address) {
    return (uint32_t)((address - (uintptr_t)hl_ring.base - HL_RING_CHUNKS_AT) / HL_CHUNK_BYTES);
}

static int same_chunk(uint64_t one, uint64_t other) {
    return one / HL_CHUNK_BYTES == other / HL_CHUNK_BYTES;
}

/* A free chunk; HL_CHUNKS where there is none in time. Where somebody waited in vain, nobody does before the drain has
 * given one back. */
static uint32_t take_chunk(void) {
    uint32_t number = hl_ring_take_chunk();
    const uint64_t freed = hl_load64(&hl_ring.header->chunks_freed) + 1;
    if (number < HL_CHUNKS || hl_load64(&hl_recordings.gave_up_at) == freed) return number;
    for (uint64_t waited = 0; waited < WAIT_MOST_NS && number == HL_CHUNKS; waited += WAIT_STEP_NS) {
        hl_recording_pause(WAIT_STEP_NS);
        hl_add_shared(&hl_ring.header->waited_ns, WAIT_STEP_NS);
        number = hl_ring_take_chunk();
    }
    if (number < HL_CHUNKS) return number;
    __atomic_store_n(&hl_recordings.gave_up_at, hl_load64(&hl_ring.header->chunks_freed) + 1, __ATOMIC_RELAXED);
    return HL_CHUNKS;
}

/* Where it is gone the next allocation ends the recording, as it does for who asks. */
static void look_for_drain(void) {
    if (hl_recording_drain_is_gone())
        __atomic_fetch_or(&hl_flight.header->request, HL_REQUEST_RECORD_END, __ATOMIC_SEQ_CST);
}

static int open_chunk(struct hl_recording *recording) {
    const uint32_t number = take_chunk();
    look_for_drain();
    if (number == HL_CHUNKS) {
        recording->cursor = NOWHERE;
        return 0;
    }
    struct hl_ring_chunk *chunk = &hl_ring.states[number];
    chunk->lane = recording->lane;
    chunk->sequence = ++recording->sequence;
    chunk->end = 0;
    __atomic_store_n(&chunk->state, HL_CHUNK_OPEN, __ATOMIC_RELEASE);
    recording->cursor = (uintptr_t)hl_ring_chunk(number);
    return 1;
}

/* The event that would lie at `at` finds no room in its chunk. The first one there ends the chunk; a handler of a
 * signal may have been faster to go on to another. 1: try again. */
HL_COLD int hl_recording_next_chunk(struct hl_recording *recording, uint64_t at) {
    sigset_t all, before;
    const int saved = errno;
    int more = 1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (at / HL_CHUNK_BYTES && at % HL_CHUNK_BYTES <= HL_CHUNK_LIMIT)
        __atomic_store_n(&hl_ring.states[ring_chunk_of(at)].end, (uint32_t)(at % HL_CHUNK_BYTES), __ATOMIC_RELEASE);
    if (same_chunk(recording->cursor, at)) more = open_chunk(recording);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return more;
}

/* ---- what is told besides ---- */

void hl_event_tell_thread(struct hl_recording *recording, uint32_t event) {
    char name[16] = {0};
    uint64_t *place = hl_event_reserve(recording, 4);
    if (!place) return;
    if (recording->owner == (uint32_t)syscall(SYS_gettid)) prctl(PR_GET_NAME, name);
    place[1] = recording->owner;
    memcpy(&place[2], name, sizeof(name));
    hl_event_show(place, event, hl_event_now());
}

/* The lane's first event, in this recording or of another thread. */
HL_COLD void hl_recording_begin_thread(struct hl_recording *recording, const struct hl_lane *lane) {
    if (recording->number != hl_recordings.count) {
        recording->number = hl_recordings.count;
        recording->cursor = NOWHERE;
        recording->sequence = 0;
        recording->generation = 0;
        recording->tag = 0;
        hl_call_stack_reset(&recording->stack);
    }
    recording->owner = hl_load32(&lane->record->owner);
    hl_add_shared(&hl_ring.header->threads, 1);
    hl_event_tell_thread(recording, HL_EVENT_THREAD_START);
}

int hl_recording_claims_gc(uint64_t count) {
    uint64_t known = hl_load64(&hl_recordings.generation);
    while (count > known)
        if (__atomic_compare_exchange_n(&hl_recordings.generation, &known, count, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return 1;
    return 0;
}

HL_COLD void hl_recording_tell_generation(struct hl_recording *recording, const struct hl_lane *lane) {
    const uint64_t count = lane->generation - hl_load64(&hl_flight.header->baseline);
    recording->generation = lane->generation;
    if (hl_recording_claims_gc(count)) {
        hl_event_put(recording, HL_EVENT_GC, 3, count, 0);
        look_for_drain();
    }
    hl_recordings.at_generation();
}

/* Where the event is lost, the next one tells it. */
HL_COLD void hl_recording_tell_tag(struct hl_recording *recording, uint32_t tag) {
    size_t length;
    const int saved = hl_guard_enter(&hl_thread);
    const hl_string_ref name = hl_tag_name(tag);
    const char *text = name ? hl_flight_text(name, &length) : NULL;
    if (hl_event_put(recording, HL_EVENT_TAG, 2, text ? hl_tree_string(text, length) : 0, 0)) recording->tag = tag;
    hl_guard_leave(&hl_thread, saved);
}

/* ---- a lane's part ---- */

static struct hl_recording *part_at(uint32_t number) {
    struct hl_recording *part = __atomic_load_n(&parts[number], __ATOMIC_ACQUIRE), *none = NULL;
    if (part || !(part = hl_own_memory(sizeof(*part)))) return part;
    part->cursor = NOWHERE;
    part->lane = number;
    if (!__atomic_compare_exchange_n(&parts[number], &none, part, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
        hl_own_memory_return(part, sizeof(*part));
        return none;
    }
    hl_add_shared(&hl_flight.header->own_bytes, sizeof(*part));
    return part;
}

/* A part that no lane has; NULL: there is none. */
static struct hl_recording *take_part(void) {
    if (hl_load32(&parts_taken) >= HL_RING_LANES) return NULL;
    for (uint32_t number = 1; number < HL_RING_LANES; number++) {
        struct hl_recording *part = part_at(number);
        if (!part) return NULL;
        if (__atomic_exchange_n(&part->taken, 1, __ATOMIC_ACQUIRE)) continue;
        __atomic_fetch_add(&parts_taken, 1, __ATOMIC_RELAXED);
        return part;
    }
    return NULL;
}

void hl_recording_give_back(struct hl_lane *lane) {
    struct hl_recording *part = lane->recording;
    lane->recording = NULL;
    __atomic_store_n(&part->taken, 0, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&parts_taken, 1, __ATOMIC_RELAXED);
}

static struct hl_recording *borrow(void) {
    const int saved = hl_guard_enter(&hl_thread);
    const int locked = hl_lane_shared_lock() != NULL;
    struct hl_recording *part = locked ? part_at(0) : NULL;
    if (part) {
        part->borrowed = 1;
        part->saved = saved;
        return part;
    }
    if (locked) hl_lane_shared_unlock();
    hl_guard_leave(&hl_thread, saved);
    return NULL;
}

void hl_recording_return(struct hl_recording *borrowed) {
    const int saved = borrowed->saved;
    borrowed->borrowed = 0;
    hl_lane_shared_unlock();
    hl_guard_leave(&hl_thread, saved);
}

HL_COLD struct hl_recording *hl_recording_prepare(struct hl_lane *lane) {
    const int saved = hl_guard_enter(&hl_thread);
    struct hl_recording *part = lane->recording = hl_lane_is_shared(lane) ? part_at(0) : take_part();
    if (!part && !hl_lane_is_shared(lane)) {
        errno = saved; /* which is kept until the part is returned */
        part = borrow();
    }
    hl_guard_leave(&hl_thread, saved);
    return part;
}

void hl_recording_mark(uint32_t event, uint32_t words, uint64_t one, uint64_t other) {
    const struct hl_stay stay = hl_lane_enter(&hl_thread);
    if (stay.lane) hl_recording_write(stay.lane, event, words, one, other);
    hl_lane_leave(&hl_thread, stay);
}
