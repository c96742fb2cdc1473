/* SPDX-License-Identifier: MIT */
/*
 * Where and when one block was born, for those who look at blocks one by one. Reads what lies at the block and changes
 * nothing, so it also tells in a twin (ext/heapline/twin.h), where this process's accounting has ended.
 */
#ifndef HL_BIRTH_H
#define HL_BIRTH_H

#include "heapline_core.h"

/* Of a live block of the allocator below. 1, or 0 where it was not accounted. */
int hl_birth_of_block(void *block, struct heapline_birth *birth);

#endif
