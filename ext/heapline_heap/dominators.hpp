/* SPDX-License-Identifier: MIT */
/*
 * The dominator tree of a graph, from the node above all roots, and what each node retains.
 *
 * The algorithm is SEMI-NCA of Georgiadis, Tarjan and Werneck, "Finding Dominators in Practice", Journal of Graph
 * Algorithms and Applications 10 (1), 2006: semidominators as by Lengauer and Tarjan, "A Fast Algorithm for Finding
 * Dominators in a Flowgraph", TOPLAS 1 (1), 1979, with simple path compression; an immediate dominator is then the
 * nearest common ancestor of the parent and the semidominator. Nothing recurses: a list of a million elements is a path
 * of a million nodes.
 */
#ifndef HEAPLINE_HEAP_DOMINATORS_HPP
#define HEAPLINE_HEAP_DOMINATORS_HPP

#include <cstdint>
#include <vector>

#include "column.hpp"
#include "graph.hpp"
#include "survey.hpp"

namespace heapline {

class Dominators {
  public:
    /* Makes the graph's incoming edges, which later questions for referrers use, too. */
    Dominators(Graph &graph, const Job &job);

    /* The node's immediate dominator; NOBODY: it is not reached, or is the top. */
    uint32_t parent(uint32_t node) const {
        return parent_[node];
    }
    bool reached(uint32_t node) const {
        return retained_count_[node] > 0;
    }
    uint64_t retained_bytes(uint32_t node) const {
        return retained_[node];
    }
    uint32_t retained_count(uint32_t node) const {
        return retained_count_[node];
    }

    /* The objects that retain most; those below `under` at once, or, with NOBODY, of all. */
    std::vector<uint32_t> largest(size_t limit) const;
    std::vector<uint32_t> children(uint32_t under, size_t limit) const;
    /* Objects that none but roots dominate. */
    std::vector<uint32_t> uppermost(size_t limit) const;

    const Figures &reachable() const {
        return reachable_;
    }
    const Figures &unreachable() const {
        return unreachable_;
    }

    /* By group (`group_of` has one number an object, below `groups`): the count and slots of what is reached, and the
     * bytes that they retain together, one below another of the same group not counted again. */
    std::vector<Figures> by_group(const Column<uint32_t> &group_of, size_t groups, const Job &job) const;

  private:
    class Best;

    void link();
    void retain(const Column<uint32_t> &order, const Job &job);
    void add_up();

    const Graph &graph_;
    Column<uint32_t> parent_;
    Column<uint64_t> retained_;
    Column<uint32_t> retained_count_;
    Column<uint32_t> child_, sibling_; /* the first node dominated at once, and the next one; plus 1, 0: none */
    Figures reachable_, unreachable_;
};

} // namespace heapline

#endif
