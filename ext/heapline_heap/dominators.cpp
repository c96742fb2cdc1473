/* SPDX-License-Identifier: MIT */
#include "dominators.hpp"

#include <algorithm>

namespace heapline {

namespace {

/* One run of the algorithm. Nodes are named by the order in which a depth-first search first sees them, from 0: the
 * top. */
class SemiNca {
  public:
    SemiNca(Graph &graph, const Job &job) : graph_(graph), job_(job) {}

    /* The node of each number. */
    Column<uint32_t> order;
    /* The immediate dominator of each number, as a number; the top has itself. */
    Column<uint32_t> dominator;

    void run() {
        number();
        find_semidominators();
        label_.release();
        ancestor_.release();
        number_.release();
        stack_.release();
        find_dominators();
        semi_.release();
    }

  private:
    void number();
    void enter(uint32_t node, uint32_t parent);
    void find_semidominators();
    void find_dominators();
    uint32_t evaluate(uint32_t number, uint32_t linked);

    Graph &graph_;
    const Job &job_;
    Column<uint32_t> number_;   /* of each node; NOBODY: not reached */
    Column<uint32_t> ancestor_; /* the parent in the search's tree, then shortened */
    Column<uint32_t> semi_, label_;
    Column<uint32_t> stack_;
};

void SemiNca::enter(uint32_t node, uint32_t parent) {
    number_[node] = static_cast<uint32_t>(order.size());
    order.push_back(node);
    ancestor_.push_back(parent);
}

/* Each node on the stack goes on with its next edge, so that the numbers are those of a true depth-first search. */
void SemiNca::number() {
    const Edges &edges = graph_.outgoing();
    Column<uint32_t> next; /* where the node at the same height of the stack goes on */
    number_.resize(size_t{graph_.top()} + 1);
    std::fill(number_.begin(), number_.end(), NOBODY);
    enter(graph_.top(), 0);
    stack_.push_back(graph_.top());
    next.push_back(edges.begin[graph_.top()]);
    for (size_t steps = 0; !stack_.empty(); steps++) {
        job_.check(steps);
        uint32_t node = stack_[stack_.size() - 1], &at = next[next.size() - 1], end = edges.begin[node + 1];
        while (at < end && number_[edges.ends[at]] != NOBODY) at++;
        if (at == end) {
            stack_.resize(stack_.size() - 1);
            next.resize(next.size() - 1);
            continue;
        }
        uint32_t to = edges.ends[at++];
        enter(to, number_[node]);
        stack_.push_back(to);
        next.push_back(edges.begin[to]);
    }
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
    const Edges &incoming = graph_.incoming(job_);
    uint32_t count = static_cast<uint32_t>(order.size());
    dominator.append(ancestor_.data(), count);
    semi_.resize(count);
    label_.resize(count);
    for (uint32_t i = 0; i < count; i++) semi_[i] = label_[i] = i;
    for (uint32_t i = count; i-- > 1;) {
        job_.check(i);
        uint32_t least = ancestor_[i], node = order[i];
        for (const uint32_t *from = incoming.first(node); from < incoming.last(node); from++) {
            if (number_[*from] == NOBODY) continue;
            least = std::min(least, semi_[evaluate(number_[*from], i + 1)]);
        }
        semi_[i] = least;
    }
}

void SemiNca::find_dominators() {
    for (uint32_t i = 1; i < order.size(); i++) {
        uint32_t at = dominator[i];
        while (at > semi_[i]) at = dominator[at];
        dominator[i] = at;
    }
}

} // namespace

Dominators::Dominators(Graph &graph, const Job &job) : graph_(graph) {
    SemiNca algorithm(graph, job);
    algorithm.run();
    parent_.resize(size_t{graph.top()} + 1);
    std::fill(parent_.begin(), parent_.end(), NOBODY);
    for (size_t i = 1; i < algorithm.order.size(); i++)
        parent_[algorithm.order[i]] = algorithm.order[algorithm.dominator[i]];
    algorithm.dominator.release();
    retain(algorithm.order, job);
    algorithm.order.release();
    link();
    add_up();
}

/* Each node gets the list of what it dominates at once: asked for again and again, by way of one look at each. */
void Dominators::link() {
    child_.resize(retained_.size());
    sibling_.resize(retained_.size());
    for (uint32_t node = 0; node < retained_.size(); node++) {
        if (parent_[node] == NOBODY) continue;
        sibling_[node] = child_[parent_[node]];
        child_[parent_[node]] = node + 1;
    }
}

/* A dominator comes before what it dominates: from the last to the first, each hands its sum to the one above it. */
void Dominators::retain(const Column<uint32_t> &order, const Job &job) {
    retained_.resize(size_t{graph_.top()} + 1);
    retained_count_.resize(size_t{graph_.top()} + 1);
    for (size_t i = order.size(); i-- > 0;) {
        job.check(i);
        uint32_t node = order[i];
        if (graph_.is_object(node)) retained_[node] += graph_.bytes(node);
        retained_count_[node]++;
        if (i == 0) break;
        retained_[parent_[node]] += retained_[node];
        retained_count_[parent_[node]] += retained_count_[node];
    }
}

void Dominators::add_up() {
    for (uint32_t node = 0; node < graph_.objects(); node++)
        (reached(node) ? reachable_ : unreachable_).add(graph_.bytes(node), graph_.node(node).slot);
}

/* The best of the nodes that it is shown. */
class Dominators::Best {
    auto order() const {
        return [this](uint32_t a, uint32_t b) {
            return tree_.retained_[a] != tree_.retained_[b] ? tree_.retained_[a] > tree_.retained_[b] : a < b;
        };
    }

  public:
    Best(const Dominators &tree, size_t limit) : tree_(tree), limit_(limit) {}

    void add(uint32_t node) {
        if (!limit_) return;
        auto more = order();
        if (found_.size() == limit_ && !more(node, found_.front())) return;
        if (found_.size() == limit_) {
            std::pop_heap(found_.begin(), found_.end(), more);
            found_.pop_back();
        }
        found_.push_back(node);
        std::push_heap(found_.begin(), found_.end(), more);
    }

    /* What `node` dominates at once. */
    void add_children(uint32_t node) {
        for (uint32_t next = tree_.child_[node]; next; next = tree_.sibling_[next - 1]) add(next - 1);
    }

    std::vector<uint32_t> sorted() {
        std::sort(found_.begin(), found_.end(), order());
        return std::move(found_);
    }

  private:
    const Dominators &tree_;
    size_t limit_;
    std::vector<uint32_t> found_; /* a heap, the least on top */
};

std::vector<uint32_t> Dominators::largest(size_t limit) const {
    Best best(*this, limit);
    for (uint32_t node = 0; node < graph_.objects(); node++)
        if (reached(node)) best.add(node);
    return best.sorted();
}

std::vector<uint32_t> Dominators::children(uint32_t under, size_t limit) const {
    Best best(*this, limit);
    best.add_children(under);
    return best.sorted();
}

std::vector<uint32_t> Dominators::uppermost(size_t limit) const {
    Best best(*this, limit);
    for (uint32_t next = child_[graph_.top()]; next; next = sibling_[next - 1]) {
        if (graph_.is_object(next - 1))
            best.add(next - 1);
        else
            best.add_children(next - 1);
    }
    return best.sorted();
}

/* The tree is walked with a stack; `open` counts, by group, the nodes on the way down to where the walk is. */
std::vector<Figures> Dominators::by_group(const Column<uint32_t> &group_of, size_t groups, const Job &job) const {
    std::vector<Figures> figures(groups);
    std::vector<uint32_t> open(groups);
    for (uint32_t node = graph_.top(), steps = 0;; steps++) {
        job.check(steps);
        bool object = graph_.is_object(node);
        if (object) {
            Figures &group = figures[group_of[node]];
            group.add(open[group_of[node]]++ ? 0 : retained_[node], graph_.node(node).slot);
        }
        if (child_[node]) {
            node = child_[node] - 1;
            continue;
        }
        for (;; node = parent_[node]) { /* up, to the next that was not visited */
            if (graph_.is_object(node)) open[group_of[node]]--;
            if (node == graph_.top()) return figures;
            if (sibling_[node]) break;
        }
        node = sibling_[node] - 1;
    }
}

} // namespace heapline
