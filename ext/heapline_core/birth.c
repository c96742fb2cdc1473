/* SPDX-License-Identifier: MIT */
#include "birth.h"

#include "block_map.h"
#include "flight.h"
#include "lane.h"
#include "real_malloc.h"
#include "trailer.h"

int hl_birth_of_block(void *block, struct heapline_birth *birth) {
    struct hl_trailer trailer;
    if (!block || !hl_flight.header || hl_boot_owns(block)) return 0;
    if (!hl_trailer_read(block, hl_block_usable(block), &trailer)) return 0;
    birth->site = trailer.site;
    birth->age = (hl_generation() - trailer.birth) & HL_BIRTH_MASK;
    return 1;
}
