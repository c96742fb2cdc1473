/* SPDX-License-Identifier: MIT */
/*
 * The room flight.
 *   owns: the flight file and the tables in it: pages, cells, strings, sites, tags, libraries
 *   invariant: whatever another process writes into the file, nothing beyond the mapping is reached (L4)
 *   uses: platform, allocator, state
 *
 * The flight file: the shared mapping in which all counts live, so that they outlive the process.
 *
 * Owns the file's life (create, copy at fork, remove) and hands out pages and strings in it. See flight_layout.h for
 * what lies where.
 *
 * L1  A page is backed before its number is handed out: a full file system or a limit is an error here, never a
 *     SIGBUS later.
 * L2  Pages and strings are never given back, but that a forked child has other counts in its parent's pages of counts;
 *     handing them out is lock-free.
 * L3  The mapping keeps its address across fork: pointers into it stay valid in the child.
 * L4  Others may write into the file or cut it. A number or reference that is read back from it reaches nothing beyond
 * the mapping, whatever it is; and a file that was cut is given up (hl_flight_detach), never a SIGBUS. Callable from
 * any thread with the guard entered; nothing here allocates through malloc.
 */
#ifndef HL_FLIGHT_H
#define HL_FLIGHT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "flight/flight_layout.h"
#include "platform/platform.h"

struct hl_flight {
    char *base; /* of the mapping, or NULL */
    struct hl_flight_header *header;
    int fd;        /* -1: kept in memory only */
    uint32_t mask; /* pages of the mapping, a power of two, less 1 */
};
extern struct hl_flight hl_flight HL_HIDDEN;

/* Map a new flight file in `directory`. Without a usable directory the flight stays in memory; *problem then says why.
 * 0 or -errno. */
int hl_flight_create(const char *directory, const char **problem);

/*
 * In a forked child, in which the parent's flight is mapped still and the parent goes on: make a file for it, or memory
 * where there can be none, and put of it in place what the child will change: the header, directories, the last pages
 * of records and names, and all pages that are not handed out yet. The others stay the parent's: it *rests* on its
 * parent's flight until it takes over.
 * `then`: the header as it was at the fork, or NULL. sites: records from this one on may not be complete. The file
 * vanishes where the child executes another program. 0 or -errno; then nothing can be counted any more.
 */
int hl_flight_begin_child(const struct hl_flight_header *then, uint32_t sites, int may_have_file);
int hl_flight_rests(void);
/* May this process write the site's record? */
int hl_flight_may_change(uint32_t site);

/* To take over, while other threads count: bring what is the parent's still, but counts, which the caller brings
 * (hl_flight_write_child, to pages of hl_flight_child_page: ascending, 0 where there is none); then put it in place.
 * 0 or -errno: then the others are the parent's still. */
int hl_flight_bring(void);
int hl_flight_write_child(uint64_t place, const void *bytes, size_t size);
uint32_t hl_flight_child_page(void);
int hl_flight_become_child(void);

/* In a record that was brought: is this string one that the parent made after the fork? Its bytes, as far as they fit
 * into `size`, and their number; 0 where they are not known. At the end leave the parent's file. */
int hl_flight_is_of_parent(hl_string_ref reference);
size_t hl_flight_parents_text(hl_string_ref reference, char *bytes, size_t size);
void hl_flight_leave_parent(void);
/* Before that: count in the parent's header that this process has its counts of now (inheritance.h, I5). */
void hl_flight_tell_parent_of_late_child(void);

/* Give the child's file its name. While it rests on its parent's, its state says so, and others only ask it to take
 * over. */
void hl_flight_show_child(void);

/* Give the file up: private memory of zeros lies in the place of the mapping. Callable from a signal handler; what is
 * written there goes nowhere. */
void hl_flight_detach(void);
/* From now on an access to what was cut off the file gives it up, and tells `lost`. */
void hl_flight_guard(void (*lost)(void));

/* Remove the file's name. What is mapped stays usable. */
void hl_flight_remove(void);

/* The file's descriptor, proven to be still ours; -1 where there is none. */
int hl_flight_descriptor(void);

/* Remove what an earlier image of this process left in `directory`: for one that keeps no flight file itself. */
void hl_flight_remove_earlier(const char *directory);

/* The file's name, as this process has one or would, into `name`: 0, or -ENAMETOOLONG. */
int hl_flight_name(char *name, size_t size);

/* The path into `path`; its length, 0 where the flight is in memory or the path does not fit. */
size_t hl_flight_path(char *path, size_t size);

/* The path of what lies beside the file under the same name, with another ending (".ring"). 0 or -errno. */
int hl_flight_neighbour(char *path, size_t size, const char *ending) __attribute__((warn_unused_result));

/* Where the file lies; NULL where the flight is in memory. */
const char *hl_flight_directory(void);
/* Where it was to lie, also if there was no room and the flight is in memory; NULL: nowhere. */
const char *hl_flight_wanted_directory(void);

/* The first of `count` fresh, zeroed, consecutive pages, or 0. */
uint32_t hl_flight_pages(uint32_t count);

HL_INLINE void *hl_flight_page(uint32_t number) {
    return hl_flight.base + (size_t)(number & hl_flight.mask) * HL_PAGE_SIZE; /* L4 */
}

/* The same for counts: a forked child brings them itself. */
uint32_t hl_flight_pages_of_counts(uint32_t count);

/* The page that a directory's entry names, made where there is none yet; NULL where there is no room. */
void *hl_flight_page_behind(uint32_t *entry);

/* Bring a string into the file; 0 where there is no room. Cut at HL_STRING_MAX bytes. */
hl_string_ref hl_flight_string(const char *bytes, size_t length);

/* The bytes of a string that hl_flight_string returned. */
const char *hl_flight_text(hl_string_ref reference, size_t *length);

/* May this process make a file of that size? Beyond its limit (RLIMIT_FSIZE) the kernel would send SIGXFSZ. */
int hl_flight_size_allowed(off_t size);

/* CLOCK_REALTIME in nanoseconds. */
uint64_t hl_flight_now(void);

#endif
