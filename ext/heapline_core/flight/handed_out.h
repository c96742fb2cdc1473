/* SPDX-License-Identifier: MIT */
/*
 * The flight's pages and strings, as they are handed out. See flight.h, L1, L2 and L4.
 */
#ifndef HL_HANDED_OUT_H
#define HL_HANDED_OUT_H

#include <stddef.h>
#include <stdint.h>

#include "flight/own_file.h"

/* The first of `count` fresh, zeroed, consecutive pages, or 0. */
uint32_t hl_flight_pages(uint32_t count);

HL_INLINE void *hl_flight_page(uint32_t number) {
    return hl_flight.base + (size_t)(number & hl_flight.mask) * HL_PAGE_SIZE; /* L4 */
}

/* The same for counts, which a forked child brings itself: at most *count, and then so many. */
uint32_t hl_flight_pages_of_counts(uint32_t *count);

/* The page that a directory's entry names, made where there is none yet; NULL where there is no room. */
void *hl_flight_page_behind(uint32_t *entry);

/* Bring a string into the file; 0 where there is no room. Cut at HL_STRING_MAX bytes. */
hl_string_ref hl_flight_string(const char *bytes, size_t length);

/* The bytes of a string that hl_flight_string returned. */
const char *hl_flight_text(hl_string_ref reference, size_t *length);

/* ---- for the flight itself, and a forked child's ---- */

enum {
    HL_FLIGHT_PAGES_MOST = 1 << 18, /* 1 GiB of address space; the file is sparse */
    HL_FLIGHT_GROWTH = 64,          /* pages that are backed at once */
    HL_PAGE_SET_BITS = 64,
};

struct hl_page_set {
    uint64_t words[HL_FLIGHT_PAGES_MOST / HL_PAGE_SET_BITS];
};

HL_INLINE int hl_page_set_has(const struct hl_page_set *set, uint32_t page) {
    return hl_load64(&set->words[page / HL_PAGE_SET_BITS]) >> page % HL_PAGE_SET_BITS & 1;
}
void hl_page_set_add(struct hl_page_set *set, uint32_t first, uint32_t count);
/* The first page from `page` on, before `end`, that is in the set, or that is not; or `end`. */
uint32_t hl_page_set_next(const struct hl_page_set *set, uint32_t page, uint32_t end, int is);
/* The part of a set that has the pages before `end`, from its beginning on. */
HL_INLINE size_t hl_page_set_bytes(uint32_t end) {
    return (end + HL_PAGE_SET_BITS - 1) / HL_PAGE_SET_BITS * sizeof(uint64_t);
}

/*
 * Which pages are handed out. In a forked child the pages in which its parent had counts are holes of its own file, or
 * of no use to it. So that a line of a thousand generations needs no more pages than one process, they are handed out
 * first, in ascending order: to lanes those that the parent had not taken (`vacant`), for the sums of what was
 * inherited, later, those that it had.
 */
struct hl_handed_out {
    uint64_t used;                     /* as the header's page_count, which others may write (L4) */
    uint32_t backed;                   /* the file's pages below this number are backed (L1) */
    uint32_t populated;                /* pages below this number need not be made any more */
    uint32_t vacant_from, vacant_end;  /* in a child: where there may be pages for its lanes */
    uint64_t string_arena;             /* page << 32 | bytes used */
    struct hl_page_set counts;         /* in which this process or one before it had counts */
    struct hl_page_set taken;          /* … this process */
    struct hl_page_set parents_counts; /* … its parent, at the fork */
    struct hl_page_set vacant;         /* … another one before it */
};
extern struct hl_handed_out hl_handed HL_HIDDEN;

/* The flight begins with so many pages. 0 or -errno: they cannot be backed. */
int hl_flight_begin_pages(uint32_t count);

/* Back these pages of the file. 0 or -errno. */
int hl_flight_back(uint32_t begin, uint32_t end);

/* With HEAPLINE=core the pages that are in use are in a core. Not the whole map: it is sparse, and what the kernel
 * writes of it into a core it makes first. */
void hl_flight_keep_in_core(uint32_t begin, uint32_t end);

/* Note that these pages (0: none) are for counts of this process. Returns `first`. */
uint32_t hl_flight_hand_out_for_counts(uint32_t first, uint32_t count);

/* The first pages of a set from *cursor on, which moves on: at most *count, and then so many; 0 where there is none. */
uint32_t hl_flight_take_pages(const struct hl_page_set *set, uint32_t *cursor, uint32_t end, uint32_t *count);

HL_INLINE size_t hl_flight_mapped_size(void) {
    return ((size_t)hl_flight.mask + 1) * HL_PAGE_SIZE;
}

#endif
