/* SPDX-License-Identifier: MIT */
/*
 * One line of a growth log: from JSON to figures. Knows the keys of docs/growth-log.md, in any order; keys
 * that it does not know are passed over. Pure C: no Ruby, no I/O, no global state.
 */
#ifndef HL_GROWTH_LINE_H
#define HL_GROWTH_LINE_H

#include <stddef.h>

#include "json_scanner.h"

#define HL_GROWTH_LOG "heapline-growth/"
/* What is written, and what was before: its sites have `delta_bytes`, their change since the line before. */
#define HL_GROWTH_SCHEMA HL_GROWTH_LOG "2"
#define HL_GROWTH_SCHEMA_1 HL_GROWTH_LOG "1"
/* More sites of one line than any writer lists are passed over. */
#define HL_LINE_SITES_MAX 65536
#define HL_LINE_LEDGER_MAX 16
/* What a line tells of lines before it, of all of its sites. */
#define HL_LINE_EARLIER_MAX (1u << 20)

/* The keys that are read, of a line, its sites and its totals; the others are passed over. */
#define HL_LINE_KEYS(X)                                                                                                \
    X(TEXT, schema)                                                                                                    \
    X(TEXT, time)                                                                                                      \
    X(TEXT, host)                                                                                                      \
    X(TEXT, started_at)                                                                                                \
    X(TEXT, command)                                                                                                   \
    X(TEXT, ruby)                                                                                                      \
    X(TEXT, state)                                                                                                     \
    X(NUMBER, pid)                                                                                                     \
    X(NUMBER, parent_pid)                                                                                              \
    X(NUMBER, seq)                                                                                                     \
    X(NUMBER, every_s)                                                                                                 \
    X(NUMBER, elapsed_s)                                                                                               \
    X(NUMBER, rss_bytes)                                                                                               \
    X(NUMBER, pss_bytes)                                                                                               \
    X(NUMBER, generation)                                                                                              \
    X(NUMBER, dropped_lines)
#define HL_LINE_SITE_KEYS(X)                                                                                           \
    X(TEXT, location)                                                                                                  \
    X(TEXT, label)                                                                                                     \
    X(TEXT, gem)                                                                                                       \
    X(TEXT, library)                                                                                                   \
    X(TEXT, tag)                                                                                                       \
    X(TEXT, kind)                                                                                                      \
    X(NUMBER, live_bytes)                                                                                              \
    X(NUMBER, delta_bytes)                                                                                             \
    X(NUMBER, bytes_allocated)                                                                                         \
    X(NUMBER, alloc_bytes_per_s)                                                                                       \
    X(NUMBER, temporary_share)                                                                                         \
    X(NUMBER, age_mean_generations)
#define HL_LINE_TOTAL_KEYS(X)                                                                                          \
    X(NUMBER, live_bytes)                                                                                              \
    X(NUMBER, bytes_allocated)

#define HL_LINE_TEXT struct hl_text
#define HL_LINE_NUMBER double
#define HL_LINE_MEMBER(type, key) HL_LINE_##type key;

/* Numbers are NAN and texts without bytes where the line says null or nothing. */
struct hl_line_site {
    HL_LINE_SITE_KEYS(HL_LINE_MEMBER)
    size_t earlier, earlier_count; /* in the line's `earlier`, oldest first */
};

/* What a site was at a line that did not list it, so many seconds before this one. In the order of the JSON. */
struct hl_line_earlier {
    double ago_s, live_bytes, bytes_allocated, generation;
};

struct hl_line_totals {
    HL_LINE_TOTAL_KEYS(HL_LINE_MEMBER)
};

struct hl_line_entry {
    struct hl_text key;
    double bytes;
};

/* The texts point into the line's bytes or into `scratch`: they are good until the next line is read. */
struct hl_growth_line {
    HL_LINE_KEYS(HL_LINE_MEMBER)
    double time_ms; /* since 1970, from `time` */
    int torn;       /* a damaged line's beginning lay before this one */
    struct hl_line_totals totals;
    struct hl_line_entry ledger[HL_LINE_LEDGER_MAX];
    unsigned ledger_count;
    struct hl_line_site *sites;
    size_t site_count, site_room;
    struct hl_line_earlier *earlier;
    size_t earlier_count, earlier_room;
    char *scratch;
    size_t scratch_room;
};

enum hl_line_kind {
    HL_LINE_GOOD,
    HL_LINE_VERSION, /* of this log, as another version of heapline writes it */
    HL_LINE_FOREIGN, /* not ours: another schema, or nothing that looks like this log */
    HL_LINE_DAMAGED, /* ours, but cut short, overwritten, or without time or pid */
    HL_LINE_NO_MEMORY
};

/* Read `length` bytes. Where something lies before the line's "{" (a logger's prefix, a torn line without its end), the
 * reading begins there. *line is zeroed before the first use and keeps its memory from line to line. */
enum hl_line_kind hl_growth_line_read(struct hl_growth_line *line, const char *bytes, size_t length);

void hl_growth_line_release(struct hl_growth_line *line);

/* "2026-01-31T23:59:59.123Z" or with +02:00, in ms since 1970; NAN where it is no such time. */
double hl_time_ms(struct hl_text time);

#endif
