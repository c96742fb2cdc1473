/* SPDX-License-Identifier: MIT */
/*
 * Order at the start: real functions, Ruby?, options, flight, sites, caches, fork handlers, first lane, gate,
 * companion. Order at fork: before: sites (urcu's registry lock), flight; after, in reverse: flight, lanes, sites,
 * gate. Order at the end: report, while the VM still stands; then the flight file goes, or stays as it is for later. No
 * lock of ours is held across any of these; nothing is destroyed.
 */
#include "lifecycle.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "allocator.h"
#include "block_map.h"
#include "companion.h"
#include "errand.h"
#include "exit_report.h"
#include "flight.h"
#include "gc_events.h"
#include "heap_pages.h"
#include "heapline_core.h"
#include "interpose_mmap.h"
#include "lane.h"
#include "lane_repair.h"
#include "leak_file.h"
#include "library.h"
#include "location.h"
#include "native_stack.h"
#include "object_heap.h"
#include "objects.h"
#include "options.h"
#include "preload_order.h"
#include "real_malloc.h"
#include "record_wish.h"
#include "recorder.h"
#include "ruby_stack.h"
#include "ruby_vm.h"
#include "site_table.h"
#include "text.h"

extern char **environ;

union hl_gate hl_gate __attribute__((aligned(4096)));
HL_THREAD_LOCAL struct hl_thread hl_thread;
enum hl_life hl_life;
uint64_t hl_trailer_key;
static pthread_key_t thread_end_key;
static int thread_end_key_made;
static int objects_asked;

static void open_gate(void) {
    const int more = hl_block_tail_size || hl_recording();
    __atomic_store_n(&hl_gate.open, more ? HL_GATE_TRACKING : HL_GATE_OPEN, __ATOMIC_RELEASE);
}

int hl_lifecycle_record(int what) {
    if (!hl_recorder_take_turn()) return -EBUSY;
    const struct hl_record_wish wish = {.native = what == HEAPLINE_RECORD_NATIVE};
    const int failed = what ? hl_recorder_start(wish) : 0;
    if (!what) hl_recorder_stop();
    if (hl_gate.open) open_gate();
    hl_recorder_end_turn();
    return failed;
}

static void close_gate(void) {
    __atomic_store_n(&hl_gate.open, HL_GATE_CLOSED, __ATOMIC_RELEASE);
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

struct hl_lane *hl_lifecycle_lane(struct hl_thread *thread) {
    if (thread->own || thread->exiting) return thread->own;
    thread->own = hl_lane_acquire();
    if (thread->own && thread_end_key_made) pthread_setspecific(thread_end_key, thread->own);
    return thread->own;
}

/* ---- end ---- */

static int file_is_to_stay(void) {
    return hl_options.keep || (hl_options.output && hl_options.top_pid == (uint32_t)getpid());
}

/* Runs in the last at_exit handler: the VM's data is still whole. */
static void ruby_ends(void) {
    hl_thread.ended = 1;
    const int due = hl_exit_report_due();
    if (due) hl_ruby_flush_output();
    if (due && hl_options.gc) hl_ruby_collect();
    if (hl_leak_file_due()) hl_leak_file_at_exit();
    hl_objects_settle();
    if (!due) return;
    hl_object_heap_measure();
    hl_guard_enter(&hl_thread);
    if (hl_thread.own) {
        hl_lane_follow(hl_thread.own);
        hl_lane_publish(hl_thread.own);
    }
    hl_allocator_measure(0);
    hl_flight.header->ended_ns = hl_flight_now();
    hl_exit_report();
    hl_guard_leave(&hl_thread);
}

void hl_lifecycle_last_call(int status) {
    struct hl_flight_header *header = hl_flight.header;
    if (hl_life != HL_LIFE_ACTIVE || !hl_gate.open || header->pid != (uint32_t)getpid()) return;
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    if (hl_thread.own) hl_lane_publish(hl_thread.own);
    header->exit_status = (uint32_t)status;
    header->ended_ns = hl_flight_now();
    header->state = HL_STATE_EXITED;
    hl_exit_report();
    if (!file_is_to_stay()) hl_flight_remove();
    hl_guard_leave(&hl_thread);
    errno = saved;
}

/* In a vfork child the flight is its parent's. */
static void set_state(enum hl_state state) {
    if (hl_life != HL_LIFE_ACTIVE || !hl_gate.open || hl_flight.header->pid != (uint32_t)getpid()) return;
    hl_flight.header->state = state;
    if (hl_ruby.attached) hl_leak_file_expect(state != HL_STATE_EXECED);
}

void hl_lifecycle_before_exec(void) {
    set_state(HL_STATE_EXECED);
    hl_recorder_exec(1);
}

void hl_lifecycle_exec_failed(void) {
    set_state(HL_STATE_RUNNING);
    hl_recorder_exec(0);
}

static void __attribute__((destructor)) process_ends(void) {
    hl_lifecycle_last_call(0);
}

/* ---- fork ---- */

static void before_fork(void) {
    if (hl_life != HL_LIFE_ACTIVE || hl_options.nofollow || hl_thread.twin) return;
    const int saved = errno;
    if (!hl_gate.open) hl_lifecycle_step();
    hl_guard_enter(&hl_thread);
    hl_site_table_before_fork();
    hl_flight_before_fork();
    hl_lane_complete_copy();
    errno = saved;
}

static void after_fork_parent(void) {
    if (hl_life != HL_LIFE_ACTIVE || hl_options.nofollow || hl_thread.twin) return;
    const int saved = errno;
    hl_flight_after_fork_parent();
    hl_site_table_after_fork_parent();
    hl_guard_leave(&hl_thread);
    errno = saved;
}

/* The child's flight begins as its parent's was at the fork; a baseline keeps inherited and own growth apart. */
static void become_child(void) {
    hl_flight_become_child();
    if (!hl_flight.base) {
        hl_life = HL_LIFE_INERT;
        return;
    }
    hl_lane_repair(hl_flight_copied_pages());
    hl_lane_after_fork_child(hl_thread.own);
    hl_errand_after_fork_child();
    hl_site_table_become_child();
    hl_lane_baseline(HL_BASELINE_FORK);
    hl_objects_become_child();
    hl_heap_pages_become_child();
    hl_recorder_become_child(hl_thread.own);
    open_gate();
}

static void after_fork_child(void) {
    if (hl_life != HL_LIFE_ACTIVE) return;
    if (hl_options.nofollow || hl_thread.twin) {
        hl_life = HL_LIFE_INERT;
        close_gate();
        return;
    }
    const int saved = errno;
    close_gate();
    hl_site_table_after_fork_child();
    hl_guard_leave(&hl_thread);
    errno = saved;
}

/* A child gets its flight at its first call, so that one that just executes another program costs nothing and leaves
 * nothing. A child that no fork handler saw (a bare clone) comes here too: its gate was wiped. */
static void adopt_child(void) {
    if (hl_flight.header->pid == (uint32_t)getpid()) {
        open_gate();
        return;
    }
    hl_guard_enter(&hl_thread);
    become_child();
    hl_guard_leave(&hl_thread);
}

/* ---- start ---- */

/* Until the VM is there, each counted call asks for it here. */
static uint64_t wait_for_ruby(void) {
    struct hl_thread *thread = &hl_thread;
    const int saved = errno;
    hl_guard_enter(thread);
    const int attached = hl_ruby_attach(ruby_ends);
    if (attached) hl_leak_file_expect(1);
    if (attached && hl_options.objects && !objects_asked) {
        objects_asked = 1;
        hl_objects_ask();
    }
    if (attached && hl_recording()) hl_gc_events_ask();
    hl_guard_leave(thread);
    errno = saved;
    return attached ? hl_gc_count() : 0;
}

static void choose_key(void) {
    const void *random = (const void *)getauxval(AT_RANDOM);
    if (random) memcpy(&hl_trailer_key, random, sizeof(hl_trailer_key));
    hl_trailer_key |= 1;
}

static void begin_recording(void) {
    const struct hl_record_wish wish = hl_record_wish();
    if (!wish.drain) return;
    const int failed = hl_recorder_start(wish);
    if (failed) hl_say("process %d is not recorded: %s", (int)getpid(), strerror(-failed));
}

/* Everything that counting needs; 0 or -errno. */
static int make_ready(void) {
    char directory[512];
    const char *problem;
    choose_key();
    hl_options_directory(directory, sizeof(directory));
    int failed = hl_flight_create(directory, &problem);
    if (!failed && problem && !hl_options.quiet)
        hl_say("%s: %s: counts are kept in memory only and will not outlive the process (HEAPLINE_DIR names another "
               "directory)",
               directory, problem);
    if (!failed) failed = hl_site_table_create(hl_options.sites);
    if (!failed) failed = hl_location_create();
    if (!failed && hl_options.blocks) failed = hl_stack_create();
    if (!failed && hl_options.blocks) failed = hl_ruby_stack_create();
    if (!failed && hl_options.blocks) failed = hl_block_map_create();
    if (failed) return failed;
    hl_text(hl_flight.header->ruby, sizeof(hl_flight.header->ruby), "%s",
            hl_ruby.description ? hl_ruby.description : "");
    hl_real_describe(hl_flight.header->allocator, sizeof(hl_flight.header->allocator));
    hl_text(hl_flight.header->options, sizeof(hl_flight.header->options), "%s",
            getenv("HEAPLINE") ? getenv("HEAPLINE") : "");
    hl_gc_count = wait_for_ruby;
    hl_heap_pages_begin();
    begin_recording();
    return 0;
}

static int is_wanted(void) {
    if (getauxval(AT_SECURE) || !hl_ruby_present()) return 0;
    hl_options_read();
    if (hl_options.nofollow && hl_options.top_pid && hl_options.top_pid != (uint32_t)getpid()) {
        hl_preload_withdraw();
        return 0;
    }
    return 1;
}

/* A Ruby process that executes another program has ended as far as we are concerned. */
static void stay_inert(void) {
    char directory[512];
    const int saved = errno;
    hl_life = HL_LIFE_INERT;
    if (getauxval(AT_SECURE)) return;
    hl_options_directory(directory, sizeof(directory));
    hl_flight_remove_earlier(directory);
    errno = saved;
}

static void begin(void) {
    if (!is_wanted()) {
        stay_inert();
        return;
    }
    hl_preload_put_first();
    hl_exit_report_prepare();
    hl_leak_file_prepare();
    int failed = make_ready();
    if (failed) {
        hl_life = HL_LIFE_INERT;
        hl_say("cannot start: %s: the program runs without accounting", strerror(-failed));
        return;
    }
    thread_end_key_made = pthread_key_create(&thread_end_key, thread_ends) == 0;
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    madvise(&hl_gate, sizeof(hl_gate), MADV_WIPEONFORK);
    hl_lifecycle_lane(&hl_thread);
    hl_life = HL_LIFE_ACTIVE;
    open_gate();
    hl_companion_begin();
}

HL_COLD void hl_lifecycle_step(void) {
    if (hl_life == HL_LIFE_INERT || hl_life == HL_LIFE_STARTING) return;
    const int saved = errno;
    if (hl_life == HL_LIFE_UNSTARTED) {
        hl_life = HL_LIFE_STARTING;
        hl_mapping_resolve();
        hl_life = hl_real_resolve() ? HL_LIFE_INERT : HL_LIFE_WAITING;
    }
    if (hl_life == HL_LIFE_WAITING && environ) {
        hl_guard_enter(&hl_thread);
        hl_life = HL_LIFE_STARTING;
        begin();
        hl_guard_leave(&hl_thread);
    } else if (hl_life == HL_LIFE_ACTIVE) {
        adopt_child();
    }
    errno = saved;
}

static void __attribute__((constructor)) process_begins(void) {
    if (!hl_gate.open) hl_lifecycle_step();
}
