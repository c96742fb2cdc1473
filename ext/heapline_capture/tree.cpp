/* SPDX-License-Identifier: MIT */
#include "tree.hpp"

namespace heapline {
namespace capture {

Tree::Tree(const Names &names, const Shown &shown, const std::vector<Analysis::Context> &contexts, Metric metric,
           bool bottom_up)
    : shown_(shown), nodes_(1) {
    std::vector<Figures> stacks(names.nodes());
    for (const Analysis::Context &context : contexts) stacks[context.stack].add(of(context.sums, metric));
    if (bottom_up)
        this->bottom_up(names, stacks);
    else
        top_down(names, stacks);
    for (Node &node : nodes_) node.total = node.self;
    for (size_t i = nodes_.size() - 1; i; i--) nodes_[nodes_[i].parent].total.add(nodes_[i].total);
}

uint32_t Tree::child(uint32_t parent, uint32_t frame) {
    auto [found, is_new] = children_.try_emplace(uint64_t{parent} << 32 | frame, nodes_.size());
    if (is_new) nodes_.push_back({parent, frame, {}, {}});
    return found->second;
}

/* Only what leads to a stack with figures becomes a node. What has no stack is below the root as others are: in a frame
 * that is not known. */
void Tree::top_down(const Names &names, const std::vector<Figures> &stacks) {
    std::vector<bool> wanted(stacks.size());
    for (size_t stack = stacks.size(); stack-- > 1;) {
        if (stacks[stack].any()) wanted[stack] = true;
        if (wanted[stack]) wanted[names.node(static_cast<uint32_t>(stack)).parent] = true;
    }
    if (!stacks.empty() && stacks[0].any()) nodes_[child(0, 0)].self.add(stacks[0]);
    std::vector<uint32_t> places(stacks.size());
    for (uint32_t stack = 1; stack < stacks.size(); stack++) {
        if (!wanted[stack]) continue;
        const capture::Node &node = names.node(stack);
        uint32_t place = places[node.parent];
        shown_.inward(node.frame, [&](uint32_t frame) { place = child(place, frame); });
        places[stack] = place;
        nodes_[places[stack]].self.add(stacks[stack]);
    }
}

/* The figures are those of the frame that allocated; its callers show how much of that came through them. */
void Tree::bottom_up(const Names &names, const std::vector<Figures> &stacks) {
    for (uint32_t stack = 0; stack < stacks.size(); stack++) {
        if (!stacks[stack].any()) continue;
        uint32_t place = stack ? 0 : child(0, 0);
        uint32_t depth = 0;
        for (uint32_t at = stack; at && depth < FURTHEST; at = names.node(at).parent, depth++)
            shown_.outward(names.node(at).frame, [&](uint32_t frame) { place = child(place, frame); });
        nodes_[place].self.add(stacks[stack]);
    }
}

} // namespace capture
} // namespace heapline
