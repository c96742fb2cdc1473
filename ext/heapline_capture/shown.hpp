/* SPDX-License-Identifier: MIT */
/*
 * Frames as they are shown. Those that are equal in all that they show are one, so stacks that a recorder told twice
 * are one path; a native frame can be several: the functions that a compiler put into one another. Who asks for their
 * names numbers what is shown; numbers of frames that have none of it stay what they are.
 */
#ifndef HEAPLINE_CAPTURE_SHOWN_HPP
#define HEAPLINE_CAPTURE_SHOWN_HPP

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "names.hpp"

namespace heapline {
namespace capture {

class Shown {
  public:
    explicit Shown(const Names &names);

    /* A frame is shown as these, the outermost first. */
    void name(uint32_t frame, std::vector<uint32_t> as) {
        named_[frame] = std::move(as);
    }
    /* The first frame that is equal to it. */
    uint32_t first(uint32_t frame) const {
        return firsts_[frame];
    }

    /* Call `each` with the number of all that a frame is shown as, the outermost first, or the innermost. */
    template <typename Each> void outward(uint32_t frame, Each each) const {
        auto found = named_.find(firsts_[frame]);
        if (found == named_.end()) return each(firsts_[frame]);
        for (auto one = found->second.rbegin(); one != found->second.rend(); ++one) each(*one);
    }
    template <typename Each> void inward(uint32_t frame, Each each) const {
        auto found = named_.find(firsts_[frame]);
        if (found == named_.end()) return each(firsts_[frame]);
        for (uint32_t one : found->second) each(one);
    }

  private:
    std::vector<uint32_t> firsts_; /* by number */
    std::unordered_map<uint32_t, std::vector<uint32_t>> named_;
};

} // namespace capture
} // namespace heapline

#endif
