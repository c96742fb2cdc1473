/* SPDX-License-Identifier: MIT */
/*
 * The shortest way from the roots to each object: a breadth-first search over the whole graph, done once.
 */
#ifndef HEAPLINE_HEAP_SEARCH_HPP
#define HEAPLINE_HEAP_SEARCH_HPP

#include <cstdint>
#include <vector>

#include "graph.hpp"
#include "ledger.hpp"

namespace heapline {

class Search {
  public:
    Search(const Graph &graph, const Job &job);

    /* The nodes from a root to this one; empty: nothing leads to it. */
    std::vector<uint32_t> path(uint32_t node) const;

  private:
    uint32_t top_;
    Ledger<uint32_t> before_; /* the node before, on the way from the top, plus 1; 0: not reached */
};

} // namespace heapline

#endif
