/* SPDX-License-Identifier: MIT */
#ifndef RBHL_TWIN_TASKS_H
#define RBHL_TWIN_TASKS_H

#include <stdint.h>

#include "twin.h"

/* What a twin writes into its pipe, as lines of JSON: a heap dump (docs/heap-dumps.md), the backtraces of all threads
 * and fibers, the pages of the object heap, or of a dump the compiled code alone. The first line has the type HEAPLINE;
 * without a last one of type HEAPLINE_END it is cut. */
enum rbhl_task { RBHL_TASK_DUMP = 1, RBHL_TASK_STACKS = 2, RBHL_TASK_PAGES = 3, RBHL_TASK_CODE = 4 };

/* Why there is none while the last one is there. */
#define RBHL_ANOTHER_TWIN "another copy of the process is still being read"

/* Make a twin for a task. *problem: NULL, or why there is none, in words. With the GVL, where Ruby may be called;
 * raises nothing. */
struct rbhl_twin rbhl_twin_start(enum rbhl_task task, int fd, int gc, int32_t *status, const char **problem);

#endif
