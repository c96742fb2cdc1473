/* SPDX-License-Identifier: MIT */
#include "dominators.hpp"

#include <algorithm>

namespace heapline {

namespace {

/* One run of the algorithm. Nodes are named by the order in which a depth-first search first sees them, from 0: the
 * top. In memory are at most three columns of four bytes a node at a time, and what the search's stack takes. */
class SemiNca {
  public:
    SemiNca(const Graph &graph, const Job &job)
        : node(graph.store()), number(graph.store()), dominator(graph.store()), graph_(graph), job_(job),
          store_(*graph.store()), parent_(graph.store()) {}

    Shelf<uint32_t> node;   /* of each number */
    Shelf<uint32_t> number; /* of each node; NOBODY: not reached */
    /* The immediate dominator of each number, as a number; the top has itself. */
    Shelf<uint32_t> dominator;

    void run() {
        enumerate();
        find_semidominators();
        find_dominators();
    }

  private:
    void enumerate();
    void enter(uint32_t of, uint32_t parent);
    void find_semidominators();
    void find_dominators();
    uint32_t evaluate(uint32_t number, uint32_t linked);

    const Graph &graph_;
    const Job &job_;
    Store &store_;
    Column<uint32_t> number_;   /* while it is being made */
    Shelf<uint32_t> parent_;    /* in the search's tree */
    Column<uint32_t> ancestor_; /* the parent, then shortened */
    Column<uint32_t> semi_, label_;
    Column<uint32_t> stack_;
};

void SemiNca::enter(uint32_t of, uint32_t parent) {
    number_[of] = static_cast<uint32_t>(node.size());
    node.push_back(of);
    parent_.push_back(parent);
}

/* Each node on the stack goes on with its next edge, so that the numbers are those of a true depth-first search. */
void SemiNca::enumerate() {
    const Edges &edges = graph_.outgoing();
    Column<uint32_t> next; /* where the node at the same height of the stack goes on */
    number_.resize(size_t{graph_.top()} + 1);
    std::fill(number_.begin(), number_.end(), NOBODY);
    enter(graph_.top(), 0);
    stack_.push_back(graph_.top());
    next.push_back(edges.begin[graph_.top()]);
    for (size_t steps = 0; !stack_.empty(); steps++) {
        job_.check(steps);
        store_.trim(steps);
        uint32_t from = stack_[stack_.size() - 1], &at = next[next.size() - 1], end = edges.begin[from + 1];
        while (at < end && number_[edges.ends[at]] != NOBODY) at++;
        if (at == end) {
            stack_.resize(stack_.size() - 1);
            next.resize(next.size() - 1);
            continue;
        }
        uint32_t to = edges.ends[at++];
        enter(to, number_[from]);
        stack_.push_back(to);
        next.push_back(edges.begin[to]);
    }
    node.finish();
    parent_.finish();
    stack_.release();
}

/* The number with the least semidominator on the way up from `number`, as far as nodes are linked (from `linked` on);
 * the way is shortened on the fly. */
uint32_t SemiNca::evaluate(uint32_t number, uint32_t linked) {
    if (number < linked) return number;
    stack_.clear();
    for (uint32_t at = number; ancestor_[at] >= linked; at = ancestor_[at]) stack_.push_back(at);
    for (size_t i = stack_.size(); i > 0; i--) {
        uint32_t at = stack_[i - 1], above = ancestor_[at];
        if (semi_[label_[above]] < semi_[label_[at]]) label_[at] = label_[above];
        ancestor_[at] = ancestor_[above];
    }
    return label_[number];
}

void SemiNca::find_semidominators() {
    const uint32_t count = static_cast<uint32_t>(node.size());
    Edges incoming(graph_.store()); /* from number to number */
    incoming.gather(count, graph_.window(), job_, [this](const auto &take) {
        const Edges &edges = graph_.outgoing();
        for (uint32_t from = 0; from <= graph_.top(); from++) {
            job_.check(from);
            store_.trim(from);
            const uint32_t known = number_[from];
            if (known == NOBODY) continue;
            for (const uint32_t *to = edges.first(from); to < edges.last(from); to++) take(number_[*to], known);
        }
    });
    number = Shelf<uint32_t>(graph_.store(), std::move(number_));
    number_.release();
    ancestor_.append(parent_.data(), count);
    semi_.resize(count);
    label_.resize(count);
    for (uint32_t i = 0; i < count; i++) semi_[i] = label_[i] = i;
    for (uint32_t i = count; i-- > 1;) {
        job_.check(i);
        store_.trim(i);
        uint32_t least = ancestor_[i];
        for (const uint32_t *from = incoming.first(i); from < incoming.last(i); from++)
            least = std::min(least, semi_[evaluate(*from, i + 1)]);
        semi_[i] = least;
    }
    label_.release();
    ancestor_.release();
    stack_.release();
}

/* Each is dominated by the nearest of its parent's dominators whose number is not above its semidominator's. On the way
 * up there are jumps (Myers, An Applicative Random-Access Stack, 1983): a step for each would be one for each pair of
 * nodes where what hangs at the end of a long list is held from the top, too. Once a number has its dominator its
 * semidominator gives room to its jump. */
void SemiNca::find_dominators() {
    Column<uint32_t> found, depth(node.size()), &jump = semi_;
    found.append(parent_.data(), parent_.size());
    parent_.release();
    for (uint32_t i = 1; i < found.size(); i++) {
        const uint32_t semi = semi_[i];
        uint32_t at = found[i];
        while (at > semi) at = jump[at] > semi ? jump[at] : found[at];
        found[i] = at;
        depth[i] = depth[at] + 1;
        const uint32_t above = jump[at];
        jump[i] = depth[at] - depth[above] == depth[above] - depth[jump[above]] ? jump[above] : at;
    }
    semi_.release();
    dominator = Shelf<uint32_t>(graph_.store(), std::move(found));
}

} // namespace

Dominators::Dominators(const Graph &graph, const Job &job)
    : graph_(graph), store_(*graph.store()), number_(graph.store()), node_(graph.store()), dominator_(graph.store()),
      retained_(graph.store()), retained_count_(graph.store()), child_(graph.store()), sibling_(graph.store()) {
    SemiNca algorithm(graph, job);
    algorithm.run();
    number_.swap(algorithm.number);
    node_.swap(algorithm.node);
    dominator_.swap(algorithm.dominator);
    retain(job);
    link();
    add_up();
}

/* A dominator comes before what it dominates: from the last to the first, each hands its sum to the one above it. */
void Dominators::retain(const Job &job) {
    Column<uint32_t> bytes(graph_.objects()); /* in the order of the nodes, which here is none */
    for (uint32_t node = 0; node < graph_.objects(); node++) {
        store_.trim(node);
        bytes[node] = graph_.node(node).bytes;
    }
    Column<uint64_t> retained(node_.size());
    for (size_t i = node_.size(); i-- > 0;) {
        job.check(i);
        store_.trim(i);
        const uint32_t node = node_[i];
        if (graph_.is_object(node)) retained[i] += bytes[node] == Graph::WIDE ? graph_.bytes(node) : bytes[node];
        if (i) retained[dominator_[i]] += retained[i];
    }
    bytes.release();
    retained_ = Shelf<uint64_t>(graph_.store(), std::move(retained));
    retained.release();
    Column<uint32_t> count(node_.size());
    for (size_t i = node_.size(); i-- > 0;) {
        job.check(i);
        store_.trim(i);
        count[i]++;
        if (i) count[dominator_[i]] += count[i];
    }
    retained_count_ = Shelf<uint32_t>(graph_.store(), std::move(count));
}

/* Each node gets the list of what it dominates at once: asked for again and again, by way of one look at each. */
void Dominators::link() {
    Column<uint32_t> child(node_.size());
    for (uint32_t i = 0; i < node_.size(); i++) {
        store_.trim(i);
        sibling_.push_back(i ? child[dominator_[i]] : 0);
        if (i) child[dominator_[i]] = i;
    }
    sibling_.finish();
    child_ = Shelf<uint32_t>(graph_.store(), std::move(child));
}

void Dominators::add_up() {
    for (uint32_t node = 0; node < graph_.objects(); node++) {
        store_.trim(node);
        (reached(node) ? reachable_ : unreachable_).add(graph_.bytes(node), graph_.node(node).slot);
    }
}

/* The best of the nodes that it is shown, by number. */
class Dominators::Best {
    using One = std::pair<uint64_t, uint32_t>; /* what it retains, and the node */

    static bool more(const One &a, const One &b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    }

  public:
    Best(const Dominators &tree, size_t limit) : tree_(tree), limit_(limit) {}

    void add(uint32_t number) {
        if (!limit_) return;
        const One one(tree_.retained_[number], tree_.node_[number]);
        if (found_.size() == limit_ && !more(one, found_.front())) return;
        if (found_.size() == limit_) {
            std::pop_heap(found_.begin(), found_.end(), more);
            found_.pop_back();
        }
        found_.push_back(one);
        std::push_heap(found_.begin(), found_.end(), more);
    }

    /* What it dominates at once. */
    void add_children(uint32_t number) {
        size_t steps = 0;
        for (uint32_t next = tree_.child_[number]; next; next = tree_.sibling_[next]) {
            tree_.store_.trim(++steps);
            add(next);
        }
    }

    std::vector<uint32_t> sorted() {
        std::sort(found_.begin(), found_.end(), more);
        std::vector<uint32_t> nodes;
        for (const One &one : found_) nodes.push_back(one.second);
        return nodes;
    }

  private:
    const Dominators &tree_;
    size_t limit_;
    std::vector<One> found_; /* a heap, the least on top */
};

std::vector<uint32_t> Dominators::largest(size_t limit) const {
    Best best(*this, limit);
    for (uint32_t i = 0; i < node_.size(); i++) {
        store_.trim(i);
        if (graph_.is_object(node_[i])) best.add(i);
    }
    return best.sorted();
}

std::vector<uint32_t> Dominators::children(uint32_t under, size_t limit) const {
    Best best(*this, limit);
    if (reached(under)) best.add_children(number_[under]);
    return best.sorted();
}

std::vector<uint32_t> Dominators::uppermost(size_t limit) const {
    Best best(*this, limit);
    size_t steps = 0;
    for (uint32_t next = child_[0]; next; next = sibling_[next]) {
        store_.trim(++steps);
        if (graph_.is_object(node_[next]))
            best.add(next);
        else
            best.add_children(next);
    }
    return best.sorted();
}

/* By number; NOBODY: of what is no object. */
Column<uint32_t> Dominators::group_of_numbers(const Shelf<uint32_t> &group_of, const Job &job) const {
    Column<uint32_t> groups(node_.size());
    std::fill(groups.begin(), groups.end(), NOBODY);
    for (uint32_t node = 0; node < graph_.objects(); node++) {
        job.check(node);
        store_.trim(node);
        if (reached(node)) groups[number_[node]] = group_of[node];
    }
    return groups;
}

/* The tree is walked with a stack; `open` counts, by group, the nodes on the way down to where the walk is. */
std::vector<Figures> Dominators::by_group(const Shelf<uint32_t> &group_of, size_t groups, const Job &job) const {
    std::vector<Figures> figures(groups);
    std::vector<uint32_t> open(groups);
    for (uint32_t node = 0; node < graph_.objects(); node++) {
        store_.trim(node);
        if (reached(node)) figures[group_of[node]].add(0, graph_.node(node).slot);
    }
    const Column<uint32_t> group = group_of_numbers(group_of, job);
    for (uint32_t at = 0, steps = 0;; steps++) {
        job.check(steps);
        store_.trim(steps);
        if (group[at] != NOBODY && !open[group[at]]++) figures[group[at]].bytes += retained_[at];
        if (child_[at]) {
            at = child_[at];
            continue;
        }
        for (;; at = dominator_[at]) { /* up, to the next that was not visited */
            if (group[at] != NOBODY) open[group[at]]--;
            if (!at) return figures;
            if (sibling_[at]) break;
        }
        at = sibling_[at];
    }
}

} // namespace heapline
