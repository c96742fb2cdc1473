/* SPDX-License-Identifier: MIT */
/*
 * What is kept of a growth log: for each process and site a series of windows, in bounded memory however long the log
 * is. Pure C: no Ruby, no I/O, no global state; one thread at a time.
 *
 * S1  A series has at most HL_WINDOWS_MAX windows. When they are used up, neighbours are joined in pairs, and from then
 *     on a window takes twice as many lines. A window keeps the lowest live bytes of its lines and when that was: what
 *     is still there when the load is low is what is retained. Where all series together need more than
 *     HL_WINDOWS_LEAST for each that may be there, all are joined so, and may have half as many from then on, but not
 *     fewer than HL_WINDOWS_LEAST.
 * S2  There are at most `series_limit` series of sites. One that comes then is refused for good and counted once: what
 *     is kept is whole. The figures of processes find room where sites do not, up to twice the limit.
 * S3  A site is listed when it has become large. What it was before, the line that lists it then tells (`earlier`);
 *     where a line of version 1 does not, it is taken to have held what it held one line earlier (delta_bytes).
 *     A line of Ruby is one series whichever libraries called malloc for it.
 * S4  A line is taken as a whole or not at all, and a line of one process only once: lines that repeat, or that lie
 *     before one that was taken, are counted and passed over.
 */
#ifndef HL_GROWTH_STORE_H
#define HL_GROWTH_STORE_H

#include <stdint.h>

#include "growth_line.h"

#define HL_WINDOWS_MAX 128
#define HL_WINDOWS_LEAST 32
/* So many series that were refused are counted. */
#define HL_REFUSED_MAX 3000000
#define HL_PROCESSES_MAX 65536
#define HL_STRING_BYTES_MAX (256u << 20)

/* Several lines of one series. Times are ms since 1970 on the process's own clock: see hl_growth_process. */
struct hl_window {
    double low_ms, low;   /* the lowest live bytes, and when */
    double last_ms, last; /* the last live bytes, and when */
    double allocated;     /* cumulative bytes allocated, at the last line */
    uint64_t generation;  /* at the last line */
    uint32_t lines;
};

/* Numbers of interned strings; 0: no text. */
enum hl_name { HL_LOCATION, HL_LABEL, HL_GEM, HL_LIBRARY, HL_TAG, HL_KIND, HL_NAMES };

struct hl_series {
    uint32_t process;
    uint32_t names[HL_NAMES];
    uint32_t next;   /* in the hash chain: number + 1 */
    uint32_t stride; /* lines a window takes */
    uint32_t count, room;
    struct hl_window *windows;
    double temporary_share, age_mean_generations, alloc_bytes_per_s; /* as last listed */
    uint32_t caller; /* of a line: the library through which more than half of it came when last listed; 0: none */
    /* The sum of what the line at work says; several sites may be one series. */
    uint64_t pending_line;
    double pending_most; /* live bytes of the site with the most, and its library */
    uint32_t pending_caller;
    double pending_live, pending_delta, pending_allocated, pending_rate, pending_temporary, pending_age;
    uint32_t next_pending;
};

/* One process: host, pid and start. Its clock follows the wall clock, but by elapsed_s where both differ: a wall clock
 * that is set does not move it. */
struct hl_growth_process {
    uint32_t host, started_at, command, ruby, state;
    uint32_t next;
    int64_t pid, parent_pid;
    double seq, every_s;
    double start_ms;                     /* when it began; unknown: its first line */
    double first_ms, before_ms, last_ms; /* its first line, the one before the last, the last; on its clock */
    double wall_ms;                      /* of the last line */
    double allocated;                    /* totals.bytes_allocated of the last line */
    double first_generation, before_generation, generation; /* of the same lines */
    double dropped_lines;                                   /* that the writer could not write */
    uint64_t lines, gaps;                                   /* taken; where one or more before it are missing */
    uint32_t incarnation;                                   /* counts the programs that one pid has been (exec) */
};

struct hl_growth_counts {
    uint64_t lines, taken, damaged, foreign, other_version, repeated, filtered, clock_jumps, processes_refused,
        series_given_up;
    uint64_t strings_refused;
};

struct hl_string {
    const char *bytes;
    uint32_t length, hash, next;
};

struct hl_string_table {
    struct hl_string *strings; /* [0] is the empty one */
    uint32_t count, room;
    uint32_t *buckets, bucket_count;
    uint64_t bytes;
};

struct hl_growth_store {
    enum hl_name by; /* HL_LOCATION: by site */
    int by_file;     /* by location without its line */
    uint32_t series_limit;
    double since_ms; /* lines before it are filtered */
    const int64_t *pids;
    uint32_t pid_count; /* 0: all */
    struct hl_growth_counts counts;
    struct hl_string_table names;
    struct hl_growth_process *processes;
    uint32_t process_count, process_room, process_buckets[4096];
    struct hl_series *series;
    uint32_t series_count, series_room;
    uint32_t *buckets, bucket_count;
    uint32_t windows_max;  /* of a series */
    uint64_t window_rooms; /* of all series */
    uint64_t *refused;     /* the hashes of series that found no room; 0: free */
    uint32_t refused_room; /* a power of 2 */
    uint32_t pending;      /* chain of the series that the line at work touched: number + 1 */
    struct hl_growth_line line;
    int no_memory;
};

/* Make `store` ready. 0 or -ENOMEM. */
int hl_growth_store_init(struct hl_growth_store *store, uint32_t series_limit);

/* Read whole lines; the last needs no line end. 0, or -ENOMEM: the store is complete up to some line. */
int hl_growth_store_feed(struct hl_growth_store *store, const char *bytes, size_t length);

void hl_growth_store_release(struct hl_growth_store *store);

#endif
