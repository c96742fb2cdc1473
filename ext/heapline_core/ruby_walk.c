/* SPDX-License-Identifier: MIT */
#include "ruby_walk.h"

#include <errno.h>

#include "guard.h"

HL_COLD uint32_t hl_walk_name(const struct hl_ruby_sink *sink, struct hl_frame frame, uint32_t epoch, int *cacheable) {
    char buffer[HL_PATH_MAX];
    struct hl_ruby_line line = {0};
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    const int found = hl_location_provider(frame, &line, buffer, sizeof(buffer)) == 0;
    const uint32_t number = sink->frame(found ? &line : NULL, 0);
    *cacheable = found && number && line.cacheable;
    if (*cacheable) hl_frame_keep(sink->frames, frame.pc, epoch, number);
    hl_guard_leave(&hl_thread);
    errno = saved;
    return number;
}

HL_COLD uint32_t hl_walk_fresh(const uint64_t *pcs, const uint32_t *epochs, uint32_t depth) {
    uint32_t i = 0;
    while (i < depth && epochs[i] == hl_location_epoch(pcs[i])) i++;
    return i;
}

HL_COLD void hl_walk_skip(struct hl_ruby_walk *walk, const struct hl_ruby_sink *sink, uint32_t skipped) {
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    const uint32_t frame = skipped ? sink->frame(NULL, skipped) : 0;
    walk->depth = 0;
    walk->skipped = skipped;
    walk->root = frame ? sink->node(0, frame) : 0;
    hl_guard_leave(&hl_thread);
    errno = saved;
}
