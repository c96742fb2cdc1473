/* SPDX-License-Identifier: MIT */
/*
 * The caches between a place in the running program and its site.
 *
 * In each lane: (pc, return address, tag) → site, where an entry that another one drives out goes beside it. Shared by
 * all lanes: a larger one for what the first has lost. Both may forget at any time; neither may answer wrongly: an
 * entry answers only while the epoch of its pc's memory is the one that it was written under (location_epochs.h, K1).
 */
#ifndef HL_LOCATION_CACHE_H
#define HL_LOCATION_CACHE_H

#include <stdint.h>
#include <string.h>

#include "flight/flight_layout.h"
#include "platform/platform.h"
#include "vm/ruby_frame.h"

enum { HL_LOCATION_SLOTS_LEAST = 16, HL_LOCATION_SLOTS_MOST = 1024, HL_LOCATION_SHIFT = 64 - 10 - 5 };

struct hl_location_slot {
    uint64_t pc;     /* of the nearest Ruby frame, with the bits below; 0: none */
    uint64_t caller; /* hl_location_key; 0: empty */
    uint32_t site;
    uint32_t epoch;
    struct hl_count *count; /* the lane's counters of the site; NULL: the site was located alone */
};

_Static_assert(sizeof(struct hl_location_slot) == 1 << 5 && HL_LOCATION_SLOTS_MOST == 1 << 10, "HL_LOCATION_SHIFT");

/* The slots of one lane: few at first, more where entries drive each other out. What was replaced stays mapped: a
 * signal's handler may have replaced it under its reader. */
struct hl_location_slots {
    uint32_t last; /* where the last one lies, in bytes from the first: all ones above the size of one, for their number
                    * is a power of two; 0 where a fork wiped them */
    uint32_t lost; /* entries that another one drove out */
    uint64_t of_jit; /* whether an entry of HL_LOCATION_JIT was kept */
    struct hl_location_slot slots[] HL_LINE_ALIGNED;
};

/* What is told apart of an address of code has 47 bits at most, tags 17. */
HL_INLINE uint64_t hl_location_key(uint64_t caller, uint32_t tag) {
    return caller >> HL_CODE_ALIGNMENT_BITS | (uint64_t)tag << 47;
}
_Static_assert(HL_TAGS_MAX <= 1u << 17 && HL_ADDRESS_BITS - HL_CODE_ALIGNMENT_BITS <= 47, "hl_location_key");

HL_INLINE int hl_location_is(const struct hl_location_slot *slot, uint64_t pc, uint64_t key) {
    return slot->pc == pc && slot->caller == key && slot->epoch == hl_location_epoch(pc);
}

/* Where what is known of a pc lies, whatever HL_LOCATION_INTERNAL and HL_LOCATION_LOADING say of it: they are not in
 * the argument. */
HL_INLINE struct hl_location_slot *hl_location_slot(struct hl_location_slots *in, uint64_t pc, uint64_t caller) {
    const uint64_t hash = (pc ^ caller) * 0xd6e8feb86659fd93ull;
    return (struct hl_location_slot *)((char *)in->slots + (hash >> HL_LOCATION_SHIFT & in->last));
}

/* Where an entry goes that another one drives out: in the same cache line. */
HL_INLINE struct hl_location_slot *hl_location_beside(const struct hl_location_slot *slot) {
    return (struct hl_location_slot *)((uintptr_t)slot ^ sizeof(*slot));
}

/* What is known of a frame; NULL: nothing. */
HL_INLINE const struct hl_location_slot *hl_location_known(struct hl_location_slots *in, uint64_t pc, uint64_t key) {
    const struct hl_location_slot *slot = hl_location_slot(in, pc, key);
    for (int i = 0; i < 2; i++, slot = hl_location_beside(slot)) {
        const int is = (slot->pc & ~(HL_LOCATION_INTERNAL | HL_LOCATION_LOADING)) == pc && slot->caller == key;
        if (is && slot->epoch == hl_location_epoch(pc)) return slot;
    }
    return NULL;
}
/* The same of a JIT compiler's call. */
HL_INLINE const struct hl_location_slot *hl_location_known_jit(struct hl_location_slots *in, uint64_t key) {
    return HL_UNLIKELY(in->of_jit) ? hl_location_known(in, HL_LOCATION_JIT, key) : NULL;
}

HL_INLINE uint32_t hl_location_slot_count(const struct hl_location_slots *slots) {
    return slots->last / sizeof(slots->slots[0]) + 1;
}

/* Forget all. */
HL_INLINE void hl_location_clear(struct hl_location_slots *slots) {
    memset(slots->slots, 0, slots->last + sizeof(slots->slots[0]));
}

#endif
