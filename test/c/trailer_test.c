/* SPDX-License-Identifier: MIT */
#include "state/trailer.h"

#include <string.h>

#include "check.h"
#include "flight/flight_layout.h"

enum { ROOM = 4096 };
static _Alignas(16) char block[ROOM], other[ROOM];

static void set_key(void) {
    hl_trailer_key = 0x123456789abcdef1ull;
}

/* What was written is read, for each slack around the escape and each size that leaves room. */
/* As malloc_usable_size tells it. */
static size_t usable_size(size_t usable) {
    struct hl_trailer trailer;
    return hl_trailer_read(block, usable, &trailer) ? hl_trailer_room(&trailer, usable) : usable;
}

static void round_trip(void) {
    set_key();
    for (size_t size = 0; size <= 200; size++)
        for (size_t usable = size + HL_TRAILER_SIZE; usable <= size + 300; usable++) {
            struct hl_trailer trailer = {0};
            hl_trailer_write(block, usable, size, 77, 99);
            CHECK(hl_trailer_read(block, usable, &trailer));
            CHECK_EQUAL(trailer.size, size);
            CHECK_EQUAL(trailer.site, 77);
            CHECK_EQUAL(trailer.birth, 99);
            CHECK_EQUAL(trailer.watched, 0);
        }
}

static void fields_keep_their_widest_values(void) {
    struct hl_trailer trailer = {0};
    const uint32_t site = HL_SITES_MAX - 1;
    set_key();
    hl_trailer_write(block, ROOM, 1, site, 0xffffffff);
    CHECK(hl_trailer_read(block, ROOM, &trailer));
    CHECK_EQUAL(trailer.site, site);
    CHECK_EQUAL(trailer.birth, HL_BIRTH_MASK);
    CHECK_EQUAL(trailer.size, 1);
}

/* The program's bytes are its own: the trailer begins where they end. */
static void leaves_the_requested_bytes_alone(void) {
    set_key();
    for (size_t slack = 0; slack < 100; slack++) {
        memset(block, 0x5a, ROOM);
        hl_trailer_write(block, 100 + slack + HL_TRAILER_SIZE, 100, 4, 0);
        for (size_t i = 0; i < 100; i++) CHECK(block[i] == 0x5a);
        for (size_t i = 100 + slack + HL_TRAILER_SIZE; i < ROOM; i++) CHECK(block[i] == 0x5a);
    }
}

/* T2: at another address the same bytes are no trailer. */
static void is_valid_for_one_address_only(void) {
    struct hl_trailer trailer;
    int accepted = 0;
    set_key();
    for (size_t at = 0; at < 64; at++) {
        hl_trailer_write(block, ROOM, ROOM - HL_TRAILER_SIZE, 4 + (uint32_t)at, (uint32_t)at);
        memcpy(other, block, ROOM);
        accepted += hl_trailer_read(other, ROOM, &trailer);
    }
    CHECK(accepted <= 1); /* by chance: 64 in 131072 */
}

/* T2: bytes that are no trailer pass with one chance in 2^17. */
static void what_was_never_marked_is_refused(void) {
    struct hl_trailer trailer;
    uint64_t word = 88172645463325252ull;
    int accepted = 0;
    set_key();
    for (int i = 0; i < 1 << 20; i++) {
        word ^= word << 13, word ^= word >> 7, word ^= word << 17;
        hl_trailer_store(block, ROOM, word);
        accepted += hl_trailer_read(block, ROOM, &trailer);
    }
    CHECK(accepted <= 30); /* 8 are to be expected */
    memset(block, 0, ROOM);
    CHECK(!hl_trailer_read(block, ROOM, &trailer));
}

/* T2 */
static void an_erased_trailer_is_none(void) {
    struct hl_trailer trailer;
    set_key();
    hl_trailer_write(block, 128, 100, 4, 0);
    hl_trailer_erase(block, 128);
    CHECK(!hl_trailer_read(block, 128, &trailer));
    CHECK_EQUAL(usable_size(128), 128);
}

/* A block of zeros must not be taken for one of site 0 whatever the key is. */
static void zeros_are_none_under_any_key(void) {
    struct hl_trailer trailer;
    memset(block, 0, ROOM);
    hl_trailer_key = (uintptr_t)block;
    CHECK(!hl_trailer_read(block, ROOM, &trailer));
}

static void a_block_too_small_for_one_has_none(void) {
    struct hl_trailer trailer;
    CHECK(!hl_trailer_read(block, HL_TRAILER_SIZE - 1, &trailer));
    CHECK(!hl_trailer_watch(block, HL_TRAILER_SIZE - 1));
}

static void watching_keeps_all_other_fields(void) {
    struct hl_trailer trailer = {0};
    set_key();
    hl_trailer_write(block, 1024, 100, 12, 34);
    CHECK(hl_trailer_watch(block, 1024));
    CHECK(hl_trailer_watch(block, 1024));
    CHECK(hl_trailer_read(block, 1024, &trailer));
    CHECK_EQUAL(trailer.watched, 1);
    CHECK_EQUAL(trailer.size, 100);
    CHECK_EQUAL(trailer.site, 12);
    CHECK_EQUAL(trailer.birth, 34);
    hl_trailer_erase(block, 1024);
    CHECK(!hl_trailer_watch(block, 1024));
}

/* A program may write all that malloc_usable_size tells. */
static void usable_hides_what_the_trailer_needs(void) {
    set_key();
    for (size_t size = 0; size < 300; size++)
        for (size_t usable = size + HL_TRAILER_SIZE; usable < size + 200; usable++) {
            struct hl_trailer trailer = {0};
            hl_trailer_write(block, usable, size, 5, 6);
            const size_t told = usable_size(usable);
            CHECK(told >= size && told <= usable);
            memset(block, 0xff, told);
            CHECK(hl_trailer_read(block, usable, &trailer) && trailer.size == size);
        }
}

static const struct check_test tests[] = {
    {"round_trip", round_trip},
    {"fields_keep_their_widest_values", fields_keep_their_widest_values},
    {"leaves_the_requested_bytes_alone", leaves_the_requested_bytes_alone},
    {"is_valid_for_one_address_only", is_valid_for_one_address_only},
    {"what_was_never_marked_is_refused", what_was_never_marked_is_refused},
    {"an_erased_trailer_is_none", an_erased_trailer_is_none},
    {"zeros_are_none_under_any_key", zeros_are_none_under_any_key},
    {"a_block_too_small_for_one_has_none", a_block_too_small_for_one_has_none},
    {"watching_keeps_all_other_fields", watching_keeps_all_other_fields},
    {"usable_hides_what_the_trailer_needs", usable_hides_what_the_trailer_needs},
};
CHECK_MAIN(tests)
