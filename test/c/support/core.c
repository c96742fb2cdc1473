/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "account/location.h"
#include "check_flight.h"
#include "fake_ruby.h"
#include "flight/flight.h"
#include "flight/site_table.h"
#include "lifecycle/lifecycle.h"
#include "state/guard.h"
#include "state/options.h"

enum { THREADS_MAX = 256 };

static char directory[] = "/tmp/heapline-test-XXXXXX";
static pid_t maker;

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void __attribute__((destructor)) remove_directory(void) {
    if (maker == getpid()) nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Made by the program itself, so that a test that crashes leaves nothing. */
static void __attribute__((constructor)) make_directory(void) {
    if (!mkdtemp(directory)) abort();
    maker = getpid();
}

const char *core_directory(void) {
    return directory;
}

void core_tables(uint32_t site_limit) {
    const char *problem;
    const int saved = hl_guard_enter(&hl_thread);
    if (hl_flight_create(directory, &problem) || hl_site_table_create(site_limit) || hl_location_create()) abort();
    hl_guard_leave(&hl_thread, saved);
}

void core_start(const char *ruby_version, const char *options) {
    fake_ruby_load(ruby_version);
    setenv("HEAPLINE", options, 1);
    setenv("HEAPLINE_DIR", directory, 1);
    unsetenv("HEAPLINE_TOP");
    hl_life = HL_LIFE_WAITING;
    hl_gate.forwards = 0; /* this program is none that is counted from its start */
    hl_lifecycle_step();
    if (hl_life != HL_LIFE_ACTIVE) abort();
}

struct start {
    pthread_barrier_t *barrier;
    void (*work)(unsigned number);
    unsigned number;
};

static void *thread_main(void *context) {
    struct start *start = context;
    pthread_barrier_wait(start->barrier);
    start->work(start->number);
    return NULL;
}

void core_threads(unsigned count, void (*work)(unsigned number)) {
    pthread_t threads[THREADS_MAX];
    struct start starts[THREADS_MAX];
    pthread_barrier_t barrier;
    if (count > THREADS_MAX) abort();
    pthread_barrier_init(&barrier, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        starts[i] = (struct start){&barrier, work, i};
        if (pthread_create(&threads[i], NULL, thread_main, &starts[i])) abort();
    }
    for (unsigned i = 0; i < count; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    if (hl_flight.base) check_lanes();
}
