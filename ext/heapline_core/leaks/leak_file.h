/* SPDX-License-Identifier: MIT */
/*
 * The search for lost blocks that heapline makes of itself, its report in a file: at the end of a process, in the
 * directory that HEAPLINE_LEAKS names (a digit, the sum of 1: reachable blocks too, 2: only those since the last
 * baseline, and 4: a record for each generation, and of a forked process only its own; then the directory); and when
 * another process asks, beside the flight file. The file gets its name, PID-STARTTICKS.leaks, when it is complete, from
 * the copy: the program may have ended. A process whose end is to be searched has a file PID-STARTTICKS.begun in that
 * directory from the moment that its VM is known: so those are known that ended without a search. A 1 in it says that
 * the search failed, and that the process itself has said why. One that was Ruby and then became another program has
 * PID-STARTTICKS.left, whatever that program does. A forked child has none: most execute another program at once, and
 * what they lost is little.
 */
#ifndef HL_LEAK_FILE_H
#define HL_LEAK_FILE_H

#include <stdint.h>

/* At the start: the program may change its environment. */
void hl_leak_file_prepare(void);

/* Is the end to be searched? */
int hl_leak_file_due(void);

/* This process's end is to be searched, where it is due; or (0) it is no longer counted. errno stays. */
void hl_leak_file_expect(int expected);

/* It will be another program; or (0) it will not, as that failed. errno stays. */
void hl_leak_file_exec(int succeeds);

/* In the last at_exit handler, with the GVL, without the guard. Waits until the report is complete. */
void hl_leak_file_at_exit(void);

/* HL_REQUEST_LEAKS and what goes with it, in a postponed job, without the guard. Waits until the copy is made; a thread
 * of heapline's own waits for its end, and calls `answered` before another search can begin. */
void hl_leak_file_errand(uint32_t request, void (*answered)(void));

/* In a forked child, with the guard entered, when its flight is its own. */
void hl_leak_file_after_fork_child(void);

#endif
