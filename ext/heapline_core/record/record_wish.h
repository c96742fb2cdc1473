/* SPDX-License-Identifier: MIT */
/*
 * What is to be recorded. HEAPLINE_RECORD says whether this process is from its start: "PID", of the process that
 * drains, and after it words: ",follow" where children are to be recorded too (without that only one process is: the
 * first Ruby, also when it executes another program), ",native" for C frames.
 */
#ifndef HL_RECORD_WISH_H
#define HL_RECORD_WISH_H

#include <stdint.h>

struct hl_record_wish {
    uint32_t drain; /* pid of the process that is to drain it; 0: any; or nothing is wanted */
    int follow;     /* forked children are recorded too */
    int native;     /* C frames are recorded too */
};

/* With the flight file in its place and the guard entered. */
struct hl_record_wish hl_record_wish(void);

/* This process was to be recorded, cannot be, and has said why: so that `drain` does not say something else. */
void hl_record_wish_refused(uint32_t drain);

#endif
