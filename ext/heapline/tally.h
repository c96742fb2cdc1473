/* SPDX-License-Identifier: MIT */
/*
 * What several processes counted, added up by place, reading by reading: for `heapline top`, which shows 50 of 100,000
 * lines of ten processes each second. A place is what names a site; it has one number here, whichever process and
 * reading it comes from, and names are kept once. Pure C; one thread at a time.
 *
 * T1  A reading is hl_tally_begin, hl_tally_read for each process, and hl_tally_end. What is read counts at once, so
 *     nobody looks before the end: what was asked for is of no use from the next reading's begin on. Places that it
 * found are shown from its end on. T2  Only what changed is read (flight_changes.h). What each process counted at each
 * of its sites is kept, packed to a dozen bytes: that is taken off its place before what it counts now is added, and
 * all of it when it goes. T3  Of a forked process counts what it did since its fork (Processes::ProcessTree says why).
 */
#ifndef HL_TALLY_H
#define HL_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "flight_changes.h"
#include "site_groups.h"
#include "site_stages.h"

/* What was counted at a place. `base_live`: what lived there when the watcher set a baseline. */
struct hl_tally_figures {
    struct hl_count count;
    int64_t growth_bytes, retained_bytes, base_live;
};

/* What rates are measured against: an earlier reading. */
struct hl_tally_before {
    uint64_t live_bytes, allocations, bytes_allocated, frees, temporary;
};

/* Texts are numbers; 0 is none. HL_TALLY_VM stands for the library of the VM itself where a gem is asked for. The first
 * places, by their stage less 1, stand for what start-up and loading took: nothing is counted there. */
enum { HL_TALLY_VM = 1, HL_TALLY_BLOCK = 64, HL_TALLY_STAGES = HL_STAGES - 1 };

struct hl_tally_place {
    uint64_t offset;
    uint32_t path, label, library, base_library, tag;
    uint32_t line; /* of a site with a fixed number that */
    uint32_t symbol_offset;
    uint32_t location;
    uint8_t kind, is_fixed;
    uint8_t stage; /* enum hl_stage */
};

struct hl_tally_text {
    uint32_t at, length;
    uint32_t folded;      /* another text: the same in lower case; 0: it is ASCII */
    uint32_t gem : 31;    /* of a path or library */
    uint32_t has_gem : 1; /* it is known */
};

struct hl_tally_table {
    uint32_t *slots; /* numbers + 1 */
    uint32_t mask, count;
};

struct hl_tally_process {
    uint64_t id;
    uint64_t started_ns; /* with pid: whose file it was; a new one may get the same id */
    uint32_t pid;
    struct hl_flight_changes changes;
    uint32_t *places; /* + 1, by number of site; 0: not seen yet */
    uint32_t site_count;
    unsigned char **held; /* T2: figures by number of site, HL_TALLY_BLOCK together; NULL: all are 0 */
    uint32_t held_count;  /* blocks */
    struct hl_totals totals;
    uint32_t impossible; /* sites */
    uint8_t same, present;
    uint8_t is_based; /* its growth is since a baseline of its own */
};

struct hl_tally {
    char *bytes; /* of the texts */
    size_t byte_count, byte_room;
    struct hl_tally_text *texts;
    uint32_t text_count, text_room;
    struct hl_tally_place *places;
    uint32_t place_count, place_room;
    struct hl_tally_figures *now; /* by place */
    uint32_t now_count, now_room; /* those that are shown; the others are new */
    uint32_t *location_places;    /* the first place of each location */
    uint32_t location_count, location_room;
    struct hl_tally_table text_table, place_table, location_table;
    struct hl_tally_process *processes;
    uint32_t process_count, process_room;
    struct hl_tally_group *groups; /* those that were asked for last */
    uint32_t group_room;
    uint32_t named_places, folded_texts; /* so many have their gems, are in lower case */
    struct hl_flight_news news;
    uint32_t readings; /* that were begun */
    int read_names;    /* a whole file was read: what the copy took for that is given back */
    int maxima_fell;   /* of what one of its processes has no more */
    int failed;        /* there was no memory */
};

enum hl_tally_by {
    HL_TALLY_LOCATION,
    HL_TALLY_GEM,
    HL_TALLY_FILE,
    HL_TALLY_LIBRARY,
    HL_TALLY_TAG,
    HL_TALLY_OVERVIEW /* location, but what start-up and loading took is one group each, as HL_BY_OVERVIEW */
};
static inline int hl_tally_has_lines(enum hl_tally_by by) {
    return by == HL_TALLY_LOCATION || by == HL_TALLY_OVERVIEW;
}

enum hl_tally_figure {
    HL_TALLY_GROWTH,
    HL_TALLY_BASELINE_GROWTH,
    HL_TALLY_LIVE,
    HL_TALLY_CHANGE,
    HL_TALLY_RATE,
    HL_TALLY_BLOCKS,
    HL_TALLY_TEMPORARY,
    HL_TALLY_LIFE
};

/* Which groups of places, and by what they are in order. */
struct hl_tally_view {
    enum hl_tally_by by;
    int is_within; /* only the places of this group: */
    enum hl_tally_by within;
    uint32_t within_text;
    enum hl_tally_figure figure;
    int has_baseline;                     /* growth is counted from the watcher's */
    const struct hl_tally_before *before; /* by place; NULL: rates are not known */
    uint32_t before_count;
    const char *pattern; /* in lower case; NULL: all */
    size_t pattern_length;
};

/* One group: a location's number, or a text. */
struct hl_tally_group {
    int64_t a, b, live, growth;
    uint32_t number;
    uint32_t largest; /* the place of it that grew most */
    uint32_t tag, library;
    uint8_t seen, mixed_tags;
    uint8_t mixed_libraries; /* of a line: several libraries called malloc for it */
    uint8_t no_library;      /* and none of them for most of it */
};

/* A group's sums. */
struct hl_tally_row {
    const struct hl_tally_group *group;
    struct hl_tally_figures figures;
    struct hl_tally_before before;
};

int hl_tally_create(struct hl_tally *tally);
void hl_tally_destroy(struct hl_tally *tally);
/* What it takes, in bytes. */
size_t hl_tally_size(const struct hl_tally *tally);

/* A new reading. same: ids of processes that did nothing since the last one, and are part of this one too. */
void hl_tally_begin(struct hl_tally *tally, const uint64_t *same, size_t count);
/* The process of this id, which is part of this reading; NULL: there is no memory. */
struct hl_tally_process *hl_tally_process(struct hl_tally *tally, uint64_t id);
/* Need its file be read? */
int hl_tally_is_due(const struct hl_tally_process *process);
/* Read what it counted since the last time. own: only since its fork. Of *sums all is set but what is by site. 0 or
 * -errno with the problem. */
int hl_tally_read(struct hl_tally *tally, struct hl_tally_process *process, int fd, int own,
                  struct hl_flight_sums *sums, struct hl_flight_header *header, struct hl_problem *problem);
/* The end of a reading: processes that were no part of it are forgotten. baseline: growth counts from here on. */
void hl_tally_end(struct hl_tally *tally, int baseline);
void hl_tally_forget_baseline(struct hl_tally *tally);

/* By which text the gem of a place is known. */
uint32_t hl_tally_owner(const struct hl_tally_place *place);

uint32_t hl_tally_intern(struct hl_tally *tally, const char *bytes, size_t length);
const char *hl_tally_bytes(const struct hl_tally *tally, uint32_t text, size_t *length);

void hl_tally_before(const struct hl_tally *tally, struct hl_tally_before *before);
/* Sum over all places. */
struct hl_tally_figures hl_tally_total(const struct hl_tally *tally);

/* The groups that a view shows, in no order, until the next call. NULL: there is no memory. */
struct hl_tally_group *hl_tally_groups(struct hl_tally *tally, const struct hl_tally_view *view, uint32_t *count);
/* Bring the first `limit` of them to the front, in order. */
void hl_tally_sort(const struct hl_tally *tally, const struct hl_tally_view *view, struct hl_tally_group *groups,
                   uint32_t count, uint32_t limit);
/* The place, in their order, of the one of these groups, which may lie in any, that has this name; or -1. */
int64_t hl_tally_find(const struct hl_tally *tally, const struct hl_tally_view *view,
                      const struct hl_tally_group *groups, uint32_t count, const char *bytes, size_t length);
/* The sums of some groups. 0 or -ENOMEM. */
int hl_tally_rows(const struct hl_tally *tally, const struct hl_tally_view *view, struct hl_tally_row *rows,
                  uint32_t count);

#endif
