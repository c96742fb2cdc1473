/* SPDX-License-Identifier: MIT */
/*
 * What a process counted since its flight file was read last: for readers that come each second. Of 100,000 sites a
 * process uses some thousand in a second; so the pages with counts are read, 7 MB, and where one is what it was, by a
 * number of 64 bits that was made of its words, nobody looks at what it says. Pure C; one thread at a time.
 *
 * C1  What is summed is of one instant, as flight_copy.h has it. It remains that where pages with counts come faster
 *     than they are found, again and again in one reading, those that are found last are read some milliseconds later.
 * C2  A site is told again where a page that has counts of it changed, or the baseline did; a first reading tells all.
 * C3  Of names only those are read that the caller does not know.
 */
#ifndef HL_FLIGHT_CHANGES_H
#define HL_FLIGHT_CHANGES_H

#include "flight_reader.h"

/* Of one file, from reading to reading. All zeros before the first. */
struct hl_flight_changes {
    uint64_t *prints; /* by page, with how many readings it has been so; 0: it is not known to have counts */
    uint64_t pages;
    uint64_t baseline;
};

/* What is read: the copy's memory serves all files that are read one after the other. */
struct hl_flight_news {
    struct hl_flight_copy copy;
    unsigned char *marks; /* by page: enum hl_page_mark */
    uint64_t *prints;     /* by page; 0: not taken */
    uint64_t print_count;
    unsigned char *changed; /* by site: is it in `sums`? */
    struct hl_wanted_sites wanted;
    struct hl_flight_sums sums;
};

/* Read what changed into news->sums, whose sites are to be told apart by news->wanted. named: by number of site, not 0
 * where its name is known (C3). 0 or -errno with the problem; then the next reading tells all. */
int hl_flight_read_changes(int fd, struct hl_flight_changes *changes, const uint32_t *named, uint32_t named_count,
                           struct hl_flight_news *news, struct hl_problem *problem);
/* The sums are given back, the memory of the copy is kept for the next reading. */
void hl_flight_news_done(struct hl_flight_news *news);
void hl_flight_news_release(struct hl_flight_news *news);
void hl_flight_changes_release(struct hl_flight_changes *changes);

#endif
