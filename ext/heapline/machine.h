/* SPDX-License-Identifier: MIT */
/*
 * What tracers must know of the processor, in one file for each kind.
 */
#ifndef RBHL_MACHINE_H
#define RBHL_MACHINE_H

#include "../heapline_core/platform/platform.h"

/* Where a stopped thread stands. */
enum rbhl_place {
    RBHL_RUNS,     /* in code, or in a system call that the stop does not interrupt */
    RBHL_WAITS,    /* in a system call that is to be made again */
    RBHL_WAITED_ON /* behind one that has returned EINTR, since the kernel does not make it again */
};

#if defined(__x86_64__)
#include "machine_x86_64.h"
#else
#include "machine_aarch64.h"
#endif

#endif
