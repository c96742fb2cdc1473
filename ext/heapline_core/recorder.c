/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <cpuid.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "call_stack.h"
#include "call_tree.h"
#include "gc_events.h"
#include "heap_pages.h"
#include "lifecycle.h"
#include "object_classes.h"
#include "other_process.h"
#include "own_memory.h"
#include "ring.h"
#include "text.h"

enum {
    WAIT_STEP_NS = 200 * 1000,
    WAIT_MOST_NS = 200 * 1000 * 1000, /* for one chunk (E3) */
    EXEC_MOST_NS = 500 * 1000 * 1000, /* for a drain that has not seen the ring */
    QUIET_STEP_NS = 1000 * 1000,
    QUIET_STEPS = 2000, /* for threads that are writing an event when the recording ends */
    TURN_STEPS = 5000,  /* for another thread that begins or ends one */
};

/* One lane's part. `cursor` is where its next event goes: always inside a chunk, beyond the limit where it is full. */
struct hl_recording {
    uint64_t cursor;
    uint32_t writing; /* an event is on its way */
    uint32_t sequence;
    uint32_t owner;  /* the thread that the last event was of; 0: none */
    uint32_t number; /* of the recording */
    uint64_t generation;
    struct hl_call_stack stack;
};
/* After so long a drain that was not told its ring does not come any more. */
static const uint64_t ATTACH_MOST_NS = 10ull * 1000 * 1000 * 1000;
/* In no chunk at all, and full. */
static const uint64_t NOWHERE = HL_CHUNK_LIMIT;

struct hl_recorder hl_recorder;
static struct hl_recording *parts[HL_LANES]; /* by the lane's index; they stay */
static uint32_t recordings;                  /* so far */
static uint32_t use_tsc;
static uint64_t generation;          /* of the last mark */
static struct hl_record_wish wished; /* of this recording */
static uint32_t taken;               /* the turn to begin or end a recording */
static uint32_t *told;               /* by class: the recording that knows it */
static uint64_t gave_up_at;          /* chunks that the drain had freed when nobody got one in time, and 1 */

/* ---- time ---- */

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/* Whether the processor's counter runs at one rate in all states: the kernel then keeps those of all processors equal.
 */
static int tsc_is_steady(void) {
    uint32_t eax, ebx, ecx, edx;
    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && edx & 1u << 8;
}

/* What stands before in the program has happened when the counter is read. */
HL_INLINE uint64_t now(void) {
    uint32_t low, high, processor;
    if (HL_UNLIKELY(!use_tsc)) return nanoseconds(CLOCK_MONOTONIC);
    __asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(processor) : : "memory");
    return (uint64_t)high << 32 | low;
}

/* ---- room for events ---- */

HL_INLINE uint32_t chunk_of(uint64_t address) {
    return (uint32_t)((address - (uintptr_t)hl_ring.base - HL_RING_CHUNKS_AT) / HL_CHUNK_BYTES);
}

static int same_chunk(uint64_t one, uint64_t other) {
    return one / HL_CHUNK_BYTES == other / HL_CHUNK_BYTES;
}

static void pause_for(long ns) {
    const struct timespec step = {0, ns};
    nanosleep(&step, NULL);
}

/* Nobody will ever read: the drain was killed, or none has come. */
static int drain_is_gone(void) {
    const uint32_t attached = hl_load32(&hl_ring.header->drain_pid);
    const uint32_t drain = attached ? attached : hl_ring.header->asked_by;
    if (drain) return hl_other_process_ended(drain);
    return nanoseconds(CLOCK_MONOTONIC) - hl_ring.header->start_ns > ATTACH_MOST_NS;
}

/* A free chunk; HL_CHUNKS where there is none in time. Where somebody waited in vain, nobody does before the drain has
 * given one back. */
static uint32_t take_chunk(void) {
    uint32_t number = hl_ring_take_chunk();
    const uint64_t freed = hl_load64(&hl_ring.header->chunks_freed) + 1;
    if (number < HL_CHUNKS || hl_load64(&gave_up_at) == freed) return number;
    for (uint64_t waited = 0; waited < WAIT_MOST_NS && number == HL_CHUNKS; waited += WAIT_STEP_NS) {
        pause_for(WAIT_STEP_NS);
        hl_add_shared(&hl_ring.header->waited_ns, WAIT_STEP_NS);
        number = hl_ring_take_chunk();
    }
    if (number < HL_CHUNKS) return number;
    __atomic_store_n(&gave_up_at, hl_load64(&hl_ring.header->chunks_freed) + 1, __ATOMIC_RELAXED);
    if (drain_is_gone()) __atomic_store_n(&hl_recorder.on, 0, __ATOMIC_RELEASE);
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
HL_COLD static int next_chunk(struct hl_recording *recording, uint32_t lane, uint64_t at) {
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

/* Adding and reading what was there is one instruction: a handler's event gets a place of its own (E2). */
HL_INLINE uint64_t advance(uint64_t *cursor, uint64_t bytes) {
#ifdef HL_THREAD_SANITIZER
    return __atomic_fetch_add(cursor, bytes, __ATOMIC_RELAXED);
#else
    __asm__ volatile("xaddq %0, %1" : "+r"(bytes), "+m"(*cursor) : : "memory");
    return bytes;
#endif
}

/* Room for so many words; NULL: the event is lost. */
HL_INLINE uint64_t *reserve(struct hl_recording *recording, uint32_t lane, uint32_t words) {
    for (;;) {
        const uint64_t at = advance(&recording->cursor, words * sizeof(uint64_t));
        if (HL_LIKELY(at % HL_CHUNK_BYTES + words * sizeof(uint64_t) <= HL_CHUNK_LIMIT)) return (uint64_t *)at;
        if (!next_chunk(recording, lane, at)) break;
    }
    hl_add_shared(&hl_ring.header->lost, 1);
    return NULL;
}

HL_INLINE void show(uint64_t *place, uint32_t event, uint64_t time) {
    const uint64_t since = time - hl_ring.header->start;
    __atomic_store_n(place, (uint64_t)event << HL_EVENT_TIME_BITS | (since & ((1ull << HL_EVENT_TIME_BITS) - 1)),
                     __ATOMIC_RELEASE);
}

/* ---- what is told besides ---- */

static void tell_thread(struct hl_recording *recording, uint32_t lane, uint32_t event) {
    char name[16] = {0};
    uint64_t *place = reserve(recording, lane, 4);
    if (!place) return;
    if (recording->owner == (uint32_t)syscall(SYS_gettid)) prctl(PR_GET_NAME, name);
    place[1] = recording->owner;
    memcpy(&place[2], name, sizeof(name));
    show(place, event, now());
}

/* The lane's first event, in this recording or of another thread. */
HL_COLD static void begin_thread(struct hl_recording *recording, const struct hl_lane *lane) {
    if (recording->number != recordings) {
        recording->number = recordings;
        recording->cursor = NOWHERE;
        recording->sequence = 0;
        recording->generation = 0;
        hl_call_stack_reset(&recording->stack);
    }
    recording->owner = hl_load32(&lane->record->owner);
    hl_add_shared(&hl_ring.header->threads, 1);
    tell_thread(recording, lane->index, HL_EVENT_THREAD_START);
}

static void tell(struct hl_recording *recording, uint32_t lane, uint32_t event, uint64_t value) {
    uint64_t *place = reserve(recording, lane, 2);
    if (!place) return;
    place[1] = value;
    show(place, event, now());
}

/* The first one who knows of a GC tells: its own hook, or who notices that GC.count has changed. */
static void tell_gc(struct hl_recording *recording, uint32_t lane, uint64_t count) {
    uint64_t known = hl_load64(&generation);
    while (count > known) {
        if (!__atomic_compare_exchange_n(&generation, &known, count, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
        tell(recording, lane, HL_EVENT_GC, count);
        return;
    }
}

HL_COLD static void tell_generation(struct hl_recording *recording, const struct hl_lane *lane) {
    recording->generation = lane->generation;
    tell_gc(recording, lane->index, lane->generation - hl_load64(&hl_flight.header->baseline));
    hl_gc_events_ask();
}

/* The lane's part, ready for an event; NULL where nothing can be recorded. */
HL_COLD static struct hl_recording *prepare(struct hl_lane *lane) {
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

/* Begin to write; 0: the recording is over. The order of these two is made by who ends it (wait_for_writers). */
HL_INLINE int enter(struct hl_recording *recording, const struct hl_lane *lane) {
    recording->writing++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (HL_UNLIKELY(!hl_load32(&hl_recorder.on))) return 0;
    if (HL_UNLIKELY(recording->owner != hl_load32(&lane->record->owner) || recording->number != recordings))
        begin_thread(recording, lane);
    if (HL_UNLIKELY(recording->generation != lane->generation)) tell_generation(recording, lane);
    return 1;
}

HL_INLINE void leave(struct hl_recording *recording) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    recording->writing--;
}

/* ---- events ---- */

HL_COLD static void tell_tag(uint16_t tag) {
    const hl_string_ref *names = hl_flight_page(HL_TAG_TABLE_PAGE);
    size_t length;
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    const char *name = hl_flight_text(names[tag], &length);
    __atomic_store_n(&hl_ring.tags[tag], hl_tree_string(name, length), __ATOMIC_RELEASE);
    hl_guard_leave(&hl_thread);
    errno = saved;
}

HL_INLINE void write_birth(uint64_t *place, uint32_t event, const void *block, size_t size, size_t alignment,
                           uint32_t stack) {
    const uint16_t tag = hl_thread.tag;
    /* glibc takes the next power of two. */
    const uint64_t power = alignment > 1 ? 64 - (uint64_t)__builtin_clzll(alignment - 1) : 0;
    const uint64_t shown = size < HL_EVENT_SIZE_MAX ? size : HL_EVENT_SIZE_MAX;
    if (HL_UNLIKELY(tag && !hl_load32(&hl_ring.tags[tag]))) tell_tag(tag);
    place[1] = (uintptr_t)block | (uint64_t)tag << HL_EVENT_ADDRESS_BITS | power << HL_EVENT_ALIGNMENT_SHIFT;
    place[2] = shown | (uint64_t)stack << HL_EVENT_STACK_SHIFT;
    if (HL_UNLIKELY(size >= HL_EVENT_SIZE_MAX)) place[3] = size;
    show(place, event, now());
}

int hl_record_birth(struct hl_lane *lane, uint32_t event, const void *block, size_t size, size_t alignment,
                    uintptr_t caller, int with_ruby) {
    struct hl_recording *recording = lane->recording;
    if (HL_UNLIKELY(!recording) && !(recording = prepare(lane))) return 0;
    uint64_t *place = NULL;
    if (HL_LIKELY(enter(recording, lane))) {
        const uint32_t stack = hl_call_stack_here(&recording->stack, lane, caller, with_ruby);
        place = reserve(recording, lane->index, size < HL_EVENT_SIZE_MAX ? 3 : 4);
        if (HL_LIKELY(place != NULL)) write_birth(place, event, block, size, alignment, stack);
    }
    leave(recording);
    return place != NULL;
}

void hl_record_death(struct hl_lane *lane, uint32_t event, const void *block) {
    struct hl_recording *recording = lane->recording;
    if (HL_UNLIKELY(!recording) && !(recording = prepare(lane))) return;
    uint64_t *place = HL_LIKELY(enter(recording, lane)) ? reserve(recording, lane->index, 2) : NULL;
    if (HL_LIKELY(place != NULL)) {
        place[1] = (uintptr_t)block | (uint64_t)hl_thread.tag << HL_EVENT_ADDRESS_BITS;
        show(place, event, now());
    }
    leave(recording);
}

/* ---- what the VM does ---- */

/* A mark that no allocation makes: HL_EVENT_GC with GC.count, or another one. */
static void record_mark(uint32_t event, uint64_t value) {
    struct hl_thread *thread = &hl_thread;
    if (!hl_recording() || thread->busy || !hl_gate.open) return;
    const int saved = errno;
    hl_guard_enter(thread);
    struct hl_lane *own = hl_lifecycle_lane(thread), *lane = own ? own : hl_lane_shared_lock();
    struct hl_recording *recording = lane && (lane->recording || prepare(lane)) ? lane->recording : NULL;
    if (recording) {
        if (enter(recording, lane)) {
            if (event == HL_EVENT_GC)
                tell_gc(recording, lane->index, value);
            else
                tell(recording, lane->index, event, value);
        }
        leave(recording);
    }
    if (!own) hl_lane_shared_unlock();
    hl_guard_leave(thread);
    errno = saved;
}

void hl_recorder_gc_begins(void) {
    record_mark(HL_EVENT_GC, hl_gc_count());
}

void hl_recorder_gc(uint32_t event) {
    record_mark(event, 0);
}

void hl_recorder_ruby_heap(uint64_t bytes) {
    record_mark(HL_EVENT_RUBY_HEAP, bytes);
}

/* ---- objects ---- */

static void tell_class(struct hl_recording *recording, uint32_t lane, uint32_t class, uint32_t fresh) {
    const struct hl_object_class *known = hl_object_class(class);
    size_t length;
    const char *name = known && known->name ? hl_flight_text(known->name, &length) : NULL;
    const uint64_t string = name ? hl_tree_string(name, length) : 0;
    uint64_t *place = reserve(recording, lane, 3);
    if (!place) return;
    told[class] = recordings;
    place[1] = class;
    place[2] = (known ? known->type : 0) | fresh | string << 32;
    show(place, HL_EVENT_CLASS, now());
}

HL_COLD static void tell_fresh_class(struct hl_recording *recording, uint32_t lane, uint32_t class) {
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    if (!told) told = hl_own_memory(HL_OBJECT_CLASSES_MAX * sizeof(*told));
    if (told) tell_class(recording, lane, class, HL_EVENT_FRESH_CLASS);
    hl_guard_leave(&hl_thread);
    errno = saved;
}

void hl_record_object(struct hl_lane *lane, uintptr_t object, uint32_t bytes, uint32_t class, uintptr_t caller,
                      int with_ruby) {
    struct hl_recording *recording = lane->recording;
    if (HL_UNLIKELY(!recording) && !(recording = prepare(lane))) return;
    if (HL_LIKELY(enter(recording, lane))) {
        const uint16_t tag = hl_thread.tag;
        if (HL_UNLIKELY(!told || told[class] != recordings)) tell_fresh_class(recording, lane->index, class);
        if (HL_UNLIKELY(tag && !hl_load32(&hl_ring.tags[tag]))) tell_tag(tag);
        const uint64_t stack = hl_call_stack_here(&recording->stack, lane, caller, with_ruby ? HL_NO_C_FRAMES : 0);
        uint64_t *place = reserve(recording, lane->index, 3);
        if (HL_LIKELY(place != NULL)) {
            place[1] = object | (uint64_t)tag << HL_EVENT_ADDRESS_BITS;
            place[2] = bytes | (uint64_t) class << HL_EVENT_CLASS_SHIFT | stack << HL_EVENT_STACK_SHIFT;
            show(place, HL_EVENT_OBJECT, now());
        }
    }
    leave(recording);
}

void hl_record_object_freed(uintptr_t object) {
    struct hl_lane *lane = hl_thread.lane;
    struct hl_recording *recording = lane ? lane->recording : NULL;
    if (HL_UNLIKELY(!recording)) {
        record_mark(HL_EVENT_OBJECT_FREED, object);
        return;
    }
    if (HL_LIKELY(enter(recording, lane))) tell(recording, lane->index, HL_EVENT_OBJECT_FREED, object);
    leave(recording);
}

/* With the guard entered. */
static void tell_two(uint32_t event, uint64_t one, uint64_t other) {
    struct hl_lane *own = hl_lifecycle_lane(&hl_thread), *lane = own ? own : hl_lane_shared_lock();
    struct hl_recording *recording = lane && (lane->recording || prepare(lane)) ? lane->recording : NULL;
    if (recording) {
        if (enter(recording, lane)) {
            if (event == HL_EVENT_CLASS) {
                tell_class(recording, lane->index, (uint32_t)one, 0);
            } else {
                uint64_t *place = reserve(recording, lane->index, 3);
                if (place) {
                    place[1] = one;
                    place[2] = other;
                    show(place, event, now());
                }
            }
        }
        leave(recording);
    }
    if (!own) hl_lane_shared_unlock();
}

void hl_record_object_moved(uintptr_t from, uintptr_t to, uint32_t bytes) {
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    tell_two(HL_EVENT_OBJECT_MOVED, from, to | (uint64_t)bytes << HL_EVENT_ADDRESS_BITS);
    hl_guard_leave(&hl_thread);
    errno = saved;
}

void hl_record_class_named(uint32_t class) {
    if (hl_recording() && told && told[class] == recordings) tell_two(HL_EVENT_CLASS, class, 0);
}

void hl_record_class_gone(uint32_t class) {
    if (told) told[class] = 0;
}

/* ---- mappings ---- */

static void write_end_of_mapping(struct hl_lane *lane, uint32_t event, uintptr_t address, size_t size) {
    struct hl_recording *recording = lane->recording;
    if (!recording && !(recording = prepare(lane))) return;
    uint64_t *place = enter(recording, lane) ? reserve(recording, lane->index, 3) : NULL;
    if (place) {
        place[1] = address;
        place[2] = size;
        show(place, event, now());
    }
    leave(recording);
}

/* An end of one (`size` 0: none), then a mapping (NULL: none). heapline's own are none of the program's. */
static void record_mapping(uint32_t ended, uintptr_t address, size_t size, uint32_t event,
                           const struct hl_mapped *mapping) {
    struct hl_thread *thread = &hl_thread;
    if (thread->busy || thread->quiet || !hl_gate.open) return;
    const int saved = errno;
    hl_guard_enter(thread);
    struct hl_lane *own = hl_lifecycle_lane(thread), *lane = own ? own : hl_lane_shared_lock();
    if (lane && size) write_end_of_mapping(lane, ended, address, size);
    if (lane && mapping)
        hl_record_birth(lane, event, (const void *)mapping->address, mapping->size, 0, mapping->caller,
                        !thread->starting && !thread->exiting);
    if (!own) hl_lane_shared_unlock();
    hl_guard_leave(thread);
    errno = saved;
}

void hl_recorder_mapped(const struct hl_mapped *mapping) {
    record_mapping(0, 0, 0, HL_EVENT_MMAP, mapping);
}

void hl_recorder_unmapping(uintptr_t address, size_t size) {
    record_mapping(HL_EVENT_MUNMAP, address, size, 0, NULL);
}

void hl_recorder_remapped(uintptr_t address, size_t size, const struct hl_mapped *mapping) {
    record_mapping(HL_EVENT_MREMAP_FROM, address, size, HL_EVENT_MREMAP, mapping);
}

/* ---- begin and end ---- */

void hl_recorder_thread_ends(struct hl_lane *lane) {
    struct hl_recording *recording = lane->recording;
    if (!recording || recording->number != recordings) return;
    if (enter(recording, lane)) tell_thread(recording, lane->index, HL_EVENT_THREAD_END);
    recording->owner = 0;
    leave(recording);
}

static void describe(void) {
    struct hl_ring_header *header = hl_ring.header;
    const struct hl_flight_header *flight = hl_flight.header;
    memcpy(header->ruby, flight->ruby, sizeof(header->ruby));
    memcpy(header->allocator, flight->allocator, sizeof(header->allocator));
    memcpy(header->command, flight->command, sizeof(header->command));
    header->command_length = flight->command_length;
    use_tsc = (uint32_t)tsc_is_steady();
    header->state = HL_RING_RECORDING;
    header->pid = (uint32_t)getpid();
    header->clock = use_tsc ? HL_CLOCK_TSC : HL_CLOCK_NS;
    header->start_ns = nanoseconds(CLOCK_MONOTONIC);
    header->start = now();
    header->start_wall_ns = nanoseconds(CLOCK_REALTIME);
    header->generation = hl_load64(&hl_flight.header->gc_count);
    header->ruby_heap = hl_heap_pages_bytes();
    generation = header->generation;
    gave_up_at = 0;
}

/* All threads see that the recording is over, and none is in the middle of an event; 0 where one stays there. */
static int wait_for_writers(void) {
    uint32_t writing = 0;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0)) {
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0);
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0);
    }
    for (uint32_t i = 0, step = 0; i < HL_LANES && step < QUIET_STEPS; i++) {
        const struct hl_recording *part = __atomic_load_n(&parts[i], __ATOMIC_ACQUIRE);
        while (part && (writing = hl_load32(&part->writing)) && step++ < QUIET_STEPS) pause_for(QUIET_STEP_NS);
    }
    return !writing;
}

int hl_recorder_take_turn(void) {
    for (uint32_t step = 0; step < TURN_STEPS; step++) {
        if (!__atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE)) return 1;
        pause_for(QUIET_STEP_NS);
    }
    return 0;
}

void hl_recorder_end_turn(void) {
    __atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
}

int hl_recorder_start(struct hl_record_wish wish) {
    if (hl_recorder.on && drain_is_gone()) hl_recorder_stop();
    if (hl_recorder.on || (hl_ring.base && !wait_for_writers())) return -EBUSY;
    hl_ring_destroy();
    int failed = hl_ring_create();
    if (!failed && (hl_tree_create() || hl_call_stack_create(wish.native))) failed = -ENOMEM;
    if (failed) {
        hl_tree_destroy();
        hl_call_stack_destroy();
        hl_ring_destroy();
        return failed;
    }
    describe();
    wished = wish;
    hl_ring.header->asked_by = wish.drain;
    recordings++;
    hl_ring_show();
    __atomic_store_n(&hl_recorder.on, 1, __ATOMIC_SEQ_CST);
    hl_mapping_watch(HL_WATCH_RECORDING, 1);
    hl_gc_events_ask();
    return 0;
}

void hl_recorder_stop(void) {
    struct hl_ring_header *header = hl_ring.header;
    if (!header || header->state != HL_RING_RECORDING) return;
    __atomic_store_n(&hl_recorder.on, 0, __ATOMIC_SEQ_CST);
    hl_mapping_watch(HL_WATCH_RECORDING, 0);
    hl_gc_events_leave();
    const int quiet = wait_for_writers();
    header->stop = now();
    __atomic_store_n(&header->state, HL_RING_STOPPED, __ATOMIC_RELEASE);
    if (!quiet) return; /* somebody hangs in the middle of an event: what he looks at stays */
    hl_tree_destroy();
    hl_call_stack_destroy();
}

/* A ring that the drain has not seen yet would be replaced by the next program's. */
static void wait_for_drain(void) {
    for (uint64_t waited = 0; waited < EXEC_MOST_NS && !hl_load32(&hl_ring.header->drain_pid) && !drain_is_gone();
         waited += WAIT_STEP_NS)
        pause_for(WAIT_STEP_NS);
}

/* In a vfork child the ring is its parent's. */
void hl_recorder_exec(int executing) {
    struct hl_ring_header *header = hl_ring.header;
    if (!hl_recording() || header->pid != (uint32_t)getpid()) return;
    if (executing) wait_for_drain();
    __atomic_store_n(&header->state, executing ? HL_RING_EXECED : HL_RING_RECORDING, __ATOMIC_RELEASE);
}

void hl_recorder_become_child(struct hl_lane *own) {
    const int was_on = hl_recorder.on;
    hl_recorder.on = 0;
    hl_recorder_end_turn();
    hl_gc_events_become_child();
    hl_mapping_watch(HL_WATCH_RECORDING, 0);
    if (own) own->recording = NULL;
    for (uint32_t i = 0; i < HL_LANES; i++)
        if (parts[i]) parts[i]->writing = parts[i]->owner = 0;
    hl_ring_forget();
    hl_tree_destroy();
    hl_call_stack_destroy();
    if (!was_on || !wished.follow) {
        hl_gc_events_leave();
        return;
    }
    const int failed = hl_recorder_start(wished);
    if (failed) hl_say("process %d is not recorded: %s", (int)getpid(), strerror(-failed));
}
