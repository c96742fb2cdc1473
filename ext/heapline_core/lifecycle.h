/* SPDX-License-Identifier: MIT */
/*
 * Start, fork and end of accounting in this process: the one ordered list of what happens when.
 */
#ifndef HL_LIFECYCLE_H
#define HL_LIFECYCLE_H

#include "guard.h"

enum hl_life {
    HL_LIFE_UNSTARTED = 0, /* nothing resolved yet */
    HL_LIFE_STARTING = 1,  /* this very thread is resolving: serve it from the boot arena */
    HL_LIFE_WAITING = 2,   /* forwarding; libc has not set up the environment yet */
    HL_LIFE_INERT = 3,     /* forwarding for ever: no Ruby, not wanted, or failed */
    HL_LIFE_ACTIVE = 4     /* counting; the gate is open, unless a fork just closed it */
};
extern enum hl_life hl_life;

/* Bring the life forward as far as possible now. Called by each intercepted call that finds the gate closed. */
void hl_lifecycle_step(void);

/* This process is about to end without running destructors. */
void hl_lifecycle_last_call(int status);

/* This process is about to execute another program; that failed. */
void hl_lifecycle_before_exec(void);
void hl_lifecycle_exec_failed(void);

/* Begin or end a recording (enum heapline_record_what), and have the gate lead there. 0 or -errno. With the guard
 * entered. */
int hl_lifecycle_record(int what);

/* A lane for this thread: its own, a fresh one, or NULL. With the guard entered. */
struct hl_lane *hl_lifecycle_lane(struct hl_thread *thread);

#endif
