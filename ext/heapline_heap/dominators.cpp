/* SPDX-License-Identifier: MIT */
#include "dominators.hpp"

#include <algorithm>

namespace heapline {

namespace {

/* Where the last of these that is not above `most` lies: the first is 0, they rise up to `place`. It mostly lies near
 * that. */
uint32_t last_up_to(const Ledger<uint32_t> &rising, uint32_t place, uint32_t most) {
    uint32_t above = place + 1, step = 1; /* all from `above` on are */
    while (rising[place] > most) {
        above = place;
        place -= std::min(place, step);
        step *= 2;
    }
    while (above - place > 1) {
        const uint32_t middle = place + (above - place) / 2;
        (rising[middle] > most ? above : place) = middle;
    }
    return place;
}

/* One run of the algorithm. Nodes are named by the order in which a depth-first search first sees them, from 0: the
 * top. What is looked at at random places are four bytes a node in the search and eight where semidominators are found,
 * there mostly near each other; all else is written and read in order. */
class SemiNca {
  public:
    SemiNca(const Graph &graph, const Job &job)
        : node(graph.store()), number(graph.store(), size_t{graph.top()} + 1), dominator(graph.store()), graph_(graph),
          job_(job), store_(graph.store()), parent_(store_), crossing_(store_, size_t{graph.top()} + 1), links_(store_),
          semi_(store_) {}

    Shelf<uint32_t> node;    /* of each number */
    Ledger<uint32_t> number; /* of each node, plus 1; 0: not reached */
    /* The immediate dominator of each number, as a number; the top has itself. */
    Shelf<uint32_t> dominator;

    void run() {
        enumerate();
        find_semidominators();
        find_dominators();
    }

  private:
    /* A number on the way down to where the search is, and which of its edges were not looked at. */
    struct Frame {
        uint32_t number, next, end;
    };
    /* Of a number that has its semidominator: the nearest above it up to which the way was looked through, its parent
     * at first, and the least semidominator on that way, its own included. */
    struct Link {
        uint32_t ancestor, least;
    };

    void enumerate();
    Frame enter(uint32_t of, uint32_t parent);
    uint32_t advance(Frame &frame);
    void find_semidominators();
    void find_semidominators(size_t part);
    void find_dominators();
    uint32_t evaluate(uint32_t number, uint32_t linked);

    const Graph &graph_;
    const Job &job_;
    std::shared_ptr<Store> store_;
    Shelf<uint32_t> parent_; /* in the search's tree */
    EdgeSorter crossing_;    /* the edges that are not in that tree, by the number that they lead to */
    Ledger<Link> links_;
    Shelf<uint32_t> semi_; /* from the last number to 1 */
};

SemiNca::Frame SemiNca::enter(uint32_t of, uint32_t parent) {
    const Shelf<uint32_t> &begin = graph_.outgoing().begin;
    const uint32_t entered = static_cast<uint32_t>(node.size());
    node.push_back(of);
    number[of] = entered + 1;
    parent_.push_back(parent);
    return {entered, begin[of], begin[of + 1]};
}

/* The next node to which the frame's leads and that was not seen yet; NOBODY: there is none. */
uint32_t SemiNca::advance(Frame &frame) {
    const Shelf<uint32_t> &ends = graph_.outgoing().ends;
    while (frame.next < frame.end) {
        const uint32_t to = ends[frame.next++], seen = number[to];
        store_->trim();
        if (!seen) return to;
        if (seen - 1 != frame.number) crossing_.add(seen - 1, frame.number);
    }
    return NOBODY;
}

/* Each node on the stack goes on with its next edge, so that the numbers are those of a true depth-first search. Who
 * has no more edges is not kept there: so a list takes one place. */
void SemiNca::enumerate() {
    Ledger<Frame> stack(store_, number.size(), true);
    size_t height = 0;
    stack[height++] = enter(graph_.top(), 0);
    for (size_t steps = 0; height; steps++) {
        job_.check(steps);
        Frame &frame = stack[height - 1];
        const uint32_t to = advance(frame), from = frame.number;
        if (frame.next == frame.end) height--;
        if (to != NOBODY) stack[height++] = enter(to, from);
    }
    node.finish();
    parent_.finish();
    crossing_.finish();
    number.keep();
}

/* The least semidominator on the way up from `number`, as far as numbers are linked (from `linked` on); one that is not
 * is its own. The way is shortened: on the way up each leads back to where it was come from. */
uint32_t SemiNca::evaluate(uint32_t number, uint32_t linked) {
    if (number < linked) return number;
    uint32_t at = number, below = NOBODY;
    while (links_[at].ancestor >= linked) {
        store_->trim();
        const uint32_t above = links_[at].ancestor;
        links_[at].ancestor = below;
        below = at;
        at = above;
    }
    const uint32_t ancestor = links_[at].ancestor;
    uint32_t least = links_[at].least;
    while (below != NOBODY) {
        store_->trim();
        Link &link = links_[below];
        below = link.ancestor;
        link = {ancestor, least = std::min(least, link.least)};
    }
    return least;
}

void SemiNca::find_semidominators() {
    links_ = Ledger<Link>(store_, node.size());
    for (size_t part = crossing_.parts(); part-- > 0;)
        if (crossing_.first(part) < node.size()) find_semidominators(part);
    semi_.finish();
    links_.release();
}

void SemiNca::find_semidominators(size_t part) {
    const uint32_t first = static_cast<uint32_t>(crossing_.first(part));
    const EdgeSorter::Sorted incoming = crossing_.sort(part, job_);
    for (size_t i = std::min(crossing_.last(part), node.size()); i-- > std::max(first, 1u);) {
        const uint32_t number = static_cast<uint32_t>(i);
        uint32_t least = parent_[i];
        job_.check(i);
        store_->trim();
        for (const uint32_t *from = incoming.first(number - first); from < incoming.last(number - first); from++)
            least = std::min(least, evaluate(*from, number + 1));
        links_[i] = {parent_[i], least};
        semi_.push_back(least);
    }
}

/* Each is dominated by the nearest of its parent's dominators whose number is not above its semidominator's. A number's
 * dominators are among those on the way down to it in the search's tree: the parent's are at hand, from the top on in
 * the order of their numbers, when the tree is walked in that order. Of what a number's place hid there it knows. */
void SemiNca::find_dominators() {
    struct Step {
        uint32_t number, place, hidden;
    };
    const uint32_t count = static_cast<uint32_t>(node.size());
    Ledger<uint32_t> dominators(store_, count, true);
    Ledger<Step> way(store_, count, true);
    size_t height = 0;
    dominator.push_back(0);
    for (uint32_t i = 1; i < count; i++) {
        job_.check(i);
        for (; way[height].number != parent_[i]; height--) {
            store_->trim();
            dominators[way[height].place] = way[height].hidden;
        }
        const uint32_t place = last_up_to(dominators, way[height].place, semi_[count - 1 - i]);
        dominator.push_back(dominators[place]);
        way[++height] = {i, place + 1, dominators[place + 1]};
        dominators[place + 1] = i;
        store_->trim();
    }
    dominator.finish();
    parent_.release();
    semi_.release();
}

} // namespace

Dominators::Dominators(const Graph &graph, const Job &job)
    : graph_(graph), store_(*graph.store()), number_(graph.store()), node_(graph.store()), dominator_(graph.store()),
      retained_(graph.store()), retained_count_(graph.store()), child_(graph.store()), sibling_(graph.store()) {
    {
        SemiNca algorithm(graph, job);
        algorithm.run();
        number_.swap(algorithm.number);
        node_.swap(algorithm.node);
        dominator_.swap(algorithm.dominator);
    }
    retain(job);
    link();
    add_up();
}

/* Each number's own, where a node has them: WIDE as it is there. */
Shelf<uint32_t> Dominators::own_bytes(const Job &job) const {
    Ledger<uint32_t> bytes(graph_.store(), graph_.objects()); /* in the order of the nodes, which here is none */
    for (uint32_t node = 0; node < graph_.objects(); node++) {
        store_.trim();
        bytes[node] = graph_.node(node).bytes;
    }
    Shelf<uint32_t> own(graph_.store());
    for (size_t i = 0; i < node_.size(); i++) {
        job.check(i);
        store_.trim();
        own.push_back(graph_.is_object(node_[i]) ? bytes[node_[i]] : 0);
    }
    own.finish();
    return own;
}

/* A dominator comes before what it dominates: from the last to the first, each hands its sum to the one above it. */
void Dominators::retain(const Job &job) {
    const Shelf<uint32_t> own = own_bytes(job);
    retained_ = Ledger<uint64_t>(graph_.store(), node_.size());
    for (size_t i = node_.size(); i-- > 0;) {
        job.check(i);
        store_.trim();
        retained_[i] += own[i] == Graph::WIDE ? graph_.bytes(node_[i]) : own[i];
        if (i) retained_[dominator_[i]] += retained_[i];
    }
    retained_.keep();
    retained_count_ = Ledger<uint32_t>(graph_.store(), node_.size());
    for (size_t i = node_.size(); i-- > 0;) {
        job.check(i);
        store_.trim();
        retained_count_[i]++;
        if (i) retained_count_[dominator_[i]] += retained_count_[i];
    }
    retained_count_.keep();
}

/* Each node gets the list of what it dominates at once: asked for again and again, by way of one look at each. */
void Dominators::link() {
    child_ = Ledger<uint32_t>(graph_.store(), node_.size());
    for (uint32_t i = 0; i < node_.size(); i++) {
        store_.trim();
        sibling_.push_back(i ? child_[dominator_[i]] : 0);
        if (i) child_[dominator_[i]] = i;
    }
    sibling_.finish();
    child_.keep();
}

void Dominators::add_up() {
    for (uint32_t node = 0; node < graph_.objects(); node++) {
        store_.trim();
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
        for (uint32_t next = tree_.child_[number]; next; next = tree_.sibling_[next]) {
            tree_.store_.trim();
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
        store_.trim();
        if (graph_.is_object(node_[i])) best.add(i);
    }
    return best.sorted();
}

std::vector<uint32_t> Dominators::children(uint32_t under, size_t limit) const {
    Best best(*this, limit);
    if (reached(under)) best.add_children(number_of(under));
    return best.sorted();
}

std::vector<uint32_t> Dominators::uppermost(size_t limit) const {
    Best best(*this, limit);
    for (uint32_t next = child_[0]; next; next = sibling_[next]) {
        store_.trim();
        if (graph_.is_object(node_[next]))
            best.add(next);
        else
            best.add_children(next);
    }
    return best.sorted();
}

/* By number, plus 1; 0: of what is no object. */
Ledger<uint32_t> Dominators::group_of_numbers(const Shelf<uint32_t> &group_of, const Job &job) const {
    Ledger<uint32_t> groups(graph_.store(), node_.size());
    for (uint32_t node = 0; node < graph_.objects(); node++) {
        job.check(node);
        store_.trim();
        if (reached(node)) groups[number_of(node)] = group_of[node] + 1;
    }
    return groups;
}

/* The tree is walked with a stack; `open` counts, by group, the nodes on the way down to where the walk is. */
std::vector<Figures> Dominators::by_group(const Shelf<uint32_t> &group_of, size_t groups, const Job &job) const {
    std::vector<Figures> figures(groups);
    std::vector<uint32_t> open(groups);
    for (uint32_t node = 0; node < graph_.objects(); node++) {
        store_.trim();
        if (reached(node)) figures[group_of[node]].add(0, graph_.node(node).slot);
    }
    const Ledger<uint32_t> group = group_of_numbers(group_of, job);
    for (uint32_t at = 0, steps = 0;; steps++) {
        job.check(steps);
        store_.trim();
        if (group[at] && !open[group[at] - 1]++) figures[group[at] - 1].bytes += retained_[at];
        if (child_[at]) {
            at = child_[at];
            continue;
        }
        for (;; at = dominator_[at]) { /* up, to the next that was not visited */
            store_.trim();
            if (group[at]) open[group[at] - 1]--;
            if (!at) return figures;
            if (sibling_[at]) break;
        }
        at = sibling_[at];
    }
}

} // namespace heapline
