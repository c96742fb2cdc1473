/* SPDX-License-Identifier: MIT */
#include "lane.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "errand.h"
#include "heapline_core.h"
#include "lifecycle.h"
#include "own_memory.h"

enum {
    DIRECTORY_PAGES = HL_COUNT_PAGES * sizeof(uint32_t) / HL_PAGE_SIZE,
    OLD_DIRECTORY_PAGES = 1,
    /* When each generation began, in milliseconds: the last 4096 exactly, all others in steps of 256. */
    CLOCK_RECENT = 4096,
    CLOCK_STEP = 256,
    CLOCK_COARSE = (HL_BIRTH_MASK + 1) / CLOCK_STEP,
};

static struct hl_lane *lanes[HL_LANES];
static uint32_t shared_lock; /* thread id of the holder; 0: free */
static uint32_t clock_recent[CLOCK_RECENT];
static uint32_t *clock_coarse;

static uint64_t no_gc_count(void) {
    return 0;
}
uint64_t (*hl_gc_count)(void) = no_gc_count;
const size_t *hl_gc_counter;

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

/* ---- the clock of generations ---- */

static uint32_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint32_t)(now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

/* All who notice a generation write about the same time; the last one wins. */
static void note_generation(uint64_t generation) {
    struct hl_flight_header *header = hl_flight.header;
    uint64_t seen = hl_load64(&header->generation);
    if (generation <= seen && hl_load32(&clock_recent[0])) return;
    uint32_t now = milliseconds();
    if (!hl_load32(&clock_recent[0])) set32(&clock_recent[0], now); /* the start, until generation 4096 begins */
    if (clock_coarse && !hl_load32(&clock_coarse[0])) set32(&clock_coarse[0], now);
    if (generation - seen > CLOCK_RECENT) seen = generation - CLOCK_RECENT;
    for (uint64_t each = seen + 1; each <= generation; each++) {
        set32(&clock_recent[each % CLOCK_RECENT], now);
        if (clock_coarse && each % CLOCK_STEP == 0) set32(&clock_coarse[each / CLOCK_STEP % CLOCK_COARSE], now);
    }
    set64(&header->generation, generation);
    set64(&header->gc_count, generation - hl_load64(&header->baseline));
}

uint32_t hl_lane_elapsed_ms(uint64_t from, uint64_t to) {
    uint32_t end = hl_load32(&clock_recent[to % CLOCK_RECENT]);
    if (to - from < CLOCK_RECENT) return end - hl_load32(&clock_recent[from % CLOCK_RECENT]);
    return clock_coarse ? end - hl_load32(&clock_coarse[from / CLOCK_STEP % CLOCK_COARSE]) : 0;
}

/* ---- owning a lane ---- */

static uint32_t *directory_of(const struct hl_lane *lane) {
    return hl_flight_page(lane->record->counts);
}

static void limit_publishing(struct hl_lane *lane) {
    lane->publish_above = lane->record->published + HL_PUBLISH_BYTES;
    lane->publish_below = lane->record->published - HL_PUBLISH_BYTES;
}

/* A thread that forks looks at other lanes' pages (hl_lane_complete_copy). */
static void know_page(struct hl_lane *lane, uint32_t index, struct hl_count *page) {
    __atomic_store_n(&lane->counts[index], page, __ATOMIC_RELEASE);
}

static struct hl_lane *prepare(uint32_t index) {
    struct hl_lane_record *record = hl_lane_record(index);
    struct hl_lane *lane = lanes[index];
    if (!record->counts) {
        uint32_t directory = hl_flight_pages(DIRECTORY_PAGES);
        uint32_t first = directory ? hl_flight_pages(1) : 0; /* the special sites' counters: never missing later */
        if (!first) return NULL;
        set32(hl_flight_page(directory), first);
        record->baseline = hl_load64(&hl_flight.header->baseline);
        __atomic_store_n(&record->counts, directory, __ATOMIC_RELEASE);
    }
    if (!lane) {
        if (!clock_coarse) clock_coarse = hl_own_memory(CLOCK_COARSE * sizeof(*clock_coarse));
        lane = hl_own_memory(sizeof(*lane));
        if (!lane) return NULL;
        hl_add_shared(&hl_flight.header->own_bytes, sizeof(*lane));
    }
    lane->index = index;
    lane->record = record;
    const uint32_t *directory = directory_of(lane);
    for (uint32_t page = 0; page < HL_COUNT_PAGES; page++)
        if (directory[page]) know_page(lane, page, hl_flight_page(directory[page]));
    limit_publishing(lane);
    lane->generation = ~0ull; /* the first operation brings it up to date */
    __atomic_store_n(&lanes[index], lane, __ATOMIC_RELEASE);
    return lane;
}

static struct hl_lane *take(uint32_t index, uint32_t expected) {
    uint32_t *owner = &hl_lane_record(index)->owner;
    if (!__atomic_compare_exchange_n(owner, &expected, thread_id(), 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return NULL;
    struct hl_lane *lane = prepare(index);
    if (!lane) __atomic_store_n(owner, 0, __ATOMIC_RELEASE);
    return lane;
}

struct hl_lane *hl_lane_acquire(void) {
    struct hl_lane *lane;
    for (uint32_t index = 0; index < HL_SHARED_LANE; index++)
        if (!hl_load32(&hl_lane_record(index)->owner) && (lane = take(index, 0))) return lane;
    /* A thread may end without running its destructors: look for owners that are gone. */
    for (uint32_t index = 0; index < HL_SHARED_LANE; index++) {
        uint32_t owner = hl_load32(&hl_lane_record(index)->owner);
        if (owner && syscall(SYS_tgkill, getpid(), owner, 0) && errno == ESRCH && (lane = take(index, owner)))
            return lane;
    }
    return NULL;
}

void hl_lane_release(struct hl_lane *lane) {
    hl_lane_publish(lane);
    __atomic_store_n(&lane->record->owner, 0, __ATOMIC_RELEASE);
}

struct hl_lane *hl_lane_shared_lock(void) {
    uint32_t free = 0;
    while (!__atomic_compare_exchange_n(&shared_lock, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        free = 0;
        sched_yield();
    }
    return lanes[HL_SHARED_LANE] ? lanes[HL_SHARED_LANE] : prepare(HL_SHARED_LANE);
}

void hl_lane_shared_unlock(void) {
    __atomic_store_n(&shared_lock, 0, __ATOMIC_RELEASE);
}

static void complete_page(const struct hl_count *counts) {
    struct hl_count copy[HL_SITES_PER_PAGE];
    if (hl_flight_read_copy(counts, copy, sizeof(copy))) return;
    for (uint32_t i = 0; i < HL_SITES_PER_PAGE; i++) {
        copy[i].allocations = hl_load64(&counts[i].allocations);
        copy[i].bytes_allocated = hl_load64(&counts[i].bytes_allocated);
    }
    hl_flight_write_copy(counts, copy, sizeof(copy));
}

void hl_lane_complete_copy(void) {
    uint32_t owners = hl_load32(&hl_lane_record(HL_SHARED_LANE)->counts) != 0;
    for (uint32_t index = 0; index < HL_SHARED_LANE; index++) owners += hl_load32(&hl_lane_record(index)->owner) != 0;
    if (owners <= 1) return;
    for (uint32_t index = 0; index < HL_LANES; index++) {
        struct hl_lane *lane = __atomic_load_n(&lanes[index], __ATOMIC_ACQUIRE);
        for (uint32_t page = 0; lane && page < HL_COUNT_PAGES; page++) {
            const struct hl_count *counts = __atomic_load_n(&lane->counts[page], __ATOMIC_ACQUIRE);
            if (counts) complete_page(counts);
        }
    }
}

/* A lane's private part may know pages that its owner got in the parent, after the flight was copied. */
static void forget(uint32_t index) {
    hl_own_memory_return(lanes[index], sizeof(*lanes[index]));
    lanes[index] = NULL;
    hl_add(&hl_flight.header->own_bytes, -sizeof(**lanes));
}

void hl_lane_after_fork_child(struct hl_lane *own) {
    shared_lock = 0;
    for (uint32_t index = 0; index < HL_LANES; index++) {
        hl_lane_record(index)->owner = 0;
        if (lanes[index] && lanes[index] != own) forget(index);
    }
    if (!own) return;
    own->record->owner = thread_id();
    limit_publishing(own);
}

/* ---- counters ---- */

/* The page behind a directory's entry, made where it is missing; NULL where there is no room. */
static void *page_behind(uint32_t *entry) {
    if (!*entry) __atomic_store_n(entry, hl_flight_pages(1), __ATOMIC_RELEASE);
    return *entry ? hl_flight_page(*entry) : NULL;
}

HL_COLD struct hl_count *hl_lane_count_slow(struct hl_lane *lane, uint32_t site) {
    const uint32_t index = site / HL_SITES_PER_PAGE;
    struct hl_count *page = page_behind(&directory_of(lane)[index]);
    if (!page) return NULL;
    know_page(lane, index, page);
    return page + site % HL_SITES_PER_PAGE;
}

/* Whether `most` was raised to `value`: it was below. */
static int raise_to(int64_t *most, int64_t value) {
    int64_t known = __atomic_load_n(most, __ATOMIC_RELAXED);
    while (value > known)
        if (__atomic_compare_exchange_n(most, &known, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return 1;
    return 0;
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

void hl_lane_totals(uint64_t *bytes_allocated, uint64_t *bytes_freed) {
    *bytes_allocated = *bytes_freed = 0;
    for (uint32_t index = 0; index < HL_LANES; index++) {
        const uint32_t place = __atomic_load_n(&hl_lane_record(index)->counts, __ATOMIC_ACQUIRE);
        const uint32_t *directory = hl_flight_page(place);
        for (uint32_t page = 0; place && page < HL_COUNT_PAGES; page++) {
            const uint32_t number = __atomic_load_n(&directory[page], __ATOMIC_ACQUIRE);
            if (!number) continue;
            const struct hl_count *counts = hl_flight_page(number);
            for (uint32_t i = 0; i < HL_SITES_PER_PAGE; i++) {
                if (page == 0 && i == HL_SITE_QUIET) continue;
                *bytes_freed += hl_load64(&counts[i].bytes_freed);
                *bytes_allocated += hl_load64(&counts[i].bytes_allocated);
            }
        }
    }
}

/* ---- baselines ---- */

/* Make one page of the base what the counts are now. Maxima do not subtract: the base keeps the greatest so far, and
 * the counts begin theirs again. */
static void rebase_page(struct hl_count *base, struct hl_count *counts) {
    for (uint32_t i = 0; i < HL_SITES_PER_PAGE; i++) {
        const uint32_t age = base[i].age_max, ms = base[i].age_ms_max;
        base[i] = counts[i];
        if (age > base[i].age_max) base[i].age_max = age;
        if (ms > base[i].age_ms_max) base[i].age_ms_max = ms;
        counts[i].age_max = counts[i].age_ms_max = 0;
    }
}

/* Make the lane's base what its counts are now, and forget the old blocks counted against the baseline before. */
static void rebase(struct hl_lane *lane, uint64_t baseline) {
    struct hl_lane_record *record = lane->record;
    if (!record->base) record->base = hl_flight_pages(DIRECTORY_PAGES);
    uint32_t *base = record->base ? hl_flight_page(record->base) : NULL;
    for (uint32_t page = 0; base && page < HL_COUNT_PAGES; page++) {
        if (!lane->counts[page]) continue;
        struct hl_count *copy = page_behind(&base[page]);
        if (copy) rebase_page(copy, lane->counts[page]);
    }
    uint32_t *old = record->old ? hl_flight_page(record->old) : NULL;
    for (uint32_t page = 0; old && page < HL_SITES_MAX / HL_OLD_PER_PAGE; page++)
        if (old[page]) memset(hl_flight_page(old[page]), 0, HL_PAGE_SIZE);
    __atomic_store_n(&record->baseline, baseline, __ATOMIC_RELEASE);
}

void hl_lane_count_old(struct hl_lane *lane, uint32_t site, size_t size) {
    struct hl_lane_record *record = lane->record;
    if (!record->old) record->old = hl_flight_pages(OLD_DIRECTORY_PAGES);
    uint32_t *directory = record->old ? hl_flight_page(record->old) : NULL;
    struct hl_old *page = directory ? page_behind(&directory[site / HL_OLD_PER_PAGE]) : NULL;
    if (!page) return;
    hl_add(&page[site % HL_OLD_PER_PAGE].frees, 1);
    hl_add(&page[site % HL_OLD_PER_PAGE].bytes_freed, size);
}

uint64_t hl_lane_baseline(uint32_t kind) {
    struct hl_flight_header *header = hl_flight.header;
    set32(&header->baseline_kind, kind);
    set64(&header->baseline_ns, hl_flight_now());
    /* The number is part of the generation: blocks counted after it are born at this one or later. */
    set64(&header->baseline_generation, hl_generation() + 1);
    return __atomic_add_fetch(&header->baseline, 1, __ATOMIC_SEQ_CST);
}

/* The word that was taken for GC.count must go on being it. A GC elsewhere may come between two reads. */
static void check_gc_counter(void) {
    const size_t *counter = hl_gc_counter;
    if (!counter) return;
    const uint64_t before = *counter, count = hl_gc_count();
    if (count < before || count > *(const volatile size_t *)counter) hl_gc_counter = NULL;
}

HL_COLD void hl_lane_turn(struct hl_lane *lane, uint64_t generation) {
    struct hl_flight_header *header = hl_flight.header;
    int saved = errno;
    hl_guard_enter(&hl_thread);
    uint32_t request = __atomic_exchange_n(&header->request, 0, __ATOMIC_ACQ_REL);
    if (request & HL_REQUEST_ERRANDS) hl_errand_ask(request & HL_REQUEST_ERRANDS);
    if (request & HL_REQUEST_RECORD_END) hl_lifecycle_record(HEAPLINE_RECORD_END);
    if (request & (HL_REQUEST_RECORD | HL_REQUEST_RECORD_NATIVE)) {
        header->record_problem =
            hl_lifecycle_record(request & HL_REQUEST_RECORD_NATIVE ? HEAPLINE_RECORD_NATIVE : HEAPLINE_RECORD_BEGIN);
        __atomic_fetch_add(&header->answered, 1, __ATOMIC_RELEASE);
    }
    if (request & HL_REQUEST_BASELINE) {
        hl_lane_baseline(HL_BASELINE_CLEAR);
        __atomic_fetch_add(&header->answered, 1, __ATOMIC_RELEASE);
        generation = hl_generation();
    }
    check_gc_counter();
    note_generation(generation);
    const uint64_t baseline = hl_load64(&header->baseline);
    if (lane->record->baseline != baseline) rebase(lane, baseline);
    lane->generation = generation;
    hl_guard_leave(&hl_thread);
    errno = saved;
}
