/* SPDX-License-Identifier: MIT */
#include "leak_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errand.h"
#include "flight.h"
#include "guard.h"
#include "leak_scan.h"
#include "ruby_vm.h"
#include "text.h"

enum { PATH_BYTES = 640, HL_LEAKS_REACHABLE = 1, HL_LEAKS_SINCE = 2 };

static char asked[PATH_BYTES]; /* HEAPLINE_LEAKS */
static char final[PATH_BYTES], partial[PATH_BYTES + 8];
static struct hl_leak_scan scan;
static uint32_t running; /* there is one search at a time */

void hl_leak_file_prepare(void) {
    const char *given = secure_getenv("HEAPLINE_LEAKS");
    if (given && given[0] >= '0' && given[0] <= '3' && given[1] == '/' && strlen(given) < sizeof(asked) - 32)
        hl_text(asked, sizeof(asked), "%s", given);
}

int hl_leak_file_due(void) {
    return asked[0] != 0;
}

void hl_leak_file_expect(int expected) {
    char path[PATH_BYTES];
    if (!asked[0]) return;
    const int saved = errno;
    hl_text(path, sizeof(path), "%s/%d.begun", asked + 1, (int)getpid());
    if (expected) {
        const int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0) close(fd);
    } else {
        unlink(path);
    }
    errno = saved;
}

/* PID.leaks in the directory is where the report goes. Made before the GC: who asked sees that the search has begun. 0
 * or -errno. */
static int open_report(const char *directory) {
    hl_text(final, sizeof(final), "%s/%d.leaks", directory, (int)getpid());
    hl_text(partial, sizeof(partial), "%s.part", final);
    unlink(partial);
    scan.fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return scan.fd < 0 ? -errno : 0;
}

/* A full GC, and the copy. 0 or -errno. */
static int begin(struct hl_leak_wish wish) {
    const uint64_t gc_ns = hl_leak_scan_collect();
    scan.wish = wish;
    scan.figures = (struct hl_leak_figures){.gc_ns = gc_ns};
    hl_guard_enter(&hl_thread);
    const int failed = hl_leak_scan_start(&scan);
    hl_guard_leave(&hl_thread);
    if (!failed) return 0;
    close(scan.fd);
    unlink(partial);
    return failed;
}

/* What was asked for meanwhile was asked again by a reader who is answered now. */
static int finish(void) {
    int failed = hl_leak_scan_wait(&scan);
    close(scan.fd);
    hl_errand_drop(HL_REQUEST_LEAKS | HL_REQUEST_LEAKS_SINCE | HL_REQUEST_LEAKS_REACHABLE);
    if (!failed && rename(partial, final)) failed = -errno;
    if (failed) unlink(partial);
    return failed;
}

/* ---- at the end ---- */

void hl_leak_file_at_exit(void) {
    const int flags = asked[0] - '0';
    const uint64_t baseline = hl_load64(&hl_flight.header->baseline_generation);
    const struct hl_leak_wish wish = {.since = flags & HL_LEAKS_SINCE ? baseline : 0,
                                      .reachable = flags & HL_LEAKS_REACHABLE};
    int failed = open_report(asked + 1);
    if (!failed) failed = begin(wish);
    hl_guard_enter(&hl_thread);
    if (!failed) failed = finish();
    if (failed) hl_say("lost blocks were not looked for in process %d: %s", (int)getpid(), strerror(-failed));
    hl_guard_leave(&hl_thread);
}

/* ---- on request ---- */

static void *wait_for_it(void *unused) {
    (void)unused;
    hl_guard_enter(&hl_thread);
    finish();
    __atomic_store_n(&running, 0, __ATOMIC_RELEASE);
    return NULL;
}

static int open_beside_flight(void) {
    char path[PATH_BYTES];
    if (!hl_flight_path(path, sizeof(path) - 32)) return -ENOENT;
    *strrchr(path, '/') = 0;
    return open_report(path);
}

void hl_leak_file_errand(uint32_t request) {
    const uint64_t baseline = hl_load64(&hl_flight.header->baseline_generation);
    const struct hl_leak_wish wish = {.since = request & HL_REQUEST_LEAKS_SINCE ? baseline : 0,
                                      .reachable = (request & HL_REQUEST_LEAKS_REACHABLE) != 0};
    if (__atomic_exchange_n(&running, 1, __ATOMIC_ACQUIRE)) return;
    int failed = open_beside_flight();
    if (!failed) failed = begin(wish);
    hl_guard_enter(&hl_thread);
    if (!failed && hl_errand_thread(wait_for_it)) failed = finish() ? -EIO : -EAGAIN; /* no thread: wait here */
    if (failed) __atomic_store_n(&running, 0, __ATOMIC_RELEASE);
    hl_guard_leave(&hl_thread);
}

void hl_leak_file_after_fork_child(void) {
    running = 0;
    if (hl_ruby.attached) hl_leak_file_expect(1);
}
