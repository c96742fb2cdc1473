/* SPDX-License-Identifier: MIT */
#include "record/gc_events.h"

#include <dlfcn.h>

#include "record/call_stack.h"
#include "record/recording.h"
#include "vm/ruby_frame.h"
#include "vm/ruby_vm.h"

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

/* ---- a GC as an event ---- */

static void put(struct hl_recording *recording, struct hl_lane *lane, uint32_t event) {
    if (event == HL_EVENT_GC) {
        hl_ruby_gc_begins(1);
        const uint64_t stack = hl_call_stack_of_ruby(&recording->stack, lane);
        hl_ruby_gc_begins(0);
        hl_event_put(recording, event, 3, hl_gc_count(), stack << HL_EVENT_STACK_SHIFT);
        return;
    }
    hl_event_put(recording, event, 2, 0, 0);
    if (event != HL_EVENT_GC_END) hl_call_stack_collects(&recording->stack, event == HL_EVENT_GC_ENTER);
}

static void record(uint32_t event) {
    struct hl_lane *lane = hl_lane_own(&hl_thread);
    if (event == HL_EVENT_GC && !hl_recording_claims_gc(hl_gc_count())) return;
    struct hl_recording *recording = lane ? hl_recording_enter(lane) : NULL;
    if (!recording) {
        hl_recording_mark(event, hl_event_words(event, 0), event == HL_EVENT_GC ? hl_gc_count() : 0, 0);
        return;
    }
    put(recording, lane, event);
    hl_recording_leave(recording);
}

void hl_record_gc(uint32_t event) {
    struct hl_thread *thread = &hl_thread;
    if (!hl_recording() || thread->busy || !hl_gate_is()) return;
    const int saved = hl_guard_enter(thread);
    record(event);
    hl_guard_leave(thread, saved);
}

/* ---- the hooks ---- */

static int are_dangerous(void) {
    return !hl_ruby_knows_heap() || hl_ruby_before(3, 3);
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

/* Code that makes one allocates for the first time (N1). */
static void ractor_comes(void) {
    if (are_dangerous() && hl_ruby.ruby_thread_has_gvl_p()) take_out();
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
    if (are_in || (are_dangerous() && (hl_ruby_ractors_came || are_ractors()))) return;
    hl_ruby_ractor_comes = ractor_comes;
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
    if (!are_in && !(hl_ruby_ractors_came && are_dangerous())) ask();
}

void hl_gc_events_leave(void) {
    if (are_in) ask();
}

void hl_gc_events_become_child(void) {
    asked = 0;
}
