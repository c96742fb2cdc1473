/* SPDX-License-Identifier: MIT */
/*
 * What another process wants to read of this one (heap dumps, backtraces) is written by a twin, a copy of the process
 * that ext/heapline/twin.h makes. Here it is let in: the reader waits at a pipe in the flight directory, whose name
 * ends in its pid, and has put pid and task into the header (`twin.asked`).
 *
 * The extension that makes the twin, heapline/native.so, lies beside this object and is mapped when it is first needed;
 * it is neither initialized nor known to Ruby. Only one that was built for this Ruby is mapped.
 */
#ifndef HL_TWIN_ERRAND_H
#define HL_TWIN_ERRAND_H

/* In a postponed job, with the GVL, outside the guard. Errno is the caller's to keep. */
void hl_twin_errand(void);

/* While `ours`, a fork on this thread makes a twin: it stays without accounting, and nothing is copied for it. */
void hl_twin_fork(int ours);

#endif
