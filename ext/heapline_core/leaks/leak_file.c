/* SPDX-License-Identifier: MIT */
#include "leaks/leak_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flight/flight.h"
#include "leaks/leak_scan.h"
#include "platform/own_process.h"
#include "platform/system_call.h"
#include "platform/text.h"
#include "state/birth_clock.h"
#include "state/guard.h"
#include "vm/ruby_vm.h"

enum { PATH_BYTES = 4096, HL_LEAKS_REACHABLE = 1, HL_LEAKS_SINCE = 2, HL_LEAKS_APART = 4 };

/* One at a time of each kind; the two may overlap. */
struct search {
    struct hl_leak_scan scan;
    char final[PATH_BYTES], partial[PATH_BYTES];
    uint32_t running; /* 0 also in a child that was forked meanwhile: the search is its parent's */
};

static char asked[PATH_BYTES] HL_PAGE_ALIGNED; /* HEAPLINE_LEAKS */
static struct search at_end HL_PAGE_ALIGNED, on_request HL_PAGE_ALIGNED;
/* The byte of this process's file .begun: '1' says that a search was tried, and failed. NULL: it cannot be said. */
static volatile char *has_tried;
static uint32_t forked_at; /* the first tick of birth of a forked child; 0: it is none */

void hl_leak_file_prepare(void) {
    const char *given = secure_getenv("HEAPLINE_LEAKS");
    if (given && given[0] >= '0' && given[0] <= '7' && given[1] == '/' && hl_fit(asked, sizeof(asked), "%s", given))
        hl_say("lost blocks will not be looked for: HEAPLINE_LEAKS: %s", strerror(ENAMETOOLONG));
}

int hl_leak_file_due(void) {
    return asked[0] != 0;
}

/* A pid may be another process's later. 0 or -errno. */
static int name_file(char *path, size_t size, const char *directory, const char *ending) {
    const struct hl_flight_header *header = hl_flight.header;
    return hl_fit(path, size, "%s/%d-%llu.%s", directory, (int)getpid(), (unsigned long long)header->start_ticks,
                  ending);
}

/* It is mapped, since at its end the process may not be allowed to open a file; and written before, so that there is
 * room for it then. */
static void make_mark(const char *path) {
    const int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return;
    if (hl_flight_size_allowed(1) && pwrite(fd, "0", 1, 0) == 1) {
        void *mapped = hl_map(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
        if (mapped != MAP_FAILED) has_tried = mapped;
    }
    close(fd);
}

/* A program that is not Ruby has begun from its start. */
static int has_begun(void) {
    return asked[0] && (hl_ruby.attached || !hl_ruby.version);
}

void hl_leak_file_expect(int expected) {
    char path[PATH_BYTES];
    const int saved = errno;
    if (!has_begun() || name_file(path, sizeof(path), asked + 1, "begun")) return;
    if (has_tried) hl_unmap((void *)(uintptr_t)has_tried, 1);
    has_tried = NULL;
    if (expected)
        make_mark(path);
    else
        unlink(path);
    errno = saved;
}

void hl_leak_file_exec(int succeeds) {
    char path[PATH_BYTES];
    hl_leak_file_expect(!succeeds);
    const int saved = errno;
    if (!has_begun() || !hl_ruby.attached || forked_at || name_file(path, sizeof(path), asked + 1, "left")) return;
    const int fd = succeeds ? open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) close(fd);
    if (!succeeds) unlink(path);
    errno = saved;
}

/* Where the report goes. Made before the GC: who asked sees that the search has begun. 0 or -errno. */
static int open_report(struct search *search, const char *directory) {
    search->scan = (struct hl_leak_scan){.fd = -1, .partial = search->partial, .final = search->final};
    int failed = name_file(search->final, sizeof(search->final), directory, "leaks");
    if (!failed) failed = hl_fit(search->partial, sizeof(search->partial), "%s.part", search->final);
    if (failed) return failed;
    unlink(search->partial);
    search->scan.fd = open(search->partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return search->scan.fd < 0 ? -errno : 0;
}

static void give_up(struct search *search) {
    close(search->scan.fd);
    unlink(search->partial);
}

/* A full GC, in which Ruby code may run and fork, and the copy. 0 or -errno. */
static int begin(struct search *search, struct hl_leak_wish wish) {
    const uint64_t gc_ns = hl_leak_scan_collect();
    if (!search->running) return -ECANCELED;
    search->scan.wish = wish;
    search->scan.figures = (struct hl_leak_figures){.gc_ns = gc_ns};
    const int saved = hl_guard_enter(&hl_thread);
    const int failed = hl_leak_scan_start(&search->scan);
    hl_guard_leave(&hl_thread, saved);
    if (failed) give_up(search);
    return failed;
}

static int finish(struct search *search) {
    const int failed = hl_leak_scan_wait(&search->scan);
    if (failed)
        give_up(search);
    else
        close(search->scan.fd);
    return failed;
}

/* ---- at the end ---- */

void hl_leak_file_at_exit(void) {
    const int flags = asked[0] - '0';
    const uint64_t baseline = hl_load64(&hl_flight.header->baseline_generation);
    const int apart = flags & HL_LEAKS_APART;
    const uint64_t own = apart && forked_at ? hl_birth_generation(forked_at) : 0;
    const struct hl_leak_wish wish = {.since = flags & HL_LEAKS_SINCE ? baseline : own,
                                      .reachable = flags & HL_LEAKS_REACHABLE,
                                      .apart = apart,
                                      .forked_at = forked_at};
    at_end.running = 1;
    int failed = open_report(&at_end, asked + 1);
    if (!failed) failed = begin(&at_end, wish);
    const int saved = hl_guard_enter(&hl_thread);
    if (!failed) failed = finish(&at_end);
    at_end.running = 0;
    if (failed && has_tried) *has_tried = '1';
    if (failed && failed != -ENOENT) /* the directory is gone, and who waited for the answer */
        hl_say("lost blocks were not looked for in process %d: %s", (int)getpid(),
               failed == -ECHILD ? "the copy of it that searches was killed" : strerror(-failed));
    hl_guard_leave(&hl_thread, saved);
}

/* ---- on request ---- */

static void (*on_answer)(void);

static void *wait_for_it(void *unused) {
    (void)unused;
    hl_guard_enter(&hl_thread);
    finish(&on_request);
    on_answer();
    __atomic_store_n(&on_request.running, 0, __ATOMIC_RELEASE);
    return NULL;
}

static int open_beside_flight(void) {
    return hl_flight_directory() ? open_report(&on_request, hl_flight_directory()) : -ENOENT;
}

void hl_leak_file_errand(uint32_t request, void (*answered)(void)) {
    const uint64_t baseline = hl_load64(&hl_flight.header->baseline_generation);
    const struct hl_leak_wish wish = {.since = request & HL_REQUEST_LEAKS_SINCE ? baseline : 0,
                                      .reachable = (request & HL_REQUEST_LEAKS_REACHABLE) != 0};
    if (__atomic_exchange_n(&on_request.running, 1, __ATOMIC_ACQUIRE)) return;
    on_answer = answered;
    int failed = open_beside_flight();
    if (!failed) failed = begin(&on_request, wish);
    const int saved = hl_guard_enter(&hl_thread);
    if (failed)
        __atomic_store_n(&on_request.running, 0, __ATOMIC_RELEASE);
    else if (hl_own_thread_start(wait_for_it))
        wait_for_it(NULL); /* no thread: wait here */
    hl_guard_leave(&hl_thread, saved);
}

/* A search that goes on is the parent's: nothing of it stays here. */
static void forget(struct search *search) {
    if (!search->running) return;
    search->running = 0;
    if (search->scan.fd >= 0) close(search->scan.fd);
    hl_leak_scan_forget(&search->scan);
}

void hl_leak_file_after_fork_child(void) {
    forget(&at_end);
    forget(&on_request);
    forked_at = hl_load32(&hl_birth_baseline);
    hl_leak_file_expect(1);
}
