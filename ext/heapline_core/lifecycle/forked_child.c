/* SPDX-License-Identifier: MIT */
#include "lifecycle/forked_child.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "account/inheritance.h"
#include "account/lane.h"
#include "flight/child_flight.h"
#include "flight/flight.h"
#include "flight/left_files.h"
#include "flight/site_table.h"
#include "heapline_core.h"
#include "platform/own_memory.h"
#include "platform/text.h"
#include "record/recorder.h"
#include "state/guard.h"
#include "state/options.h"

/* ---- the turn ---- */

/* What its thread prepares is one. What it took is given back, whatever became of the accounting in between. */
static struct hl_thread *forking;
static uint32_t forks_within; /* in signal handlers of that thread: they are let by */

int hl_fork_is_turn(void) {
    return __atomic_load_n(&forking, __ATOMIC_RELAXED) == &hl_thread;
}

static int try_turn(void) {
    struct hl_thread *nobody = NULL;
    return __atomic_compare_exchange_n(&forking, &nobody, &hl_thread, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void hl_fork_take_turn(void) {
    while (!try_turn()) sched_yield();
}

void hl_fork_within(void) {
    forks_within++;
}

int hl_fork_was_prepared(void) {
    if (!hl_fork_is_turn()) return 0;
    if (!forks_within) return 1;
    forks_within--;
    return 0;
}

void hl_fork_end_turn(void) {
    __atomic_store_n(&forking, NULL, __ATOMIC_RELEASE);
}

/* ---- what was inherited ---- */

static int take_over(void (*each_chunk)(void (*see)(const struct hl_lane_chunk *chunk))) {
    uint32_t forked = HL_STATE_FORKED;
    hl_cell_ref inherited;
    hl_lane_rest(NULL);
    int failed = hl_flight_bring();
    if (!failed) failed = hl_inheritance_take(each_chunk, &inherited);
    if (!failed) failed = hl_flight_become_child();
    if (failed) return failed;
    hl_site_table_take_over();
    hl_flight_leave_parent();
    hl_lane_show_inherited(inherited);
    __atomic_compare_exchange_n(&hl_flight.header->state, &forked, HL_STATE_RUNNING, 0, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
    return 0;
}

/* In the turn to fork. */
static void take_over_later(void) {
    const int failed = hl_lane_rests() ? take_over(hl_lane_each_chunk) : 0;
    if (!failed || hl_life_is() != HL_LIFE_ACTIVE) return; /* its file was cut, and that was said */
    hl_inheritance_refuse();
    hl_say("process %d cannot take over what it inherited: %s: nobody can read its figures", (int)getpid(),
           strerror(-failed));
}

/* In a turn of a lane. */
static void take_over_when_due(void) {
    if (!hl_inheritance_is_due() || !try_turn()) return;
    take_over_later();
    hl_fork_end_turn();
}

void hl_forked_child_settle(void) {
    if (!hl_lane_rests() || hl_fork_is_turn()) return;
    const int saved = hl_guard_enter(&hl_thread);
    hl_fork_take_turn();
    take_over_later();
    hl_fork_end_turn();
    hl_guard_leave(&hl_thread, saved);
}

/* Rows of objects and of a recording name sites to others from the first one on, and a core has what is in place. */
static int may_rest(void) {
    return hl_inheritance_may_wait() && hl_flight.fd >= 0 && !hl_options.core && !hl_recording() &&
           !hl_flight.header->object_directory;
}

/* Its flight begins as its parent's was at the fork; a baseline keeps inherited and own growth apart. */
int hl_forked_child_begin(int seen, int anew) {
    hl_lane_rest(NULL);
    hl_own_pieces_become_child();
    hl_lane_stop(hl_thread.own);
    hl_flight_identify_process();
    hl_left_files_tell();
    const struct hl_flight_header *then = hl_flight_rests() ? NULL : hl_inheritance_header();
    int failed = hl_flight_begin_child(then, hl_site_table_certain(), seen || anew);
    hl_inheritance_rest();
    if (!failed) failed = hl_lane_after_fork_child(&hl_thread);
    if (failed) return failed;
    hl_site_table_become_child();
    if (anew || !seen || !may_rest()) failed = take_over(anew ? NULL : hl_lane_each_chunk);
    if (failed) return failed;
    hl_lane_rest(hl_flight_rests() ? take_over_when_due : NULL);
    hl_lane_baseline(HL_BASELINE_FORK);
    return 0;
}
