/* SPDX-License-Identifier: MIT */
/*
 * replayer PLAN --touch=none|written|all --limit=BYTES [--no-samples] [--patience=SECONDS]: performs a plan on the
 *           allocator of this process and writes what it measured. --patience: how long threads may wait for each
 * other. replayer --about: writes which allocator that is.
 *
 * One process, one replay. Everything of its own is in RAM before the replay begins; while it goes on the allocator is
 * called as the plan says and by nobody else but pthread_create, which called it in the program too. Exit status: 0; 1
 * with one line on standard error.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "below.h"
#include "order.h"
#include "ready_memory.h"
#include "recorded_clock.h"
#include "resident.h"
#include "result.h"
#include "samples.h"
#include "ticks.h"
#include "worker.h"

enum { STACK = 128 * 1024, CALIBRATIONS = 10000, ENDING_MS = 10000, PATIENCE = 20 };

static struct hl_replay replay;
static struct hl_below below;
static struct hl_samples samples;
static int sampling = 1;
static unsigned patience = PATIENCE;
static pthread_attr_t attributes;

static void fail(const char *problem, uint64_t bytes) __attribute__((noreturn));
static void fail(const char *problem, uint64_t bytes) {
    static int failed;
    while (__atomic_exchange_n(&failed, 1, __ATOMIC_RELAXED)) pause(); /* one thread says it */
    if (bytes)
        dprintf(STDERR_FILENO, "%s (%" PRIu64 " bytes)\n", problem, bytes);
    else
        dprintf(STDERR_FILENO, "%s\n", problem);
    _exit(1);
}

static void stuck(void) {
    fail("the plan contradicts itself: its threads wait for each other", 0);
}

static void passed(uint64_t epoch) {
    hl_recorded_clock_set(replay.plan.epochs[epoch].time_ns);
    if (!sampling || !hl_samples_due(&samples, epoch)) return;
    samples.samples[samples.count++] = (struct hl_sample){.epoch = epoch, .resident = hl_resident()};
}

/* ---- threads ---- */

static void *run_thread(void *worker) {
    const uint32_t number = (uint32_t)((struct hl_worker *)worker - replay.workers);
    hl_worker_run(&replay, number);
    hl_order_thread_ends();
    while (replay.plan.threads[number].lasts) pause();
    return NULL;
}

static void start_thread(uint32_t number) {
    pthread_t thread;
    hl_order_thread_begins();
    if (pthread_create(&thread, &attributes, run_thread, &replay.workers[number]))
        fail("no more threads could be started", 0);
}

/* Threads that have done all are there until they have given back what they hold of the allocator's. */
static void await_ends(void) {
    uint64_t left = 1;
    for (uint32_t i = 1; i < replay.plan.header.threads; i++) left += replay.plan.threads[i].lasts;
    for (int ms = 0; hl_resident_threads() > left && ms < ENDING_MS; ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* ---- the replay ---- */

static void prepare(const char *path) {
    const char *problem;
    if (hl_resident_init()) fail("/proc is not there: it says how much memory is used", 0);
    if (hl_plan_open(&replay.plan, path, &problem)) fail(problem, 0);
    const struct hl_plan_header *header = &replay.plan.header;
    const uint64_t own = header->slots * sizeof(*replay.slots) +
                         header->threads * (sizeof(*replay.workers) + HL_PLAN_BUFFER) + header->epochs * 4;
    if (own > replay.limit) fail("the plan has so many blocks that their numbers alone need too much memory", own);
    replay.slots = hl_ready_memory(header->slots * sizeof(*replay.slots));
    replay.workers = hl_ready_memory(header->threads * sizeof(*replay.workers));
    replay.buffers = hl_ready_memory((size_t)header->threads * HL_PLAN_BUFFER);
    if (!replay.slots || !replay.workers || !replay.buffers || hl_order_init(&replay.plan, patience, passed, stuck))
        fail("there is not enough memory for the plan", own);
    if (header->peak_live_bytes > replay.limit)
        fail("the plan needs more memory at its peak than is free here", header->peak_live_bytes);
    replay.start = start_thread;
    replay.fail = fail;
    hl_samples_begin(&samples, &replay.plan);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
}

static uint64_t ticks_of_reading(void) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < CALIBRATIONS; i++) {
        const uint64_t before = hl_ticks(), between = hl_ticks() - before;
        if (between < least) least = between;
    }
    return least;
}

/* The kernel notes a peak of sums that processors keep in part for themselves: it may be below what was seen. */
static uint64_t peak(uint64_t final) {
    uint64_t most = hl_resident_peak();
    if (final > most) most = final;
    for (uint32_t i = 0; i < samples.count; i++)
        if (samples.samples[i].resident > most) most = samples.samples[i].resident;
    return most;
}

static void trim(struct hl_result *result) {
    const uint64_t before = hl_real_ns();
    result->trims = hl_below_trim();
    result->trim_ns = hl_real_ns() - before;
    result->trimmed = hl_resident();
}

static void perform(void) {
    static struct hl_result result;
    result.ticks_of_reading = ticks_of_reading();
    hl_resident_forget_peak();
    result.baseline = hl_resident();
    getrusage(RUSAGE_SELF, &result.before);
    hl_recorded_clock_start();
    result.began_ns = hl_real_ns();
    result.began_ticks = hl_ticks();
    hl_order_thread_begins();
    hl_worker_run(&replay, 0);
    hl_order_await_all();
    result.ended_ticks = hl_ticks();
    result.ended_ns = hl_real_ns();
    await_ends();
    getrusage(RUSAGE_SELF, &result.after);
    result.final = hl_resident();
    result.peak = peak(result.final);
    trim(&result);
    hl_result_write(&result, &replay, &below, &samples);
}

/* ---- the command line ---- */

static void about(void) {
    printf("{\"allocator\":");
    hl_result_string(below.name);
    printf(",\"version\":");
    hl_result_string(below.version);
    printf(",\"library\":");
    hl_result_string(below.library);
    printf(",\"missing\":");
    hl_result_string(below.missing ? below.missing : "");
    printf("}\n");
    fflush(stdout);
}

static void option(const char *text) {
    static const char *const TOUCHING[] = {
        [HL_TOUCH_NONE] = "--touch=none", [HL_TOUCH_WRITTEN] = "--touch=written", [HL_TOUCH_ALL] = "--touch=all"};
    for (int i = HL_TOUCH_NONE; i <= HL_TOUCH_ALL; i++) {
        if (strcmp(text, TOUCHING[i]) != 0) continue;
        replay.touching = (enum hl_touching)i;
        return;
    }
    if (strncmp(text, "--limit=", 8) == 0)
        replay.limit = strtoull(text + 8, NULL, 10);
    else if (strncmp(text, "--patience=", 11) == 0)
        patience = (unsigned)strtoul(text + 11, NULL, 10);
    else if (strcmp(text, "--no-samples") == 0)
        sampling = 0;
    else
        fail("an option is not known", 0);
}

int main(int count, char **words) {
    hl_below_init(&below);
    replay.touching = HL_TOUCH_WRITTEN;
    replay.limit = UINT64_MAX;
    for (int i = 2; i < count; i++) option(words[i]);
    if (count == 2 && strcmp(words[1], "--about") == 0) {
        about();
    } else if (count < 2) {
        fail("which plan?", 0);
    } else {
        prepare(words[1]);
        perform();
    }
    _exit(0);
}
