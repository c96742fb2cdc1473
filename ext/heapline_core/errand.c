/* SPDX-License-Identifier: MIT */
#include "errand.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "allocator.h"
#include "flight.h"
#include "guard.h"
#include "leak_file.h"
#include "object_heap.h"
#include "objects.h"
#include "ruby_vm.h"
#include "twin_errand.h"

enum { STACK_BYTES = 256 * 1024 };
static const uint64_t PAUSE_NS = 2000000000; /* from one trim to the next */
enum { LEAKS = HL_REQUEST_LEAKS | HL_REQUEST_LEAKS_SINCE | HL_REQUEST_LEAKS_REACHABLE };
_Static_assert(HL_REQUEST_ERRANDS ==
                   (HL_REQUEST_FIGURES | HL_REQUEST_SURVEY | HL_REQUEST_TRIM | HL_REQUEST_TWIN | LEAKS),
               "the bits of errands");

static uint32_t wanted;  /* for the job, then for the helper */
static uint32_t running; /* the helper (E1) */

/* Who asks again because the answer was on its way gets the answer of the first. */
static int trimmed_just_now(void) {
    return hl_flight_now() - hl_flight.header->figures.trim_ns < PAUSE_NS;
}

static void do_errands(uint32_t request) {
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

int hl_errand_thread(void *(*work)(void *unused)) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&thread, &attributes, work, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -failed;
}

/* At a safe point of Ruby's, with the GVL. Whichever Ractor comes to one first runs all jobs (E4). */
static void job(void *unused) {
    const int saved = errno;
    (void)unused;
    if (!hl_ruby_in_main_ractor()) {
        hl_ruby_ask_main_ractor(job);
        return;
    }
    if (__atomic_fetch_and(&wanted, ~(uint32_t)HL_REQUEST_TWIN, __ATOMIC_ACQ_REL) & HL_REQUEST_TWIN) hl_twin_errand();
    const uint32_t leaks = __atomic_fetch_and(&wanted, ~(uint32_t)LEAKS, __ATOMIC_ACQ_REL) & LEAKS;
    if (leaks) hl_leak_file_errand(leaks);
    hl_object_heap_measure();
    hl_objects_settle();
    hl_guard_enter(&hl_thread);
    if (__atomic_load_n(&wanted, __ATOMIC_SEQ_CST) && !__atomic_exchange_n(&running, 1, __ATOMIC_SEQ_CST) &&
        hl_errand_thread(help))
        __atomic_store_n(&running, 0, __ATOMIC_SEQ_CST); /* no thread can be made: its figures stay as they were */
    hl_guard_leave(&hl_thread);
    errno = saved;
}

/* A job may be registered during GC: the VM's own are. Without the GVL two threads would register at once. */
static int is_a_moment_for_it(void) {
    return hl_ruby.attached && hl_ruby.rb_postponed_job_register_one && hl_ruby.ruby_native_thread_p() &&
           hl_ruby.ruby_thread_has_gvl_p();
}

static void take(uint32_t request) {
    __atomic_fetch_or(&wanted, request, __ATOMIC_ACQ_REL);
    hl_ruby_ask_main_ractor(job);
}

void hl_errand_ask(uint32_t request) {
    if (is_a_moment_for_it()) take(request);
}

void hl_errand_pass(void) {
    if (!is_a_moment_for_it()) return;
    const uint32_t request = __atomic_fetch_and(&hl_flight.header->request, ~HL_REQUEST_ERRANDS, __ATOMIC_ACQ_REL);
    if (request & HL_REQUEST_ERRANDS) take(request & HL_REQUEST_ERRANDS);
}

void hl_errand_drop(uint32_t request) {
    __atomic_fetch_and(&hl_flight.header->request, ~request, __ATOMIC_ACQ_REL);
    __atomic_fetch_and(&wanted, ~request, __ATOMIC_ACQ_REL);
}

void hl_errand_after_fork_child(void) {
    wanted = running = 0;
    hl_leak_file_after_fork_child();
}
