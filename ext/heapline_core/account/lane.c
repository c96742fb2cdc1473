/* SPDX-License-Identifier: MIT */
#include "account/lane.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "account/inheritance.h"
#include "flight/site_table.h"
#include "heapline_core.h"
#include "platform/own_memory.h"
#include "platform/own_process.h"
#include "platform/system_call.h"

enum {
    LOOKS = 2,                /* at owners that may be gone, for each lane that is made */
    OUTSIDE_NS = 1000 * 1000, /* of processor time: no thread counts so long at one call */
    OUTSIDE_LOOK_NS = 300 * 1000,
};
static const uint64_t OUTSIDE_MOST_NS = 2ull * 1000 * 1000 * 1000;

void (*hl_lane_asked)(void);
uint32_t hl_lanes_at_most_slots;
static struct hl_lane *newest;    /* of all lanes */
static struct hl_lane *of_parent; /* of its lanes at the fork */
static struct hl_lane *shared;
static const struct hl_thread *shared_holder; /* NULL: free */
static void (*rests)(void);                   /* any thread may take over */

static uint32_t thread_id(void) {
    return (uint32_t)syscall(SYS_gettid);
}

/* Words that threads write without order among them: any one's value will do, half of one will not. */
static void set32(uint32_t *word, uint32_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static void set64(uint64_t *word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/* ---- making lanes ---- */

/* All that a new lane has in private memory. */
struct fresh_lane {
    struct hl_lane lane;
    struct hl_lane_tables tables;
    char locations[sizeof(struct hl_location_slots) +
                   HL_LOCATION_SLOTS_LEAST * sizeof(struct hl_location_slot)] HL_LINE_ALIGNED;
};

static void limit_publishing(struct hl_lane *lane) {
    lane->publish_above = lane->record->published + HL_PUBLISH_BYTES;
    lane->publish_below = lane->record->published - HL_PUBLISH_BYTES;
}

/* Its counters begin with a chunk at `chunk`. */
static void begin_lane(struct fresh_lane *fresh, struct hl_lane_record *record, hl_cell_ref chunk) {
    struct hl_lane *lane = &fresh->lane;
    lane->locations = (struct hl_location_slots *)fresh->locations;
    lane->locations->last = (HL_LOCATION_SLOTS_LEAST - 1) * sizeof(struct hl_location_slot);
    lane->record = record;
    lane->clock = ~0ull; /* the first operation brings it up to date */
    lane->settled = HL_NEVER_SETTLED;
    hl_lane_add_up(lane);
    limit_publishing(lane);
    hl_lane_counts_create(&lane->counts, record, chunk, &fresh->tables);
}

static struct hl_lane_record *last_record; /* or one before it */

/* Put the record behind the last one: where its link leads to none, whatever it says (L4). */
static void show_record(struct hl_lane_record *record, hl_cell_ref place) {
    struct hl_lane_record *last = __atomic_load_n(&last_record, __ATOMIC_ACQUIRE), *next;
    hl_cell_ref *link, none;
    do {
        link = last ? &last->next : &hl_flight.header->lanes;
        for (; none = __atomic_load_n(link, __ATOMIC_ACQUIRE), (next = hl_lane_record_after(last)); link = &last->next)
            last = next;
        record->number = last ? last->number + 1 : 0;
    } while (!__atomic_compare_exchange_n(link, &none, place, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    __atomic_store_n(&last_record, record, __ATOMIC_RELEASE);
}

/* A lane for `owner`, whose record and first chunk come to lie at `place`; NULL where there is no memory. */
static struct hl_lane *make(uint32_t owner, hl_cell_ref place) {
    struct hl_lane_record *record = hl_flight_cell(place);
    struct fresh_lane *fresh = hl_own_piece(sizeof(*fresh));
    if (!fresh) return NULL;
    begin_lane(fresh, record, place + 1);
    record->owner = owner;
    show_record(record, place);
    hl_add_shared(&hl_flight.header->own_bytes, sizeof(*fresh));
    struct hl_lane *lane = &fresh->lane;
    lane->made_before = __atomic_load_n(&newest, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&newest, &lane->made_before, lane, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return lane;
}

/* For a record and a first chunk; what was not needed serves the next lane. */
static hl_cell_ref spare_place;

static hl_cell_ref take_place(void) {
    const hl_cell_ref spare = __atomic_exchange_n(&spare_place, 0, __ATOMIC_RELAXED);
    return spare ? spare : hl_flight_cells(1 + hl_chunk_cells(HL_CHUNK_LEAST));
}

int hl_lane_create(void) {
    const hl_cell_ref place = take_place();
    shared = place ? make(0, place) : NULL;
    return shared ? 0 : -ENOMEM;
}

struct hl_lane *hl_lane_newest(void) {
    return __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
}

void hl_lane_each_chunk(void (*see)(const struct hl_lane_chunk *chunk)) {
    for (const struct hl_lane *lane = of_parent; lane; lane = lane->made_before)
        for (uint32_t i = 0; i < lane->counts.chunk_count; i++) see(&lane->counts.chunks[i]);
}

/* ---- owning a lane ---- */

/* Lanes that were left: the address of the first one / 64, and above it how often the list was changed, so that a
 * change that another thread's change has overtaken fails. */
static uint64_t free_lanes;
enum { ADDRESS_BITS = 42 };
_Static_assert(HL_CELL_SIZE == 64, "pieces are aligned so (hl_own_piece)");

static struct hl_lane *first_free(uint64_t list) {
    return (struct hl_lane *)((list & ((1ull << ADDRESS_BITS) - 1)) * 64);
}

static uint64_t list_of(uint64_t before, const struct hl_lane *first) {
    return ((before >> ADDRESS_BITS) + 1) << ADDRESS_BITS | (uintptr_t)first / 64;
}

static void leave(struct hl_lane *lane) {
    uint64_t list = hl_load64(&free_lanes);
    do __atomic_store_n(&lane->next_free, first_free(list), __ATOMIC_RELAXED);
    while (
        !__atomic_compare_exchange_n(&free_lanes, &list, list_of(list, lane), 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static struct hl_lane *take_free(void) {
    uint64_t list = __atomic_load_n(&free_lanes, __ATOMIC_ACQUIRE);
    for (;;) {
        struct hl_lane *lane = first_free(list);
        if (!lane) return NULL;
        const struct hl_lane *next = __atomic_load_n(&lane->next_free, __ATOMIC_RELAXED);
        if (__atomic_compare_exchange_n(&free_lanes, &list, list_of(list, next), 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
            return lane;
    }
}

/* The next lane of those before `*cursor`, which moves on; NULL at the end. */
static struct hl_lane *next_of(struct hl_lane **cursor) {
    struct hl_lane *lane = __atomic_load_n(cursor, __ATOMIC_ACQUIRE);
    while (lane &&
           !__atomic_compare_exchange_n(cursor, &lane, lane->made_before, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
        ;
    return lane;
}

static struct hl_lane *looked_at; /* in take_from_the_dead: the lanes before it are next */

/* A thread may end without running its destructors. */
static struct hl_lane *take_from_the_dead(uint32_t owner) {
    for (int look = 0; look < LOOKS; look++) {
        struct hl_lane *lane = next_of(&looked_at);
        if (!lane) {
            __atomic_store_n(&looked_at, hl_lane_newest(), __ATOMIC_RELEASE);
            continue;
        }
        uint32_t known = hl_load32(&lane->record->owner);
        if (!known || !syscall(SYS_tgkill, getpid(), known, 0) || errno != ESRCH) continue;
        if (__atomic_compare_exchange_n(&lane->record->owner, &known, owner, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return lane;
    }
    return NULL;
}

static struct hl_lane *take_or_make(uint32_t owner) {
    const hl_cell_ref place = take_place();
    if (!place) return NULL;
    struct hl_lane *dead = take_from_the_dead(owner), *lane = dead ? dead : make(owner, place);
    if (dead || !lane) __atomic_store_n(&spare_place, place, __ATOMIC_RELAXED);
    return lane;
}

struct hl_lane *hl_lane_acquire(void) {
    const uint32_t owner = thread_id();
    struct hl_lane *lane = take_free();
    if (!lane) return take_or_make(owner);
    set32(&lane->record->owner, owner);
    return lane;
}

void hl_lane_release(struct hl_lane *lane) {
    hl_lane_publish(lane);
    set32(&lane->record->owner, 0);
    leave(lane);
}

struct hl_lane *hl_lane_shared_lock(void) {
    const struct hl_thread *holder = NULL;
    while (!__atomic_compare_exchange_n(&shared_holder, &holder, &hl_thread, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        if (holder == &hl_thread) return NULL;
        holder = NULL;
        sched_yield();
    }
    return shared;
}

static pthread_key_t end_key;
static int end_key_made;

void hl_lane_call_at_end(void (*ends)(void *lane)) {
    end_key_made = pthread_key_create(&end_key, ends) == 0;
}

struct hl_lane *hl_lane_own(struct hl_thread *thread) {
    if (thread->own || thread->exiting) return thread->own;
    thread->own = hl_lane_acquire();
    thread->ec = NULL; /* proven under another lane, or none (K2) */
    if (thread->own && end_key_made) pthread_setspecific(end_key, thread->own);
    return thread->own;
}

struct hl_stay hl_lane_enter(struct hl_thread *thread) {
    const int saved = hl_guard_enter(thread);
    struct hl_lane *own = hl_lane_own(thread);
    return (struct hl_stay){own ? own : hl_lane_shared_lock(), saved};
}

void hl_lane_leave(struct hl_thread *thread, struct hl_stay stay) {
    if (stay.lane && stay.lane != thread->own) hl_lane_shared_unlock();
    hl_guard_leave(thread, stay.saved);
}

int hl_lane_is_shared(const struct hl_lane *lane) {
    return lane == shared;
}

void hl_lane_shared_unlock(void) {
    __atomic_store_n(&shared_holder, NULL, __ATOMIC_RELEASE);
}

void hl_lane_stop(struct hl_lane *own) {
    hl_lane_counts_stop(&shared->counts, &((struct fresh_lane *)shared)->tables);
    if (own) hl_lane_counts_stop(&own->counts, &((struct fresh_lane *)own)->tables);
}

/* Whether `most` was raised to `value`: it was below. */
static int raise_to(int64_t *most, int64_t value) {
    int64_t known = __atomic_load_n(most, __ATOMIC_RELAXED);
    while (value > known)
        if (__atomic_compare_exchange_n(most, &known, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return 1;
    return 0;
}

/* Its parent's live bytes at the fork, as far as they were published: in the header, until the record is there. */
static int64_t live_then;

/* The lanes of other threads stay behind: their memory is the parent's too. So does what the parent's thread had, which
 * tells what it counted. */
int hl_lane_after_fork_child(struct hl_thread *thread) {
    const int owned = thread->own != NULL;
    shared_holder = NULL;
    free_lanes = 0;
    hl_lanes_at_most_slots = 0;
    hl_flight_cells_become_child();
    spare_place = 0;
    last_record = NULL;
    struct hl_lane **last = &newest;
    while (*last) last = &(*last)->made_before;
    *last = of_parent; /* where that had not taken over itself */
    of_parent = newest;
    newest = looked_at = NULL;
    thread->own = NULL;
    live_then = hl_flight.header->live_bytes;
    set64(&hl_flight.header->baseline, hl_baseline());
    const int failed = hl_lane_create();
    if (!failed && owned) hl_lane_own(thread);
    return failed;
}

/* It has no owner: only its record is there. */
void hl_lane_show_inherited(hl_cell_ref place) {
    struct hl_flight_header *header = hl_flight.header;
    struct hl_lane_record *record = hl_flight_cell(place);
    show_record(record, place);
    const int64_t live = __atomic_add_fetch(&header->live_bytes, record->live - live_then, __ATOMIC_RELAXED);
    raise_to(&header->peak_bytes, live);
    of_parent = NULL;
}

/* ---- live bytes ---- */

void hl_lane_lose(uint32_t site, size_t size) {
    hl_add_shared(&hl_flight.header->counts_lost, 1);
    if (site != HL_SITE_QUIET) hl_add_shared(&hl_flight.header->bytes_lost, size);
}

/* The most that was live at a time since hl_lane_restart_peak. In this process's memory: who asks is in it. */
static int64_t peak_since;

void hl_lane_publish(struct hl_lane *lane) {
    struct hl_lane_record *record = lane->record;
    struct hl_flight_header *header = hl_flight.header;
    const int64_t change = record->live - record->published;
    const int64_t before = __atomic_fetch_add(&header->live_bytes, change, __ATOMIC_RELAXED);
    const int64_t high = before + (record->high - record->published);
    record->published = record->high = record->live;
    limit_publishing(lane);
    raise_to(&peak_since, high);
    if (raise_to(&header->peak_bytes, high)) set64(&header->peak_ns, hl_flight_now());
}

int64_t hl_lane_restart_peak(struct hl_lane *own, int64_t *live) {
    if (own) hl_lane_publish(own);
    *live = __atomic_load_n(&hl_flight.header->live_bytes, __ATOMIC_RELAXED);
    const int64_t peak = __atomic_exchange_n(&peak_since, *live, __ATOMIC_RELAXED);
    return peak > *live ? peak : *live;
}

static void add_chunk(struct hl_count_chunk *chunk, uint64_t *bytes_allocated, uint64_t *bytes_freed) {
    const uint32_t used = hl_chunk_used(chunk);
    const struct hl_count *counts = hl_chunk_counts(chunk);
    for (uint32_t i = 0; i < used; i++) {
        if (chunk->sites[i] == HL_SITE_QUIET) continue;
        *bytes_freed += hl_load64(&counts[i].bytes_freed);
        *bytes_allocated += hl_load64(&counts[i].bytes_allocated);
    }
}

void hl_lane_totals(uint64_t *bytes_allocated, uint64_t *bytes_freed) {
    *bytes_allocated = *bytes_freed = 0;
    for (const struct hl_lane_record *record = NULL; (record = hl_lane_record_after(record));) {
        struct hl_count_chunk *chunk = NULL;
        while ((chunk = hl_chunk_after(record, chunk))) add_chunk(chunk, bytes_allocated, bytes_freed);
    }
}

/* ---- baselines ---- */

uint64_t hl_lane_baseline(uint32_t kind) {
    struct hl_flight_header *header = hl_flight.header;
    set32(&header->baseline_kind, kind);
    set64(&header->baseline_ns, hl_flight_now());
    /* The number is part of the generation: blocks counted after it are born at this one or later. */
    const uint64_t generation = hl_generation() + 1;
    set64(&header->baseline_generation, generation);
    hl_birth_begin_baseline(generation, hl_birth_ms());
    set64(&header->baseline, hl_baseline() + 1);
    return (uint32_t)__atomic_add_fetch(&hl_epochs, 1, __ATOMIC_SEQ_CST);
}

/* ---- counting begins once more ---- */

/* A thread's processor time; 0: there is no such thread. clock_getcpuclockid(3) makes the number of the clock like this
 * of a process; bit 2 says that it is of a thread. */
static uint64_t ran_ns(uint32_t thread) {
    enum { SCHEDULED = 2, OF_THREAD = 4 };
    return hl_clock_ns((clockid_t)(~thread << 3 | OF_THREAD | SCHEDULED));
}

/* Nothing that counts sleeps; what waits for a lock of heapline's, or a processor, does not sleep either. */
static int is_outside(const struct hl_lane *lane) {
    const uint32_t owner = hl_load32(&lane->record->owner);
    if (!owner || owner == thread_id()) return 1;
    const uint64_t ran = ran_ns(owner);
    if (!ran || ran - lane->ran_ns >= OUTSIDE_NS) return 1;
    const char state = hl_thread_state(owner);
    return state != 'R' && state != 'D' && state != 'T' && state != 't';
}

int hl_lane_wait_for_all(void) {
    const struct timespec look = {.tv_nsec = OUTSIDE_LOOK_NS};
    const uint64_t limit = hl_clock_ns(CLOCK_MONOTONIC) + OUTSIDE_MOST_NS;
    for (struct hl_lane *lane = hl_lane_newest(); lane; lane = lane->made_before)
        lane->ran_ns = ran_ns(hl_load32(&lane->record->owner));
    nanosleep(&look, NULL);
    for (const struct hl_lane *lane = hl_lane_newest(); lane; lane = lane->made_before)
        for (; !is_outside(lane); nanosleep(&look, NULL))
            if (hl_clock_ns(CLOCK_MONOTONIC) > limit) return -EAGAIN;
    hl_lane_shared_lock();
    hl_lane_shared_unlock();
    return 0;
}

void hl_lane_count_large_slow(int64_t bytes, uint32_t site) {
    struct hl_flight_header *header = hl_flight.header;
    __atomic_fetch_add(&header->large_bytes, bytes, __ATOMIC_RELAXED);
    if (hl_site_record(site)->kind == HL_KIND_RUBY)
        __atomic_fetch_add(&header->large_ruby_bytes, bytes, __ATOMIC_RELAXED);
}

/* By the records: what was inherited has no lane (show_inherited). */
static void wipe_record(struct hl_lane_record *record) {
    for (struct hl_count_chunk *chunk = NULL; (chunk = hl_chunk_after(record, chunk));)
        memset(hl_chunk_counts(chunk), 0, chunk->capacity * sizeof(struct hl_count));
    record->live = record->high = record->published = 0;
}

void hl_lane_begin_again(void) {
    struct hl_flight_header *header = hl_flight.header;
    for (struct hl_lane_record *record = NULL; (record = hl_lane_record_after(record));) wipe_record(record);
    for (struct hl_lane *lane = hl_lane_newest(); lane; lane = lane->made_before) {
        hl_lane_counts_wipe_bases(&lane->counts);
        limit_publishing(lane);
    }
    header->live_bytes = header->peak_bytes = header->large_bytes = header->large_ruby_bytes = peak_since = 0;
    header->peak_ns = header->counts_lost = header->bytes_lost = 0;
    hl_lane_baseline(HL_BASELINE_START);
}

/* The word that was taken for GC.count must go on being it. A GC elsewhere may come between two reads. */
static void check_gc_counter(void) {
    const size_t *counter = hl_gc_counter;
    if (counter == &hl_gc_counter_unknown) return;
    const uint64_t before = *counter, count = hl_gc_count();
    if (count < before || count > *(const volatile size_t *)counter) hl_gc_counter = &hl_gc_counter_unknown;
}

static void show_generation(struct hl_flight_header *header, uint64_t generation) {
    if (generation <= hl_load64(&header->generation)) return;
    set64(&header->generation, generation);
    set64(&header->gc_count, generation - hl_baseline());
}

/* Half of what is known, so that no other thread can have begun as many ticks since; tick 0 has no beginning noted. */
static uint32_t ticks_known(uint32_t birth) {
    const uint32_t baseline = hl_load32(&hl_birth_baseline), oldest = baseline ? baseline : 1;
    const uint32_t ticks = birth > oldest ? birth - oldest : 0;
    return ticks < HL_BIRTHS_RECENT / 2 ? ticks : HL_BIRTHS_RECENT / 2;
}

void hl_lane_rest(void (*in_each_turn)(void)) {
    __atomic_store_n(&rests, in_each_turn, __ATOMIC_RELEASE);
}

int hl_lane_rests(void) {
    return __atomic_load_n(&rests, __ATOMIC_ACQUIRE) != NULL;
}

HL_COLD void hl_lane_turn(struct hl_lane *lane, uint64_t clock) {
    struct hl_flight_header *header = hl_flight.header;
    const int saved = hl_guard_enter(&hl_thread);
    if (hl_load32(&header->request) && hl_lane_asked) {
        hl_lane_asked();
        clock = hl_clock();
    }
    void (*const rest)(void) = __atomic_load_n(&rests, __ATOMIC_ACQUIRE);
    if (rest) rest();
    check_gc_counter();
    const uint64_t epochs = __atomic_load_n(&hl_epochs, __ATOMIC_ACQUIRE);
    const uint64_t generation = hl_gc_count_now() + (uint32_t)epochs;
    show_generation(header, generation);
    if (lane->counts.epochs != epochs) {
        hl_lane_counts_turn(&lane->counts, epochs);
        hl_location_clear(lane->locations); /* each site misses once (M1) */
    }
    lane->birth = hl_birth_tick(generation, hl_birth_ms());
    lane->birth_bits = (uint64_t)lane->birth << HL_BIRTH_SHIFT;
    lane->born_ms = hl_birth_time(lane->birth);
    lane->ecs.require = lane->ecs.other = 0;
    lane->ticks_known = ticks_known(lane->birth);
    lane->generation = generation;
    lane->clock = clock;
    hl_lane_add_up(lane);
    hl_inheritance_tend();
    hl_guard_leave(&hl_thread, saved);
}
