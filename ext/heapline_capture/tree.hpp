/* SPDX-License-Identifier: MIT */
/*
 * Figures by call path: from the outermost frame down to who allocated, or from there up to its callers.
 */
#ifndef HEAPLINE_CAPTURE_TREE_HPP
#define HEAPLINE_CAPTURE_TREE_HPP

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis.hpp"
#include "names.hpp"
#include "shown.hpp"

namespace heapline {
namespace capture {

enum class Metric { allocated, peak, live, temporary, freed };

inline const Figures &of(const Sums &sums, Metric metric) {
    switch (metric) {
    case Metric::peak:
        return sums.peak;
    case Metric::live:
        return sums.live;
    case Metric::temporary:
        return sums.temporary;
    case Metric::freed:
        return sums.freed;
    default:
        return sums.allocated;
    }
}

class Tree {
  public:
    /* So many callers are told from below: deep recursion would give each of its levels a path of its own. */
    static const uint32_t FURTHEST = 256;

    struct Node {
        uint32_t parent, frame;
        Figures self, total; /* of stacks that end here; with those that go on */
    };

    /* Node 0 is the root. A parent's number is below that of its children. */
    Tree(const Names &names, const Shown &shown, const std::vector<Analysis::Context> &contexts, Metric metric,
         bool bottom_up);

    const std::vector<Node> &nodes() const {
        return nodes_;
    }

  private:
    void top_down(const Names &names, const std::vector<Figures> &stacks);
    void bottom_up(const Names &names, const std::vector<Figures> &stacks);
    uint32_t child(uint32_t parent, uint32_t frame);

    const Shown &shown_;
    std::vector<Node> nodes_;
    std::unordered_map<uint64_t, uint32_t> children_; /* by parent and frame */
};

} // namespace capture
} // namespace heapline

#endif
