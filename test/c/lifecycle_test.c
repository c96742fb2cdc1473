/* SPDX-License-Identifier: MIT */
#include "lifecycle/forked_child.h"
#include "lifecycle/lifecycle.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "account/lane.h"
#include "account/location.h"
#include "check.h"
#include "check_flight.h"
#include "core.h"
#include "fake_ruby.h"
#include "flight/child_flight.h"
#include "flight/flight.h"
#include "flight/site_table.h"
#include "heapline_core.h"
#include "interpose/short_way.h"

static struct fake_code *code;
static char path[600];

static void begin(const char *options) {
    core_start("3.4.1", options);
    fake_ruby_boot();
    code = fake_ruby_compile("/app/a.rb", "work", 10, 5000);
    heapline_flight_path(path, sizeof(path));
}

static void *allocate_at(unsigned position, size_t size) {
    fake_ruby_push(code, position);
    void *block = fake_ruby_allocate(size);
    fake_ruby_pop();
    return block;
}

static struct flight_sums sums_at(unsigned position) {
    return flight_site(flight_find("/app/a.rb", 10 + position));
}

/* In the directory that all tests of this program share. */
static unsigned files(void) {
    char command[700];
    snprintf(command, sizeof(command), "ls %s | wc -l", core_directory());
    FILE *output = popen(command, "r");
    unsigned count = 0;
    CHECK(output && fscanf(output, "%u", &count) == 1);
    pclose(output);
    return count;
}

/* ---- forks ---- */

static void fork_again_and_again(unsigned number) {
    for (unsigned i = 0; i < 20; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            void *volatile block = malloc(number + 1); /* which makes it a process of its own */
            free(block);
            _exit(hl_flight.header->pid == (uint32_t)getpid() ? 0 : 1);
        }
        CHECK_EQUAL(waitpid(child, &status, 0), child);
        CHECK_EQUAL(status, 0);
        CHECK_EQUAL(hl_thread.busy, 0);
        free(malloc(10));
    }
}

/* Each child has the flight that was copied for it, and no thread is left in a guard. */
static void threads_may_fork_at_once(void) {
    begin("quiet");
    core_threads(8, fork_again_and_again);
    check_flight();
}

/* ---- the end ---- */

static void (*how_to_end)(void);

static void end_here(void) {
    free(allocate_at(0, 10));
    CHECK(heapline_flight_path(path, sizeof(path)) && access(path, F_OK) == 0);
    how_to_end();
}

static void exit_normally(void) {
    exit(0);
}

static void exit_at_once(void) {
    _exit(0);
}

static void end_by_a_signal(void) {
    signal(SIGUSR1, SIG_DFL);
    raise(SIGUSR1);
}

static void a_normal_end_leaves_no_file(void) {
    static void (*const ways[])(void) = {exit_normally, exit_at_once, end_by_a_signal};
    static const int statuses[] = {0, 0, SIGUSR1};
    begin("quiet");
    const unsigned before = files();
    for (int i = 0; i < 3; i++) {
        how_to_end = ways[i];
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) end_here();
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK_EQUAL(status, statuses[i]);
        CHECK_EQUAL(files(), before);
    }
    check_flight();
}

static void kept_files_say_how_it_ended(void) {
    begin("quiet,keep");
    const unsigned before = files();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        free(allocate_at(0, 10));
        _exit(7);
    }
    int status;
    waitpid(child, &status, 0);
    CHECK_EQUAL(WEXITSTATUS(status), 7);
    CHECK_EQUAL(files(), before + 1);
    hl_lifecycle_last_call(3);
    CHECK_EQUAL(hl_flight.header->state, HL_STATE_EXITED);
    CHECK_EQUAL(hl_flight.header->exit_status, 3);
    CHECK(hl_flight.header->ended_ns >= hl_flight.header->started_ns);
    CHECK(access(path, F_OK) == 0);
}

/* A program that does not load us leaves the file, which then says why nothing in it changes any more. */
static void an_exec_is_said_in_the_file(void) {
    struct hl_flight_header header;
    begin("quiet");
    fflush(NULL);
    pid_t child = fork();
    char *const arguments[] = {(char *)(uintptr_t) "true", NULL};
    if (child == 0) {
        free(allocate_at(0, 10));
        execv("/no/such/program", arguments);
        CHECK_EQUAL(errno, ENOENT);
        CHECK_EQUAL(hl_flight.header->state, HL_STATE_RUNNING); /* it did not happen */
        CHECK(check_failures() == 0);
        execv("/bin/true", arguments);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    snprintf(path, sizeof(path), "exec ls %s/%d-*.flight", core_directory(), (int)child);
    FILE *output = popen(path, "r"), *file;
    CHECK(output && fscanf(output, "%599s", path) == 1);
    pclose(output);
    CHECK((file = fopen(path, "r")) && fread(&header, sizeof(header), 1, file) == 1);
    CHECK_EQUAL(header.state, HL_STATE_EXECED);
    CHECK_EQUAL(header.pid, child);
}

/* ---- fork ---- */

static void *inherited;

static void be_idle(void) {
    CHECK_EQUAL(hl_gate.open, 0);
}

static void be_a_child(void) {
    char own[600];
    CHECK_EQUAL(hl_gate.open, 0); /* until its first call */
    free(inherited);
    CHECK(heapline_enabled());
    CHECK(heapline_flight_path(own, sizeof(own)) && strcmp(own, path) != 0 && access(own, F_OK) == 0);
    CHECK_EQUAL(hl_flight.header->pid, getpid());
    CHECK_EQUAL(hl_flight.header->forked_from, getppid());
    CHECK_EQUAL(hl_flight.header->baseline_kind, HL_BASELINE_FORK);
    free(allocate_at(1, 7));
    const struct flight_sums old = sums_at(0), new = sums_at(1);
    CHECK_EQUAL(old.base_live_bytes, 100);
    CHECK_EQUAL(old.old_frees, 1);
    CHECK_EQUAL(old.frees, 1);
    CHECK_EQUAL(new.allocations, 1);
    check_flight();
}

static void be_a_grandparent(void) {
    inherited = allocate_at(0, 100);
    free(inherited);
    inherited = allocate_at(2, 100);
    check_in_child(be_idle);
    free(inherited);
    check_flight();
}

/* Counts of a parent and its child never mix. */
static void parent_and_child_go_apart(void) {
    begin("quiet");
    inherited = allocate_at(0, 100);
    check_in_child(be_idle);
    check_in_child(be_a_child);
    check_in_child(be_a_grandparent);
    CHECK_EQUAL(sums_at(0).allocations, 1);
    CHECK_EQUAL(sums_at(0).frees, 0);
    CHECK_EQUAL(flight_find("/app/a.rb", 11), 0);
    CHECK_EQUAL(hl_flight.header->baseline, 0);
    free(inherited);
    check_flight();
}

static void be_inert(void) {
    free(inherited);
    free(allocate_at(1, 7));
    CHECK(!heapline_enabled());
}

static void children_are_left_alone_where_nobody_follows(void) {
    begin("quiet,nofollow");
    const unsigned before = files();
    inherited = allocate_at(0, 100);
    check_in_child(be_inert);
    CHECK_EQUAL(files(), before);
    CHECK_EQUAL(sums_at(0).frees, 0);
    check_flight();
}

/* No fork handler runs: the kernel wiped the gate. */
static void a_child_by_a_bare_system_call_is_no_exception(void) {
    begin("quiet");
    inherited = allocate_at(0, 100);
    fflush(NULL);
    const long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        free(inherited);
        CHECK_EQUAL(sums_at(0).frees, 1);
        CHECK_EQUAL(hl_flight.header->pid, getpid());
        below_exit((int)check_failures());
    }
    int status = -1;
    CHECK(waitpid((pid_t)child, &status, 0) == child && status == 0);
    CHECK_EQUAL(sums_at(0).frees, 0);
    check_flight();
}

/* A site of a file of its own, whose name is `length` bytes long. */
static void allocate_in(const char *file, int number, int length) {
    char name[200];
    snprintf(name, sizeof(name), "/%s/%0*d.rb", file, length, number);
    struct fake_code *other = fake_ruby_compile(name, "work", 1, 4);
    fake_ruby_push(other, 1);
    free(fake_ruby_allocate(30));
    fake_ruby_pop();
}

/* Until its first call a child has nothing of its own, and by then the parent has gone on. */
static void what_a_parent_does_next_disturbs_no_child(void) {
    int ends[2];
    char byte = 0;
    begin("quiet");
    allocate_in("both", 0, 10);
    CHECK(pipe(ends) == 0);
    fflush(NULL);
    pid_t child_pid = fork();
    if (child_pid == 0) {
        CHECK(read(ends[0], &byte, 1) == 1);
        for (int i = 0; i < 300; i++) allocate_in("child", i, 20);
        for (int i = 0; i < 300; i += 50) {
            snprintf(path, sizeof(path), "/child/%020d.rb", i);
            CHECK(flight_find(path, 2) != 0);
        }
        check_flight();
        below_exit((int)check_failures());
    }
    for (int i = 0; i < 300; i++) allocate_in("parent", i, 3 + i % 90);
    CHECK(write(ends[1], &byte, 1) == 1);
    int status = -1;
    CHECK(waitpid(child_pid, &status, 0) == child_pid && status == 0);
    check_flight();
}

/* ---- fork and the short way ---- */

/* A return address: the key of a location, beside the line that runs. */
static const uintptr_t CALLER = 0x4242;

/* As malloc's short way does it at line 10; 0: it leaves all to the general way. */
static int born_shortly(char **block) {
    fake_ruby_push(code, 0);
    *block = hl_real_malloc(24 + HL_TRAILER_SIZE);
    struct hl_lane *lane = hl_thread.lane;
    const int settled = lane->settled == hl_location_forgets;
    const struct hl_location_slot *loading = NULL;
    const int counted = hl_short_birth(lane, *block, 24, 0, CALLER, settled, &loading);
    fake_ruby_pop();
    if (!counted) hl_real_free(*block);
    return counted;
}

/* As free's short way does it. */
static int freed_shortly(char *block) {
    const int counted = hl_short_death(block, 0, 1);
    if (counted) hl_real_free(block);
    return counted;
}

/* As the general way does it before it counts. */
static void follow_and_locate(void) {
    fake_ruby_push(code, 0);
    hl_lane_follow(hl_thread.lane);
    hl_locate(hl_thread.lane, CALLER);
    fake_ruby_pop();
}

static void counted_at_line_10(uint64_t allocations, uint64_t frees) {
    const struct flight_sums sums = sums_at(0);
    CHECK_EQUAL(sums.allocations, allocations);
    CHECK_EQUAL(sums.frees, frees);
}

/* Where the short way answers 0 nothing was done. */
static void go_the_short_way_in_a_child(void) {
    char *block;
    CHECK_EQUAL(hl_gate.open, HL_GATE_CLOSED); /* so that malloc and free take another way */
    CHECK(heapline_enabled());
    CHECK_EQUAL(hl_gate.open, HL_GATE_SHORT);
    counted_at_line_10(2, 0);
    CHECK(!born_shortly(&block)); /* its lane is fresh: it knows no location */
    follow_and_locate();
    CHECK(!freed_shortly(inherited)); /* born before its baseline */
    counted_at_line_10(2, 0);
    free(inherited);
    counted_at_line_10(2, 1);
    CHECK_EQUAL(sums_at(0).old_frees, 1);
    CHECK(born_shortly(&block));
    counted_at_line_10(3, 1);
    CHECK(freed_shortly(block));
    counted_at_line_10(3, 2);
    CHECK_EQUAL(sums_at(0).old_frees, 1);
    check_flight();
}

static int go_on[2];

/* A child that reads a byte of go_on before its part comes to an end. */
static pid_t fork_waiting(void (*part)(void)) {
    CHECK(pipe(go_on) == 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        part();
        below_exit((int)check_failures());
    }
    return child;
}

static void let_go_on(pid_t child) {
    int status = -1;
    CHECK(write(go_on[1], "", 1) == 1);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* Its parent went the short way meanwhile: that is none of its counts. */
static void come_late(void) {
    char byte;
    CHECK(read(go_on[0], &byte, 1) == 1);
    CHECK(heapline_enabled());
    counted_at_line_10(2, 0);
    check_flight();
}

static void the_short_way_after_a_fork(void) {
    char *block, *other;
    begin("quiet");
    if (!hl_real_chunked) check_skip("another allocator is below");
    CHECK_EQUAL(hl_gate.open, HL_GATE_SHORT);
    fake_ruby.gc_count = 3; /* so that ticks have begun, and the age of a block can be told shortly */
    follow_and_locate();
    CHECK(born_shortly(&block) && born_shortly(&other));
    inherited = block;
    check_in_child(go_the_short_way_in_a_child);
    counted_at_line_10(2, 0);
    const pid_t child = fork_waiting(come_late);
    CHECK(!freed_shortly(block)); /* the fork is a new moment: what the child is to find has to be kept first */
    counted_at_line_10(2, 0);
    follow_and_locate();
    CHECK(freed_shortly(block) && born_shortly(&block) && freed_shortly(block) && freed_shortly(other));
    counted_at_line_10(3, 3);
    let_go_on(child);
    check_flight();
}

static void gc_counts(uint64_t count) {
    fake_ruby.gc_count = count;
    follow_and_locate();
}

static void aged_at_line_10(uint64_t age_sum, uint64_t temporary) {
    const struct flight_sums sums = sums_at(0);
    CHECK_EQUAL(sums.age_sum, age_sum);
    CHECK_EQUAL(sums.temporary, temporary);
}

/* The last ticks of before are at hand, generations each at first and more than one later; of all else the general way
 * tells the age. */
static void the_short_way_tells_ages(void) {
    char *block, *other = NULL;
    begin("quiet");
    if (!hl_real_chunked) check_skip("another allocator is below");
    gc_counts(3);
    CHECK(born_shortly(&block) && born_shortly(&other));
    gc_counts(7);
    CHECK(freed_shortly(block) && born_shortly(&block));
    aged_at_line_10(4, 0);
    gc_counts(8);
    CHECK(freed_shortly(block));
    aged_at_line_10(5, 1);
    gc_counts(3 + HL_BIRTHS_RECENT);
    CHECK(!freed_shortly(other));
    free(other);
    aged_at_line_10(5 + HL_BIRTHS_RECENT, 1);
    gc_counts(HL_BIRTH_EXACT + 5);
    CHECK(born_shortly(&block));
    gc_counts(HL_BIRTH_EXACT + 12);
    CHECK(freed_shortly(block));
    aged_at_line_10(5 + HL_BIRTHS_RECENT + 7, 2);
    check_flight();
}

/* ---- fork while other threads allocate ---- */

#ifdef HL_THREAD_SANITIZER /* its fork waits for each of the threads: seconds on two processors */
enum { THREADS = 16, FORKS = 12, STARTS = 20 };
#else
enum { THREADS = 16, FORKS = 60, STARTS = 100 };
#endif
static int finished;
static void *crossings[64];

/* At ever new lines too, so that sites are being made while the flight is copied; and most blocks are freed by others
 * than allocated them, so that the copy of one lane's counts does not fit the copy of another's. */
static void *allocate_until_finished(void *number) {
    const unsigned first = (unsigned)(uintptr_t)number;
    heapline_quiet_enter();
    fake_ruby_fiber();
    heapline_quiet_leave();
    for (unsigned i = 0; !__atomic_load_n(&finished, __ATOMIC_ACQUIRE); i++) {
        void *block = allocate_at((first * 300 + i / 16) % 5000, 16 + i % 500);
        free(__atomic_exchange_n(&crossings[(first * 7 + i) % 64], block, __ATOMIC_ACQ_REL));
        if (i % 64 == 0) sched_yield();
    }
    *fake_ruby_ec_word() = NULL;
    return NULL;
}

static void be_a_child_of_threads(void) {
    void *block = allocate_at(4999, 100);
    const struct flight_sums sums = sums_at(4999);
    CHECK(block && sums.allocations >= 1 && sums.frees <= sums.allocations);
    for (unsigned position = 0; position < 5000; position += 37) free(allocate_at(position, 20));
    const struct flight_sums *sites = flight_sites();
    for (uint32_t site = HL_SITE_FIRST; site < hl_flight.header->site_count; site++) {
        const struct flight_sums each = sites[site];
        CHECK(each.frees <= each.allocations && each.bytes_freed <= each.bytes_allocated);
        CHECK(each.allocations == 0 || hl_site_record(site)->ready); /* S1 */
    }
    for (unsigned position = 0; position < 5000; position += 37)
        CHECK(sites[flight_find("/app/a.rb", 10 + position)].allocations > 0);
    free(block);
    hl_forked_child_settle();
    CHECK(!hl_flight_rests());
    check_flight();
}

/* The address sanitizer's allocator (clang 14's at least) is not made whole at a fork: a lock of it that another thread
 * held stays held, and the child waits for ever. */
static void children_of_a_busy_process_work(void) {
    pthread_t threads[THREADS];
    if (CHECK_ADDRESS_SANITIZER) check_skip("the sanitizer's own allocator does not survive it");
    begin("quiet");
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, allocate_until_finished, (void *)i);
    for (int i = 0; i < FORKS && check_failures() == 0; i++) check_in_child(be_a_child_of_threads);
    __atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    check_flight();
}

/* ---- a child that rests on its parent's flight ---- */

enum {
    RESTING_PAGES = 5000,
    RESTING_LINES = 900,
    RESTING_THREADS = 4,
    ROUNDS = 2000,
    STRINGS = 200,
    STRING_BYTES = 400
};

static void *count_in_child(void *number) {
    heapline_quiet_enter();
    fake_ruby_fiber();
    heapline_quiet_leave();
    for (unsigned i = 0; i < ROUNDS; i++) free(allocate_at(1000 + (unsigned)(uintptr_t)number, 24));
    *fake_ruby_ec_word() = NULL;
    return NULL;
}

static size_t tell_more(void *text, char *label, uint32_t *offset) {
    (void)offset;
    memcpy(label, text, strlen(text));
    return strlen(text);
}

static void relabel(uint32_t site, char *label) {
    static const struct hl_text_view before = {"work", 4};
    const int saved = hl_guard_enter(&hl_thread);
    hl_site_relabel(site, before, tell_more, label);
    hl_guard_leave(&hl_thread, saved);
}

static int is_labelled(uint32_t site, const char *label) {
    size_t length;
    const char *text = hl_flight_text(hl_site_record(site)->label, &length);
    return length == strlen(label) && !memcmp(text, label, length);
}

/* Its sums take the places of those of its parent. */
static void be_a_child_of_one_that_rested(void) {
    const uint64_t pages = hl_flight.header->page_count;
    free(allocate_at(0, 7));
    CHECK(hl_flight_rests());
    CHECK(hl_flight.header->page_count <= pages + 8);
    hl_forked_child_settle();
    CHECK_EQUAL(sums_at(0).allocations, 3);
    CHECK_EQUAL(sums_at(1).allocations, 1);
    CHECK(hl_flight.header->page_count <= pages + 8);
    check_flight();
}

static void rest_and_take_over(void) {
    pthread_t threads[RESTING_THREADS];
    char byte;
    free(allocate_at(0, 7)); /* its first call */
    CHECK(hl_flight_rests());
    CHECK_EQUAL(hl_flight.header->state, HL_STATE_FORKED);
    CHECK(read(go_on[0], &byte, 1) == 1);
    relabel(flight_find("/app/a.rb", 11), "Others#work"); /* the record is its parent's */
    for (uintptr_t i = 0; i < RESTING_THREADS; i++) pthread_create(&threads[i], NULL, count_in_child, (void *)i);
    hl_forked_child_settle();
    for (unsigned i = 0; i < RESTING_THREADS; i++) pthread_join(threads[i], NULL);
    CHECK(!hl_flight_rests());
    CHECK_EQUAL(hl_flight.header->state, HL_STATE_RUNNING);
    CHECK_EQUAL(sums_at(0).allocations, 2);
    CHECK_EQUAL(sums_at(0).frees, 1);
    for (unsigned i = 1; i < RESTING_LINES; i++) CHECK_EQUAL(sums_at(i).allocations, 1);
    for (unsigned i = 0; i < RESTING_THREADS; i++) {
        CHECK_EQUAL(sums_at(1000 + i).allocations, ROUNDS);
        CHECK_EQUAL(sums_at(1000 + i).frees, ROUNDS);
    }
    CHECK(is_labelled(flight_find("/app/a.rb", 10), "Telling#work"));
    CHECK(is_labelled(flight_find("/app/a.rb", 11), "work"));
    check_flight();
    check_in_child(be_a_child_of_one_that_rested);
}

/* Its parent goes on meanwhile: it counts, and makes a label more telling, far behind what was there at the fork. */
static void a_child_that_rests_has_what_was_at_the_fork(void) {
    char text[STRING_BYTES] = {0};
    begin("quiet");
    CHECK(hl_flight_pages(RESTING_PAGES)); /* so that it is long before it takes over by itself */
    for (unsigned i = 0; i < RESTING_LINES; i++) CHECK(allocate_at(i, 100));
    const pid_t child = fork_waiting(rest_and_take_over);
    for (unsigned i = 0; i < RESTING_LINES; i++) CHECK(allocate_at(i, 100));
    const int saved = hl_guard_enter(&hl_thread);
    for (uint32_t i = 0; i < STRINGS; i++) {
        memcpy(text, &i, sizeof(i));
        CHECK(hl_string_intern(text, sizeof(text)));
    }
    hl_guard_leave(&hl_thread, saved);
    relabel(flight_find("/app/a.rb", 10), "Telling#work");
    let_go_on(child);
    check_flight();
}

/* ---- late starts ---- */

/* Each start begins at 0: of what the threads had before, no count says anything. The thread sanitizer does not believe
 * that counts may be set to 0 beside a thread which has begun to count before the stop. */
static void counting_ends_and_begins_beside_busy_threads(void) {
    pthread_t threads[THREADS];
#ifdef HL_THREAD_SANITIZER
    check_skip("counts are set to 0 beside threads that count");
#endif
    begin("quiet");
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, allocate_until_finished, (void *)i);
    for (int i = 0; i < STARTS && check_failures() == 0; i++) {
        CHECK_EQUAL(hl_lifecycle_stop(), 0);
        free(allocate_at(5, 100));
        CHECK_EQUAL(hl_lifecycle_start(""), 0);
        free(allocate_at(5, 100));
        sched_yield();
    }
    __atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    const struct flight_sums *sites = flight_sites();
    for (uint32_t site = HL_SITE_FIRST; site < hl_flight.header->site_count; site++)
        CHECK(sites[site].frees <= sites[site].allocations && sites[site].bytes_freed <= sites[site].bytes_allocated);
    check_flight();
}

enum { COUNTERS = 4, COUNTED_BYTES = 48, RESTARTS = 400, FIRST_LINE = 6000 };
static unsigned pausing, paused; /* pausing: the number of the pause that goes on; 0: none does */

static void *count_until_finished(void *number) {
    heapline_quiet_enter();
    fake_ruby_fiber();
    heapline_quiet_leave();
    fake_ruby_push(code, FIRST_LINE + (unsigned)(uintptr_t)number);
    while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE)) {
        for (int i = 0; i < 16; i++) free(fake_ruby_allocate(COUNTED_BYTES));
        const unsigned pause = __atomic_load_n(&pausing, __ATOMIC_ACQUIRE);
        if (!pause) continue;
        __atomic_add_fetch(&paused, 1, __ATOMIC_ACQ_REL);
        while (__atomic_load_n(&pausing, __ATOMIC_ACQUIRE) == pause) sched_yield(); /* the next one may have begun */
    }
    fake_ruby_pop();
    *fake_ruby_ec_word() = NULL;
    return NULL;
}

/* While the threads pause. A block that was born before the start is not freed in it, so to say. */
static void what_was_counted_is_whole(void) {
    for (unsigned number = 0; number < COUNTERS; number++) {
        const struct flight_sums sums = sums_at(FIRST_LINE + number);
        CHECK_EQUAL(sums.bytes_allocated, sums.allocations * COUNTED_BYTES);
        CHECK_EQUAL(sums.frees, sums.allocations);
        CHECK_EQUAL(sums.bytes_freed, sums.bytes_allocated);
    }
    check_lanes();
}

/* All on one processor: so at each stop and start the others stand somewhere in a malloc or a free, and all that they
 * do is one line's. */
static void who_stands_in_the_middle_of_counting_is_waited_for(void) {
    pthread_t threads[COUNTERS];
    cpu_set_t before, one;
#ifdef HL_THREAD_SANITIZER
    check_skip("counts are set to 0 after threads that count were only seen to run");
#endif
    sched_getaffinity(0, sizeof(before), &before);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    CHECK_EQUAL(sched_setaffinity(0, sizeof(one), &one), 0);
    begin("quiet");
    code = fake_ruby_compile("/app/a.rb", "work", 10, FIRST_LINE + COUNTERS);
    for (uintptr_t i = 0; i < COUNTERS; i++) pthread_create(&threads[i], NULL, count_until_finished, (void *)i);
    for (unsigned i = 0; i < RESTARTS && check_failures() == 0; i++) {
        sched_yield();
        CHECK_EQUAL(hl_lifecycle_stop(), 0);
        CHECK_EQUAL(hl_lifecycle_start(""), 0);
        sched_yield();
        __atomic_store_n(&paused, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&pausing, i + 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&paused, __ATOMIC_ACQUIRE) < COUNTERS) sched_yield();
        what_was_counted_is_whole();
        __atomic_store_n(&pausing, 0, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < COUNTERS; i++) pthread_join(threads[i], NULL);
    sched_setaffinity(0, sizeof(before), &before);
    check_flight();
}

static const struct check_test tests[] = {
    {"threads_may_fork_at_once", threads_may_fork_at_once},
    {"a_normal_end_leaves_no_file", a_normal_end_leaves_no_file},
    {"kept_files_say_how_it_ended", kept_files_say_how_it_ended},
    {"an_exec_is_said_in_the_file", an_exec_is_said_in_the_file},
    {"parent_and_child_go_apart", parent_and_child_go_apart},
    {"children_are_left_alone_where_nobody_follows", children_are_left_alone_where_nobody_follows},
    {"a_child_by_a_bare_system_call_is_no_exception", a_child_by_a_bare_system_call_is_no_exception},
    {"what_a_parent_does_next_disturbs_no_child", what_a_parent_does_next_disturbs_no_child},
    {"the_short_way_after_a_fork", the_short_way_after_a_fork},
    {"the_short_way_tells_ages", the_short_way_tells_ages},
    {"children_of_a_busy_process_work", children_of_a_busy_process_work},
    {"a_child_that_rests_has_what_was_at_the_fork", a_child_that_rests_has_what_was_at_the_fork},
    {"counting_ends_and_begins_beside_busy_threads", counting_ends_and_begins_beside_busy_threads},
    {"who_stands_in_the_middle_of_counting_is_waited_for", who_stands_in_the_middle_of_counting_is_waited_for},
};
CHECK_MAIN(tests)
