/* SPDX-License-Identifier: MIT */
/*
 * Long computations for Ruby: they run in a thread of their own, which takes no signal and touches no Ruby, while the
 * caller waits without the GVL, tells how far it is and can be interrupted.
 */
#ifndef HEAPLINE_HEAP_WAITING_HPP
#define HEAPLINE_HEAP_WAITING_HPP

#include <functional>
#include <string>

#include "job.hpp"

namespace heapline {

/* How a computation ended. */
struct Outcome {
    int interrupted = 0;    /* what rb_jump_tag takes: the wait was interrupted by an exception in Ruby */
    bool no_memory = false; /* or it ran out of memory */
    std::string failure;    /* or it failed with this message; empty: it did not */
};

/* Runs `compute`, and meanwhile, about every 50 ms, `progress` with the GVL; both are given the job. Never raises. */
Outcome wait_for(const std::function<void(const Job &)> &compute, const std::function<void()> &progress);

} // namespace heapline

#endif
