/* SPDX-License-Identifier: MIT */
/* Whether another process lives. Callable from any thread inside malloc. */
#ifndef HL_OTHER_PROCESS_H
#define HL_OTHER_PROCESS_H

#include <stdint.h>

/* 1: there is none of this pid, or it has ended and its parent has not asked for its status yet. */
int hl_other_process_ended(uint32_t pid);

#endif
