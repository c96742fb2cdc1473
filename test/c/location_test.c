/* SPDX-License-Identifier: MIT */
#include "account/location.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/real_malloc.h"
#include "check.h"
#include "check_flight.h"
#include "core.h"
#include "fake_ruby.h"
#include "flight/flight.h"
#include "flight/library.h"
#include "flight/site_table.h"

static struct fake_code *code;

static void begin(void) {
    core_start("3.4.1", "quiet");
    fake_ruby_boot();
    code = fake_ruby_compile("/app/a.rb", "work", 10, 50);
}

static void allocate(void) {
    free(fake_ruby_allocate(10));
}

static void allocate_at(struct fake_code *at, unsigned position) {
    fake_ruby_push(at, position);
    allocate();
    fake_ruby_pop();
}

static uint64_t count_at(const char *path, unsigned line) {
    return flight_site(flight_find(path, line)).allocations;
}

static int label_is(uint32_t site, const char *wanted) {
    size_t length;
    const char *text = hl_flight_text(hl_site_record(site)->label, &length);
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

/* ---- frames ---- */

static void the_nearest_ruby_frame_is_the_place(void) {
    struct fake_code *outer;
    begin();
    outer = fake_ruby_compile("/app/outer.rb", "run", 1, 10);
    fake_ruby_push(outer, 4);
    allocate_at(code, 7);
    CHECK_EQUAL(count_at("/app/a.rb", 17), 1);
    fake_ruby_push_c();
    allocate(); /* in a method of C: its caller's line */
    CHECK_EQUAL(count_at("/app/outer.rb", 5), 1);
    for (int i = 0; i < 5; i++) fake_ruby_push_c();
    allocate();
    CHECK_EQUAL(count_at("/app/outer.rb", 5), 2);
    fake_ruby_push_empty(code); /* a JIT has not written the pc yet */
    allocate();
    CHECK_EQUAL(count_at("/app/outer.rb", 5), 3);
    check_flight();
}

/* What was counted at no line. */
static uint64_t native_count(void) {
    uint64_t count = 0;
    for (uint32_t site = HL_SITE_FIRST; site < hl_flight.header->site_count; site++)
        if (hl_site_record(site)->kind == HL_KIND_NATIVE) count += flight_site(site).allocations;
    return count;
}

static void without_a_ruby_frame_the_caller_is_the_place(void) {
    begin();
    const uint64_t before = native_count();
    for (int i = 0; i < 3; i++) fake_ruby_push_c();
    allocate();
    CHECK_EQUAL(native_count(), before + 1);
}

/* Trap 1 of the design: a thread has its ec before it has a frame. */
static void a_threads_first_frame_may_be_missing(void) {
    void *frame = NULL;
    begin();
    char *ec = *fake_ruby_ec_word();
    const uint64_t before = native_count();
    memcpy(ec + HL_EC_FRAME, &frame, sizeof(frame));
    allocate();
    CHECK_EQUAL(native_count(), before + 1);
}

static void each_form_of_a_path_is_read(void) {
    begin();
    allocate_at(fake_ruby_compile_as(FAKE_PATH_PAIR, "/pair/of/paths/embedded.rb", "work", 1, 5), 1);
    allocate_at(fake_ruby_compile_as(FAKE_PATH_HEAP_PAIR, "/pair.rb", "work", 1, 5), 2);
    CHECK_EQUAL(count_at("/pair/of/paths/embedded.rb", 2), 1);
    CHECK_EQUAL(count_at("/pair.rb", 3), 1);
}

static struct hl_location_slot *place_of(uintptr_t caller) {
    struct hl_lane *lane = hl_thread.lane;
    return hl_location_slot(lane->locations, hl_ruby_frame(&lane->ecs).pc, hl_location_key(caller, 0));
}

/* The slot that is looked at first has it then. */
static uint32_t site_asked_from(uintptr_t caller) {
    const uint32_t site = hl_locate(hl_thread.lane, caller).site;
    CHECK_EQUAL(place_of(caller)->caller, hl_location_key(caller, 0));
    CHECK_EQUAL(place_of(caller)->site, site);
    return site;
}

/* Else one of two places that take turns would be looked for each time. */
static void of_two_places_in_one_slot_both_stay_known(void) {
    const uintptr_t one = 0x4242;
    uintptr_t other = one + 1;
    begin();
    allocate_at(code, 5);
    fake_ruby_push(code, 5);
    while (place_of(other) != place_of(one)) other++;
    const uint32_t site = site_asked_from(one);
    CHECK_EQUAL(site_asked_from(other), site);
    const uint32_t lost = hl_thread.lane->locations->lost;
    for (int i = 0; i < 100; i++) CHECK(site_asked_from(one) == site && site_asked_from(other) == site);
    CHECK_EQUAL(hl_thread.lane->locations->lost, lost);
    fake_ruby_pop();
}

/* As of objects: a line that asks for no block has no counters. */
static void a_site_alone_takes_no_counters(void) {
    const uintptr_t maker = 0x4242, other = 0x5353;
    begin();
    allocate_at(code, 5);
    fake_ruby_push(code, 6);
    struct hl_lane *lane = hl_thread.lane;
    const uint32_t site = hl_locate_alone(lane, maker);
    CHECK_EQUAL(site, flight_find("/app/a.rb", 10 + 6));
    for (int i = 0; i < 3; i++) CHECK_EQUAL(hl_locate_alone(lane, maker), site);
    CHECK(place_of(maker)->site == site && !place_of(maker)->count && !hl_lane_find(&lane->counts, site));
    const struct hl_place place = hl_locate(lane, other);
    CHECK(place.site == site && place.count && place.count == hl_lane_find(&lane->counts, site));
    fake_ruby_pop();
}

static void a_line_that_is_known_is_not_asked_for_again(void) {
    begin();
    allocate_at(code, 1);
    const unsigned asked = fake_ruby.lines_asked;
    for (int i = 0; i < 1000; i++) allocate_at(code, 1);
    CHECK_EQUAL(fake_ruby.lines_asked, asked);
    CHECK_EQUAL(count_at("/app/a.rb", 11), 1001);
}

/* More places than the lane's cache has room for: the shared one answers, and no place is taken for another. */
static void caches_that_overflow_answer_no_place_wrongly(void) {
    enum { PLACES = 5000, ROUNDS = 3 };
    begin();
    struct fake_code *large = fake_ruby_compile("/app/large.rb", "work", 1, PLACES);
    for (int round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < PLACES; i++) allocate_at(large, i);
    for (unsigned line = 1; line <= PLACES; line++) CHECK_EQUAL(count_at("/app/large.rb", line), ROUNDS);
    check_flight();
}

/* One that knows too few of them grows. */
static void lines_that_are_looked_for_again_get_a_larger_cache(void) {
    enum { PLACES = 10000, ROUNDS = 6 };
    unsigned asked[ROUNDS];
    begin();
    struct fake_code *large = fake_ruby_compile("/app/large.rb", "work", 1, PLACES);
    for (int round = 0; round < ROUNDS; round++) {
        const unsigned before = fake_ruby.lines_asked;
        for (unsigned i = 0; i < PLACES; i++) allocate_at(large, i);
        asked[round] = fake_ruby.lines_asked - before;
    }
    CHECK(asked[1] > PLACES * 3 / 4);
    CHECK(asked[ROUNDS - 1] < asked[1] * 4 / 5);
    for (unsigned line = 1; line <= PLACES; line++) CHECK_EQUAL(count_at("/app/large.rb", line), ROUNDS);
}

static uint32_t intern_tenant(uint32_t number) {
    char name[32];
    const int length = snprintf(name, sizeof(name), "tenant %u", number);
    const int saved = hl_guard_enter(&hl_thread);
    const uint32_t tag = hl_tag_intern(name, (size_t)length);
    hl_guard_leave(&hl_thread, saved);
    return tag;
}

static pthread_barrier_t all_filled;

static void *fill_the_lanes_cache(void *unused) {
    for (uint32_t i = 0; i < 4 * HL_LOCATION_SLOTS_MOST; i++) {
        hl_thread.tag = intern_tenant(i);
        allocate();
    }
    hl_thread.tag = 0;
    pthread_barrier_wait(&all_filled);
    pthread_barrier_wait(&all_filled);
    return unused;
}

/* A hundred threads that all run much do not have the largest cache each. */
static void few_lanes_have_the_largest_cache(void) {
    enum { THREADS = 40, LARGEST = 16 };
    pthread_t threads[THREADS];
    unsigned largest = 0, others = 0;
    begin();
    pthread_barrier_init(&all_filled, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, fill_the_lanes_cache, NULL);
    pthread_barrier_wait(&all_filled);
    for (struct hl_lane *lane = hl_lane_newest(); lane; lane = lane->made_before) {
        const uint32_t count = hl_location_slot_count(lane->locations);
        if (count == HL_LOCATION_SLOTS_MOST) largest++;
        if (count == HL_LOCATION_SLOTS_MOST / 4) others++;
    }
    pthread_barrier_wait(&all_filled);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK_EQUAL(largest, LARGEST);
    CHECK_EQUAL(others, THREADS - LARGEST);
    check_flight();
}

/* As many as there are, far more than the caches have room for: none is taken for another. */
static void each_tag_has_its_sites(void) {
    enum { TAGS = 3000 };
    static const uint32_t far[] = {1, 1 << 10, 1 << 16, HL_TAGS_MAX - 1};
    begin();
    for (uint32_t i = 0; i < TAGS; i++) {
        hl_thread.tag = intern_tenant(i);
        allocate_at(code, 7);
    }
    for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
        hl_thread.tag = far[i];
        for (unsigned position = 20; position < 24; position++) allocate_at(code, position);
    }
    hl_thread.tag = 0;
    unsigned found = 0, of_far = 0;
    for (uint32_t site = HL_SITE_FIRST; site < hl_flight.header->site_count; site++) {
        const struct hl_site_record *record = hl_site_record(site);
        if (record->kind != HL_KIND_RUBY || !record->tag) continue;
        CHECK_EQUAL(flight_site(site).allocations, 1);
        found += record->line == 17;
        of_far += record->line >= 30;
    }
    CHECK_EQUAL(found, TAGS);
    CHECK_EQUAL(of_far, 4 * sizeof(far) / sizeof(far[0]));
}

/* ---- methods of the VM's own (W3) ---- */

static struct fake_code *map_in_ruby(void) {
    struct fake_code *map = fake_ruby_compile("<internal:array>", "map", 240, 20);
    fake_ruby_define(map, "Array", 0);
    return map;
}

static void a_method_of_the_vms_own_counts_where_it_is_called(void) {
    begin();
    struct fake_code *map = map_in_ruby(), *nested = fake_ruby_compile("<internal:kernel>", "then", 60, 9);
    for (unsigned line = 11; line < 14; line++) {
        fake_ruby_push(code, line - 10);
        allocate_at(map, 5);
        fake_ruby_push_c();
        fake_ruby_push(map, 3);
        fake_ruby_push_c();
        allocate_at(nested, 2);
        for (int i = 0; i < 3; i++) fake_ruby_pop();
        CHECK_EQUAL(count_at("/app/a.rb", line), 2);
        CHECK(label_is(flight_find("/app/a.rb", line), "Array#map"));
        fake_ruby_pop();
    }
    CHECK_EQUAL(flight_find("<internal:array>", 245), 0);
    CHECK_EQUAL(flight_find("<internal:kernel>", 62), 0);
    const unsigned asked = fake_ruby.lines_asked;
    fake_ruby_push(code, 2);
    for (int i = 0; i < 1000; i++) allocate_at(map, 5);
    CHECK_EQUAL(count_at("/app/a.rb", 12), 1002);
    CHECK_EQUAL(fake_ruby.lines_asked, asked);
    CHECK_EQUAL(hl_flight.header->mismatches, 0);
    check_flight();
}

/* … instead of that of the method in which the line stands. */
static void what_a_line_calls_gives_the_label(void) {
    begin();
    struct fake_code *map = map_in_ruby(), *select = fake_ruby_compile("<internal:array>", "select", 270, 9);
    fake_ruby_push(code, 1);
    allocate();
    CHECK(label_is(flight_find("/app/a.rb", 11), "work"));
    allocate_at(map, 1);
    CHECK(label_is(flight_find("/app/a.rb", 11), "Array#map"));
    allocate_at(select, 1);
    allocate();
    CHECK(label_is(flight_find("/app/a.rb", 11), "Array#map"));
    CHECK_EQUAL(count_at("/app/a.rb", 11), 4);
}

/* While the VM starts. */
static void a_method_of_the_vms_own_that_nobody_called_stays(void) {
    begin();
    struct fake_code *prelude = fake_ruby_compile("<internal:gem_prelude>", "<internal:gem_prelude>", 1, 9);
    struct fake_code *map = map_in_ruby();
    fake_ruby_push(prelude, 1);
    allocate_at(map, 1);
    allocate();
    CHECK_EQUAL(count_at("<internal:gem_prelude>", 2), 2);
    const unsigned asked = fake_ruby.lines_asked;
    for (int i = 0; i < 100; i++) allocate();
    CHECK_EQUAL(fake_ruby.lines_asked, asked);
    CHECK_EQUAL(count_at("<internal:gem_prelude>", 2), 102);
    CHECK_EQUAL(hl_flight.header->mismatches, 0);
}

static void its_caller_may_go(void) {
    begin();
    struct fake_code *map = map_in_ruby();
    for (unsigned i = 1; i <= 50; i++) {
        char path[32];
        snprintf(path, sizeof(path), "(eval %u)", i);
        fake_ruby_discard(code);
        fake_ruby_recompile(code, path, i);
        fake_ruby_push(code, 0);
        for (int each = 0; each < 3; each++) allocate_at(map, 0);
        fake_ruby_pop();
        CHECK_EQUAL(count_at(path, i), 3);
    }
}

static void methods_of_the_vms_own_are_shown_where_it_is_asked_for(void) {
    core_start("3.4.1", "quiet,internal");
    fake_ruby_boot();
    code = fake_ruby_compile("/app/a.rb", "work", 10, 50);
    struct fake_code *map = map_in_ruby();
    fake_ruby_push(code, 1);
    allocate_at(map, 5);
    CHECK_EQUAL(count_at("<internal:array>", 245), 1);
    CHECK_EQUAL(count_at("/app/a.rb", 11), 0);
}

/* ---- what is loaded (W4) ---- */

static const char DSL[] = "/gems/dsl-1.0/lib/dsl.rb";

/* What was counted at the line, under this label. */
static uint64_t count_as(const char *path, unsigned line, const char *label) {
    uint64_t count = 0;
    for (uint32_t site = HL_SITE_FIRST; site < hl_flight.header->site_count; site++) {
        size_t length;
        const struct hl_site_record *record = hl_site_record(site);
        const char *of = hl_flight_text(record->path, &length);
        if (record->kind == HL_KIND_RUBY && record->line == line && length == strlen(path) &&
            memcmp(of, path, length) == 0 && label_is(site, label))
            count += flight_site(site).allocations;
    }
    return count;
}

/* A method of a gem that a class's body calls, while its file is loaded and afterwards. */
static void what_a_body_that_is_loaded_calls_is_a_site_of_its_own(void) {
    begin();
    struct fake_code *file = fake_ruby_compile("/app/cart.rb", "<top (required)>", 1, 50),
                     *body = fake_ruby_compile("/app/cart.rb", "<class:Cart>", 1, 50),
                     *dsl = fake_ruby_compile(DSL, "attribute", 1, 50);
    for (unsigned i = 0; i < 20; i++) {
        fake_ruby_push(file, 1);
        fake_ruby_push(body, 1 + i);
        fake_ruby_push_c();
        for (int each = 0; each < 5; each++) allocate_at(dsl, 7);
        allocate_at(code, 7); /* the application's own */
        for (int each = 0; each < 2; each++) fake_ruby_pop();
        allocate_at(dsl, 8); /* not by a class's body */
        fake_ruby_pop();
        fake_ruby_push(body, 1); /* not while a file is loaded: the program's own */
        allocate_at(dsl, 9);
        fake_ruby_pop();
    }
    CHECK_EQUAL(count_as(DSL, 8, "attribute (loading)"), 100);
    CHECK_EQUAL(count_as(DSL, 8, "attribute"), 0);
    CHECK_EQUAL(count_as(DSL, 9, "attribute"), 20);
    CHECK_EQUAL(count_as(DSL, 10, "attribute"), 20);
    CHECK_EQUAL(count_as("/app/a.rb", 17, "work"), 20);
    check_flight();
}

/* What was first met in a body is looked at again at each birth. */
static void what_was_met_while_loading_counts_as_run_afterwards(void) {
    enum { TIMES = 100 };
    begin();
    struct fake_code *file = fake_ruby_compile("/gems/x-1.0/x.rb", "<top (required)>", 1, 50),
                     *body = fake_ruby_compile("/gems/x-1.0/x.rb", "<class:Cart>", 1, 50),
                     *dsl = fake_ruby_compile(DSL, "attribute", 1, 50);
    fake_ruby_push(file, 1);
    fake_ruby_push(body, 1);
    for (int i = 0; i < TIMES; i++) allocate_at(dsl, 7);
    allocate(); /* in the body itself: its label says so */
    for (int i = 0; i < 2; i++) fake_ruby_pop();
    const unsigned asked = fake_ruby.lines_asked;
    for (int i = 0; i < TIMES; i++) allocate_at(dsl, 7);
    CHECK(fake_ruby.lines_asked - asked <= 1);
    CHECK_EQUAL(count_as(DSL, 8, "attribute (loading)"), TIMES);
    CHECK_EQUAL(count_as(DSL, 8, "attribute"), TIMES);
    CHECK_EQUAL(count_as("/gems/x-1.0/x.rb", 2, "<class:Cart>"), 1);
    check_flight();
}

static void the_public_way_passes_them_over_too(void) {
    core_start("3.4.1", "quiet,public");
    fake_ruby_boot();
    code = fake_ruby_compile("/app/a.rb", "work", 10, 50);
    struct fake_code *map = map_in_ruby();
    fake_ruby_push(code, 1);
    allocate_at(map, 5);
    CHECK_EQUAL(count_at("/app/a.rb", 11), 1);
}

/* ---- code that goes (W2, K1) ---- */

static void freed_code_is_forgotten(void) {
    int same = 0;
    begin();
    for (unsigned i = 1; i <= 200; i++) {
        char path[32];
        snprintf(path, sizeof(path), "(eval %u)", i);
        fake_ruby_discard(code);
        same += fake_ruby_recompile(code, path, i);
        for (int each = 0; each < 3; each++) allocate_at(code, 0);
        CHECK_EQUAL(count_at(path, i), 3);
    }
    CHECK(same > 100 || !hl_real_chunked); /* glibc gives the place again; else this test would test nothing */
    check_flight();
}

/* A lane that has settled looks at one word alone; before, it threw out what rests on code that is gone. */
static void freed_code_is_forgotten_by_lanes_that_settled(void) {
    begin();
    for (unsigned i = 1; i <= 20; i++) {
        char path[32];
        snprintf(path, sizeof(path), "(eval %u)", i);
        allocate_at(code, 1);
        fake_ruby_discard(code);
        fake_ruby_recompile(code, path, i);
        for (int each = 0; each <= HL_LOCATION_SLOTS_MOST; each++) allocate_at(code, 0);
        if (hl_gate.open == HL_GATE_SHORT) CHECK_EQUAL(hl_thread.lane->settled, hl_location_forgets);
        CHECK_EQUAL(count_at(path, i), HL_LOCATION_SLOTS_MOST + 1);
        allocate_at(code, 1);
        CHECK_EQUAL(count_at(path, i + 1), 1);
    }
    check_flight();
}

static void code_outside_malloc_memory_is_never_cached(void) {
    struct hl_trailer trailer = {0};
    begin();
    /* Its block carries no trailer of ours, as one that was allocated before the start. */
    void *block = (void *)(uintptr_t)fake_ruby_encoded(code);
    const size_t usable = malloc_usable_size(block);
    memset((char *)block + usable, 0, 8);
    CHECK(!hl_trailer_read(block, usable + 8, &trailer));
    allocate_at(code, 1);
    const unsigned asked = fake_ruby.lines_asked;
    allocate_at(code, 1);
    CHECK(fake_ruby.lines_asked > asked);
    CHECK_EQUAL(count_at("/app/a.rb", 11), 2);
}

/* ---- ecs that go (W1) ---- */

static void each_fiber_has_its_frames(void) {
    begin();
    void *first = fake_ruby_fiber();
    fake_ruby_push(code, 1);
    void *second = fake_ruby_fiber();
    fake_ruby_push(code, 2);
    for (int i = 0; i < 20; i++) {
        fake_ruby_switch(first);
        allocate();
        fake_ruby_switch(second);
        allocate();
    }
    CHECK_EQUAL(count_at("/app/a.rb", 11), 2 + 20); /* the second thread and its fiber were allocated there */
    CHECK_EQUAL(count_at("/app/a.rb", 12), 20);
}

/* Trap 2: the word still holds the ec of a thread that is gone. */
static void a_freed_ec_is_not_followed(void) {
    begin();
    void *fiber = fake_ruby_fiber();
    fake_ruby_push(code, 1);
    allocate();
    CHECK_EQUAL(count_at("/app/a.rb", 11), 1);
    fake_ruby_free_fiber(fiber);
    for (int i = 0; i < 3; i++) allocate();
    CHECK_EQUAL(count_at("/app/a.rb", 11), 1);
}

/* A fiber that no lane has looked at yet is freed: its trailer is gone, so nobody can be led to it. */
static void an_ec_that_was_never_proven_is_not_followed_once_freed(void) {
    begin();
    void *fiber = fake_ruby_fiber();
    fake_ruby_push(code, 1);
    fake_ruby_free_fiber(fiber);
    allocate();
    CHECK_EQUAL(count_at("/app/a.rb", 11), 0);
}

static void run_fibers(void *const *fibers, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        fake_ruby_switch(fibers[i]);
        allocate();
    }
}

/* However many fibers take turns: it is their thread that is proven. */
static void the_fibers_of_a_thread_need_no_proof_each(void) {
    enum { FIBERS = 1000, ROUNDS = 3 };
    void *fibers[FIBERS];
    begin();
    fibers[0] = fake_ruby_fiber();
    fake_ruby_push(code, 1);
    allocate();
    for (unsigned i = 1; i < FIBERS; i++) {
        fibers[i] = fake_ruby_fiber_of_thread();
        fake_ruby_push(code, 2);
    }
    const uint64_t at_first = count_at("/app/a.rb", 11), later = count_at("/app/a.rb", 12);
    const unsigned asked = fake_ruby.threads_asked;
    for (int round = 0; round < ROUNDS; round++) run_fibers(fibers, FIBERS);
    CHECK_EQUAL(fake_ruby.threads_asked, asked);
    CHECK_EQUAL(count_at("/app/a.rb", 11) - at_first, ROUNDS);
    CHECK_EQUAL(count_at("/app/a.rb", 12) - later, ROUNDS * (FIBERS - 1));
    check_flight();
}

/* … and fibers that end take nobody's proof away. */
static void short_lived_fibers_need_no_proof_each(void) {
    enum { FIBERS = 2000 };
    begin();
    void *first = fake_ruby_fiber();
    fake_ruby_push(code, 1);
    allocate();
    const unsigned asked = fake_ruby.threads_asked;
    for (unsigned i = 0; i < FIBERS; i++) {
        void *fiber = fake_ruby_fiber_of_thread();
        fake_ruby_push(code, 2);
        allocate();
        fake_ruby_switch(first);
        fake_ruby_free_fiber(fiber);
        allocate();
    }
    CHECK_EQUAL(fake_ruby.threads_asked, asked);
    CHECK_EQUAL(count_at("/app/a.rb", 12), FIBERS);
}

/* The thread's first fiber, in which it ended, is freed, or the thread is too. */
static void what_ran_a_thread_that_is_gone_is_not_followed(void (*free_it)(void *)) {
    begin();
    void *first = fake_ruby_fiber();
    fake_ruby_push(code, 1);
    allocate();
    void *second = fake_ruby_fiber_of_thread();
    fake_ruby_push(code, 2);
    allocate();
    fake_ruby_switch(first);
    allocate();
    fake_ruby_free_fiber(second);
    const uint64_t before = count_at("/app/a.rb", 11);
    free_it(first);
    for (int i = 0; i < 3; i++) allocate();
    CHECK_EQUAL(count_at("/app/a.rb", 11), before);
}

static void a_gone_threads_first_fiber_is_not_followed(void) {
    what_ran_a_thread_that_is_gone_is_not_followed(fake_ruby_free_fiber);
}

static void a_gone_thread_is_not_followed(void) {
    what_ran_a_thread_that_is_gone_is_not_followed(fake_ruby_free_thread);
}

static void *come_and_go(void *unused) {
    enum { THREADS = 200, SWITCHES = 20 };
    (void)unused;
    for (int i = 0; i < THREADS; i++) {
        void *first = fake_ruby_fiber();
        fake_ruby_push(code, 3);
        allocate();
        void *second = fake_ruby_fiber_of_thread();
        fake_ruby_push(code, 4);
        for (int each = 0; each < SWITCHES; each++) {
            fake_ruby_switch(each % 2 ? second : first);
            allocate();
        }
        fake_ruby_switch(first);
        fake_ruby_free_fiber(second);
        fake_ruby_free_thread(first);
        allocate(); /* nothing of the VM's runs here now */
    }
    return NULL;
}

/* Threads end, and their memory is used again for others', while others switch. */
static void threads_with_fibers_come_and_go(void) {
    enum { NATIVE = 4 };
    pthread_t threads[NATIVE];
    begin();
    for (int i = 0; i < NATIVE; i++) pthread_create(&threads[i], NULL, come_and_go, NULL);
    for (int i = 0; i < NATIVE; i++) pthread_join(threads[i], NULL);
    CHECK_EQUAL(count_at("/app/a.rb", 14), NATIVE * 200 * 10);
    check_flight();
}

static void *use_anothers_ec(void *fiber) {
    fake_ruby_thread_is(0, 0);
    fake_ruby_switch(fiber);
    allocate();
    return NULL;
}

/* Threads of a modular GC carry the mutator's ec. */
static void a_thread_that_is_not_rubys_has_no_frames(void) {
    pthread_t thread;
    begin();
    void *fiber = fake_ruby_fiber();
    fake_ruby_push(code, 1);
    pthread_create(&thread, NULL, use_anothers_ec, fiber);
    pthread_join(thread, NULL);
    CHECK_EQUAL(count_at("/app/a.rb", 11), 0);
}

/* ---- without the GVL, and during GC ---- */

static void a_known_line_needs_no_gvl(void) {
    begin();
    allocate_at(code, 1);
    fake_ruby_thread_is(1, 0);
    const unsigned asked = fake_ruby.lines_asked;
    allocate_at(code, 1);
    CHECK_EQUAL(count_at("/app/a.rb", 11), 2);
    CHECK_EQUAL(fake_ruby.lines_asked, asked);
}

static void an_unknown_line_is_found_without_the_gvl(void) {
    begin();
    fake_ruby_thread_is(1, 0);
    allocate_at(code, 2);
    CHECK_EQUAL(count_at("/app/a.rb", 12), 1);
    fake_ruby_thread_is(1, 1);
    fake_ruby.gc_runs = 1;
    allocate_at(code, 3);
    CHECK_EQUAL(count_at("/app/a.rb", 13), 1);
    check_flight();
}

/* Compaction moved the iseq away from under a thread without the GVL: what lies there now does not contain the pc. */
static void an_iseq_that_moved_is_not_believed(void) {
    begin();
    uint64_t wrong = 16;
    struct fake_code *other = fake_ruby_compile("/app/other.rb", "work", 1, 2);
    fake_ruby_thread_is(1, 0);
    fake_ruby_push(code, 20);
    char *frame;
    memcpy(&frame, (char *)*fake_ruby_ec_word() + HL_EC_FRAME, sizeof(frame));
    memcpy(frame + HL_FRAME_ISEQ, &other, sizeof(other));
    allocate();
    memcpy(frame + HL_FRAME_ISEQ, &wrong, sizeof(wrong)); /* nor is unreadable memory a fault */
    allocate();
    CHECK_EQUAL(count_at("/app/a.rb", 30), 0);
    memcpy(frame + HL_FRAME_ISEQ, &code, sizeof(code));
    allocate(); /* what could not be told then, can be told now */
    CHECK_EQUAL(count_at("/app/a.rb", 30), 1);
    CHECK_EQUAL(hl_flight.header->mismatches, 0);
}

/* ---- labels and the check against the public API ---- */

static void a_label_names_the_methods_owner(void) {
    begin();
    struct fake_code *put = fake_ruby_compile("/app/cache.rb", "put", 1, 9);
    struct fake_code *block = fake_ruby_compile("/app/cache.rb", "block in put", 21, 9);
    struct fake_code *build = fake_ruby_compile("/app/cache.rb", "build", 41, 9);
    fake_ruby_define(put, "Cache", 0);
    fake_ruby_define(block, "Cache", 0);
    fake_ruby_define(build, "Cache", 1);
    allocate_at(put, 0);
    allocate_at(block, 0);
    allocate_at(build, 0);
    allocate_at(code, 0);
    CHECK(label_is(flight_find("/app/cache.rb", 1), "Cache#put"));
    CHECK(label_is(flight_find("/app/cache.rb", 21), "block in Cache#put"));
    CHECK(label_is(flight_find("/app/cache.rb", 41), "Cache.build"));
    CHECK(label_is(flight_find("/app/a.rb", 10), "work"));
}

static void lines_unlike_rubys_own_lead_to_the_public_way(void) {
    begin();
    fake_ruby.lines_off_by = 1;
    for (unsigned i = 0; i < 3; i++) allocate_at(code, i);
    CHECK_EQUAL(hl_flight.header->mismatches, 3);
    CHECK(!hl_ruby.public_only);
    allocate_at(code, 3);
    CHECK(hl_ruby.public_only);
    CHECK_EQUAL(hl_flight.header->attribution, HL_ATTRIBUTION_PUBLIC);
    allocate_at(code, 5);
    CHECK_EQUAL(count_at("/app/a.rb", 16), 1); /* line 15, off by 1: what Ruby says */
}

/* ---- a provider of the test's own ---- */

static unsigned provided;

static int provide(struct hl_frame frame, struct hl_ruby_line *line, char *buffer, size_t size) {
    (void)buffer, (void)size;
    provided++;
    errno = ENXIO;
    if (frame.pc % 16 == 8) return -EAGAIN;
    *line = (struct hl_ruby_line){.path = "given.rb", .path_length = 8, .line = 7, .cacheable = 0};
    return 0;
}

static void a_provider_tells_the_line_each_time_where_it_may_not_be_cached(void) {
    begin();
    hl_location_provider = provide;
    const unsigned even = fake_ruby_encoded(code) % 16 ? 0 : 1;
    errno = EXDEV;
    allocate_at(code, even);
    CHECK_EQUAL(errno, EXDEV);
    allocate_at(code, even);
    CHECK_EQUAL(provided, 2);
    CHECK_EQUAL(count_at("given.rb", 7), 2);
    allocate_at(code, even + 1); /* cannot be told: the caller's place, and asked again */
    allocate_at(code, even + 1);
    CHECK_EQUAL(provided, 4);
    CHECK_EQUAL(count_at("given.rb", 7), 2);
    check_flight();
}

static const struct check_test tests[] = {
    {"the_nearest_ruby_frame_is_the_place", the_nearest_ruby_frame_is_the_place},
    {"without_a_ruby_frame_the_caller_is_the_place", without_a_ruby_frame_the_caller_is_the_place},
    {"a_threads_first_frame_may_be_missing", a_threads_first_frame_may_be_missing},
    {"each_form_of_a_path_is_read", each_form_of_a_path_is_read},
    {"of_two_places_in_one_slot_both_stay_known", of_two_places_in_one_slot_both_stay_known},
    {"a_site_alone_takes_no_counters", a_site_alone_takes_no_counters},
    {"a_line_that_is_known_is_not_asked_for_again", a_line_that_is_known_is_not_asked_for_again},
    {"caches_that_overflow_answer_no_place_wrongly", caches_that_overflow_answer_no_place_wrongly},
    {"lines_that_are_looked_for_again_get_a_larger_cache", lines_that_are_looked_for_again_get_a_larger_cache},
    {"few_lanes_have_the_largest_cache", few_lanes_have_the_largest_cache},
    {"each_tag_has_its_sites", each_tag_has_its_sites},
    {"a_method_of_the_vms_own_counts_where_it_is_called", a_method_of_the_vms_own_counts_where_it_is_called},
    {"what_a_line_calls_gives_the_label", what_a_line_calls_gives_the_label},
    {"a_method_of_the_vms_own_that_nobody_called_stays", a_method_of_the_vms_own_that_nobody_called_stays},
    {"its_caller_may_go", its_caller_may_go},
    {"methods_of_the_vms_own_are_shown_where_it_is_asked_for", methods_of_the_vms_own_are_shown_where_it_is_asked_for},
    {"what_a_body_that_is_loaded_calls_is_a_site_of_its_own", what_a_body_that_is_loaded_calls_is_a_site_of_its_own},
    {"what_was_met_while_loading_counts_as_run_afterwards", what_was_met_while_loading_counts_as_run_afterwards},
    {"the_public_way_passes_them_over_too", the_public_way_passes_them_over_too},
    {"freed_code_is_forgotten", freed_code_is_forgotten},
    {"freed_code_is_forgotten_by_lanes_that_settled", freed_code_is_forgotten_by_lanes_that_settled},
    {"code_outside_malloc_memory_is_never_cached", code_outside_malloc_memory_is_never_cached},
    {"each_fiber_has_its_frames", each_fiber_has_its_frames},
    {"a_freed_ec_is_not_followed", a_freed_ec_is_not_followed},
    {"an_ec_that_was_never_proven_is_not_followed_once_freed", an_ec_that_was_never_proven_is_not_followed_once_freed},
    {"the_fibers_of_a_thread_need_no_proof_each", the_fibers_of_a_thread_need_no_proof_each},
    {"short_lived_fibers_need_no_proof_each", short_lived_fibers_need_no_proof_each},
    {"a_gone_threads_first_fiber_is_not_followed", a_gone_threads_first_fiber_is_not_followed},
    {"a_gone_thread_is_not_followed", a_gone_thread_is_not_followed},
    {"threads_with_fibers_come_and_go", threads_with_fibers_come_and_go},
    {"a_thread_that_is_not_rubys_has_no_frames", a_thread_that_is_not_rubys_has_no_frames},
    {"a_known_line_needs_no_gvl", a_known_line_needs_no_gvl},
    {"an_unknown_line_is_found_without_the_gvl", an_unknown_line_is_found_without_the_gvl},
    {"an_iseq_that_moved_is_not_believed", an_iseq_that_moved_is_not_believed},
    {"a_label_names_the_methods_owner", a_label_names_the_methods_owner},
    {"lines_unlike_rubys_own_lead_to_the_public_way", lines_unlike_rubys_own_lead_to_the_public_way},
    {"a_provider_tells_the_line_each_time_where_it_may_not_be_cached",
     a_provider_tells_the_line_each_time_where_it_may_not_be_cached},
};
CHECK_MAIN(tests)
