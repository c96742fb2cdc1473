/* SPDX-License-Identifier: MIT */
#include "gc_events.h"

#include <dlfcn.h>

#include "record_gc.h"
#include "recorder.h"
#include "ruby_vm.h"

/* As ruby.h has them. */
enum {
    GC_START = 0x400000,
    GC_END_SWEEP = 0x1000000,
    GC_ENTER = 0x2000000,
    GC_EXIT = 0x4000000,
    RAW_ARGUMENT = 4,
};

static uint32_t are_in; /* the VM's list */
static uint32_t asked;
static uint32_t has_ractors; /* one is made, or was */

static int are_dangerous(void) {
    return !hl_ruby.layout || (hl_ruby.layout->major == 3 && hl_ruby.layout->minor < 3);
}

static void take_out(void);

static void happened(hl_value data, const void *event) {
    (void)data;
    if (!hl_recording()) {
        take_out();
        return;
    }
    switch (hl_ruby.rb_tracearg_event_flag(event)) {
    case GC_START:
        hl_record_gc(HL_EVENT_GC);
        break;
    case GC_END_SWEEP:
        hl_record_gc(HL_EVENT_GC_END);
        break;
    case GC_ENTER:
        hl_record_gc(HL_EVENT_GC_ENTER);
        break;
    default:
        hl_record_gc(HL_EVENT_GC_EXIT);
    }
}

/* The VM takes them out of its list when they have returned. */
static void take_out(void) {
    if (!__atomic_exchange_n(&are_in, 0, __ATOMIC_RELAXED)) return;
    hl_ruby.rb_remove_event_hook(happened);
}

/* Several Ractors, where the VM tells; it never goes back to one. */
static int are_ractors(void) {
    const void *const *single = dlsym(RTLD_DEFAULT, "ruby_single_main_ractor");
    return !single || !*single;
}

/* At a safe point, in the main Ractor. */
static void see_to(void *unused) {
    (void)unused;
    __atomic_store_n(&asked, 0, __ATOMIC_RELAXED);
    if (!hl_recording()) {
        take_out();
        return;
    }
    if (are_in || (are_dangerous() && (has_ractors || are_ractors()))) return;
    are_in = 1;
    hl_ruby.rb_add_event_hook2(happened, GC_START | GC_END_SWEEP | GC_ENTER | GC_EXIT, 0, RAW_ARGUMENT);
}

static int ruby_has_all(void) {
    return hl_ruby.rb_add_event_hook2 && hl_ruby.rb_remove_event_hook && hl_ruby.rb_tracearg_event_flag &&
           hl_ruby.rb_postponed_job_register_one;
}

/* A job may be registered during GC: the VM's own are. Without the GVL two threads would register at once. */
static int is_a_moment_for_it(void) {
    return hl_ruby.attached && ruby_has_all() && hl_ruby.ruby_native_thread_p() && hl_ruby.ruby_thread_has_gvl_p();
}

static void ask(void) {
    if (!is_a_moment_for_it() || __atomic_exchange_n(&asked, 1, __ATOMIC_RELAXED)) return;
    hl_ruby_ask_main_ractor(see_to);
}

void hl_gc_events_ask(void) {
    if (!are_in && !(has_ractors && are_dangerous())) ask();
}

void hl_gc_events_leave(void) {
    if (are_in) ask();
}

void hl_gc_events_ractor_comes(void) {
    has_ractors = 1;
    if (are_dangerous() && hl_ruby.ruby_thread_has_gvl_p()) take_out();
}

void hl_gc_events_become_child(void) {
    asked = 0;
}
