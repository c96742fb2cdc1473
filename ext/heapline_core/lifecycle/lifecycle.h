/* SPDX-License-Identifier: MIT */
/*
 * The room lifecycle.
 *   owns: what happens when: start, fork, exec and end, and what other processes ask for
 *   invariant: the order of all steps stands in lifecycle.c; a failure of ours ends in plain forwarding
 *   uses: platform, allocator, door, state, flight, vm, account, record, objects, leaks
 *
 * Start, fork and end of accounting in this process: the one ordered list of what happens when.
 */
#ifndef HL_LIFECYCLE_H
#define HL_LIFECYCLE_H

#include "state/guard.h"

/* Bring the life forward as far as possible now, once what lies below is found. Called by each intercepted call that
 * finds the gate closed. */
void hl_lifecycle_step(void);

/* After a start, while it counts: see heapline_look. */
int hl_lifecycle_look(void);

/* Begin to count, and end it: heapline_start and heapline_stop. */
int hl_lifecycle_start(const char *options);
int hl_lifecycle_stop(void);

/* This process is about to end without running destructors. */
void hl_lifecycle_last_call(int status);

/* This process is about to execute another program; that failed. */
void hl_lifecycle_before_exec(void);
void hl_lifecycle_exec_failed(void);

#endif
