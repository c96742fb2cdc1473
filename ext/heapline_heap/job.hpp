/* SPDX-License-Identifier: MIT */
/*
 * What who waits for a long computation shares with those who compute: they look at `cancelled` every so often and give
 * up by throwing Cancelled.
 */
#ifndef HEAPLINE_HEAP_JOB_HPP
#define HEAPLINE_HEAP_JOB_HPP

#include <atomic>
#include <cstddef>

namespace heapline {

struct Cancelled {};

class Job {
  public:
    void cancel() {
        cancelled_.store(true, std::memory_order_relaxed);
    }
    void check() const {
        if (cancelled_.load(std::memory_order_relaxed)) throw Cancelled();
    }
    /* The same for loops of many short steps. */
    void check(size_t step) const {
        if ((step & 0xffff) == 0) check();
    }

  private:
    std::atomic<bool> cancelled_{false};
};

} // namespace heapline

#endif
