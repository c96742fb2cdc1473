/* SPDX-License-Identifier: MIT */
#include "search.hpp"

#include <algorithm>

namespace heapline {

namespace {

const size_t FORGOTTEN_AFTER = 1 << 18; /* nodes that were visited */

} // namespace

Search::Search(const Graph &graph, const Job &job) : top_(graph.top()), before_(size_t{top_} + 1) {
    const Edges &edges = graph.outgoing();
    Column<uint32_t> queue;
    std::fill(before_.begin(), before_.end(), NOBODY);
    before_[top_] = top_;
    queue.push_back(top_);
    for (size_t i = 0; i < queue.size(); i++) {
        job.check(i);
        graph.store()->trim(i);
        if (i % FORGOTTEN_AFTER == 0) queue.forget(i);
        uint32_t node = queue[i];
        for (const uint32_t *to = edges.first(node); to < edges.last(node); to++) {
            if (before_[*to] != NOBODY) continue;
            before_[*to] = node;
            queue.push_back(*to);
        }
    }
}

std::vector<uint32_t> Search::path(uint32_t node) const {
    std::vector<uint32_t> nodes;
    if (before_[node] == NOBODY) return nodes;
    for (; node != top_; node = before_[node]) nodes.push_back(node);
    std::reverse(nodes.begin(), nodes.end());
    return nodes;
}

} // namespace heapline
