/* SPDX-License-Identifier: MIT */
/*
 * Where am I: from the running thread and the caller's return address to a site.
 *
 * hl_locate answers from the lane's cache: the pc of the nearest Ruby frame and the return address are the key. What it
 * does not know goes to hl_locate_slow, which asks a provider (ruby_frame.h).
 *
 * W3  The VM has methods of its own that are written in Ruby, in `<internal:array>` and others. Where one allocates, it
 *     is the line that called it which counts, with its label, as in Ruby's own backtraces; HEAPLINE=internal shows it
 *     itself. In a cache the pc of such a frame says no more than that: the next frame outwards is looked up likewise.
 * W4  What a line of a gem or of Ruby's library allocates for the body of a class or module that is being loaded
 *     (`delegate`, `attribute`), and what any line's call of require takes, is a site of its own, of loading. In a
 *     lane's cache that holds while such a body or call runs, so each birth looks again
 *     (hl_location_further). A line whose other site is in the cache counts there until that is driven out: nothing
 *     else is ever counted as loading.
 * Callable from any thread inside malloc.
 */
#ifndef HL_LOCATION_H
#define HL_LOCATION_H

#include <stddef.h>
#include <stdint.h>

#include "account/lane.h"
#include "platform/platform.h"
#include "vm/ruby_frame.h"

/* How to locate: with a look at Ruby; the site alone, of what is no block and needs no counters of the lane's. */
enum { HL_LOCATE_RUBY = 1, HL_LOCATE_ALONE = 2 };

/* The site of an allocation by `caller`. */
uint32_t hl_locate_slow(struct hl_lane *lane, uintptr_t caller, int how);

/* A watched block is freed. */
void hl_location_forget(const void *block, size_t usable);

int hl_location_create(void);

/* Throw out of the lane's cache what rests on memory that was freed (K2). With hl_thread.lane set: nobody is in the
 * middle of a search. */
void hl_location_settle(struct hl_lane *lane);

/* What the lane's cache knows of a place beyond its nearest frame: methods of the VM's own are passed over, and what is
 * loaded still is. With an ec that is proven, where there is a frame. NULL: nothing. */
const struct hl_location_slot *hl_location_further(struct hl_lane *lane, struct hl_frame frame, uint64_t key);

/* Is code being loaded, or does this line of a thread whose ec is proven call `require` (W4)? */
HL_INLINE int hl_location_is_loading(struct hl_lane *lane, struct hl_frame frame) {
    return hl_ruby_calls_require(&lane->ecs, frame) || hl_ruby_is_loading(frame);
}

/* What the lane's cache has; NULL: nothing. */
HL_INLINE const struct hl_location_slot *hl_located(struct hl_lane *lane, uintptr_t caller) {
    const struct hl_frame frame = hl_ruby_frame(&lane->ecs);
    const uint64_t key = hl_location_key(caller, hl_thread.tag);
    const struct hl_location_slot *slot = hl_location_slot(lane->locations, frame.pc, key);
    if (HL_LIKELY(hl_location_is(slot, frame.pc, key)) || (slot = hl_location_known_jit(lane->locations, key)))
        return slot;
    return hl_location_further(lane, frame, key);
}

HL_INLINE struct hl_place hl_locate(struct hl_lane *lane, uintptr_t caller) {
    const struct hl_location_slot *slot = hl_located(lane, caller);
    if (HL_LIKELY(slot)) return (struct hl_place){slot->site, slot->count};
    return hl_lane_place(lane, hl_locate_slow(lane, caller, HL_LOCATE_RUBY));
}

/* Of a caller of which nothing else is asked: what the cache has of it then has no counters. */
HL_INLINE uint32_t hl_locate_alone(struct hl_lane *lane, uintptr_t caller) {
    const struct hl_location_slot *slot = hl_located(lane, caller);
    return HL_LIKELY(slot) ? slot->site : hl_locate_slow(lane, caller, HL_LOCATE_RUBY | HL_LOCATE_ALONE);
}

#endif
