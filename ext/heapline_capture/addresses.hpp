/* SPDX-License-Identifier: MIT */
/*
 * Which block lies at which address, and which numbers are free. A number is used again as soon as its block has ended,
 * the last one first: so they stay few, and neighbours in the heap keep neighbouring numbers. An open table with 12
 * bytes a place, at most three quarters full.
 */
#ifndef HEAPLINE_CAPTURE_ADDRESSES_HPP
#define HEAPLINE_CAPTURE_ADDRESSES_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

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
    std::vector<uint32_t> free_;
    uint32_t highest_ = 0;
};

class Addresses {
  public:
    Addresses() {
        resize(1 << 10);
    }

    /* The number of the block at this address; 0: there is none. */
    uint32_t find(uint64_t address) const {
        return numbers_[place(address)];
    }

    /* There must be none. */
    void add(uint64_t address, uint32_t number) {
        if (++used_ * 4 > numbers_.size() * 3) resize(numbers_.size() * 2);
        put(address, number);
    }

    /* The number that was there; 0: none. */
    uint32_t remove(uint64_t address) {
        size_t at = place(address);
        uint32_t number = numbers_[at];
        if (number) {
            used_--;
            close_gap(at);
        }
        return number;
    }

    size_t size() const {
        return used_;
    }

  private:
    size_t home(uint64_t address) const {
        return (address >> 4) * 0x9e3779b97f4a7c15u >> shift_;
    }

    /* Where it is, or where it would be put. */
    size_t place(uint64_t address) const {
        size_t at = home(address);
        while (numbers_[at] && addresses_[at] != address) at = (at + 1) & mask_;
        return at;
    }

    void put(uint64_t address, uint32_t number) {
        size_t at = place(address);
        addresses_[at] = address;
        numbers_[at] = number;
    }

    /* Those behind a gap move up until one is at home or the row ends: there are never marks of what was removed. */
    void close_gap(size_t gap) {
        for (size_t at = (gap + 1) & mask_; numbers_[at]; at = (at + 1) & mask_) {
            if (((at - home(addresses_[at])) & mask_) < ((at - gap) & mask_)) continue;
            addresses_[gap] = addresses_[at];
            numbers_[gap] = numbers_[at];
            gap = at;
        }
        numbers_[gap] = 0;
    }

    void resize(size_t size) {
        std::vector<uint64_t> addresses(size);
        std::vector<uint32_t> numbers(size);
        addresses.swap(addresses_);
        numbers.swap(numbers_);
        mask_ = size - 1;
        shift_ = 64 - __builtin_ctzll(size);
        for (size_t at = 0; at < numbers.size(); at++)
            if (numbers[at]) put(addresses[at], numbers[at]);
    }

    std::vector<uint64_t> addresses_;
    std::vector<uint32_t> numbers_; /* 0: an empty place */
    size_t used_ = 0, mask_ = 0;
    int shift_ = 0;
};

} // namespace capture
} // namespace heapline

#endif
