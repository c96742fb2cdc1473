/* SPDX-License-Identifier: MIT */
/*
 * The flight file: the shared mapping in which all counts live, so that they outlive the process.
 *
 * Owns the file's life (create, copy at fork, remove) and hands out pages and strings in it. See flight_layout.h for
 * what lies where.
 *
 * L1  A page is backed before its number is handed out: a full file system or a limit is an error here, never a
 *     SIGBUS later.
 * L2  Pages and strings are never given back; handing them out is lock-free.
 * L3  The mapping keeps its address across fork: pointers into it stay valid in the child.
 * Callable from any thread with the guard entered; nothing here allocates through malloc.
 */
#ifndef HL_FLIGHT_H
#define HL_FLIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "flight_layout.h"
#include "platform.h"

struct hl_flight {
    char *base; /* of the mapping, or NULL */
    struct hl_flight_header *header;
    int fd; /* -1: kept in memory only */
};
extern struct hl_flight hl_flight HL_HIDDEN;

/* Map a new flight file in `directory`. Without a usable directory the flight stays in memory; *problem then says why.
 * 0 or -errno. */
int hl_flight_create(const char *directory, const char **problem);

/* Before fork: copy what is in use, as it is now, into a new unnamed file, which vanishes where the child executes
 * another program. After it, in the parent: drop it; in the child, before anything is counted there: map it in place of
 * the parent's and name it. */
void hl_flight_before_fork(void);
/* Read or write what the copy holds for `address`, which lies in the mapping; 0, or -errno where it has no such part.
 */
int hl_flight_read_copy(const void *address, void *bytes, size_t size);
int hl_flight_write_copy(const void *address, const void *bytes, size_t size);
void hl_flight_after_fork_parent(void);
void hl_flight_become_child(void);
/* Pages of the parent's flight whose figures the child's began with. */
uint32_t hl_flight_copied_pages(void);

/* Remove the file's name. What is mapped stays usable. */
void hl_flight_remove(void);

/* The file's descriptor, proven to be still ours; -1 where there is none. */
int hl_flight_descriptor(void);

/* Remove what an earlier image of this process left in `directory`: for one that keeps no flight file itself. */
void hl_flight_remove_earlier(const char *directory);

/* The path into `path`; its length, 0 where the flight is in memory. */
size_t hl_flight_path(char *path, size_t size);

/* The first of `count` fresh, zeroed, consecutive pages, or 0. */
uint32_t hl_flight_pages(uint32_t count);

HL_INLINE void *hl_flight_page(uint32_t number) {
    return hl_flight.base + (size_t)number * HL_PAGE_SIZE;
}

/* Bring a string into the file; 0 where there is no room. Cut at HL_STRING_MAX bytes. */
hl_string_ref hl_flight_string(const char *bytes, size_t length);

/* The bytes of a string that hl_flight_string returned. */
const char *hl_flight_text(hl_string_ref reference, size_t *length);

/* CLOCK_REALTIME in nanoseconds. */
uint64_t hl_flight_now(void);

#endif
