/* SPDX-License-Identifier: MIT */
/*
 * RSS over the course of a replay: looked at when an epoch is done, at most HL_SAMPLES times.
 */
#ifndef HL_SAMPLES_H
#define HL_SAMPLES_H

#include "plan.h"

enum { HL_SAMPLES = 512 };

struct hl_sample {
    uint64_t epoch, resident; /* bytes */
};

struct hl_samples {
    uint64_t every; /* epochs */
    uint32_t count;
    struct hl_sample samples[HL_SAMPLES];
};

static inline void hl_samples_begin(struct hl_samples *samples, const struct hl_plan *plan) {
    samples->count = 0;
    samples->every = plan->header.epochs / HL_SAMPLES + 1;
}

static inline int hl_samples_due(const struct hl_samples *samples, uint64_t epoch) {
    return epoch % samples->every == samples->every - 1 && samples->count < HL_SAMPLES;
}

#endif
