/* SPDX-License-Identifier: MIT */
#include "location.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "check_flight.h"
#include "core.h"
#include "fake_ruby.h"
#include "flight.h"
#include "library.h"
#include "real_malloc.h"
#include "site_table.h"

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

static void without_a_ruby_frame_the_caller_is_the_place(void) {
    begin();
    for (int i = 0; i < 3; i++) fake_ruby_push_c();
    allocate();
    const uint32_t site = hl_flight.header->site_count - 1;
    CHECK_EQUAL(hl_site_record(site)->kind, HL_KIND_NATIVE);
    CHECK_EQUAL(flight_site(site).allocations, 1);
}

/* Trap 1 of the design: a thread has its ec before it has a frame. */
static void a_threads_first_frame_may_be_missing(void) {
    void *frame = NULL;
    begin();
    char *ec = *fake_ruby_ec_word();
    memcpy(ec + HL_EC_FRAME, &frame, sizeof(frame));
    allocate();
    CHECK_EQUAL(hl_site_record(hl_flight.header->site_count - 1)->kind, HL_KIND_NATIVE);
}

static void each_form_of_a_path_is_read(void) {
    begin();
    allocate_at(fake_ruby_compile_as(FAKE_PATH_PAIR, "/pair/of/paths/embedded.rb", "work", 1, 5), 1);
    allocate_at(fake_ruby_compile_as(FAKE_PATH_HEAP_PAIR, "/pair.rb", "work", 1, 5), 2);
    CHECK_EQUAL(count_at("/pair/of/paths/embedded.rb", 2), 1);
    CHECK_EQUAL(count_at("/pair.rb", 3), 1);
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
    CHECK_EQUAL(count_at("/app/a.rb", 11), 1 + 20); /* the second fiber was allocated there too */
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
    {"a_line_that_is_known_is_not_asked_for_again", a_line_that_is_known_is_not_asked_for_again},
    {"caches_that_overflow_answer_no_place_wrongly", caches_that_overflow_answer_no_place_wrongly},
    {"freed_code_is_forgotten", freed_code_is_forgotten},
    {"code_outside_malloc_memory_is_never_cached", code_outside_malloc_memory_is_never_cached},
    {"each_fiber_has_its_frames", each_fiber_has_its_frames},
    {"a_freed_ec_is_not_followed", a_freed_ec_is_not_followed},
    {"an_ec_that_was_never_proven_is_not_followed_once_freed", an_ec_that_was_never_proven_is_not_followed_once_freed},
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
