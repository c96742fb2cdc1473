/* SPDX-License-Identifier: MIT */
#include "lifecycle/errand.h"

#include <errno.h>

#include "account/allocator.h"
#include "account/lane.h"
#include "flight/flight.h"
#include "heapline_core.h"
#include "leaks/leak_file.h"
#include "lifecycle/forked_child.h"
#include "lifecycle/twin_errand.h"
#include "objects/objects.h"
#include "platform/own_process.h"
#include "record/recorder.h"
#include "state/guard.h"
#include "vm/object_heap.h"
#include "vm/ruby_vm.h"

static const uint64_t PAUSE_NS = 2000000000; /* from one trim to the next */
enum {
    LEAKS = HL_REQUEST_LEAKS | HL_REQUEST_LEAKS_SINCE | HL_REQUEST_LEAKS_REACHABLE,
    RECORDING = HL_REQUEST_RECORD | HL_REQUEST_RECORD_NATIVE | HL_REQUEST_RECORD_END,
};

static uint32_t wanted;  /* for the job, then for the helper */
static uint32_t running; /* the helper (E1) */

/* Who asks again because the answer was on its way gets the answer of the first. */
static int trimmed_just_now(void) {
    return hl_flight_now() - hl_flight.header->figures.trim_ns < PAUSE_NS;
}

static uint32_t take_wanted(uint32_t bits) {
    return __atomic_fetch_and(&wanted, ~bits, __ATOMIC_ACQ_REL) & bits;
}

/* What was asked for meanwhile was asked again by a reader who is answered now. */
static void forget_leaks(void) {
    __atomic_fetch_and(&hl_flight.header->request, ~(uint32_t)LEAKS, __ATOMIC_ACQ_REL);
    take_wanted(LEAKS);
}

/* With Ruby, lost blocks are looked for in its job. */
static void do_errands(uint32_t request) {
    if (request & LEAKS) hl_leak_file_errand(request & LEAKS, forget_leaks);
    if (!(request & ~(uint32_t)LEAKS)) return;
    if (request & HL_REQUEST_TRIM && !trimmed_just_now()) hl_allocator_trim();
    hl_allocator_measure((request & (HL_REQUEST_SURVEY | HL_REQUEST_TRIM)) != 0);
}

/* Goes on while there is more to do; what comes when it has just ended starts another. */
static void *help(void *unused) {
    uint32_t request;
    (void)unused;
    hl_guard_enter(&hl_thread);
    do {
        while ((request = __atomic_exchange_n(&wanted, 0, __ATOMIC_ACQ_REL))) do_errands(request);
        __atomic_store_n(&running, 0, __ATOMIC_SEQ_CST);
    } while (__atomic_load_n(&wanted, __ATOMIC_SEQ_CST) && !__atomic_exchange_n(&running, 1, __ATOMIC_SEQ_CST));
    return NULL;
}

/* 0, or -errno: no thread can be made, and what it has taken stays as it was. */
static int start_helper(void) {
    if (!__atomic_load_n(&wanted, __ATOMIC_SEQ_CST) || __atomic_exchange_n(&running, 1, __ATOMIC_SEQ_CST)) return 0;
    const int failed = hl_own_thread_start(help);
    if (failed) __atomic_store_n(&running, 0, __ATOMIC_SEQ_CST);
    return failed;
}

static void answer(void) {
    __atomic_fetch_add(&hl_flight.header->answered, 1, __ATOMIC_RELEASE);
}

static void begin_baseline(void) {
    hl_lane_baseline(HL_BASELINE_CLEAR);
    answer();
}

/* What is asked for now (E5). While another thread begins or ends one, who is not patient leaves it to who comes next.
 */
static void see_to_recording(int patient) {
    struct hl_flight_header *header = hl_flight.header;
    if (!hl_recorder_take_turn(patient)) return;
    const uint32_t request = __atomic_fetch_and(&header->request, ~(uint32_t)RECORDING, __ATOMIC_ACQ_REL);
    if (request & HL_REQUEST_RECORD_END) hl_recorder_set(HEAPLINE_RECORD_END);
    if (request & (HL_REQUEST_RECORD | HL_REQUEST_RECORD_NATIVE)) {
        header->record_problem =
            hl_recorder_set(request & HL_REQUEST_RECORD_NATIVE ? HEAPLINE_RECORD_NATIVE : HEAPLINE_RECORD_BEGIN);
        answer();
    }
    hl_recorder_end_turn();
}

static void run_errands(void) {
    if (take_wanted(HL_REQUEST_TWIN)) hl_twin_errand();
    const uint32_t leaks = take_wanted(LEAKS);
    if (leaks) hl_leak_file_errand(leaks, forget_leaks);
    hl_guard_be_quiet(&hl_thread, 1);
    hl_object_heap_measure();
    hl_guard_be_quiet(&hl_thread, -1);
    hl_objects_settle();
    const int saved = hl_guard_enter(&hl_thread);
    start_helper();
    hl_guard_leave(&hl_thread, saved);
}

/* At a safe point of Ruby's, with the GVL. Whichever Ractor comes to one first runs all jobs (E4). */
static void job(void *unused) {
    const int before = errno;
    (void)unused;
    if (!hl_gate_is()) return; /* a forked child, with its parent's job */
    if (!hl_ruby_in_main_ractor()) {
        hl_ruby_ask_main_ractor(job);
        return;
    }
    if (hl_load32(&hl_flight.header->request) & HL_REQUEST_RECORD_END) hl_objects_settle();
    const int saved = hl_guard_enter(&hl_thread);
    if (hl_load32(&hl_flight.header->request) & RECORDING) see_to_recording(1);
    if (take_wanted(HL_REQUEST_BASELINE)) begin_baseline();
    hl_guard_leave(&hl_thread, saved);
    if (hl_load32(&wanted)) run_errands();
    errno = before;
}

/* Is there a VM that runs jobs? */
static int jobs_are_run(void) {
    return hl_ruby.attached && hl_ruby.rb_postponed_job_register_one;
}

/* A job may be registered during GC: the VM's own are. Without the GVL two threads would register at once. */
static int is_a_moment_for_it(void) {
    return jobs_are_run() && hl_ruby.ruby_native_thread_p() && hl_ruby.ruby_thread_has_gvl_p();
}

static void take(uint32_t request) {
    __atomic_fetch_or(&wanted, request, __ATOMIC_ACQ_REL);
    hl_ruby_ask_main_ractor(job);
}

/* Takes all but what is in `kept`. Whoever asks for anything will read what the process has. */
static uint32_t read_request(uint32_t kept) {
    hl_forked_child_settle();
    return __atomic_fetch_and(&hl_flight.header->request, kept, __ATOMIC_ACQ_REL) & ~(uint32_t)HL_REQUEST_TAKE_OVER;
}

void hl_errand_ask(void) {
    const uint32_t request = read_request(RECORDING);
    if (request & HL_REQUEST_BASELINE) begin_baseline();
    if (request & ~(uint32_t)HL_REQUEST_BASELINE && is_a_moment_for_it())
        take(request & ~(uint32_t)(HL_REQUEST_BASELINE | RECORDING));
}

void hl_errand_pass(void) {
    if (is_a_moment_for_it()) {
        take(read_request(RECORDING) & ~(uint32_t)RECORDING);
    } else if (!jobs_are_run() && hl_load32(&hl_flight.header->request) & RECORDING) {
        const int saved = hl_guard_enter(&hl_thread);
        see_to_recording(0);
        hl_guard_leave(&hl_thread, saved);
    }
}

int hl_errand_visit(int passes) {
    const uint32_t kept = jobs_are_run() && passes ? RECORDING : ~(uint32_t)HL_REQUEST_BASELINE;
    const uint32_t request = read_request(kept);
    if (request & HL_REQUEST_BASELINE) begin_baseline();
    if (kept == RECORDING)
        take(request & ~(uint32_t)(HL_REQUEST_BASELINE | RECORDING));
    else if (request & RECORDING)
        see_to_recording(0);
    return jobs_are_run();
}

int hl_errand_see_to(uint32_t request) {
    __atomic_fetch_or(&wanted, request, __ATOMIC_ACQ_REL);
    return start_helper();
}

void hl_errand_after_fork_child(void) {
    wanted = running = 0;
    hl_leak_file_after_fork_child();
}
