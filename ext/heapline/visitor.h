/* SPDX-License-Identifier: MIT */
/*
 * Visiting a process that waits, by struct hl_visit_door: the other side of ext/heapline_core/lifecycle/visit.h. How a
 * thread is stopped stands in tracer.h.
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
