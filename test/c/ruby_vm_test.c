/* SPDX-License-Identifier: MIT */
#include "vm/ruby_vm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "account/lane.h"
#include "check.h"
#include "check_flight.h"
#include "core.h"
#include "fake_linker.h"
#include "fake_ruby.h"
#include "flight/flight.h"
#include "lifecycle/lifecycle.h"

/* What the core wrote to stderr. */
static char said[2000];
static int said_at, stderr_before;

static void begin_to_listen(void) {
    int ends[2];
    stderr_before = dup(STDERR_FILENO);
    if (pipe(ends)) abort();
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    said_at = ends[0];
}

static void end_to_listen(void) {
    dup2(stderr_before, STDERR_FILENO);
    const ssize_t length = read(said_at, said, sizeof(said) - 1);
    said[length > 0 ? length : 0] = 0;
}

static void one_call_at(struct fake_code *code, unsigned position) {
    fake_ruby_push(code, position);
    free(fake_ruby_allocate(10));
    fake_ruby_pop();
}

/* ---- attaching ---- */

static void attaches_with_the_layout_of(const char *version) {
    core_start(version, "quiet");
    free(fake_ruby_allocate(5)); /* before the VM exists: no frames */
    CHECK(!hl_ruby.attached);
    CHECK_EQUAL(hl_flight.header->attribution, HL_ATTRIBUTION_NONE);
    fake_ruby_boot();
    CHECK(hl_ruby.attached && !hl_ruby.public_only);
    CHECK_EQUAL(hl_flight.header->attribution, HL_ATTRIBUTION_FRAMES);
    struct fake_code *code = fake_ruby_compile("/app/with/a/long/path.rb", "work", 10, 50);
    struct fake_code *brief = fake_ruby_compile("short.rb", "m", 1, 50);
    one_call_at(code, 32);
    one_call_at(brief, 6);
    CHECK_EQUAL(flight_site(flight_find("/app/with/a/long/path.rb", 42)).allocations, 1);
    CHECK_EQUAL(flight_site(flight_find("short.rb", 7)).allocations, 1);
    CHECK_EQUAL(hl_flight.header->mismatches, 0);
    check_flight();
}

static void ruby_3_1(void) {
    attaches_with_the_layout_of("3.1.2");
}

static void ruby_3_2(void) {
    attaches_with_the_layout_of("3.2.8");
}

static void ruby_3_3(void) {
    attaches_with_the_layout_of("3.3.8");
}

static void ruby_3_4(void) {
    attaches_with_the_layout_of("3.4.9");
}

static void ruby_4_0(void) {
    attaches_with_the_layout_of("4.0.1");
}

/* Up to Ruby 3.2 the word with the ec has an exported name. */
static void the_exported_word_is_taken_where_there_is_one(void) {
    fake_linker_set("ruby_current_ec", fake_ruby_ec_word());
    attaches_with_the_layout_of("3.1.2");
}

static void goes_the_public_way(const char *version, const char *options, const char *reason) {
    begin_to_listen();
    core_start(version, options);
    fake_ruby_boot();
    end_to_listen();
    CHECK(strstr(said, reason));
    CHECK(hl_ruby.attached && hl_ruby.public_only);
    CHECK_EQUAL(hl_flight.header->attribution, HL_ATTRIBUTION_PUBLIC);
    struct fake_code *code = fake_ruby_compile("/app/a.rb", "work", 10, 50);
    for (int i = 0; i < 3; i++) one_call_at(code, 4);
    CHECK_EQUAL(flight_site(flight_find("/app/a.rb", 14)).allocations, 3);
    check_flight();
}

static void a_version_without_a_row_is_found_out(void) {
    attaches_with_the_layout_of("5.0.0");
    CHECK(!hl_ruby.version_known);
}

static void a_user_may_ask_for_the_public_way(void) {
    goes_the_public_way("3.4.1", "api", "HEAPLINE=api");
    CHECK(!hl_ruby.layout && !hl_ruby_ec());
}

/* As on a Ruby whose layout changed under the same version. */
static void frames_laid_out_otherwise_go_the_public_way(void) {
    static void *elsewhere;
    fake_linker_set("ruby_current_ec", &elsewhere);
    goes_the_public_way("3.4.1", "", "laid out in an unknown way");
}

/* ---- the proof ---- */

/* The line is right, and `public_only` what is wanted, in a VM where words came in. */
static void look_at_a_build(enum fake_struct in, unsigned from, unsigned bytes, unsigned public_only) {
    fake_ruby_shift(in, from, bytes);
    core_start("3.4.1", "quiet");
    fake_ruby_boot();
    struct fake_code *code = fake_ruby_compile("/app/with/a/long/path.rb", "work", 10, 50);
    one_call_at(code, 32);
    if (hl_ruby.public_only != public_only ||
        flight_site(flight_find("/app/with/a/long/path.rb", 42)).allocations != 1) {
        fprintf(stderr, "struct %u, %u bytes at %u: %u\n", in, bytes, from, hl_ruby.public_only);
        abort();
    }
}

static void words_that_came_into_a_struct_are_found_or_refused(void) {
    enum { WORD = sizeof(void *), FEW = 3 * WORD };
    static const unsigned sizes[FAKE_STRUCTS] = {0, 56, 64, 56, 24, 88};
    static const unsigned fixed[FAKE_STRUCTS] = {0, 0, HL_EC_FRAME + WORD, HL_FRAME_EP + WORD, 0, 0};
    for (enum fake_struct in = FAKE_THREAD; in < FAKE_STRUCTS; in++)
        for (unsigned from = 0; from <= sizes[in]; from += WORD)
            for (unsigned bytes = WORD; bytes <= FEW; bytes += 2 * WORD) {
                int status;
                const pid_t child = fork();
                if (!child) {
                    const int between = in == FAKE_BODY && from == WORD; /* the code and its size */
                    look_at_a_build(in, from, bytes, from < fixed[in] || between ? HL_PUBLIC : HL_OWN_WALK);
                    _exit(0);
                }
                CHECK(waitpid(child, &status, 0) == child && status == 0);
            }
}

/* Wherever the ec of another build leads. */
static void words_that_cannot_be_read_are_no_fault(void) {
    static uint64_t nowhere[64];
    for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) nowhere[i] = 0x7fff00000000 + 16 * i;
    fake_linker_set("ruby_current_ec", &(void *){nowhere});
    goes_the_public_way("3.4.1", "", "laid out in an unknown way");
}

static void quiet_says_nothing(void) {
    begin_to_listen();
    fake_ruby_shift(FAKE_EC, 0, sizeof(void *));
    core_start("5.0.0", "quiet");
    fake_ruby_boot();
    end_to_listen();
    CHECK(hl_ruby.public_only && said[0] == 0);
}

static void a_library_that_lacks_a_function_is_no_ruby(void) {
    fake_ruby_load("3.4.1");
    fake_linker_set("rb_profile_frames", (void *)0);
    CHECK(!hl_ruby_present());
}

static void the_end_of_the_vm_is_the_end_of_attribution(void) {
    core_start("3.4.1", "quiet");
    fake_ruby_boot();
    struct fake_code *code = fake_ruby_compile("/app/a.rb", "work", 10, 50);
    fake_ruby.gc_count = 9;
    one_call_at(code, 0);
    fake_ruby.at_exit(NULL);
    *fake_ruby_ec_word() = (void *)8; /* the VM's memory is gone */
    free(fake_ruby_allocate(10));
    CHECK(!hl_ruby.attached);
    CHECK_EQUAL(hl_generation(), 9);
    CHECK_EQUAL(flight_site(flight_find("/app/a.rb", 10)).allocations, 1);
    check_flight();
}

static const struct check_test tests[] = {
    {"ruby_3_1", ruby_3_1},
    {"ruby_3_2", ruby_3_2},
    {"ruby_3_3", ruby_3_3},
    {"ruby_3_4", ruby_3_4},
    {"ruby_4_0", ruby_4_0},
    {"the_exported_word_is_taken_where_there_is_one", the_exported_word_is_taken_where_there_is_one},
    {"a_version_without_a_row_is_found_out", a_version_without_a_row_is_found_out},
    {"words_that_came_into_a_struct_are_found_or_refused", words_that_came_into_a_struct_are_found_or_refused},
    {"words_that_cannot_be_read_are_no_fault", words_that_cannot_be_read_are_no_fault},
    {"a_user_may_ask_for_the_public_way", a_user_may_ask_for_the_public_way},
    {"frames_laid_out_otherwise_go_the_public_way", frames_laid_out_otherwise_go_the_public_way},
    {"quiet_says_nothing", quiet_says_nothing},
    {"a_library_that_lacks_a_function_is_no_ruby", a_library_that_lacks_a_function_is_no_ruby},
    {"the_end_of_the_vm_is_the_end_of_attribution", the_end_of_the_vm_is_the_end_of_attribution},
};
CHECK_MAIN(tests)
