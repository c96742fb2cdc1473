/* SPDX-License-Identifier: MIT */
#include "errand.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "core.h"
#include "fake_linker.h"
#include "fake_ruby.h"
#include "flight.h"
#include "guard.h"
#include "text.h"

static struct hl_figures *figures;
static pthread_t asker;

/* What the allocator saw of the thread that asked it. */
static struct {
    unsigned calls, at_once, most_at_once;
    int other_thread, guarded, signals_blocked;
} seen;

static int mallctl(const char *name, void *value, size_t *length, void *fresh, size_t fresh_length) {
    (void)length, (void)fresh, (void)fresh_length;
    sigset_t mask;
    if (strcmp(name, "epoch") == 0) {
        const unsigned now = __atomic_add_fetch(&seen.at_once, 1, __ATOMIC_SEQ_CST);
        if (now > seen.most_at_once) seen.most_at_once = now;
        pthread_sigmask(SIG_SETMASK, NULL, &mask);
        seen.signals_blocked = sigismember(&mask, SIGINT) && sigismember(&mask, SIGUSR2) && sigismember(&mask, SIGCHLD);
        seen.guarded = hl_thread.busy && !hl_thread.own;
        seen.other_thread = !pthread_equal(pthread_self(), asker);
        __atomic_add_fetch(&seen.calls, 1, __ATOMIC_SEQ_CST);
        __atomic_sub_fetch(&seen.at_once, 1, __ATOMIC_SEQ_CST);
        return 0;
    }
    if (strcmp(name, "stats.resident") == 0) *(size_t *)value = 4711;
    return 0;
}

static void begin(void) {
    fake_linker_set("mallctl", (void *)(uintptr_t)mallctl);
    core_start("3.4.1", "");
    fake_ruby_boot();
    fake_ruby_allocate(1); /* the core attaches */
    hl_text(hl_flight.header->allocator, sizeof(hl_flight.header->allocator), "jemalloc 5.3.0");
    figures = &hl_flight.header->figures;
    asker = pthread_self();
}

/* 1 once the word is not 0 any more, 0 after a minute. */
static int comes(const uint64_t *word) {
    const time_t limit = time(NULL) + 60;
    while (!__atomic_load_n(word, __ATOMIC_ACQUIRE) && time(NULL) < limit) sched_yield();
    return __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0;
}

static void run_job(void) {
    void (*job)(void *) = fake_ruby.job;
    fake_ruby.job = NULL;
    if (job) job(NULL);
}

static void ask(uint32_t bits) {
    hl_flight.header->request = bits;
    fake_ruby_allocate(10);
}

static void a_request_waits_for_a_safe_point(void) {
    begin();
    ask(HL_REQUEST_FIGURES);
    CHECK(fake_ruby.job != NULL);
    CHECK_EQUAL(hl_flight.header->request, 0);
    CHECK_EQUAL(figures->objects_ns, 0);
    CHECK_EQUAL(hl_flight.header->answered, 0);
    run_job();
    CHECK(figures->objects_ns != 0 && comes(&figures->allocator_ns));
    CHECK_EQUAL(figures->heap_pages, 10);
    CHECK_EQUAL(figures->resident_bytes, 4711);
    CHECK_EQUAL(figures->trim_ns, 0);
}

static void the_helper_is_no_thread_of_the_program(void) {
    sigset_t before, after;
    begin();
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    ask(HL_REQUEST_TRIM);
    run_job();
    CHECK(comes(&figures->allocator_ns) && comes(&figures->trim_ns));
    CHECK(seen.other_thread && seen.guarded && seen.signals_blocked);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int number = 1; number < 64; number++) CHECK_EQUAL(sigismember(&after, number), sigismember(&before, number));
    CHECK(hl_thread.busy == 0);
}

/* What was asked twice because the answer came late is done once. */
static void a_trim_is_not_done_twice(void) {
    begin();
    ask(HL_REQUEST_TRIM);
    run_job();
    CHECK(comes(&figures->allocator_ns));
    const uint64_t first = figures->trim_ns;
    __atomic_store_n(&figures->allocator_ns, 0, __ATOMIC_RELEASE);
    ask(HL_REQUEST_TRIM);
    run_job();
    CHECK(comes(&figures->allocator_ns));
    CHECK_EQUAL(figures->trim_ns, first);
    figures->trim_ns -= 3000000000;
    __atomic_store_n(&figures->allocator_ns, 0, __ATOMIC_RELEASE);
    ask(HL_REQUEST_TRIM);
    run_job();
    CHECK(comes(&figures->allocator_ns));
    CHECK(figures->trim_ns > first);
}

static void bad_moments(void) {
    begin();
    fake_ruby_thread_is(1, 0);
    ask(HL_REQUEST_FIGURES);
    CHECK(fake_ruby.job == NULL);
    fake_ruby_thread_is(0, 0);
    ask(HL_REQUEST_FIGURES);
    CHECK(fake_ruby.job == NULL);
    fake_ruby_thread_is(1, 1);
    ask(HL_REQUEST_FIGURES);
    CHECK(fake_ruby.job != NULL);
}

/* A program that allocates nothing passes there, also in a GC; at a bad moment the request stays. */
static void who_reads_the_clock_sees_it(void) {
    struct timespec time;
    begin();
    hl_flight.header->request = HL_REQUEST_FIGURES | HL_REQUEST_BASELINE;
    fake_ruby.gc_runs = 1;
    fake_ruby_thread_is(1, 0);
    CHECK_EQUAL(clock_gettime(CLOCK_MONOTONIC, &time), 0);
    CHECK(fake_ruby.job == NULL);
    CHECK_EQUAL(hl_flight.header->request, HL_REQUEST_FIGURES | HL_REQUEST_BASELINE);
    fake_ruby_thread_is(1, 1);
    time.tv_sec = 0;
    CHECK_EQUAL(clock_gettime(CLOCK_MONOTONIC, &time), 0);
    CHECK(fake_ruby.job != NULL && time.tv_sec > 0);
    CHECK_EQUAL(hl_flight.header->request, HL_REQUEST_BASELINE);
    CHECK_EQUAL(clock_gettime((clockid_t)4711, &time), -1);
    CHECK_EQUAL(errno, EINVAL);
    run_job();
    CHECK(comes(&figures->allocator_ns));
}

/* E4: registered as by no thread of Ruby's; and again, where another Ractor comes to it first. */
static void the_main_ractor_does_it(void) {
    static int other;
    begin();
    const void *ec = *fake_ruby_ec_word();
    fake_ruby_fiber();
    const void *of_other = *fake_ruby_ec_word();
    fake_ruby_ractor_is(&other);
    ask(HL_REQUEST_FIGURES);
    CHECK(fake_ruby.job != NULL && fake_ruby.job_ec == NULL);
    CHECK(*fake_ruby_ec_word() == of_other);
    run_job();
    CHECK(fake_ruby.job != NULL && fake_ruby.job_ec == NULL);
    CHECK_EQUAL(figures->objects_ns, 0);
    *fake_ruby_ec_word() = (void *)(uintptr_t)ec;
    run_job();
    CHECK(figures->objects_ns != 0);
    ask(HL_REQUEST_FIGURES);
    CHECK(fake_ruby.job_ec == ec);
    run_job();
    CHECK(comes(&figures->allocator_ns));
}

/* Each is seen to after it was asked, by one helper at a time. */
static void many_requests(void) {
    begin();
    for (unsigned i = 0; i < 200; i++) {
        __atomic_store_n(&figures->allocator_ns, 0, __ATOMIC_RELEASE);
        ask(HL_REQUEST_FIGURES);
        run_job();
        if (i % 3 == 0) CHECK(comes(&figures->allocator_ns));
    }
    CHECK(comes(&figures->allocator_ns));
    CHECK_EQUAL(seen.most_at_once, 1);
    CHECK(seen.calls >= 200 / 3);
}

static void ask_in_child(void) {
    __atomic_store_n(&figures->allocator_ns, 0, __ATOMIC_RELEASE);
    fake_ruby_allocate(10); /* a flight of its own */
    figures = &hl_flight.header->figures;
    figures->allocator_ns = 0;
    ask(HL_REQUEST_FIGURES);
    CHECK(fake_ruby.job != NULL);
    run_job();
    CHECK(comes(&figures->allocator_ns));
}

/* Whatever the parent's helper was doing. */
static void a_child_can_be_asked(void) {
#ifdef HL_THREAD_SANITIZER
    check_skip("the thread sanitizer starts no thread in a forked child");
#endif
    if (CHECK_ADDRESS_SANITIZER) check_skip("the address sanitizer must not fork while a thread starts or ends");
    begin();
    for (unsigned i = 0; i < 20; i++) {
        ask(HL_REQUEST_FIGURES);
        run_job();
        CHECK(WIFEXITED(check_in_child(ask_in_child)));
    }
}

static const struct check_test tests[] = {
    {"a_request_waits_for_a_safe_point", a_request_waits_for_a_safe_point},
    {"the_helper_is_no_thread_of_the_program", the_helper_is_no_thread_of_the_program},
    {"a_trim_is_not_done_twice", a_trim_is_not_done_twice},
    {"bad_moments", bad_moments},
    {"who_reads_the_clock_sees_it", who_reads_the_clock_sees_it},
    {"the_main_ractor_does_it", the_main_ractor_does_it},
    {"many_requests", many_requests},
    {"a_child_can_be_asked", a_child_can_be_asked},
};
CHECK_MAIN(tests)
