/* SPDX-License-Identifier: MIT */
/*
 * The live blocks of some sites, one by one, as HEAPLINE=blocks keeps them: written from a copy of the process
 * (quiet_child.h), so that they are those of one instant and no other thread waits longer than for the copy.
 *
 * From any thread, with the guard entered.
 */
#ifndef HL_BLOCK_LIST_H
#define HL_BLOCK_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "leaks/quiet_child.h"

/* One block, as it is written: 32 bytes, in the machine's byte order. */
struct hl_block_entry {
    uint64_t address;
    uint64_t bytes; /* requested */
    uint64_t generation;
    uint64_t thread; /* kernel thread id; 0: not known */
};

struct hl_block_list {
    struct hl_quiet_child child;
    const uint32_t *sites;
    size_t site_count;
    int fd; /* the entries go there, by address */
};

/* `sites`, `site_count` and `fd` are set by the caller; the sites stay until wait. 0, -ENODATA where blocks are not
 * kept, or -errno. */
int hl_block_list_start(struct hl_block_list *list);

/* Wait for its end: 0 or -errno. Then all entries are written. */
int hl_block_list_wait(struct hl_block_list *list);

#endif
