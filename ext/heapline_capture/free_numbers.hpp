/* SPDX-License-Identifier: MIT */
/*
 * Which numbers of blocks are free. A number is used again as soon as its block has ended, the last one first: so they
 * stay few, and neighbours in the heap keep neighbouring numbers.
 */
#ifndef HEAPLINE_CAPTURE_FREE_NUMBERS_HPP
#define HEAPLINE_CAPTURE_FREE_NUMBERS_HPP

#include <cstdint>
#include <deque>

namespace heapline {
namespace capture {

/* Numbers from 1. */
class FreeNumbers {
  public:
    uint32_t take() {
        if (free_.empty()) return ++highest_;
        uint32_t number = free_.back();
        free_.pop_back();
        return number;
    }
    void give_back(uint32_t number) {
        free_.push_back(number);
    }
    uint32_t highest() const {
        return highest_;
    }

  private:
    std::deque<uint32_t> free_; /* in pieces: it grows and shrinks without a moment of twice its size */
    uint32_t highest_ = 0;
};

} // namespace capture
} // namespace heapline

#endif
