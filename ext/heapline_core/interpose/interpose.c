/* SPDX-License-Identifier: MIT */
/*
 * The malloc family as the program calls it.
 *
 * Gate open: forward, then count (birth), or count, then forward (death). Gate closed: boot, forward, or a child that
 * must first get a flight file of its own. Functions reached from here are lane.h (counting) and location.h (where).
 * While blocks are kept, each has a tail and a mark besides (block_map.h); while a recording goes on, each call is an
 * event besides (recorder.h). Both go the way of the closed gate, so that the hot path tests nothing more.
 *
 * I1  errno and results are what the allocator below gave.
 * I2  A block is counted before the program gets it, its free before the allocator gets it back.
 * I3  realloc moves the record only after success; the old trailer is read before and put back on failure.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "account/lane.h"
#include "account/location.h"
#include "allocator/family.h"
#include "allocator/real_malloc.h"
#include "flight/elders.h"
#include "flight/flight.h"
#include "flight/site_table.h"
#include "interpose/below.h"
#include "interpose/interpose.h"
#include "interpose/short_way.h"
#include "leaks/ruby_stack.h"
#include "lifecycle/lifecycle.h"
#include "record/recorder.h"
#include "state/block_map.h"
#include "state/guard.h"
#include "state/trailer.h"
#include "vm/native_stack.h"

/* What is done besides counting. */
struct way {
    uint32_t tail;    /* bytes behind the trailer; 0: blocks are not kept */
    uint32_t event;   /* enum hl_event of the function that was called; HL_EVENT_NONE: nothing is recorded */
    size_t alignment; /* that was asked for, for the event */
};

/* Nothing: known when the hot path is compiled. */
HL_INLINE struct way hot(void) {
    return (struct way){0, HL_EVENT_NONE, 0};
}

HL_INLINE struct way slow(uint32_t event) {
    return (struct way){hl_block_tail_size, hl_recording() ? event : HL_EVENT_NONE, 0};
}

/* Is more done than counting, which goes the short way first? */
HL_INLINE int is_short(struct way way) {
    return (way.event || way.tail) && HL_LIKELY(hl_real_chunked);
}

/* Room for the trailer and the tail; a size that leaves none is passed on as it is, to fail as it would. */
HL_INLINE size_t padded(size_t size, size_t tail) {
    return HL_LIKELY(size <= PTRDIFF_MAX - HL_TRAILER_SIZE - tail) ? size + HL_TRAILER_SIZE + tail : size;
}

/* The block's usable size without its tail: there its trailer ends. */
HL_INLINE size_t usable_of(void *block, size_t tail) {
    const size_t usable = hl_real_usable(block);
    return HL_LIKELY(usable >= tail) ? usable - tail : 0;
}

/* A block without a trailer goes after a late start: it is older, or it was never counted. */
HL_COLD static void older_goes(const void *block, size_t usable) {
    struct hl_flight_header *header = hl_flight.header;
    if (hl_elder_goes(block)) hl_location_forget(block, usable);
    if (hl_thread.busy) return; /* heapline's own (G2) */
    hl_add_shared(&header->older_frees, 1);
    hl_add_shared(&header->older_bytes_freed, usable);
}

/* ---- birth and death off the hot path: quiet, starting or ending threads, threads without a lane ---- */

/* These return whether the event that the way demands was recorded. */
HL_COLD static int birth_slow(struct hl_thread *thread, void *block, size_t usable, size_t size, uintptr_t caller,
                              struct way way) {
    int recorded = 0;
    if (thread->busy) return 0; /* heapline's own (G2) */
    const struct hl_stay stay = hl_lane_enter(thread);
    struct hl_lane *lane = stay.lane;
    if (lane) {
        hl_lane_follow_and_answer(lane);
        uint32_t site = HL_SITE_QUIET;
        if (!thread->quiet && thread->exiting)
            site = HL_SITE_EXITING;
        else if (!thread->quiet)
            site = hl_locate_slow(lane, caller, thread->starting ? 0 : HL_LOCATE_RUBY);
        hl_lane_birth(lane, block, usable, size, hl_lane_place(lane, site), site == HL_SITE_QUIET);
        if (way.event && site != HL_SITE_QUIET)
            recorded = hl_record_birth(lane, way.event, block, size, way.alignment, caller,
                                       !thread->starting && !thread->exiting);
    }
    hl_lane_leave(thread, stay);
    return recorded;
}

HL_COLD static void death_slow(struct hl_thread *thread, struct hl_trailer trailer) {
    if (thread->busy && !thread->own) { /* the shared lane's lock may be this very thread's */
        hl_lane_lose(trailer.site, trailer.size);
        return;
    }
    const struct hl_stay stay = hl_lane_enter(thread);
    struct hl_lane *lane = stay.lane;
    if (lane) {
        hl_lane_follow(lane);
        hl_lane_death(lane, &trailer);
    } else {
        hl_lane_lose(trailer.site, trailer.size);
    }
    hl_lane_leave(thread, stay);
}

HL_INLINE int count_birth(void *block, size_t usable, size_t size, uintptr_t caller, struct way way) {
    struct hl_thread *thread = &hl_thread;
    struct hl_lane *lane = thread->lane;
    if (HL_UNLIKELY(!lane)) return birth_slow(thread, block, usable, size, caller, way);
    if (!is_short(way) || HL_UNLIKELY(!hl_short_birth(lane, block, size, way.tail, caller, 0, NULL))) {
        hl_lane_follow_and_answer(lane);
        hl_lane_birth(lane, block, usable, size, hl_locate(lane, caller), 0);
    }
    return way.event && hl_record_birth(lane, way.event, block, size, way.alignment, caller, 1);
}

/* Make a block that was counted findable. heapline's own are neither (G2); nor is what a signal's handler allocates
 * meanwhile. */
static HL_NOINLINE void keep_block(void *block, size_t usable, uintptr_t caller) {
    struct hl_thread *thread = &hl_thread;
    if (thread->busy) return;
    const int saved = hl_guard_enter(thread);
    struct hl_lane *lane = thread->own;
    struct hl_block_tail tail = {.stack = hl_stack_here(caller)};
    if (lane) {
        tail.ruby_stack = hl_ruby_stack_here(lane);
        tail.thread = hl_load32(&lane->record->owner);
    }
    hl_block_set(block, usable, tail);
    hl_guard_leave(thread, saved);
}

HL_INLINE int birth(void *block, size_t size, uintptr_t caller, struct way way) {
    const size_t usable = hl_real_usable(block) - way.tail;
    const int recorded = count_birth(block, usable, size, caller, way);
    if (HL_UNLIKELY(way.tail)) keep_block(block, usable, caller);
    return recorded;
}

/* Of a block that was counted, while it is one. Quiet ones are in no recording either. */
HL_COLD static void record_death_slow(uint32_t event, const void *block, uintptr_t caller,
                                      const struct hl_trailer *trailer) {
    struct hl_thread *thread = &hl_thread;
    if (trailer->site == HL_SITE_QUIET || (thread->busy && !thread->own)) return;
    const struct hl_stay stay = hl_lane_enter(thread);
    struct hl_lane *lane = stay.lane;
    if (lane) hl_record_death(lane, event, block, caller, !thread->starting && !thread->exiting);
    hl_lane_leave(thread, stay);
}

HL_INLINE void record_death(uint32_t event, const void *block, uintptr_t caller, const struct hl_trailer *trailer) {
    struct hl_lane *lane = hl_thread.lane;
    if (HL_LIKELY(lane && trailer->site != HL_SITE_QUIET))
        hl_record_death(lane, event, block, caller, 1);
    else
        record_death_slow(event, block, caller, trailer);
}

/* `usable` is the block's without its tail. The trailer is gone afterwards. */
HL_INLINE void death(void *block, size_t usable, uintptr_t caller, const struct hl_trailer *trailer, uint32_t event) {
    struct hl_thread *thread = &hl_thread;
    struct hl_lane *lane = thread->lane;
    if (event) record_death(event, block, caller, trailer);
    if (HL_UNLIKELY(trailer->watched)) hl_location_forget(block, usable);
    hl_lane_count_large(-hl_real_large(block, usable), trailer->site);
    hl_trailer_erase(block, usable);
    if (HL_UNLIKELY(!lane)) {
        death_slow(thread, *trailer);
        return;
    }
    hl_lane_follow(lane);
    hl_lane_death(lane, trailer);
}

/* ---- gate open ---- */

/* What the short way leaves to be done, and all over other allocators. */
static HL_NOINLINE void *born_generally(void *block, size_t size, uintptr_t caller) {
    if (HL_LIKELY(block != NULL)) birth(block, size, caller, hot());
    return block;
}

/* What the lane's cache does not know of the nearest frame alone, or not at all. */
static HL_NOINLINE void *born_further(void *block, size_t size, uintptr_t caller) {
    struct hl_lane *lane = hl_thread.lane;
    const size_t word = ((const size_t *)block)[-1];
    if (HL_UNLIKELY(!hl_short_may(lane, word))) return born_generally(block, size, caller);
    const struct hl_location_slot *slot = hl_short_further(lane, caller);
    if (HL_LIKELY(slot))
        return hl_short_count(lane, block, word, size, slot) ? block : born_generally(block, size, caller);
    const struct hl_place place = hl_lane_place(lane, hl_locate_slow(lane, caller, HL_LOCATE_RUBY));
    hl_lane_birth(lane, block, hl_real_usable(block), size, place, 0);
    return block;
}

/* At a line where code was loaded, while it still is. */
static HL_NOINLINE void *born_in_body(void *block, size_t size, uintptr_t caller,
                                      const struct hl_location_slot *loading) {
    struct hl_lane *lane = hl_thread.lane;
    const size_t word = ((const size_t *)block)[-1];
    const int is_loading = hl_location_is_loading(lane, hl_ruby_frame_of(hl_thread.ec, 0));
    if (is_loading && hl_short_count(lane, block, word, size, loading)) return block;
    return born_further(block, size, caller);
}

/* The same, in the call of `require` that is known. The rest is behind it, and keeps registers. */
static HL_NOINLINE void *born_loading(void *block, size_t size, uintptr_t caller,
                                      const struct hl_location_slot *loading) {
    struct hl_lane *lane = hl_thread.lane;
    const size_t word = ((const size_t *)block)[-1];
    if (HL_LIKELY(hl_ruby_calls_known_require(&lane->ecs) && hl_short_count(lane, block, word, size, loading)))
        return block;
    return born_in_body(block, size, caller, loading);
}

/* Something was freed that locations may rest on, or there is ZJIT. Each birth looks at epochs then, until there were
 * as many as the lane's cache has slots to be looked through. */
static HL_NOINLINE void *born_carefully(void *block, size_t size, uintptr_t caller) {
    struct hl_lane *lane = hl_thread.lane;
    if (HL_UNLIKELY(++lane->unsettled >= hl_location_slot_count(lane->locations))) hl_location_settle(lane);
    const struct hl_location_slot *loading = NULL;
    if (HL_LIKELY(hl_short_birth(lane, block, size, 0, caller, 0, hl_ruby_zjit ? NULL : &loading))) return block;
    return loading ? born_loading(block, size, caller, loading) : born_further(block, size, caller);
}

/* Something moved on. */
static HL_NOINLINE void *born_later(void *block, size_t size, uintptr_t caller) {
    const int settled = hl_thread.lane->settled == hl_load64(&hl_location_forgets);
    return settled ? born_generally(block, size, caller) : born_carefully(block, size, caller);
}

HL_INLINE void *born_shortly(void *block, size_t size, uintptr_t caller) {
    struct hl_lane *lane = hl_thread.lane;
    if (HL_UNLIKELY(!block || !lane)) return born_generally(block, size, caller);
    if (HL_UNLIKELY(!hl_short_settled(lane))) return born_later(block, size, caller);
    const struct hl_location_slot *loading = NULL;
    if (HL_LIKELY(hl_short_birth(lane, block, size, 0, caller, 1, &loading))) return block;
    return loading ? born_loading(block, size, caller, loading) : born_further(block, size, caller);
}

HL_INLINE void *born_hot(void *block, size_t size, uintptr_t caller) {
    if (HL_UNLIKELY(hl_gate_is() != HL_GATE_SHORT)) return born_generally(block, size, caller);
    return born_shortly(block, size, caller);
}

/* Of all functions but malloc and calloc, which have it in themselves. */
static HL_NOINLINE void *born_elsewhere(void *block, size_t size, uintptr_t caller) {
    return born_hot(block, size, caller);
}

HL_INLINE void *born(void *block, size_t size, uintptr_t caller, struct way way) {
    if (HL_LIKELY(!way.tail && !way.event)) return born_elsewhere(block, size, caller);
    if (way.tail && block) hl_block_wipe(block, 0, size);
    if (HL_LIKELY(block != NULL)) birth(block, size, caller, way);
    return block;
}

/* What lies beside a block is read only if that is heapline's: while blocks are kept each is known, and a wrong address
 * is the allocator's business. */
HL_INLINE int may_be_ours(const void *block, struct way way) {
    return !way.tail || HL_LIKELY(hl_block_may_be_kept(block));
}

/* Of a block that is about to go. */
HL_INLINE int take_trailer(void *block, size_t usable, struct way way, struct hl_trailer *trailer) {
    if (HL_LIKELY(may_be_ours(block, way))) return hl_trailer_take(block, usable, trailer);
    if (hl_block_end_rest(block)) hl_real_free(block); /* it was freed before, and is again */
    return 0;
}

HL_INLINE void release(void *block, uintptr_t caller, struct way way) {
    if (!block || HL_UNLIKELY(hl_boot_owns(block))) return;
    struct hl_trailer trailer;
    __builtin_prefetch((const char *)block + HL_TRAILER_AHEAD);
    if (is_short(way) && may_be_ours(block, way) && HL_LIKELY(hl_short_death(block, way.tail, 1))) {
        if (way.event) hl_record_death(hl_thread.lane, way.event, block, caller, 1);
        hl_real_free(way.tail ? hl_block_rest(block, usable_of(block, way.tail)) : block);
        return;
    }
    const size_t usable = usable_of(block, way.tail);
    if (HL_LIKELY(take_trailer(block, usable, way, &trailer))) {
        if (HL_UNLIKELY(way.tail)) hl_block_clear(block);
        death(block, usable, caller, &trailer, way.event);
        if (HL_UNLIKELY(way.tail)) block = hl_block_rest(block, usable);
    } else if (hl_started_late) {
        older_goes(block, usable);
    }
    hl_real_free(block);
}

HL_INLINE void *aligned(size_t alignment, size_t size, uintptr_t caller, struct way way) {
    way.alignment = alignment;
    return born(hl_real_memalign(alignment, padded(size, way.tail)), size, caller, way);
}

/* From the boot arena into the heap. */
static void *move_from_boot(void *block, size_t size, uintptr_t caller, struct way way) {
    size_t old = hl_boot_size(block);
    void *fresh = born(hl_real_malloc(padded(size, way.tail)), size, caller, way);
    if (fresh) memcpy(fresh, block, old < size ? old : size);
    return fresh;
}

/* realloc(block, 0): glibc frees and returns NULL, others return a block of their smallest size. */
static void *reallocated_to_nothing(void *block, uintptr_t caller, struct way way) {
    struct hl_trailer trailer;
    const size_t usable = usable_of(block, way.tail);
    if (take_trailer(block, usable, way, &trailer)) {
        if (way.tail) hl_block_clear(block);
        death(block, usable, caller, &trailer, way.event ? HL_EVENT_FREE : HL_EVENT_NONE);
    } else if (hl_started_late) {
        older_goes(block, usable);
    }
    block = hl_real_realloc(block, 0);
    if (block && hl_real_usable(block) >= HL_TRAILER_SIZE + way.tail) birth(block, 0, caller, way);
    return block;
}

/* Count the end of what was `block`; its record is in `trailer`. */
HL_INLINE void moved_away(const void *block, size_t usable, size_t large, const struct hl_trailer *trailer) {
    if (HL_UNLIKELY(trailer->watched)) hl_location_forget(block, usable);
    hl_lane_count_large(-large, trailer->site);
    if (HL_LIKELY(hl_thread.lane != NULL)) {
        hl_lane_follow(hl_thread.lane);
        hl_lane_death(hl_thread.lane, trailer);
    } else {
        death_slow(&hl_thread, *trailer);
    }
}

/* Ruby 3.2 keeps a class's name among its variables, an array that it reallocates: once the block has moved, the class
 * still points to where that was. So the name is looked up before, and comes from the caches then. */
static HL_NOINLINE void look_before_moving(uintptr_t caller, struct way way) {
    struct hl_thread *thread = &hl_thread;
    if (thread->lane) hl_locate(thread->lane, caller);
    if (!way.tail || !thread->own || thread->busy) return;
    const int saved = hl_guard_enter(thread);
    hl_ruby_stack_here(thread->own);
    hl_guard_leave(thread, saved);
}

HL_INLINE void *reallocated(void *block, size_t size, uintptr_t caller, struct way way) {
    if (!block) return born(hl_real_malloc(padded(size, way.tail)), size, caller, way);
    if (HL_UNLIKELY(hl_boot_owns(block))) return move_from_boot(block, size, caller, way);
    if (HL_UNLIKELY(size == 0)) return reallocated_to_nothing(block, caller, way);
    if (HL_UNLIKELY(hl_ruby.moves_names)) look_before_moving(caller, way);
    struct hl_trailer trailer = {0};
    const size_t usable = usable_of(block, way.tail);
    const int ours = take_trailer(block, usable, way, &trailer);
    const uint64_t word = ours ? hl_trailer_load(block, usable) : 0;
    const size_t large = hl_real_large(block, usable);
    if (HL_UNLIKELY(ours && way.tail)) hl_block_clear(block);
    if (way.event && ours) record_death(HL_EVENT_REALLOC_FROM, block, caller, &trailer);
    if (ours) hl_trailer_erase(block, usable);
    void *moved = hl_real_realloc(block, padded(size, way.tail));
    if (HL_UNLIKELY(!moved)) {
        if (ours) hl_trailer_store(block, usable, word);
        if (ours && way.tail) hl_block_set(block, usable, hl_block_tail(block, usable));
        if (way.event && ours) record_death(HL_EVENT_UNMOVED, block, caller, &trailer);
        return NULL;
    }
    if (HL_UNLIKELY(ours && way.tail)) hl_block_wipe(moved, trailer.size, size);
    if (ours)
        moved_away(block, usable, large, &trailer);
    else if (hl_started_late)
        older_goes(block, usable);
    if (HL_LIKELY(!way.tail && !way.event)) return born_elsewhere(moved, size, caller);
    const int recorded = birth(moved, size, caller, way);
    if (way.event && ours && !recorded) record_death(HL_EVENT_GONE, block, caller, &trailer);
    return moved;
}

/* ---- gate closed, or more than counting ---- */

/* In the first call of all, whichever it is. What dlsym itself asks for meanwhile comes from the boot arena. */
HL_COLD static void find_what_lies_below(void) {
    const int saved = errno;
    hl_life_set(HL_LIFE_STARTING);
    hl_below_resolve();
    hl_life_set(hl_real_resolve() ? HL_LIFE_INERT : HL_LIFE_WAITING);
    errno = saved;
}

/* Bring the life forward where the gate is closed; 1 where it is open now. */
static int try_open(void) {
    if (hl_gate_is() != HL_GATE_CLOSED) return 1;
    if (HL_UNLIKELY(hl_life_is() == HL_LIFE_UNSTARTED)) find_what_lies_below();
    hl_lifecycle_step();
    return hl_gate_is() != HL_GATE_CLOSED;
}

static void __attribute__((constructor)) process_begins(void) {
    try_open();
}

static int booting(void) {
    return hl_real_malloc == NULL;
}

/* Over glibc what is not counted has room for a trailer too, unless nothing ever will be: so malloc_usable_size need
 * not look, and the VM's first thread is as large as its others (ruby_frame.c). Other allocators free some of their own
 * by size: those blocks have the size that was asked for. */
static size_t uncounted(size_t size) {
    return hl_life_is() >= HL_LIFE_INERT || !hl_real_chunked ? size : padded(size, 0);
}

/* Each returns what the call of the family does. `event` names the function. */
static HL_NOINLINE void *closed_malloc(size_t size, uintptr_t caller, uint32_t event) {
    if (try_open()) return born(hl_real_malloc(padded(size, hl_block_tail_size)), size, caller, slow(event));
    return booting() ? hl_boot_alloc(size, 16) : hl_real_malloc(uncounted(size));
}

static HL_NOINLINE void *closed_calloc(size_t count, size_t size, uintptr_t caller) {
    if (hl_gate_forwards()) return hl_real_calloc(count, size);
    size_t bytes;
    const int open = try_open();
    if (HL_UNLIKELY(__builtin_mul_overflow(count, size, &bytes)))
        return booting() ? NULL : hl_real_calloc(count, size); /* which says why */
    if (open) return born(hl_real_calloc(1, padded(bytes, hl_block_tail_size)), bytes, caller, slow(HL_EVENT_CALLOC));
    return booting() ? hl_boot_alloc(bytes, 16) : hl_real_calloc(1, uncounted(bytes)); /* zeroed: never used twice */
}

static HL_NOINLINE void *closed_realloc(void *block, size_t size, uintptr_t caller) {
    if (hl_gate_forwards() && !hl_boot_owns(block)) return hl_real_realloc(block, size);
    if (try_open()) return reallocated(block, size, caller, slow(HL_EVENT_REALLOC));
    if (!block) return closed_malloc(size, caller, HL_EVENT_REALLOC);
    if (!hl_boot_owns(block)) return hl_real_realloc(block, size ? uncounted(size) : 0);
    size_t old = hl_boot_size(block);
    void *moved = closed_malloc(size, caller, HL_EVENT_REALLOC);
    if (moved) memcpy(moved, block, old < size ? old : size);
    return moved;
}

static HL_NOINLINE void *closed_aligned(size_t alignment, size_t size, uintptr_t caller, uint32_t event) {
    if (try_open()) return aligned(alignment, size, caller, slow(event));
    return booting() ? hl_boot_alloc(size, alignment) : hl_real_memalign(alignment, uncounted(size));
}

HL_INLINE int posix_memaligned(void **block, size_t alignment, size_t size, uintptr_t caller, struct way way) {
    const int failed = hl_real_posix_memalign(block, alignment, padded(size, way.tail));
    way.alignment = alignment;
    if (!failed) born(*block, size, caller, way);
    return failed;
}

static HL_NOINLINE int closed_posix_memalign(void **block, size_t alignment, size_t size, uintptr_t caller) {
    if (try_open()) return posix_memaligned(block, alignment, size, caller, slow(HL_EVENT_POSIX_MEMALIGN));
    if (!booting()) return hl_real_posix_memalign(block, alignment, uncounted(size));
    return (*block = hl_boot_alloc(size, alignment)) ? 0 : ENOMEM;
}

static HL_NOINLINE void closed_free(void *block, uintptr_t caller, uint32_t event) {
    if (!block || hl_boot_owns(block)) return;
    if (try_open())
        release(block, caller, slow(event));
    else if (!booting())
        hl_real_free(block);
}

/* ---- the family ---- */

HL_INLINE int is_open(void) {
    return HL_LIKELY(hl_gate_is() & HL_GATE_OPEN);
}

static HL_NOINLINE void *malloc_by_gate(size_t size, uintptr_t caller, uint32_t event) {
    if (HL_UNLIKELY(!is_open())) return closed_malloc(size, caller, event);
    return born(hl_real_malloc(padded(size, 0)), size, caller, hot());
}

/* Where nothing is counted these keep no registers. */
static HL_NOINLINE void *malloc_generally(size_t size, uintptr_t caller, uint32_t event) {
    return HL_LIKELY(hl_gate_forwards()) ? hl_real_malloc(size) : malloc_by_gate(size, caller, event);
}

static HL_NOINLINE void free_by_gate(void *block, uintptr_t caller, uint32_t event) {
    if (HL_UNLIKELY(!is_open()))
        closed_free(block, caller, event);
    else
        release(block, caller, hot());
}

static HL_NOINLINE void free_generally(void *block, uintptr_t caller, uint32_t event) {
    if (HL_LIKELY(hl_gate_forwards()) && !hl_boot_owns(block))
        hl_real_free(block);
    else
        free_by_gate(block, caller, event);
}

/* What the short way asks the allocator for; 0: the call has to go another way. */
HL_INLINE int short_room(size_t size, size_t *room) {
    return HL_LIKELY(hl_gate_is() == HL_GATE_SHORT && !__builtin_add_overflow(size, HL_TRAILER_SIZE, room));
}

/* With a longer look for the counters, which keeps registers; or as it comes. */
static HL_NOINLINE void free_further(void *block, uintptr_t caller, uint32_t event) {
    if (HL_UNLIKELY(!hl_short_death(block, 0, 1)))
        free_generally(block, caller, event);
    else
        hl_real_free(block);
}

HL_INLINE int may_go_shortly(const void *block) {
    __builtin_prefetch((const char *)block + HL_TRAILER_AHEAD);
    return HL_LIKELY(hl_gate_is() == HL_GATE_SHORT);
}

/* A macro, so that the caller is not read before it is needed. */
#define FREE_SHORTLY(block, caller, event)                                                                             \
    (HL_UNLIKELY(!(block))                       ? (void)0                                                             \
     : HL_UNLIKELY(!may_go_shortly(block))       ? free_generally(block, caller, event)                                \
     : HL_UNLIKELY(!hl_short_death(block, 0, 0)) ? free_further(block, caller, event)                                  \
                                                 : hl_real_free(block))

/* HL_CALLER as late as can be: before, it would have to be kept over the allocator's call. */
HL_EXPORT void *malloc(size_t size) {
    size_t room;
    if (HL_UNLIKELY(!short_room(size, &room))) return malloc_generally(size, HL_CALLER, HL_EVENT_MALLOC);
    void *block = hl_real_malloc(room);
    return born_shortly(block, size, HL_CALLER);
}

HL_EXPORT void free(void *block) {
    FREE_SHORTLY(block, HL_CALLER, HL_EVENT_FREE);
}

HL_EXPORT void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (HL_UNLIKELY(!is_open())) return closed_calloc(count, size, HL_CALLER);
    if (HL_UNLIKELY(__builtin_mul_overflow(count, size, &bytes))) return hl_real_calloc(count, size);
    void *block = hl_real_calloc(1, padded(bytes, 0));
    return born_hot(block, bytes, HL_CALLER);
}

HL_EXPORT void *realloc(void *block, size_t size) {
    if (HL_UNLIKELY(!is_open())) return closed_realloc(block, size, HL_CALLER);
    return reallocated(block, size, HL_CALLER, hot());
}

HL_EXPORT void *reallocarray(void *block, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    if (HL_UNLIKELY(!is_open())) return closed_realloc(block, bytes, HL_CALLER);
    return reallocated(block, bytes, HL_CALLER, hot());
}

HL_EXPORT int posix_memalign(void **block, size_t alignment, size_t size) {
    if (HL_UNLIKELY(!is_open())) return closed_posix_memalign(block, alignment, size, HL_CALLER);
    return posix_memaligned(block, alignment, size, HL_CALLER, hot());
}

HL_EXPORT void *aligned_alloc(size_t alignment, size_t size) {
    if (HL_UNLIKELY(!is_open())) return closed_aligned(alignment, size, HL_CALLER, HL_EVENT_ALIGNED_ALLOC);
    /* What the allocator below refuses, it shall refuse itself. With the trailer the size is no multiple any more,
     * which some refuse too: so memalign. */
    const size_t room = hl_load32(&hl_real_kept) ? padded(size, 0) : size;
    if (HL_UNLIKELY(alignment == 0 || (alignment & (alignment - 1)))) return hl_real_aligned_alloc(alignment, room);
    void *block = aligned(alignment, size, HL_CALLER, hot());
    /* Each allocator has its own mind about errno, and for each function another: let this one fail by itself. */
    return HL_LIKELY(block) ? block : hl_real_aligned_alloc(alignment, room);
}

HL_EXPORT void *memalign(size_t alignment, size_t size) {
    if (HL_UNLIKELY(!is_open())) return closed_aligned(alignment, size, HL_CALLER, HL_EVENT_MEMALIGN);
    return aligned(alignment, size, HL_CALLER, hot());
}

HL_EXPORT void *valloc(size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (HL_UNLIKELY(!is_open())) return closed_aligned(page, size, HL_CALLER, HL_EVENT_VALLOC);
    return aligned(page, size, HL_CALLER, hot());
}

HL_EXPORT void *pvalloc(size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    /* Whole pages are what this function hands out: they are the program's. */
    const size_t rounded = size > PTRDIFF_MAX - page ? size : (size + page - 1) & ~(page - 1);
    if (HL_UNLIKELY(!is_open())) return closed_aligned(page, rounded, HL_CALLER, HL_EVENT_PVALLOC);
    return aligned(page, rounded, HL_CALLER, hot());
}

static HL_NOINLINE size_t usable_as_marked(void *block) {
    if (HL_UNLIKELY(hl_boot_owns(block))) return hl_boot_size(block);
    if (HL_UNLIKELY(booting())) return 0;
    const size_t usable = hl_real_usable(block);
    if (!hl_gate_is()) return usable;
    const size_t marked = usable_of(block, hl_block_tail_size);
    struct hl_trailer trailer;
    /* A block that we did not mark has no tail either. */
    return hl_trailer_take(block, marked, &trailer) ? hl_trailer_room(&trailer, marked) : usable;
}

HL_EXPORT size_t malloc_usable_size(void *block) {
    if (HL_UNLIKELY(!block)) return 0;
    const size_t kept = hl_load32(&hl_real_kept);
    if (HL_UNLIKELY(!kept)) return usable_as_marked(block);
    __builtin_prefetch((const char *)block + HL_TRAILER_AHEAD);
    const size_t word = ((const size_t *)block)[-1];
    if (HL_UNLIKELY(word & HL_CHUNK_MAPPED)) return usable_as_marked(block);
    const size_t usable = (word & ~(size_t)HL_CHUNK_FLAGS) - sizeof(size_t) - kept;
    __builtin_prefetch((const char *)block + usable);
    return usable;
}

/* C23. */
HL_EXPORT void free_sized(void *block, size_t size) {
    (void)size;
    FREE_SHORTLY(block, HL_CALLER, HL_EVENT_FREE);
}

HL_EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size) {
    (void)alignment, (void)size;
    FREE_SHORTLY(block, HL_CALLER, HL_EVENT_FREE);
}

/* ---- operators new and delete (interpose.h) ---- */

void *hl_malloc_for(size_t size, uintptr_t caller) {
    size_t room;
    if (HL_UNLIKELY(!short_room(size, &room))) return malloc_generally(size, caller, HL_EVENT_NEW);
    return born_shortly(hl_real_malloc(room), size, caller);
}

void *hl_memalign_for(size_t alignment, size_t size, uintptr_t caller) {
    if (HL_UNLIKELY(!is_open())) return closed_aligned(alignment, size, caller, HL_EVENT_NEW);
    return aligned(alignment, size, caller, hot());
}

void hl_free_for(void *block, uintptr_t caller) {
    FREE_SHORTLY(block, caller, HL_EVENT_DELETE);
}
