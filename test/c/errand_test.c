/* SPDX-License-Identifier: MIT */
#include "lifecycle/errand.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "core.h"
#include "fake_linker.h"
#include "fake_ruby.h"
#include "flight/flight.h"
#include "lifecycle/errand.h"
#include "machine.h"
#include "platform/text.h"
#include "record/recorder.h"
#include "state/guard.h"

enum { SITES = 20000, MOST_INSTRUCTIONS = 10000, MOST_REPEATS = 65536, MOST_CALLS = 2 };

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

/* Somebody else begins or ends one: an allocation, with whatever locks the program has, does not wait for that. */
static void a_recording_begins_and_ends_at_a_safe_point(void) {
    begin();
    CHECK(hl_recorder_take_turn(1));
    ask(HL_REQUEST_RECORD);
    fake_ruby_thread_is(0, 0); /* a thread without Ruby does not do it either, and does not lose it */
    fake_ruby_allocate(10);
    fake_ruby_thread_is(1, 1);
    CHECK_EQUAL(hl_flight.header->answered, 0);
    CHECK_EQUAL(hl_flight.header->request, HL_REQUEST_RECORD);
    CHECK(fake_ruby.job != NULL && !hl_recording());
    hl_recorder_end_turn();
    run_job();
    CHECK_EQUAL(hl_flight.header->answered, 1);
    CHECK_EQUAL(hl_flight.header->record_problem, 0);
    CHECK_EQUAL(hl_flight.header->request, 0);
    CHECK_EQUAL(figures->objects_ns, 0); /* nobody asked for that */
    CHECK(hl_recording());
    ask(HL_REQUEST_RECORD_END);
    CHECK(hl_recording());
    run_job();
    CHECK(!hl_recording());
}

/* Who asked has given up before the safe point. */
static void a_recording_that_is_withdrawn_does_not_begin(void) {
    begin();
    ask(HL_REQUEST_RECORD);
    __atomic_store_n(&hl_flight.header->request, 0, __ATOMIC_SEQ_CST);
    run_job();
    CHECK_EQUAL(hl_flight.header->answered, 0);
    CHECK(!hl_recording());
}

/* Before there is a VM no job would be run; inside malloc it is not begun either. */
static void without_a_vm_a_recording_begins_where_a_clock_is_read(void) {
    struct timespec time;
    core_start("3.4.1", "");
    hl_flight.header->request = HL_REQUEST_RECORD;
    void *volatile block = malloc(10);
    free(block);
    CHECK(!hl_recording());
    CHECK_EQUAL(clock_gettime(CLOCK_MONOTONIC, &time), 0);
    CHECK_EQUAL(hl_flight.header->answered, 1);
    CHECK(hl_recording());
}

/* ---- E5: how much a malloc does for others ---- */

/* One place, that is known when it counts. */
static __attribute__((noinline)) void allocate(void) {
    void *volatile block = malloc(10);
    (void)block;
}

/* In a child that is traced: what a malloc does when `bits` are asked for is between the two marks. */
static void be_asked(uint32_t bits, int others) {
    static int other;
    begin();
    const struct fake_code *code = fake_ruby_compile("app.rb", "work", 1, SITES);
    for (unsigned i = 0; i < SITES; i++) {
        fake_ruby_push(code, i);
        fake_ruby_allocate(10);
        fake_ruby_pop();
    }
    if (others) {
        fake_ruby_fiber();
        fake_ruby_ractor_is(&other); /* the job is registered for another Ractor */
    }
    hl_flight.header->twin.asked = 1;
    for (int round = 0; round < 3; round++) allocate();
    hl_flight.header->request = bits;
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    MARK();
    allocate();
    MARK();
    _exit(0);
}

/* A step of a traced process: 1 where it came to a mark. */
static int step(pid_t child) {
    siginfo_t info;
    int status;
    ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return -1;
    CHECK_EQUAL(WSTOPSIG(status), SIGTRAP);
    return ptrace(PTRACE_GETSIGINFO, child, NULL, &info) == 0 && info.si_code == SI_KERNEL;
}

/* `repeats`: of an instruction that fills memory, which is told of each byte and fills dozens in a cycle. */
struct work {
    unsigned instructions, repeats, calls;
};

static struct work count_work(uint32_t bits, int others) {
    struct work work = {0};
    unsigned long long before = 0;
    int status;
    const pid_t child = fork();
    if (child == 0) be_asked(bits, others);
    CHECK_EQUAL(waitpid(child, &status, 0), child); /* at the first mark */
    while (work.instructions < MOST_INSTRUCTIONS && work.repeats < MOST_REPEATS) {
        const unsigned long long place = place_of(child);
        work.calls += is_system_call(ptrace(PTRACE_PEEKTEXT, child, (void *)(uintptr_t)place, NULL));
        if (step(child)) break;
        *(place == before ? &work.repeats : &work.instructions) += 1;
        before = place;
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return work;
}

/* 10,000 instructions take some 5 microseconds, and never 50; of system calls there are two changes of the signal mask.
 */
static void a_malloc_that_is_asked_does_little(void) {
    static const uint32_t asked[] = {HL_REQUEST_BASELINE,
                                     HL_REQUEST_FIGURES | HL_REQUEST_SURVEY,
                                     HL_REQUEST_TRIM,
                                     HL_REQUEST_TWIN,
                                     HL_REQUEST_RECORD,
                                     HL_REQUEST_RECORD_END,
                                     HL_REQUEST_RECORD_NATIVE,
                                     HL_REQUEST_LEAKS,
                                     (1u << 11) - 1};
    if (!SINGLE_STEPS_PASS) check_skip("between single steps no exclusive store succeeds");
#ifdef HL_THREAD_SANITIZER
    check_skip("the thread sanitizer's instructions would be counted");
#endif
    if (CHECK_ADDRESS_SANITIZER) check_skip("the address sanitizer's instructions would be counted");
    const struct work plain = count_work(0, 0);
    CHECK(plain.instructions > 10 && plain.instructions < 5000);
    for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++)
        for (int others = 0; others < 2; others++) {
            const struct work work = count_work(asked[i], others);
            if (getenv("HEAPLINE_SHOW"))
                fprintf(stderr, "%#x %d: %u instructions, %u bytes filled, %u system calls\n", asked[i], others,
                        work.instructions - plain.instructions, work.repeats, work.calls);
            CHECK(work.instructions < MOST_INSTRUCTIONS && work.repeats < MOST_REPEATS);
            CHECK(work.calls <= MOST_CALLS);
        }
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
    CHECK_EQUAL(hl_flight.header->request, 0);
    CHECK_EQUAL(hl_flight.header->answered, 0);
    CHECK_EQUAL(clock_gettime((clockid_t)4711, &time), -1);
    CHECK_EQUAL(errno, EINVAL);
    run_job();
    CHECK_EQUAL(hl_flight.header->answered, 1); /* the baseline */
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
    {"a_recording_begins_and_ends_at_a_safe_point", a_recording_begins_and_ends_at_a_safe_point},
    {"a_malloc_that_is_asked_does_little", a_malloc_that_is_asked_does_little},
    {"a_recording_that_is_withdrawn_does_not_begin", a_recording_that_is_withdrawn_does_not_begin},
    {"without_a_vm_a_recording_begins_where_a_clock_is_read", without_a_vm_a_recording_begins_where_a_clock_is_read},
    {"bad_moments", bad_moments},
    {"who_reads_the_clock_sees_it", who_reads_the_clock_sees_it},
    {"the_main_ractor_does_it", the_main_ractor_does_it},
    {"many_requests", many_requests},
    {"a_child_can_be_asked", a_child_can_be_asked},
};
CHECK_MAIN(tests)
