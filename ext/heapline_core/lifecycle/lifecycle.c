/* SPDX-License-Identifier: MIT */
/*
 * Order at the start: what lies below (interpose.c), Ruby?, options, flight, sites, caches, fork handlers, first lane,
 * gate, companion. Order at fork: before: the turn to fork, sites, counts; after: counts, the turn. At a child's first
 * call: flight, counts, lanes, sites, gate. Order at the end: report, while the VM still stands; then the flight file
 * goes, or stays as it is for later. No lock of ours is held across any of these but the turn to fork; nothing is
 * destroyed.
 */
#include "lifecycle/lifecycle.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "account/allocator.h"
#include "account/inheritance.h"
#include "account/lane.h"
#include "account/location.h"
#include "allocator/preload_order.h"
#include "allocator/real_malloc.h"
#include "door/door.h"
#include "flight/elders.h"
#include "flight/flight.h"
#include "flight/left_files.h"
#include "flight/library.h"
#include "flight/site_table.h"
#include "heapline_core.h"
#include "leaks/leak_file.h"
#include "leaks/ruby_stack.h"
#include "lifecycle/companion.h"
#include "lifecycle/errand.h"
#include "lifecycle/exit_report.h"
#include "lifecycle/forked_child.h"
#include "lifecycle/visit.h"
#include "objects/objects.h"
#include "platform/own_memory.h"
#include "platform/system_call.h"
#include "platform/text.h"
#include "record/gc_events.h"
#include "record/record_wish.h"
#include "record/recorder.h"
#include "state/birth_clock.h"
#include "state/block_map.h"
#include "state/location_epochs.h"
#include "state/options.h"
#include "vm/heap_pages.h"
#include "vm/jit_compiler.h"
#include "vm/native_stack.h"
#include "vm/object_heap.h"
#include "vm/ruby_proof.h"
#include "vm/ruby_vm.h"

extern char **environ;

static int objects_asked;
static uint64_t begun_ms;

static void close_gate(void) {
    __atomic_store_n(&hl_gate.open, HL_GATE_CLOSED, __ATOMIC_RELEASE);
}

/* The one way out: from now on everything is forwarded. Callable from a signal handler. */
static void forward_from_now_on(enum hl_life life) {
    hl_life_set(life);
    close_gate();
    __atomic_store_n(&hl_gate.forwards, life != HL_LIFE_INERT, __ATOMIC_RELEASE);
    __atomic_store_n(&hl_real_kept, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&hl_recording_on, 0, __ATOMIC_SEQ_CST);
}

static void become_inert(void) {
    forward_from_now_on(HL_LIFE_INERT);
}

/* Where this process cannot have its flight. Pointers into it are still held (by a thread in the middle of counting, by
 * hooks of the VM): what they reach from now on is nobody's. */
static void give_up(void) {
    become_inert();
    hl_flight_detach();
}

static void flight_was_cut(void) {
    give_up();
    hl_say("another program cut the flight file of process %d: it runs on and is not counted", (int)getpid());
}

/* ---- threads ---- */

/* Runs first among the destructors: what the others allocate and free goes to the shared lane, without Ruby frames. */
static void thread_ends(void *lane) {
    struct hl_thread *thread = &hl_thread;
    if (thread->own == lane) {
        hl_recorder_thread_ends(lane);
        hl_lane_release(lane);
    }
    thread->own = NULL;
    thread->exiting = 1;
    hl_guard_refresh(thread);
}

/* ---- end ---- */

static int file_is_to_stay(void) {
    return hl_options.keep || (hl_options.output && hl_options.top_pid == (uint32_t)getpid());
}

/* Runs in the last at_exit handler: the VM's data is still whole. */
static void ruby_ends(void) {
    hl_thread.ended = 1;
    if (hl_life_is() == HL_LIFE_STOPPED) return; /* its report comes at the very end */
    const int due = hl_exit_report_due();
    if (due || hl_leak_file_due()) hl_forked_child_settle();
    if (due) hl_ruby_flush_output();
    if (due && hl_options.gc) hl_ruby_collect();
    if (hl_leak_file_due()) hl_leak_file_at_exit();
    hl_objects_settle();
    if (!due) return;
    hl_object_heap_measure();
    const int saved = hl_guard_enter(&hl_thread);
    if (hl_thread.own) {
        hl_lane_follow(hl_thread.own);
        hl_lane_publish(hl_thread.own);
    }
    hl_allocator_measure(0);
    hl_flight.header->ended_ns = hl_flight_now();
    hl_exit_report();
    hl_guard_leave(&hl_thread, saved);
}

/* In a vfork child the flight is its parent's. */
static int has_flight(void) {
    const int has = hl_life_is() == HL_LIFE_ACTIVE ? hl_gate_is() != HL_GATE_CLOSED : hl_life_is() == HL_LIFE_STOPPED;
    return has && hl_flight.header->pid == (uint32_t)getpid();
}

/* A child that did not take over has no use for it any more: it ends, or becomes another program. */
static void refuse_inheritance(void) {
    if (hl_life_is() == HL_LIFE_ACTIVE && (!hl_gate_is() || hl_lane_rests())) hl_inheritance_refuse();
}

void hl_lifecycle_last_call(int status) {
    struct hl_flight_header *header = hl_flight.header;
    const int has = has_flight();
    if (has && (file_is_to_stay() || hl_exit_report_due())) hl_forked_child_settle();
    refuse_inheritance();
    if (!has) return;
    const int saved = hl_guard_enter(&hl_thread);
    if (hl_thread.own) hl_lane_publish(hl_thread.own);
    header->exit_status = (uint32_t)status;
    header->ended_ns = hl_flight_now();
    header->state = HL_STATE_EXITED;
    hl_exit_report();
    hl_left_files_tend();
    if (!file_is_to_stay()) hl_flight_remove();
    hl_guard_leave(&hl_thread, saved);
}

static void set_state(enum hl_state state) {
    if (!has_flight()) return;
    hl_flight.header->state = state;
    if (hl_life_is() == HL_LIFE_ACTIVE) hl_leak_file_exec(state == HL_STATE_EXECED);
}

void hl_lifecycle_before_exec(void) {
    refuse_inheritance();
    set_state(HL_STATE_EXECED);
    hl_recorder_exec(1);
}

void hl_lifecycle_exec_failed(void) {
    set_state(hl_lane_rests() ? HL_STATE_FORKED : HL_STATE_RUNNING);
    hl_recorder_exec(0);
}

static void __attribute__((destructor)) process_ends(void) {
    if (has_flight() && !hl_ruby.version && hl_leak_file_due()) {
        hl_forked_child_settle();
        hl_leak_file_at_exit();
    }
    hl_lifecycle_last_call(0);
}

/* ---- fork ---- */

static int child_was_seen; /* by after_fork_child; else by nobody, and it counts in memory alone */

static void before_fork(void) {
    if (hl_life_is() != HL_LIFE_ACTIVE || hl_options.nofollow || hl_thread.twin) return;
    if (hl_fork_is_turn()) {
        hl_fork_within();
        return;
    }
    if (!hl_gate_is()) hl_lifecycle_step();
    hl_forked_child_settle();
    const int saved = hl_guard_enter(&hl_thread);
    hl_fork_take_turn();
    hl_site_table_before_fork();
    hl_left_files_before_fork();
    hl_inheritance_prepare();
    errno = saved;
}

static void after_fork_parent(void) {
    if (hl_thread.twin || !hl_fork_was_prepared()) return;
    const int saved = errno;
    hl_inheritance_begin();
    hl_fork_end_turn();
    hl_guard_leave(&hl_thread, saved);
}

/* One that was forked while its parent did not count takes no counts over. 0, or -errno: the accounting has ended. */
static int become_child(void) {
    const int failed = hl_forked_child_begin(child_was_seen, hl_life_is() == HL_LIFE_STOPPED);
    child_was_seen = 0;
    if (failed) {
        give_up();
        hl_say("process %d is not counted: %s", (int)getpid(), strerror(-failed));
        return failed;
    }
    hl_errand_after_fork_child();
    hl_objects_become_child();
    hl_heap_pages_become_child();
    hl_flight_show();
    hl_recorder_become_child();
    return 0;
}

/* Its record is the parent's: should this process begin to count, this thread gets another one. */
static void leave_lane(void) {
    hl_thread.own = NULL;
    hl_guard_refresh(&hl_thread);
}

static void after_fork_child(void) {
    if (hl_life_is() == HL_LIFE_STOPPED) leave_lane();
    if (hl_life_is() == HL_LIFE_ACTIVE && (hl_options.nofollow || hl_thread.twin)) become_inert();
    if (hl_thread.twin || !hl_fork_was_prepared()) return;
    const int saved = errno;
    hl_inheritance_come_into();
    child_was_seen = 1;
    hl_fork_end_turn();
    close_gate();
    hl_guard_leave(&hl_thread, saved);
}

/* A child gets its flight at its first call, so that one that just executes another program costs nothing and leaves
 * nothing. A child that no fork handler saw (a bare clone) comes here too: its gate was wiped. */
static void adopt_child(void) {
    if (hl_thread.busy) return; /* what heapline asks of the C library meanwhile may allocate */
    if (hl_flight.header->pid == (uint32_t)getpid()) {
        hl_gate_open();
        if (hl_life_is() != HL_LIFE_ACTIVE) close_gate(); /* it was stopped meanwhile */
        return;
    }
    const int saved = hl_guard_enter(&hl_thread);
    hl_fork_end_turn(); /* of a thread that the child has not */
    if (become_child() == 0) hl_gate_open();
    hl_guard_leave(&hl_thread, saved);
}

/* ---- start ---- */

/* Until the VM is there, each counted call asks for it here. */
static uint64_t wait_for_ruby(void) {
    struct hl_thread *thread = &hl_thread;
    const int saved = hl_guard_enter(thread);
    const int attached = hl_ruby_attach(ruby_ends);
    if (attached) hl_leak_file_expect(1);
    if (attached && hl_options.objects && !objects_asked) {
        objects_asked = 1;
        hl_objects_ask();
    }
    if (attached && hl_recording()) hl_gc_events_ask();
    hl_guard_leave(thread, saved);
    return attached ? hl_gc_count() : 0;
}

/* What a program that is not Ruby has for a GC count: the lifespans of its blocks are times. */
static uint64_t tenths_of_seconds(void) {
    return (hl_birth_ms() - begun_ms) / 100;
}

static void choose_key(void) {
    const void *random = (const void *)getauxval(AT_RANDOM);
    if (random) memcpy(&hl_trailer_key, random, sizeof(hl_trailer_key));
    hl_trailer_key |= 1;
}

static void begin_recording(void) {
    const struct hl_record_wish wish = hl_record_wish();
    if (wish.drain) hl_recorder_begin(wish);
}

/* For how long this process has run. */
static uint64_t age_ns(void) {
    const uint64_t second = 1000000000, tick = second / (uint64_t)sysconf(_SC_CLK_TCK);
    const uint64_t now = hl_clock_ns(CLOCK_BOOTTIME), began = hl_flight.header->start_ticks * tick;
    return began && now > began ? now - began : 1;
}

static void tell_what_was_there(void) {
    struct hl_flight_header *header = hl_flight.header;
    header->older_bytes = hl_allocator_in_use();
    header->older_frees = header->older_bytes_freed = 0;
    header->late_ns = age_ns();
}

/* Where that was asked for, now or at an earlier start; 0 or -errno. */
static int keep_blocks(void) {
    if (hl_block_regions) return hl_block_map_begin();
    if (!hl_options.blocks) return 0;
    int failed = hl_stack_create();
    if (!failed) failed = hl_ruby_stack_create();
    return failed ? failed : hl_block_map_begin();
}

/* Everything that counting needs; 0 or -errno. */
static int make_ready(void) {
    char directory[HL_DIRECTORY_BYTES];
    const char *problem;
    choose_key();
    hl_options_directory(directory);
    int failed = hl_flight_create(directory, &problem);
    if (!failed && problem) hl_flight_say_in_memory(directory, problem);
    if (!failed) failed = hl_site_table_create(hl_options.sites);
    if (!failed) failed = hl_lane_create();
    if (!failed) failed = hl_location_create();
    hl_library_begin();
    if (!failed) failed = keep_blocks();
    if (failed) return failed;
    if (hl_flight.fd >= 0) hl_flight_guard(flight_was_cut);
    hl_text(hl_flight.header->ruby, sizeof(hl_flight.header->ruby), "%s",
            hl_ruby.description ? hl_ruby.description : "");
    hl_real_describe(hl_flight.header->allocator, sizeof(hl_flight.header->allocator));
    hl_flight.header->space_bytes = hl_real_tried;
    hl_text(hl_flight.header->options, sizeof(hl_flight.header->options), "%s",
            getenv("HEAPLINE") ? getenv("HEAPLINE") : "");
    if (hl_started_late) tell_what_was_there();
    begun_ms = hl_birth_ms();
    hl_gc_count = hl_ruby.version ? wait_for_ruby : tenths_of_seconds;
    hl_visit_prepare();
    hl_heap_pages_begin();
    begin_recording();
    return 0;
}

HL_EXPORT struct heapline_arrival heapline_arrival; /* see lifecycle/arrival.h; that one can ask is known here */

static int is_wanted(void) {
    if (getauxval(AT_SECURE)) return 0;
    hl_options_read();
    if (!hl_ruby_present() && !hl_options.any && !hl_loaded_late()) return 0;
    hl_jit_find();
    if (hl_options.nofollow && hl_options.top_pid && hl_options.top_pid != (uint32_t)getpid()) {
        hl_preload_withdraw();
        return 0;
    }
    return 1;
}

static void wait_to_be_started(void) {
    forward_from_now_on(HL_LIFE_READY);
    __atomic_store_n(&heapline_arrival.ready, 1, __ATOMIC_RELEASE);
}

/* A Ruby process that executes another program has ended as far as we are concerned. That one may be attached to. */
static void stay_out(void) {
    char directory[HL_DIRECTORY_BYTES];
    const int saved = errno;
    become_inert();
    if (getauxval(AT_SECURE)) return;
    hl_options_directory(directory);
    hl_flight_remove_earlier(directory);
    wait_to_be_started();
    errno = saved;
}

/* 0 or -errno; then the life has ended. */
static int begin_counting(void) {
    hl_exit_report_prepare();
    hl_leak_file_prepare();
    const int pages_fit = getauxval(AT_PAGESZ) == HL_PAGE_SIZE; /* kernels for 64-bit ARM may have larger ones */
    const int failed = pages_fit ? make_ready() : -ENOTSUP;
    if (failed) {
        hl_flight_remove();
        give_up();
        return failed;
    }
    hl_life_step = hl_lifecycle_step;
    hl_lane_call_at_end(thread_ends);
    hl_lane_asked = hl_errand_ask;
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    madvise(&hl_gate, sizeof(hl_gate), MADV_WIPEONFORK);
    hl_lane_own(&hl_thread);
    if (hl_started_late) hl_gc_count(); /* the VM is there: it is attached to before another thread counts */
    hl_life_set(HL_LIFE_ACTIVE);
    hl_real_kept = hl_real_chunked && !hl_block_tail_size && !hl_started_late ? HL_TRAILER_SIZE : 0;
    hl_gate_open();
    hl_leak_file_expect(1);
    hl_companion_begin();
    return 0;
}

static void begin(void) {
    if (!is_wanted()) {
        stay_out();
    } else if (hl_options.off || hl_loaded_late()) {
        wait_to_be_started();
    } else {
        hl_preload_put_first();
        const int failed = begin_counting();
        if (failed) hl_say("cannot start: %s: the program is not counted", strerror(-failed));
        __atomic_store_n(&heapline_arrival.ready, 1, __ATOMIC_RELEASE);
    }
}

/* ---- late start ---- */

/* No trailer of before fits any more: what carries one is an older block now. */
static void choose_another_key(void) {
    hl_trailer_key = (hl_trailer_key ^ hl_clock_ns(CLOCK_MONOTONIC)) * 0x9e3779b97f4a7c15ull | 1;
}

/* The same flight, sites and lanes; all counts are 0 again. */
static int begin_again(void) {
    struct hl_flight_header *header = hl_flight.header;
    int failed = header->pid == (uint32_t)getpid() ? hl_lane_wait_for_all() : become_child();
    if (!failed) failed = keep_blocks();
    if (failed) return failed;
    choose_another_key();
    hl_lane_begin_again();
    hl_elders_until = hl_load32(&hl_birth_baseline);
    hl_location_epochs_move_all();
    tell_what_was_there();
    header->started_ns = hl_flight_now();
    header->stopped_ns = 0;
    if (hl_options.objects && hl_ruby.attached) hl_objects_ask();
    hl_life_set(HL_LIFE_ACTIVE);
    hl_gate_open();
    return 0;
}

static void note_uncovered(const struct hl_word_figures *figures) {
    hl_text(hl_flight.header->uncovered, sizeof(hl_flight.header->uncovered), "%s", figures->left_names);
}

int hl_lifecycle_start(const char *options) {
    if (hl_life_is() == HL_LIFE_ACTIVE) return -EALREADY;
    if (hl_life_is() != HL_LIFE_READY && hl_life_is() != HL_LIFE_STOPPED) return -ENOTSUP;
    if (hl_ruby.version && !(hl_ruby.ruby_native_thread_p() && hl_ruby.ruby_thread_has_gvl_p())) return -EPERM;
    const int saved = hl_guard_enter(&hl_thread);
    hl_options.objects = hl_options.blocks = 0;
    hl_options_add(options);
    hl_options.quarantine = hl_options.off = 0;
    /* Where there is no telling older blocks from free ones (leak_older.h) what only they lead to would look lost. */
    int failed = hl_options.blocks && !hl_real_chunked ? -ENOSYS : hl_elders_begin();
    hl_started_late = 1;
    if (!failed) failed = hl_life_is() == HL_LIFE_READY ? begin_counting() : begin_again();
    if (!failed) {
        __atomic_store_n(&hl_gate.forwards, 0, __ATOMIC_RELEASE);
        hl_text(hl_flight.header->options, sizeof(hl_flight.header->options), "%s%s", options,
                hl_block_regions && !hl_options.blocks ? ",blocks" : "");
    }
    hl_guard_leave(&hl_thread, saved);
    if (failed || !hl_loaded_late()) return failed;
    hl_door_unloading = hl_location_epochs_move_all;
    hl_words_looked = note_uncovered;
    failed = hl_door_open();
    if (failed) hl_lifecycle_stop();
    return failed;
}

int hl_lifecycle_look(void) {
    if (hl_ruby.public_only != HL_UNTIL_PROVEN) return 1;
    const int saved = hl_guard_enter(&hl_thread);
    hl_ruby_proof_look();
    hl_guard_leave(&hl_thread, saved);
    return hl_ruby.public_only != HL_UNTIL_PROVEN;
}

int hl_lifecycle_stop(void) {
    if (!has_flight() || hl_life_is() != HL_LIFE_ACTIVE) return -ESRCH;
    hl_forked_child_settle();
    if (hl_options.quarantine) return -ENOTSUP; /* blocks rest that the allocator must have back */
    if (hl_ruby.attached && hl_objects_on()) hl_objects_stop();
    hl_door_close();
    const int saved = hl_guard_enter(&hl_thread);
    if (hl_recording() && hl_recorder_take_turn(1)) {
        hl_recorder_set(HEAPLINE_RECORD_END);
        hl_recorder_end_turn();
    }
    if (hl_thread.own) hl_lane_publish(hl_thread.own);
    hl_leak_file_expect(0);
    hl_flight.header->stopped_ns = hl_flight_now();
    forward_from_now_on(HL_LIFE_STOPPED);
    hl_guard_leave(&hl_thread, saved);
    return 0;
}

HL_COLD void hl_lifecycle_step(void) {
    if (hl_life_is() == HL_LIFE_STOPPED || hl_life_is() == HL_LIFE_READY)
        __atomic_store_n(&hl_gate.forwards, 1, __ATOMIC_RELEASE); /* a child: its gate was wiped */
    if (hl_life_is() != HL_LIFE_WAITING && hl_life_is() != HL_LIFE_ACTIVE) return;
    if (hl_life_is() == HL_LIFE_WAITING && environ) {
        const int saved = hl_guard_enter(&hl_thread);
        hl_life_set(HL_LIFE_STARTING);
        begin();
        hl_guard_leave(&hl_thread, saved);
    } else if (hl_life_is() == HL_LIFE_ACTIVE) {
        adopt_child();
    }
}
