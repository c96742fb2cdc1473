/* SPDX-License-Identifier: MIT */
#include "graph.hpp"

#include <algorithm>
#include <tuple>

#include "duplicates.hpp"
#include "ledger.hpp"
#include "source.hpp"

namespace heapline {

namespace {

/* Numbers are 32 bits; the roots and the node above them need some, too. */
const size_t NODES_MAX = UINT32_MAX - (1u << 20);
const size_t EDGES_MAX = UINT32_MAX - 1;
/* Addresses go as numbers come: there is never all of both. */
const size_t FORGOTTEN_AFTER = 1 << 18; /* objects */

uint32_t narrow(uint64_t value) {
    return static_cast<uint32_t>(std::min<uint64_t>(value, Graph::WIDE));
}

void push(Edges &edges, uint32_t node) {
    if (edges.ends.size() >= EDGES_MAX) throw Failure("it has more references than can be numbered");
    edges.ends.push_back(node);
}

} // namespace

Graph::Graph(size_t in_memory, size_t room)
    : store_(std::make_shared<Store>(in_memory, room)), nodes_(store_), references_(store_), values_(store_),
      classes_(store_), directory_(store_), outgoing_(store_), incoming_(store_) {}

void Harvest::add(const Line &line, uint32_t kind, uint32_t place, bool edges) {
    Node node = {};
    node.address = line.address;
    node.place = place;
    node.generation = line.has_generation ? narrow(line.generation) + 1 : 0;
    node.bytes = narrow(line.memsize);
    node.length = narrow(line.length);
    node.kind = static_cast<uint16_t>(kind);
    node.slot = static_cast<uint16_t>(std::min<uint64_t>(line.slot_size, UINT16_MAX));
    node.flags = static_cast<uint8_t>(line.flags | (line.class_address ? Node::HAS_CLASS : 0));
    if (node.bytes == Graph::WIDE || node.length == Graph::WIDE) {
        sizes.push_back(line.memsize);
        sizes.push_back(line.length);
    }
    std::string_view value =
        beginning(line.value, line.flags & Line::interned ? Graph::INTERNED_MAX : Graph::VALUE_MAX);
    if (!value.empty()) {
        node.value = 1;
        values.push_back(static_cast<char>(value.size()));
        values.append(value.data(), value.size());
    }
    nodes.push_back(node);
    size_t count = edges ? line.references.size() : 0;
    references.push_back(count);
    references.push_back(line.class_address);
    references.append(line.references.data(), count);
}

void Harvest::clear() {
    nodes.clear();
    references.clear();
    sizes.clear();
    values.clear();
}

void Graph::add(const Harvest &harvest, const Translation &translation) {
    if (nodes_.size() + harvest.nodes.size() > NODES_MAX) throw Failure("it has more objects than can be numbered");
    if (values_.empty()) values_.push_back(0); /* 0 is no place of a value */
    size_t at = values_.size(), read = 0, wide = 0;
    references_.append(harvest.references.data(), harvest.references.size());
    bool room = values_.size() + harvest.values.size() < UINT32_MAX;
    if (room) values_.append(harvest.values.data(), harvest.values.size());
    for (Node node : harvest.nodes) {
        node.kind = static_cast<uint16_t>(translation.kind(node.kind));
        node.place = translation.place(node.place);
        if (node.bytes == WIDE || node.length == WIDE) {
            wide_[node.address] = {harvest.sizes[wide], harvest.sizes[wide + 1]};
            wide += 2;
        }
        if (node.value) {
            node.value = room ? static_cast<uint32_t>(at + read) : 0;
            read += 1 + static_cast<unsigned char>(harvest.values[read]);
        }
        nodes_.push_back(node);
    }
}

void Graph::add_root(const std::string &name, const std::vector<uint64_t> &references) {
    for (Root &root : roots_) {
        if (root.name != name) continue;
        root.references.insert(root.references.end(), references.begin(), references.end());
        return;
    }
    if (roots_.size() >= 1u << 16) throw Failure("it has more roots than Ruby has");
    roots_.push_back({name, references});
}

void Graph::add_name(uint64_t from, std::string_view root, uint64_t to, std::string_view name, Vocabulary &vocabulary) {
    bool of_root = !root.empty();
    names_.push_back({of_root ? vocabulary.word(root) : from, to, vocabulary.word(name), of_root});
}

size_t Graph::link(const Vocabulary &vocabulary, const Job &job) {
    nodes_.finish();
    references_.finish();
    values_.finish();
    size_t repeated = number(job);
    const Fields fields = find_fields(vocabulary, job);
    link_objects(vocabulary, fields, job);
    for (const Root &root : roots_) {
        for (uint64_t address : root.references) push_edge(address, fields);
        outgoing_.begin_row();
    }
    for (uint32_t root = objects(); root < top(); root++) outgoing_.ends.push_back(root);
    outgoing_.finish();
    classes_.finish();
    link_names(vocabulary);
    directory_.finish();
    return repeated;
}

size_t Graph::number(const Job &job) {
    for (size_t i = 0; i < nodes_.size(); i++) {
        job.check(i);
        store_->trim();
        directory_.expect(nodes_[i].address);
    }
    directory_.begin();
    for (size_t i = 0; i < nodes_.size(); i++) {
        job.check(i);
        store_->trim();
        if (!directory_.add(nodes_[i].address)) return sort(job);
    }
    return 0;
}

/* For dumps whose objects are in no order, or in it twice: nothing that Ruby writes. */
size_t Graph::sort(const Job &job) {
    const Shelf<uint32_t> order = by_address(job);
    Shelf<uint64_t> starts(store_);
    for (size_t i = 0, at = 0; i < nodes_.size(); at += 2 + references_[at], i++) {
        job.check(i);
        store_->trim();
        starts.push_back(at);
    }
    starts.finish();
    Shelf<Node> nodes(store_);
    Shelf<uint64_t> references(store_);
    directory_.begin();
    for (size_t i = 0; i < order.size(); i++) {
        job.check(i);
        store_->trim();
        const Node &node = nodes_[order[i]];
        if (!directory_.add(node.address)) continue;
        nodes.push_back(node);
        const uint64_t *start = &references_[starts[order[i]]];
        references.append(start, 2 + start[0]);
    }
    nodes.finish();
    references.finish();
    nodes_.swap(nodes);
    references_.swap(references);
    return nodes.size() - nodes_.size();
}

/* The objects' numbers in the order of their addresses; of two at one address the first comes first. */
Shelf<uint32_t> Graph::by_address(const Job &job) {
    struct Place {
        uint32_t high, low, number; /* the address in halves: so it takes 12 bytes */
    };
    Ledger<Place> places(store_, nodes_.size());
    for (uint32_t i = 0; i < nodes_.size(); i++) {
        job.check(i);
        store_->trim();
        const uint64_t address = nodes_[i].address;
        places[i] = {static_cast<uint32_t>(address >> 32), static_cast<uint32_t>(address), i};
    }
    std::sort(places.begin(), places.end(), [this](const Place &a, const Place &b) {
        store_->trim();
        return std::tie(a.high, a.low, a.number) < std::tie(b.high, b.low, b.number);
    });
    Shelf<uint32_t> order(store_);
    for (const Place &place : places) {
        store_->trim();
        order.push_back(place.number);
    }
    order.finish();
    return order;
}

Graph::Fields Graph::find_fields(const Vocabulary &vocabulary, const Job &job) {
    Fields fields = {{}, Shelf<uint32_t>(store_), Edges(store_)};
    std::vector<bool> kinds(vocabulary.kinds());
    for (uint32_t kind = 0; kind < vocabulary.kinds(); kind++)
        kinds[kind] =
            vocabulary.type_of(kind) == "IMEMO" && vocabulary.text(vocabulary.kind_at(kind).detail) == "fields";
    if (std::find(kinds.begin(), kinds.end(), true) == kinds.end()) return fields;
    fields.is.resize(nodes_.size());
    for (size_t i = 0, at = 0; i < nodes_.size(); at += 2 + references_[at], i++) {
        job.check(i);
        store_->trim();
        if (!kinds[nodes_[i].kind]) continue;
        fields.is[i] = true;
        fields.nodes.push_back(static_cast<uint32_t>(i));
        fields.held.begin_row();
        for (size_t held = at + 2; held < at + 2 + references_[at]; held++)
            if (const uint32_t node = find(references_[held]); node != NOBODY) push(fields.held, node);
    }
    fields.nodes.finish();
    fields.held.finish();
    return fields;
}

void Graph::push_edge(uint64_t address, const Fields &fields) {
    store_->trim();
    const uint32_t node = find(address);
    if (node == NOBODY) return;
    push(outgoing_, node);
    if (fields.is.empty() || !fields.is[node]) return;
    const uint32_t *first = fields.nodes.data(), *found = std::lower_bound(first, first + fields.nodes.size(), node);
    const uint32_t row = static_cast<uint32_t>(found - first);
    for (const uint32_t *to = fields.held.first(row); to < fields.held.last(row); to++) push(outgoing_, *to);
}

/* The class comes first among an object's references: Ruby does not list it, and marks it all the same. */
void Graph::link_objects(const Vocabulary &vocabulary, const Fields &fields, const Job &job) {
    std::vector<bool> classless(vocabulary.kinds());
    for (uint32_t kind = 0; kind < vocabulary.kinds(); kind++)
        classless[kind] = Classes::classless(vocabulary.type_of(kind));
    outgoing_.begin_row();
    const uint64_t *reference = references_.data();
    for (size_t i = 0; i < nodes_.size(); i++) {
        job.check(i);
        store_->trim();
        if (i % FORGOTTEN_AFTER == 0) references_.forget(static_cast<size_t>(reference - references_.data()));
        uint64_t count = *reference++, class_address = *reference++;
        const uint32_t class_node = class_address && !classless[nodes_[i].kind] ? find(class_address) : NOBODY;
        classes_.push_back(class_node);
        if (class_node != NOBODY) push_edge(class_address, fields);
        const bool gives = !fields.is.empty() && fields.is[i];
        for (; count; count--, reference++)
            if (!gives) push_edge(*reference, fields);
        outgoing_.begin_row();
    }
    references_.release();
}

void Graph::link_names(const Vocabulary &vocabulary) {
    for (Name &name : names_) {
        uint64_t from = find(name.from);
        if (name.of_root) {
            from = NOBODY;
            for (size_t i = 0; i < roots_.size(); i++)
                if (roots_[i].name == vocabulary.text(static_cast<uint32_t>(name.from))) from = nodes_.size() + i;
        }
        name.from = from;
        name.to = find(name.to);
    }
    std::stable_sort(names_.begin(), names_.end(),
                     [](const Name &a, const Name &b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
}

uint32_t Graph::edge_name(uint32_t from, uint32_t to) const {
    auto found = std::lower_bound(names_.begin(), names_.end(), std::make_pair(from, to),
                                  [](const Name &name, const std::pair<uint32_t, uint32_t> &edge) {
                                      return name.from != edge.first ? name.from < edge.first : name.to < edge.second;
                                  });
    return found != names_.end() && found->from == from && found->to == to ? found->word : 0;
}

uint64_t Graph::bytes(uint32_t node) const {
    const Node &one = nodes_[node];
    return one.bytes == WIDE ? wide_.at(one.address).first : one.bytes;
}

uint64_t Graph::length(uint32_t node) const {
    const Node &one = nodes_[node];
    return one.length == WIDE ? wide_.at(one.address).second : one.length;
}

std::string_view Graph::value(uint32_t node) const {
    uint32_t at = nodes_[node].value;
    return at ? std::string_view(values_.data() + at + 1, static_cast<unsigned char>(values_[at])) : std::string_view();
}

const Edges &Graph::incoming(const Job &job) {
    if (!incoming_.begin.empty()) return incoming_;
    EdgeSorter sorter(store_, size_t{top()} + 1);
    for (uint32_t node = 0; node <= top(); node++) {
        job.check(node);
        for (const uint32_t *to = outgoing_.first(node); to < outgoing_.last(node); to++) {
            store_->trim();
            sorter.add(*to, node);
        }
    }
    sorter.finish();
    Edges edges(store_);
    for (size_t part = 0; part < sorter.parts(); part++) {
        const EdgeSorter::Sorted sorted = sorter.sort(part, job);
        for (size_t row = 0; row + 1 < sorted.begin.size(); row++) {
            edges.begin_row();
            for (const uint32_t *from = sorted.first(row); from < sorted.last(row); from++) {
                store_->trim();
                edges.ends.push_back(*from);
            }
        }
    }
    edges.finish();
    incoming_.begin.swap(edges.begin);
    incoming_.ends.swap(edges.ends);
    return incoming_;
}

} // namespace heapline
