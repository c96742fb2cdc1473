/* SPDX-License-Identifier: MIT */
/*
 * The caches between a place in the running program and its site.
 *
 * In each lane: a direct-mapped one, (pc, return address, tag) → site. Shared by all lanes: a larger one for what the
 * first has lost. Both may forget at any time; neither may answer wrongly.
 *
 * K1  An entry answers only while the epoch of its pc's memory is the one that it was written under. When memory that
 *     held compiled code is freed, that memory's epoch moves on (hl_location_forget).
 */
#ifndef HL_LOCATION_CACHE_H
#define HL_LOCATION_CACHE_H

#include <stdint.h>

#include "flight_layout.h"
#include "platform.h"

enum { HL_LOCATION_SLOTS = 1024, HL_EC_SLOTS = 8, HL_EPOCHS = 256 };

struct hl_location_slot {
    uint64_t pc;     /* of the nearest Ruby frame; 0: none */
    uint64_t caller; /* return address | tag << 48; 0: empty */
    uint32_t site;
    uint32_t epoch;
    struct hl_count *count; /* the lane's counters of the site; NULL: ask the lane */
};

struct hl_ec_slot {
    void *ec;
    uint64_t epoch;
};

extern uint32_t hl_location_epochs[HL_EPOCHS] HL_HIDDEN;

HL_INLINE uint32_t hl_location_epoch(uint64_t pc) {
    return hl_load32(&hl_location_epochs[pc >> 12 & (HL_EPOCHS - 1)]);
}

HL_INLINE uint32_t hl_location_hash(uint64_t pc, uint64_t caller) {
    return (uint32_t)(((pc >> 3) ^ caller) * 0xd6e8feb86659fd93ull >> 54);
}

#endif
