/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include <cpuid.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call_tree.h"
#include "gc_events.h"
#include "lifecycle.h"
#include "other_process.h"
#include "own_memory.h"

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
static struct hl_recording *parts[HL_LANES]; /* by the lane's index; they stay */

/* ---- time ---- */

uint64_t hl_event_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

void hl_recording_pause(long ns) {
    const struct timespec step = {0, ns};
    nanosleep(&step, NULL);
}

/* Whether the processor's counter runs at one rate in all states: the kernel then keeps those of all processors equal.
 */
static int tsc_is_steady(void) {
    uint32_t eax, ebx, ecx, edx;
    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && edx & 1u << 8;
}

/* ---- the whole recording ---- */

void hl_recording_begin(uint64_t gc_count) {
    hl_recordings.use_tsc = (uint32_t)tsc_is_steady();
    hl_recordings.generation = gc_count;
    hl_recordings.gave_up_at = 0;
}

int hl_recording_wait_for_writers(void) {
    uint32_t writing = 0;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0)) {
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0);
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0);
    }
    for (uint32_t i = 0, step = 0; i < HL_LANES && step < QUIET_STEPS; i++) {
        const struct hl_recording *part = __atomic_load_n(&parts[i], __ATOMIC_ACQUIRE);
        while (part && (writing = hl_load32(&part->writing)) && step++ < QUIET_STEPS) hl_recording_pause(QUIET_STEP_NS);
    }
    return !writing;
}

void hl_recording_become_child(void) {
    for (uint32_t i = 0; i < HL_LANES; i++)
        if (parts[i]) parts[i]->writing = parts[i]->owner = 0;
}

int hl_recording_drain_is_gone(void) {
    const uint32_t attached = hl_load32(&hl_ring.header->drain_pid);
    const uint32_t drain = attached ? attached : hl_ring.header->asked_by;
    if (drain) return hl_other_process_ended(drain);
    return hl_event_ns(CLOCK_MONOTONIC) - hl_ring.header->start_ns > ATTACH_MOST_NS;
}

/* ---- room for events ---- */

HL_INLINE uint32_t chunk_of(uint64_t address) {
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
    if (hl_recording_drain_is_gone()) __atomic_store_n(&hl_recorder.on, 0, __ATOMIC_RELEASE);
    return HL_CHUNKS;
}

static int open_chunk(struct hl_recording *recording, uint32_t lane) {
    const uint32_t number = take_chunk();
    if (number == HL_CHUNKS) {
        recording->cursor = NOWHERE;
        return 0;
    }
    struct hl_ring_chunk *chunk = &hl_ring.states[number];
    chunk->lane = lane;
    chunk->sequence = ++recording->sequence;
    chunk->end = 0;
    __atomic_store_n(&chunk->state, HL_CHUNK_OPEN, __ATOMIC_RELEASE);
    recording->cursor = (uintptr_t)hl_ring_chunk(number);
    return 1;
}

/* The event that would lie at `at` finds no room in its chunk. The first one there ends the chunk; a handler of a
 * signal may have been faster to go on to another. 1: try again. */
HL_COLD int hl_recording_next_chunk(struct hl_recording *recording, uint32_t lane, uint64_t at) {
    sigset_t all, before;
    const int saved = errno;
    int more = 1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (at / HL_CHUNK_BYTES && at % HL_CHUNK_BYTES <= HL_CHUNK_LIMIT)
        __atomic_store_n(&hl_ring.states[chunk_of(at)].end, (uint32_t)(at % HL_CHUNK_BYTES), __ATOMIC_RELEASE);
    if (same_chunk(recording->cursor, at)) more = open_chunk(recording, lane);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return more;
}

/* ---- what is told besides ---- */

void hl_event_tell_thread(struct hl_recording *recording, uint32_t lane, uint32_t event) {
    char name[16] = {0};
    uint64_t *place = hl_event_reserve(recording, lane, 4);
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
        hl_call_stack_reset(&recording->stack);
    }
    recording->owner = hl_load32(&lane->record->owner);
    hl_add_shared(&hl_ring.header->threads, 1);
    hl_event_tell_thread(recording, lane->index, HL_EVENT_THREAD_START);
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
    if (hl_recording_claims_gc(count)) hl_event_put(recording, lane->index, HL_EVENT_GC, 3, count, 0);
    hl_gc_events_ask();
}

HL_COLD void hl_event_tell_tag(uint16_t tag) {
    const hl_string_ref *names = hl_flight_page(HL_TAG_TABLE_PAGE);
    size_t length;
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    const char *name = hl_flight_text(names[tag], &length);
    __atomic_store_n(&hl_ring.tags[tag], hl_tree_string(name, length), __ATOMIC_RELEASE);
    hl_guard_leave(&hl_thread);
    errno = saved;
}

/* ---- a lane's part ---- */

HL_COLD struct hl_recording *hl_recording_prepare(struct hl_lane *lane) {
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    struct hl_recording *part = parts[lane->index];
    if (!part && (part = hl_own_memory(sizeof(*part)))) {
        hl_add_shared(&hl_flight.header->own_bytes, sizeof(*part));
        part->cursor = NOWHERE;
        __atomic_store_n(&parts[lane->index], part, __ATOMIC_RELEASE);
    }
    lane->recording = part;
    hl_guard_leave(&hl_thread);
    errno = saved;
    return lane->recording;
}

void hl_recording_mark(uint32_t event, uint32_t words, uint64_t one, uint64_t other) {
    struct hl_lane *own = hl_lifecycle_lane(&hl_thread), *lane = own ? own : hl_lane_shared_lock();
    if (lane) hl_recording_write(lane, event, words, one, other);
    if (!own) hl_lane_shared_unlock();
}
