/* SPDX-License-Identifier: MIT */
/*
 * Memory of the replayer's own: mapped, and in RAM at once, so that it is part of what is there before the replay
 * begins and none of it is the allocator's.
 */
#ifndef HL_READY_MEMORY_H
#define HL_READY_MEMORY_H

#include <stddef.h>

/* Zeros; NULL where there is no more. */
void *hl_ready_memory(size_t size);

/* NULL: nothing. */
void hl_ready_memory_release(void *memory, size_t size);

#endif
