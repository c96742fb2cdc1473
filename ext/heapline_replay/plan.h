/* SPDX-License-Identifier: MIT */
/*
 * A plan as a file: opened, checked as a whole before anything of it is performed, and read by each thread for itself.
 *
 * P1: after hl_plan_open every operation is one of hl_plan_op, its slot, thread, epoch and alignment are within their
 *     bounds, the epochs of a thread go up, each thread but the first is started once, by the first one.
 * P2: what a check cannot know, the order of threads, can make a replay fail, but not touch other memory than blocks
 *     (see slots.h).
 */
#ifndef HL_PLAN_H
#define HL_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "plan_layout.h"

enum { HL_PLAN_BUFFER = 16384, HL_PLAN_THREADS_MAX = 65536, HL_PLAN_ALIGNMENT_MIN = 3, HL_PLAN_ALIGNMENT_MAX = 30 };

struct hl_plan {
    int fd;
    struct hl_plan_header header;
    const struct hl_plan_thread *threads;
    const struct hl_plan_epoch *epochs;
};

struct hl_operation {
    uint32_t op;       /* hl_plan_op */
    uint32_t awaited;  /* 1: somebody waits for it */
    uint32_t thread;   /* WAIT, START */
    uint32_t exponent; /* ALIGNED */
    uint64_t slot;
    uint64_t number; /* bytes; WAIT: calls; EPOCH: which */
};

/* One thread's operations, read in pieces so that they take the same memory however many there are. */
struct hl_stream {
    const struct hl_plan *plan;
    unsigned char *buffer; /* of HL_PLAN_BUFFER bytes, the caller's */
    uint64_t at, end;      /* in the file: of what is not in the buffer */
    size_t next, filled;   /* in the buffer */
    uint64_t slot;
    int64_t epoch;
    const char *problem; /* why there was nothing more; NULL: it was the end */
};

/* 0, or -1 with the problem in words (static). */
int hl_plan_open(struct hl_plan *plan, const char *path, const char **problem);

/* Whether it was opened or not. */
void hl_plan_close(struct hl_plan *plan);

void hl_stream_begin(struct hl_stream *stream, const struct hl_plan *plan, uint32_t thread, unsigned char *buffer);

/* The next operation; 0 at the end, or where there is a problem. */
int hl_stream_next(struct hl_stream *stream, struct hl_operation *operation);

#endif
