/* SPDX-License-Identifier: MIT */
/*
 * HEAPLINE_RECORD: whether this process is to be recorded from its start. "PID", of the process that drains, and after
 * it ",follow" where children are to be recorded too. Without that only one process is: the first Ruby, also when it
 * executes another program.
 */
#ifndef HL_RECORD_WISH_H
#define HL_RECORD_WISH_H

#include <stdint.h>

struct hl_record_wish {
    uint32_t drain; /* pid; 0: nothing is wanted */
    int follow;
};

/* With the flight file in its place and the guard entered. */
struct hl_record_wish hl_record_wish(void);

#endif
