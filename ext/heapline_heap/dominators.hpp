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
#include <utility>
#include <vector>

#include "graph.hpp"
#include "shelf.hpp"
#include "survey.hpp"

namespace heapline {

class Dominators {
  public:
    Dominators(const Graph &graph, const Job &job);

    /* The node's immediate dominator; NOBODY: it is not reached, or is the top. */
    uint32_t parent(uint32_t node) const {
        const uint32_t number = number_[node];
        return number == NOBODY || !number ? NOBODY : node_[dominator_[number]];
    }
    bool reached(uint32_t node) const {
        return number_[node] != NOBODY;
    }
    uint64_t retained_bytes(uint32_t node) const {
        return reached(node) ? retained_[number_[node]] : 0;
    }
    uint32_t retained_count(uint32_t node) const {
        return reached(node) ? retained_count_[number_[node]] : 0;
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
    std::vector<Figures> by_group(const Shelf<uint32_t> &group_of, size_t groups, const Job &job) const;

  private:
    class Best;

    void retain(const Job &job);
    void link();
    void add_up();
    Column<uint32_t> group_of_numbers(const Shelf<uint32_t> &group_of, const Job &job) const;

    const Graph &graph_;
    Store &store_;
    /* Nodes are numbered in the order in which a search sees them, the top first; a number's neighbours lie near. */
    Shelf<uint32_t> number_; /* of each node; NOBODY: not reached */
    /* By number: */
    Shelf<uint32_t> node_;
    Shelf<uint32_t> dominator_; /* a number; the top has itself */
    Shelf<uint64_t> retained_;
    Shelf<uint32_t> retained_count_;
    Shelf<uint32_t> child_, sibling_; /* the first number that is dominated at once, and the next one; 0: none */
    Figures reachable_, unreachable_;
};

} // namespace heapline

#endif
