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
#include "ledger.hpp"
#include "shelf.hpp"
#include "survey.hpp"

namespace heapline {

class Dominators {
  public:
    Dominators(const Graph &graph, const Job &job);

    /* The node's immediate dominator; NOBODY: it is not reached, or is the top. */
    uint32_t parent(uint32_t node) const {
        const uint32_t number = number_of(node);
        return number == NOBODY || !number ? NOBODY : node_[dominator_[number]];
    }
    bool reached(uint32_t node) const {
        return number_[node] != 0;
    }
    uint64_t retained_bytes(uint32_t node) const {
        return reached(node) ? retained_[number_of(node)] : 0;
    }
    uint32_t retained_count(uint32_t node) const {
        return reached(node) ? retained_count_[number_of(node)] : 0;
    }

    /* The objects that retain most, of all and of what `under` dominates at once. */
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

    /* NOBODY: not reached. */
    uint32_t number_of(uint32_t node) const {
        return number_[node] - 1;
    }
    Shelf<uint32_t> own_bytes(const Job &job) const;
    void retain(const Job &job);
    void link();
    void add_up();
    Ledger<uint32_t> group_of_numbers(const Shelf<uint32_t> &group_of, const Job &job) const;

    const Graph &graph_;
    Store &store_;
    /* Nodes are numbered in the order in which a search sees them, the top first; a number's neighbours lie near. */
    Ledger<uint32_t> number_; /* of each node, plus 1; 0: not reached */
    /* By number: */
    Shelf<uint32_t> node_;
    Shelf<uint32_t> dominator_; /* a number; the top has itself */
    Ledger<uint64_t> retained_;
    Ledger<uint32_t> retained_count_;
    /* The first number that is dominated at once, and the next one; 0: none. */
    Ledger<uint32_t> child_;
    Shelf<uint32_t> sibling_;
    Figures reachable_, unreachable_;
};

} // namespace heapline

#endif
