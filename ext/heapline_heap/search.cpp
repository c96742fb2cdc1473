/* SPDX-License-Identifier: MIT */
#include "search.hpp"

#include <algorithm>

namespace heapline {

Search::Search(const Graph &graph, const Job &job) : top_(graph.top()), before_(graph.store(), size_t{top_} + 1) {
    const Edges &edges = graph.outgoing();
    Ledger<uint32_t> queue(graph.store(), size_t{top_} + 1, true);
    size_t queued = 0;
    before_[top_] = top_ + 1;
    queue[queued++] = top_;
    for (size_t i = 0; i < queued; i++) {
        job.check(i);
        const uint32_t node = queue[i];
        for (const uint32_t *to = edges.first(node); to < edges.last(node); to++) {
            graph.store()->trim();
            if (before_[*to]) continue;
            before_[*to] = node + 1;
            queue[queued++] = *to;
        }
    }
    before_.keep();
}

std::vector<uint32_t> Search::path(uint32_t node) const {
    std::vector<uint32_t> nodes;
    if (!before_[node]) return nodes;
    for (; node != top_; node = before_[node] - 1) nodes.push_back(node);
    std::reverse(nodes.begin(), nodes.end());
    return nodes;
}

} // namespace heapline
