/* SPDX-License-Identifier: MIT */
/*
 * Visiting a process that waits, by struct hl_visit_door: the other side of ext/heapline_core/lifecycle/visit.h.
 *
 * A child of its own without exit signal does it: a tracer's end lets go of whom it traces, so nothing can stay
 * stopped, whoever is killed when, and the caller sees no SIGCHLD. The visited thread's registers are changed in one
 * step, the last one.
 */
#ifndef RBHL_VISITOR_H
#define RBHL_VISITOR_H

#include <sys/types.h>

#include "../heapline_core/flight/flight_layout.h"

enum rbhl_visit {
    RBHL_VISITED,
    RBHL_VISIT_RUNS, /* its main thread does not wait in a system call, or not any more */
    RBHL_VISIT_STOPPED,
    RBHL_VISIT_FORBIDDEN,
    RBHL_VISIT_NO_DOOR, /* no address in it is a place to enter */
    RBHL_VISIT_GONE
};

/* From any thread, with or without the GVL; takes some milliseconds, at most 5 s. */
enum rbhl_visit rbhl_visit(pid_t pid, const struct hl_visit_door *door);

#endif
