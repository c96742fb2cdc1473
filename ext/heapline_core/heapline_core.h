/* SPDX-License-Identifier: MIT */
/*
 * The core's ABI: the only names besides the malloc family that libheapline.so exports. Whoever uses it finds each
 * function with dlsym(RTLD_DEFAULT, ...): without the preload there are none. Every function may be called from any
 * thread, with or without the GVL, and takes no Ruby lock.
 */
#ifndef HEAPLINE_CORE_H
#define HEAPLINE_CORE_H

#include <stddef.h>
#include <stdint.h>

#define HEAPLINE_ABI_VERSION 3u

/* The version that the loaded core implements: HEAPLINE_ABI_VERSION of its build. */
uint32_t heapline_abi_version(void);

/* 1 while allocations of this process are counted, else 0. */
int heapline_enabled(void);

/* Begin to count in a process that was started with HEAPLINE=off, or in which it was stopped; `options` as HEAPLINE has
 * them, but quarantine. What is allocated from then on is counted; older blocks are in no site. With the
 * GVL, where there is Ruby. 0, -EALREADY where it counts, -ENOTSUP where it cannot, -EPERM without the GVL, or -errno.
 */
int heapline_start(const char *options);
/* After a start: compare the frames that run now with what Ruby says of them, to learn how the VM lays them out. With
 * the GVL, in the thread that started it. 1: nothing more is needed. */
int heapline_look(void);
/* End it: all calls are forwarded, and the flight file stays as it is. 0, -ESRCH where nothing is counted, -ENOTSUP
 * where blocks are kept. */
int heapline_stop(void);

/* Attach and detach from outside: see lifecycle/arrival.h, which has the contract of both. Called in a thread that was
 * stopped; read by who stopped it. */
struct heapline_arrival {
    uint64_t asked, answered; /* how often */
    uint64_t pause_ns;        /* that the answer took, of Ruby's threads */
    int32_t result;           /* of heapline_start or heapline_stop; -ESRCH: no thread of Ruby's came */
    uint32_t waits_elsewhere; /* the thread waits in code that is not Ruby's: the answer comes when that returns */
    uint64_t ready;           /* 1: the library is loaded and can be asked */
};
extern struct heapline_arrival heapline_arrival;
void heapline_arrive(const char *text, uint64_t what, void *frame, uint64_t interrupted);

/* An open descriptor of this process's flight file, or -1. Owned by the core: do not close it, do not move its offset.
 */
int heapline_flight_fd(void);

/* The flight file's path into `buffer`, cut at `size`; its full length, or 0 where it has none (kept in memory). */
size_t heapline_flight_path(char *buffer, size_t size);

/* Enter or leave quiet on this thread: what is allocated between is in no total. Both return the depth now in force;
 * leaving at depth 0 stays at 0. */
uint32_t heapline_quiet_enter(void);
uint32_t heapline_quiet_leave(void);

/* Set the quiet depth of this thread and return the former one: to restore it after a non-local exit. */
uint32_t heapline_quiet_set(uint32_t depth);

/* This thread's tag: the number of `name` (up to 255 bytes, interned), or 0 for none. Beyond the table's size: the
 * number of "(other)". */
uint32_t heapline_tag_intern(const char *name, size_t length);
/* Make `tag` this thread's tag and return the former one. */
uint32_t heapline_tag_set(uint32_t tag);

/* Begin a new baseline: growth, retained and clear-ed figures count from here. Returns its number. */
uint64_t heapline_baseline(void);

/* Exact totals of this process over all lanes (an instant's, while others run): bytes allocated and bytes freed. */
void heapline_totals(uint64_t *bytes_allocated, uint64_t *bytes_freed);

/* The most bytes that were live at a time since the last call (or the start), and in *live those that are live now; the
 * next time begins here. Exact for the calling thread; of each other thread up to 64 KiB may be missing. */
int64_t heapline_peak_restart(int64_t *live);

/* The report's number of generations so far: GC.count plus the number of baselines. */
uint64_t heapline_generation(void);

/* Record every event from now on, into the ring file beside the flight file, without or with C frames; or no more. 0,
 * or -errno: -EBUSY where a recording goes on. */
enum heapline_record_what { HEAPLINE_RECORD_END = 0, HEAPLINE_RECORD_BEGIN = 1, HEAPLINE_RECORD_NATIVE = 2 };
int heapline_record(int what);

/* Start a process of heapline's own beside this one, unseen by its wait and SIGCHLD: `command` is its words, parted by
 * unit separators (0x1f), the first a path. It gets these descriptors as 3 and 4 (-1: none), stderr, and no others. 0
 * or -errno. */
int heapline_companion(const char *command, int third, int fourth);

/* While `ours`, a fork on this thread makes a twin (ext/heapline/twin.h): no one's child, without accounting. */
void heapline_twin_fork(int ours);

/* What heapline/native.so exports to the core under the name heapline_twin: make a twin that does `task` (0: only
 * forget what is left of the last one). *problem, where there is one, says why there is no twin. */
struct heapline_twin_made {
    uint32_t pid;
    uint64_t pause_ns;
};
typedef struct heapline_twin_made heapline_twin_function(int task, int fd, int gc, int32_t *status,
                                                         const char **problem);

/* Ruby objects. All of these with the GVL, where Ruby may be called; none raises. */

/* Account them from now on, anew where that was stopped before; NULL, or why it cannot be. In the main Ractor. */
const char *heapline_objects_start(void);
void heapline_objects_stop(void);
/* 1 while they are accounted. */
int heapline_objects_on(void);

/* Bring the hooks into a Ractor (its VALUE) that was there before the start. */
void heapline_objects_join(uintptr_t ractor);

/* Give all classes that were met their names in the flight file. */
void heapline_objects_settle(void);

/* Begin a new generation of objects; its number. */
uint64_t heapline_objects_next_generation(void);

/* Call `visit` with each living object that was born in generations `from` … `to`. GC must be off meanwhile, and no
 * object may be made. */
typedef void heapline_object_visitor(void *context, uintptr_t object, uint32_t site, uint64_t generation);
void heapline_objects_each(uint64_t from, uint64_t to, heapline_object_visitor *visit, void *context);

/* Where and when a live block of malloc's or a living Ruby object was born: its site's number in the flight file, and
 * for how many generations it has lived. 1, or 0 where it was not accounted. Also in a twin. */
struct heapline_birth {
    uint32_t site;
    uint64_t age;
};
int heapline_block_birth(void *block, struct heapline_birth *birth);
int heapline_object_birth(uintptr_t object, struct heapline_birth *birth);

/* The pages of the object heap into `pages`, at most `room`; returns how many there are: 0 where they are not known.
 * birth: GC.count when the VM took the page. With the GVL; also in a twin. */
struct heapline_heap_page {
    uintptr_t address;
    uint64_t birth;
};
size_t heapline_heap_pages(struct heapline_heap_page *pages, size_t room);

/* A full GC; then begin to look for lost blocks (HEAPLINE=blocks): a report as JSON (see docs/flight-file.md) goes to
 * `fd` from a copy of the process. Of blocks born in generation `since` or later; `reachable`: with records of blocks
 * that are not lost. With the GVL, outside GC. *scan is for heapline_leaks_wait. 0, -ENODATA where blocks are not kept,
 * or -errno. */
int heapline_leaks_start(int fd, uint64_t since, int reachable, void **scan);
/* Wait until the report is complete; with or without the GVL. 0 or -errno. */
int heapline_leaks_wait(void *scan);

/* Begin to list the live blocks of these sites (HEAPLINE=blocks): for each 32 bytes go to `fd` from a copy of the
 * process: four words, its address, requested bytes, generation of birth and kernel thread id. *list is for
 * heapline_blocks_wait, until then `sites` must stay. 0, -ENODATA where blocks are not kept, or -errno. */
int heapline_blocks_start(int fd, const uint32_t *sites, size_t site_count, void **list);
/* Wait until all is written; with or without the GVL. 0 or -errno. */
int heapline_blocks_wait(void *list);

#endif
