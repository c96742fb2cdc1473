/* SPDX-License-Identifier: MIT */
/* From a capture to the plan of its replay. */
#ifndef HEAPLINE_CAPTURE_PLANNING_HPP
#define HEAPLINE_CAPTURE_PLANNING_HPP

#include <atomic>

#include "../heapline_heap/job.hpp"
#include "plan.hpp"
#include "reader.hpp"

namespace heapline {
namespace capture {

/* All events of `reader`, as far as they are about malloc's blocks: what a program maps for itself is the same with
 * every allocator. done: bytes of the capture that were read. Returns how many events were lost while it was recorded.
 * Throws Cancelled, Failure, std::bad_alloc. */
uint64_t make_plan(Reader &reader, Plan &plan, const Job &job, std::atomic<uint64_t> &done);

} // namespace capture
} // namespace heapline

#endif
