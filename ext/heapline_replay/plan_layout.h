/* SPDX-License-Identifier: MIT */
/*
 * The layout of a plan: what a program asked of its allocator, by size, order and thread alone. docs/replay-plan.md is
 * the same in words. Written by ext/heapline_capture, performed by the replayer; both include this.
 *
 * Header, a table of threads, a table of epochs, then a stream of operations for each thread. All numbers are
 * little-endian.
 *
 * A block is known by the number of the slot that it lies in; slots are used again. An epoch is a number of calls in
 * the order in which they were recorded, over all threads: nobody may be two epochs ahead of anybody, so that threads
 * that took turns in the program do so in the replay.
 */
#ifndef HL_PLAN_LAYOUT_H
#define HL_PLAN_LAYOUT_H

#include <stdint.h>

#define HL_PLAN_MAGIC "HLPLAN\r\n"
#define HL_PLAN_VERSION 1
/* So many calls are one epoch. */
#define HL_PLAN_WINDOW 1024

struct hl_plan_header {
    char magic[8];
    uint32_t version;
    uint32_t window;  /* calls an epoch, the last may have fewer */
    uint32_t threads; /* the first one starts the others */
    uint32_t reserved;
    uint64_t slots;           /* numbered from 0 */
    uint64_t calls;           /* of all threads */
    uint64_t epochs;          /* numbered from 0 */
    uint64_t allocations;     /* of the calls; a realloc of a block is none */
    uint64_t bytes_allocated; /* that all calls asked for */
    uint64_t peak_live_bytes; /* requested */
    uint64_t end_live_bytes;
    uint64_t largest;     /* bytes that one call asks for */
    uint64_t left_out;    /* frees of blocks that are older than the recording */
    uint64_t recorded_ns; /* how long the recording took */
    uint64_t threads_at;  /* offsets in the file */
    uint64_t epochs_at;
    uint64_t size;     /* of the file */
    uint64_t checksum; /* hl_plan_sum over the header before this field, then over all behind the header */
};

struct hl_plan_thread {
    uint64_t at, length; /* its operations: offset in the file, bytes */
    uint64_t calls;
    uint32_t lasts; /* 1: it lived until the recording ended; 0: it ends after its last call */
    uint32_t reserved;
};

struct hl_plan_epoch {
    uint64_t live_bytes; /* after its last call */
    uint64_t time_ns;    /* since the recording began */
    uint32_t threads;    /* that have an operation in it */
    uint32_t reserved;
};

/*
 * An operation: a byte with one of these in its low bits, then numbers of 7 bits a byte, the lowest first, each byte
 * but the last with its high bit set. A slot is written as its distance from the slot of the thread's former operation
 * (0 at first), in zig-zag: 0, -1, 1, -2 … as 0, 1, 2, 3 …
 */
enum hl_plan_op {
    HL_PLAN_MALLOC,  /* slot, bytes */
    HL_PLAN_CALLOC,  /* slot, bytes */
    HL_PLAN_ALIGNED, /* slot, bytes, alignment as a power of two: 3 to 30 */
    HL_PLAN_REALLOC, /* slot, bytes: not 0 */
    HL_PLAN_FREE,    /* slot */
    HL_PLAN_WAIT,    /* thread, calls: go on when that thread has done so many; no call */
    HL_PLAN_EPOCH,   /* how many epochs further than the thread's former one (-1 at first); no call */
    HL_PLAN_START,   /* thread: of the first thread alone; no call */
    HL_PLAN_OPS
};
#define HL_PLAN_OP 0x07
#define HL_PLAN_AWAITED 0x08 /* a WAIT of another thread is for this call */

#define HL_PLAN_SUM_START 0xcbf29ce484222325ull

/* The checksum goes over 8 bytes at a time; what is left at the end over one at a time. */
static inline uint64_t hl_plan_sum_word(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * 0x100000001b3ull;
    return sum ^ sum >> 32;
}

#endif
