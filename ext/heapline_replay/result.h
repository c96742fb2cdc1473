/* SPDX-License-Identifier: MIT */
/*
 * What a replay measured, as one JSON object on standard output. lib/heapline/replay/replayer.rb reads it.
 */
#ifndef HL_RESULT_H
#define HL_RESULT_H

#include <sys/resource.h>

#include "below.h"
#include "samples.h"
#include "worker.h"

struct hl_result {
    uint64_t began_ns, ended_ns, began_ticks, ended_ticks;
    struct rusage before, after;
    uint64_t baseline, peak, final, trimmed; /* RSS, bytes */
    uint64_t trim_ns;
    int trims;                 /* has the allocator a way to? */
    uint64_t ticks_of_reading; /* that two looks at the counter take by themselves */
};

void hl_result_write(const struct hl_result *result, const struct hl_replay *replay, const struct hl_below *below,
                     const struct hl_samples *samples);

/* Writes `text` as a JSON string. */
void hl_result_string(const char *text);

#endif
