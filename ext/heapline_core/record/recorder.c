/* SPDX-License-Identifier: MIT */
#include "record/recorder.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "flight/shared_guard.h"
#include "heapline_core.h"
#include "platform/text.h"
#include "record/call_stack.h"
#include "record/call_tree.h"
#include "record/gc_events.h"
#include "record/recording.h"
#include "record/ring.h"
#include "state/mapping_watch.h"
#include "state/options.h"
#include "vm/heap_pages.h"

enum {
    TURN_STEP_NS = 1000 * 1000,
    TURN_STEPS = 5000, /* for another thread that begins or ends one */
    EXEC_STEP_NS = 200 * 1000,
    EXEC_MOST_NS = 500 * 1000 * 1000, /* for a drain that has not seen the ring */
};

static struct hl_record_wish wished; /* of this recording */
static uint32_t taken;               /* the turn to begin or end a recording */

/* ---- blocks ---- */

HL_INLINE void write_birth(uint64_t *place, uint32_t event, const void *block, size_t size, size_t alignment,
                           uint32_t stack) {
    /* glibc takes the next power of two. */
    const uint64_t power = alignment > 1 ? 64 - (uint64_t)__builtin_clzll(alignment - 1) : 0;
    const uint64_t shown = size < HL_EVENT_SIZE_MAX ? size : HL_EVENT_SIZE_MAX;
    place[1] = (uintptr_t)block | power << HL_EVENT_ALIGNMENT_SHIFT;
    place[2] = shown | (uint64_t)stack << HL_EVENT_STACK_SHIFT;
    if (HL_UNLIKELY(size >= HL_EVENT_SIZE_MAX)) place[3] = size;
    hl_event_show(place, event, hl_event_now());
}

int hl_record_birth(struct hl_lane *lane, uint32_t event, const void *block, size_t size, size_t alignment,
                    uintptr_t caller, int with_ruby) {
    struct hl_recording *recording = hl_recording_enter(lane);
    if (HL_UNLIKELY(!recording)) return 0;
    const uint32_t stack = hl_call_stack_here(&recording->stack, lane, caller, with_ruby);
    uint64_t *place = hl_event_reserve(recording, size < HL_EVENT_SIZE_MAX ? 3 : 4);
    if (HL_LIKELY(place != NULL)) write_birth(place, event, block, size, alignment, stack);
    hl_recording_leave(recording);
    return place != NULL;
}

void hl_record_death(struct hl_lane *lane, uint32_t event, const void *block, uintptr_t caller, int with_ruby) {
    struct hl_recording *recording = hl_recording_enter(lane);
    if (HL_UNLIKELY(!recording)) return;
    const uint32_t words = hl_event_words(event, 0);
    const uint64_t stack = words > 2 ? hl_call_stack_of_end(&recording->stack, lane, caller, with_ruby) : 0;
    hl_event_put(recording, event, words, (uintptr_t)block, stack << HL_EVENT_STACK_SHIFT);
    hl_recording_leave(recording);
}

/* ---- what no allocation makes ---- */

void hl_record_mark(uint32_t event, uint64_t value) {
    struct hl_thread *thread = &hl_thread;
    if (!hl_recording() || thread->busy || !hl_gate_is()) return;
    hl_recording_mark(event, 2, value, 0);
}

/* ---- mappings ---- */

struct unmapped {
    uintptr_t address;
    size_t size;
    uintptr_t caller;
};

static void record_unmapping(struct hl_lane *lane, uint32_t event, const struct unmapped *ended, int with_ruby) {
    struct hl_recording *recording = hl_recording_enter(lane);
    if (!recording) return;
    const uint64_t stack = hl_call_stack_of_end(&recording->stack, lane, ended->caller, with_ruby);
    uint64_t *place = hl_event_reserve(recording, 4);
    if (place) {
        place[1] = ended->address;
        place[2] = ended->size;
        place[3] = stack;
        hl_event_show(place, event, hl_event_now());
    }
    hl_recording_leave(recording);
}

/* An end of one (NULL: none), then a mapping (NULL: none). heapline's own are none of the program's. */
static void record_mapping(uint32_t end, const struct unmapped *ended, uint32_t event,
                           const struct hl_mapped *mapping) {
    struct hl_thread *thread = &hl_thread;
    if (thread->busy || thread->quiet || !hl_gate_is()) return;
    const struct hl_stay stay = hl_lane_enter(thread);
    struct hl_lane *lane = stay.lane;
    const int with_ruby = !thread->starting && !thread->exiting && !thread->ended;
    if (lane && ended) record_unmapping(lane, end, ended, with_ruby);
    if (lane && mapping)
        hl_record_birth(lane, event, (const void *)mapping->address, mapping->size, 0, mapping->caller, with_ruby);
    hl_lane_leave(thread, stay);
}

static void mapped(const struct hl_mapped *mapping) {
    record_mapping(0, NULL, HL_EVENT_MMAP, mapping);
}

static void unmapping(uintptr_t address, size_t size, uintptr_t caller) {
    const struct unmapped ended = {address, size, caller};
    record_mapping(HL_EVENT_MUNMAP, &ended, 0, NULL);
}

static void remapped(uintptr_t address, size_t size, const struct hl_mapped *mapping) {
    const struct unmapped ended = {address, size, mapping->caller};
    record_mapping(HL_EVENT_MREMAP_FROM, size ? &ended : NULL, HL_EVENT_MREMAP, mapping);
}

static const struct hl_mapping_watcher watcher = {mapped, unmapping, remapped};

static void ruby_heap_changed(uint64_t bytes) {
    hl_record_mark(HL_EVENT_RUBY_HEAP, bytes);
}

/* ---- begin and end ---- */

void hl_recorder_thread_ends(struct hl_lane *lane) {
    struct hl_recording *own = lane->recording;
    if (!own) return;
    if (own->number == hl_recordings.count) {
        struct hl_recording *recording = hl_recording_enter(lane);
        if (recording) {
            hl_event_tell_thread(recording, HL_EVENT_THREAD_END);
            hl_recording_leave(recording);
        }
        own->owner = 0;
    }
    hl_recording_give_back(lane);
}

static void describe(void) {
    struct hl_ring_header *header = hl_ring.header;
    const struct hl_flight_header *flight = hl_flight.header;
    memcpy(header->ruby, flight->ruby, sizeof(header->ruby));
    memcpy(header->allocator, flight->allocator, sizeof(header->allocator));
    memcpy(header->command, flight->command, sizeof(header->command));
    header->command_length = flight->command_length;
    hl_recording_begin(hl_load64(&flight->gc_count), hl_gc_events_ask);
    header->state = HL_RING_RECORDING;
    header->pid = (uint32_t)getpid();
    header->clock = hl_recordings.use_tsc ? HL_CLOCK_TSC : HL_CLOCK_NS;
    header->start_ns = hl_clock_ns(CLOCK_MONOTONIC);
    header->start = hl_event_now();
    header->start_wall_ns = hl_clock_ns(CLOCK_REALTIME);
    header->generation = hl_recordings.generation;
    header->ruby_heap = hl_heap_pages_bytes();
}

static uint32_t options_of(struct hl_record_wish wish) {
    const uint32_t objects = hl_options.objects || hl_load32(&hl_flight.header->objects_on);
    return (wish.native ? HL_RING_NATIVE : 0) | (objects ? HL_RING_OBJECTS : 0) | (wish.follow ? HL_RING_FOLLOW : 0);
}

int hl_recorder_take_turn(int patient) {
    for (uint32_t step = 0; step < TURN_STEPS; step++) {
        if (!__atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE)) return 1;
        if (!patient) return 0;
        hl_recording_pause(TURN_STEP_NS);
    }
    return 0;
}

void hl_recorder_end_turn(void) {
    __atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
}

static void ring_was_cut(void) {
    __atomic_store_n(&hl_recording_on, 0, __ATOMIC_SEQ_CST);
    hl_say("another program cut the ring file of process %d: it is not recorded any more", (int)getpid());
}

int hl_recorder_start(struct hl_record_wish wish) {
    if (hl_recording_on && hl_recording_drain_is_gone()) hl_recorder_stop();
    if (hl_recording_on || (hl_ring.base && !hl_recording_wait_for_writers())) return -EBUSY;
    hl_ring_destroy();
    int failed = hl_ring_create();
    if (!failed && (hl_tree_create() || hl_call_stack_create(wish.native))) failed = -ENOMEM;
    if (failed) {
        hl_tree_destroy();
        hl_call_stack_destroy();
        hl_ring_destroy();
        return failed;
    }
    hl_guard_file(HL_GUARDED_RING, hl_ring.base, HL_RING_BYTES, ring_was_cut);
    describe();
    wished = wish;
    hl_ring.header->asked_by = wish.drain;
    hl_ring.header->options = options_of(wish);
    hl_recordings.count++;
    hl_ring_show();
    __atomic_store_n(&hl_recording_on, 1, __ATOMIC_SEQ_CST);
    hl_heap_pages_changed = ruby_heap_changed;
    hl_mapping_watch(HL_WATCHING_RECORDING, &watcher);
    hl_gc_events_ask();
    return 0;
}

void hl_recorder_begin(struct hl_record_wish wish) {
    const int failed = hl_recorder_start(wish);
    const char *why =
        hl_flight_directory() ? strerror(-failed) : "it has no flight file, beside which its events would lie";
    if (!failed) return;
    hl_say("process %d is not recorded: %s", (int)getpid(), why);
    hl_record_wish_refused(wish.drain);
}

void hl_recorder_stop(void) {
    struct hl_ring_header *header = hl_ring.header;
    if (!header || header->state != HL_RING_RECORDING) return;
    __atomic_store_n(&hl_recording_on, 0, __ATOMIC_SEQ_CST);
    hl_mapping_watch(HL_WATCHING_RECORDING, NULL);
    hl_gc_events_leave();
    const int quiet = hl_recording_wait_for_writers();
    header->stop = hl_event_now();
    __atomic_store_n(&header->state, HL_RING_STOPPED, __ATOMIC_RELEASE);
    if (!quiet) return; /* somebody hangs in the middle of an event: what he looks at stays */
    hl_tree_destroy();
    hl_call_stack_destroy();
    if (hl_recording_drain_is_gone()) hl_ring_destroy();
}

int hl_recorder_set(int what) {
    const struct hl_record_wish wish = {.native = what == HEAPLINE_RECORD_NATIVE};
    const int failed = what ? hl_recorder_start(wish) : 0;
    if (!what) hl_recorder_stop();
    if (hl_gate_is()) hl_gate_open();
    return failed;
}

/* A ring that the drain has not seen yet would be replaced by the next program's. */
static void wait_for_drain(void) {
    for (uint64_t waited = 0;
         waited < EXEC_MOST_NS && !hl_load32(&hl_ring.header->drain_pid) && !hl_recording_drain_is_gone();
         waited += EXEC_STEP_NS)
        hl_recording_pause(EXEC_STEP_NS);
}

/* In a vfork child the ring is its parent's. */
void hl_recorder_exec(int executing) {
    struct hl_ring_header *header = hl_ring.header;
    if (!hl_recording() || header->pid != (uint32_t)getpid()) return;
    if (executing) wait_for_drain();
    __atomic_store_n(&header->state, executing ? HL_RING_EXECED : HL_RING_RECORDING, __ATOMIC_RELEASE);
}

void hl_recorder_become_child(void) {
    const int was_on = hl_recording_on;
    hl_recording_on = 0;
    hl_recorder_end_turn();
    hl_gc_events_become_child();
    hl_mapping_watch(HL_WATCHING_RECORDING, NULL);
    hl_recording_become_child();
    hl_ring_forget();
    hl_tree_destroy();
    hl_call_stack_destroy();
    if (!was_on || !wished.follow) {
        hl_gc_events_leave();
        return;
    }
    hl_recorder_begin(wished);
}
