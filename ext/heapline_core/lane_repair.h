/* SPDX-License-Identifier: MIT */
/*
 * Making the lanes of a copied flight agree with each other.
 *
 * A flight is copied at a fork while other threads count. The copy of one lane may hold the free of a block whose
 * allocation another lane counted after it was copied, or on a page that the copy lacks.
 *
 * R1  Afterwards no directory names a page beyond the copy, a lane's live bytes are those of its counts, and no site
 * has more frees than allocations.
 */
#ifndef HL_LANE_REPAIR_H
#define HL_LANE_REPAIR_H

#include <stdint.h>

/* In the child, once the flight is its own and before anything is counted there. `pages`: of the copy. */
void hl_lane_repair(uint32_t pages);

#endif
