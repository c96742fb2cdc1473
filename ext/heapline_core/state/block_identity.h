/* SPDX-License-Identifier: MIT */
/*
 * What a kept block says of itself (block_map.h): its trailer and its tail, read together.
 *
 * Only where the block cannot be freed meanwhile: in a copy of the process.
 */
#ifndef HL_BLOCK_IDENTITY_H
#define HL_BLOCK_IDENTITY_H

#include "state/birth_clock.h"
#include "state/block_map.h"
#include "state/trailer.h"

struct hl_block_identity {
    size_t size; /* requested bytes */
    uint32_t site;
    uint32_t stack;      /* hl_stack_at */
    uint32_t ruby_stack; /* hl_ruby_node */
    uint32_t thread;     /* kernel thread id */
    uint32_t birth;      /* its tick */
    uint64_t generation; /* of birth */
};

/* 0 where the block has no trailer. */
HL_INLINE int hl_block_identify(void *block, struct hl_block_identity *identity) {
    const size_t usable = hl_real_usable(block) - hl_block_tail_size;
    struct hl_trailer trailer;
    if (!hl_trailer_read(block, usable, &trailer)) return 0;
    const struct hl_block_tail tail = hl_block_tail(block, usable);
    *identity = (struct hl_block_identity){.size = trailer.size,
                                           .site = trailer.site,
                                           .stack = tail.stack,
                                           .ruby_stack = tail.ruby_stack,
                                           .thread = tail.thread,
                                           .birth = trailer.birth,
                                           .generation = hl_birth_generation(trailer.birth)};
    return 1;
}

#endif
