/* SPDX-License-Identifier: MIT */
#include "platform/lossy_cache.h"

#include <errno.h>
#include <sys/mman.h>

#include "check.h"
#include "core.h"

/* Addresses that share one slot: as near to each other as addresses of code are. */
enum { KEYS = 48, EPOCHS = 3, THREADS = 4, ROUNDS = 400000 };
static struct hl_lossy_cache cache;
static uint64_t keys[KEYS];

static void begin(void) {
    uint64_t key = 0x7f3a12345678;
    CHECK(hl_lossy_create(&cache, HL_LOSSY_BITS));
    for (unsigned found = 0; found < KEYS; key += 8)
        if (hl_lossy_slot(&cache, key) == cache.slots + 5) keys[found++] = key;
}

/* What stands for a key: neighbours, as numbers of sites and frames are. */
static uint32_t number_of(unsigned key) {
    return key + 1;
}

static void what_was_kept_last_is_found_under_its_epoch_alone(void) {
    begin();
    CHECK_EQUAL(hl_lossy_find(&cache, keys[0], 7), 0);
    hl_lossy_keep(&cache, keys[0], 7, 11);
    CHECK_EQUAL(hl_lossy_find(&cache, keys[0], 7), 11);
    CHECK_EQUAL(hl_lossy_find(&cache, keys[0], 8), 0);
    CHECK_EQUAL(hl_lossy_find(&cache, keys[1], 7), 0);
    hl_lossy_keep(&cache, keys[1], 8, 12);
    CHECK_EQUAL(hl_lossy_find(&cache, keys[1], 8), 12);
    CHECK_EQUAL(hl_lossy_find(&cache, keys[0], 7), 0);
    CHECK_EQUAL(hl_lossy_find(&cache, 0, 0), 0);
}

/* Each order in which two writers of one slot may store their words ends in one word of each, or in both of one: so
 * all pairs are all that a reader can ever see. */
static void words_of_two_entries_answer_nobody(void) {
    static struct hl_lossy_slot written[KEYS * EPOCHS];
    begin();
    for (unsigned i = 0; i < KEYS * EPOCHS; i++) {
        hl_lossy_keep(&cache, keys[i % KEYS], i / KEYS, number_of(i % KEYS));
        written[i] = cache.slots[5];
    }
    for (unsigned i = 0; i < KEYS * EPOCHS; i++)
        for (unsigned j = 0; j < KEYS * EPOCHS; j++) {
            if (i == j) continue;
            cache.slots[5] = (struct hl_lossy_slot){written[i].check, written[j].value};
            for (unsigned key = 0; key < KEYS; key++)
                for (uint32_t epoch = 0; epoch < EPOCHS; epoch++)
                    if (hl_lossy_find(&cache, keys[key], epoch)) CHECK(!"an answer of two halves");
        }
}

/* Where the kernel knows how; what is no memory of ours is left alone, and so is errno. */
static void all_its_pages_come_at_once(void) {
    enum { PAGE = 4096, POPULATE_WRITE = 23 };
    static char none[3 * PAGE];
    unsigned char there[PAGE];
    begin();
    hl_lossy_populate(&cache);
    const int known = !madvise(cache.slots, PAGE, POPULATE_WRITE);
    CHECK_EQUAL(mincore(cache.slots, HL_LOSSY_BYTES, there), 0);
    for (size_t i = 0; i < HL_LOSSY_BYTES / PAGE; i++) CHECK(!known || there[i] & 1);
    errno = 7;
    hl_populate(none + 1, 0);
    hl_populate(none + 1, PAGE - 1);
    hl_populate((const void *)(uintptr_t)PAGE, PAGE);
    CHECK_EQUAL(errno, 7);
}

/* From the first byte of a stretch on, once, and no page behind the memory's end. */
static void what_is_filled_in_order_comes_a_stretch_at_a_time(void) {
    enum { PAGE = 4096, STRETCH = HL_POPULATED_BYTES, PAGES = 20, END = 10 * PAGE };
    unsigned char there[PAGES];
    char *memory = hl_own_memory(PAGES * PAGE);
    begin();
    const int known = !madvise(cache.slots, PAGE, 23);
    hl_populate_ahead(memory, END, 0, 100);
    hl_populate_ahead(memory, END, 100, STRETCH - 100);
    CHECK_EQUAL(mincore(memory, PAGES * PAGE, there), 0);
    for (int i = 0; i < PAGES; i++) CHECK_EQUAL(there[i] & 1, known && i < STRETCH / PAGE);
    hl_populate_ahead(memory, END, STRETCH - 50, 100);
    CHECK_EQUAL(mincore(memory, PAGES * PAGE, there), 0);
    for (int i = 0; i < PAGES; i++) CHECK_EQUAL(there[i] & 1, known && i < END / PAGE);
}

static void keep_and_find(unsigned number) {
    uint32_t random = number * 2654435761u + 1;
    unsigned wrong = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        random = random * 1664525 + 1013904223;
        const unsigned key = (random >> 8) % KEYS;
        const uint32_t found = hl_lossy_find(&cache, keys[key], 1);
        if (found && found != number_of(key)) wrong++;
        if (!found || round % 4 == 0) hl_lossy_keep(&cache, keys[key], 1, number_of(key));
    }
    CHECK_EQUAL(wrong, 0);
}

static void no_key_answers_with_anothers_number(void) {
    begin();
    core_threads(THREADS, keep_and_find);
}

static void two_words_make_a_key(void) {
    begin();
    CHECK_EQUAL(hl_lossy_key(0x7f3a12345678, 0), hl_lossy_key(0x7f3a12345678, 0));
    CHECK(hl_lossy_key(0x7f3a12345678, 1) != hl_lossy_key(0x7f3a12345678, 2));
    CHECK(hl_lossy_key(0x7f3a12345678, 1) != hl_lossy_key(0x7f3a12345670, 1));
    hl_lossy_keep(&cache, hl_lossy_key(keys[0], 1), 1, 11);
    for (uint64_t second = 2; second < 2000; second++)
        CHECK_EQUAL(hl_lossy_find(&cache, hl_lossy_key(keys[0], second), 1), 0);
}

static const struct check_test tests[] = {
    {"what_was_kept_last_is_found_under_its_epoch_alone", what_was_kept_last_is_found_under_its_epoch_alone},
    {"all_its_pages_come_at_once", all_its_pages_come_at_once},
    {"what_is_filled_in_order_comes_a_stretch_at_a_time", what_is_filled_in_order_comes_a_stretch_at_a_time},
    {"words_of_two_entries_answer_nobody", words_of_two_entries_answer_nobody},
    {"no_key_answers_with_anothers_number", no_key_answers_with_anothers_number},
    {"two_words_make_a_key", two_words_make_a_key},
};
CHECK_MAIN(tests)
