/* SPDX-License-Identifier: MIT */
/*
 * A thread of the replay: performs its operations one after the other and keeps the time that the allocator takes.
 */
#ifndef HL_WORKER_H
#define HL_WORKER_H

#include <stdint.h>

#include "plan.h"
#include "slots.h"
#include "touching.h"

enum { HL_WORKER_KINDS = HL_PLAN_FREE + 1 };

/* What a thread did. Written by it alone; read when it has ended. */
struct hl_worker {
    uint32_t number;
    uint64_t calls;
    uint64_t count[HL_WORKER_KINDS]; /* calls, by hl_plan_op */
    uint64_t ticks[HL_WORKER_KINDS]; /* within them */
    uint64_t touch_ticks;            /* writing to what they gave */
    uint64_t touched;                /* bytes since memory was last looked at */
    uint64_t interrupted;            /* calls in which the kernel gave the processor to somebody else: not timed */
    long switches;                   /* how often it did, when that was last looked at */
} __attribute__((aligned(64)));

/* What all threads share; set before the first one begins. */
struct hl_replay {
    struct hl_plan plan;
    struct hl_slot *slots;
    struct hl_worker *workers;
    unsigned char *buffers; /* HL_PLAN_BUFFER bytes a thread */
    enum hl_touching touching;
    uint64_t limit; /* bytes of RSS at which the replay is given up */
    void (*start)(uint32_t thread);
    void (*fail)(const char *problem, uint64_t bytes); /* must not return; bytes: 0: of no matter */
};

/* Perform all of a thread's operations. */
void hl_worker_run(struct hl_replay *replay, uint32_t thread);

#endif
