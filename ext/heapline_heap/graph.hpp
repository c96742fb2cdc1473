/* SPDX-License-Identifier: MIT */
/*
 * The objects of a dump and what they refer to. While lines are read (`add_*`), references are addresses; `link` turns
 * them into numbers. After that nodes are numbered: the objects in the order of the dump, then the roots, then one node
 * above all roots. All lists as long as there are nodes or edges lie in the graph's store.
 *
 * Since Ruby 4.0 the variables of classes, strings and others lie in a fields object behind them. It is a part of its
 * owner: what it refers to, the owner refers to, and it itself refers to nothing. So a path says which variable it is,
 * and what is retained stays the same.
 *
 * One thread at a time; after `link` nothing changes but `incoming`, which is made when it is first asked for.
 */
#ifndef HEAPLINE_HEAP_GRAPH_HPP
#define HEAPLINE_HEAP_GRAPH_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "classes.hpp"
#include "column.hpp"
#include "directory.hpp"
#include "edges.hpp"
#include "job.hpp"
#include "line.hpp"
#include "shelf.hpp"
#include "store.hpp"
#include "vocabulary.hpp"

namespace heapline {

struct Node {
    /* Beside Line's flags: does it have a class, in the dump or not? */
    static const uint8_t HAS_CLASS = 64;

    uint64_t address;
    uint32_t place;
    uint32_t generation; /* plus 1; 0: unknown */
    uint32_t bytes;      /* WIDE: see Graph::bytes */
    uint32_t length;     /* likewise */
    uint32_t value;      /* where its beginning lies; 0: none */
    uint16_t kind, slot;
    uint8_t flags;
};

/* What one thread has read and not handed over yet, in numbers of its own vocabulary. */
struct Harvest {
    Column<Node> nodes;
    Column<uint64_t> references; /* of each node: how many, its class's address, the addresses */
    Column<uint64_t> sizes;      /* of each node that has a WIDE figure: bytes, length */
    Column<char> values;         /* of each node that has one: a byte with its size, the beginning */

    void add(const Line &line, uint32_t kind, uint32_t place, bool edges);
    void clear();
};

class Graph {
  public:
    static const uint32_t WIDE = UINT32_MAX;
    /* Bytes of a value that are kept; of frozen strings of which there is one each (paths and names, not contents). */
    static const size_t VALUE_MAX = 100, INTERNED_MAX = 255;

    /* See Store. */
    explicit Graph(size_t in_memory = Store::IN_MEMORY, size_t room = Store::ROOM);

    /* Take over what was read. Throws Failure where there are too many objects or references. */
    void add(const Harvest &harvest, const Translation &translation);
    void add_root(const std::string &name, const std::vector<uint64_t> &references);
    /* What leads to `to` from the object at `from`, or from `root` where that has a name. */
    void add_name(uint64_t from, std::string_view root, uint64_t to, std::string_view name, Vocabulary &vocabulary);

    /* Numbers in place of addresses. Returns how many objects were listed a second time, and were left out. */
    size_t link(const Vocabulary &vocabulary, const Job &job);

    uint32_t objects() const {
        return static_cast<uint32_t>(nodes_.size());
    }
    uint32_t top() const {
        return static_cast<uint32_t>(nodes_.size() + roots_.size());
    }
    bool is_object(uint32_t node) const {
        return node < nodes_.size();
    }
    const Node &node(uint32_t node) const {
        return nodes_[node];
    }
    /* The node of an object's class; NOBODY: none in the dump. */
    uint32_t class_of(uint32_t node) const {
        return classes_[node];
    }
    const std::string &root_name(uint32_t node) const {
        return roots_[node - nodes_.size()].name;
    }
    uint32_t find(uint64_t address) const {
        return directory_.find(address);
    }
    uint64_t bytes(uint32_t node) const;
    uint64_t length(uint32_t node) const;
    std::string_view value(uint32_t node) const;

    const Edges &outgoing() const {
        return outgoing_;
    }
    const Edges &incoming(const Job &job);
    const std::shared_ptr<Store> &store() const {
        return store_;
    }

    /* The word for what leads from one node to another; 0: the dump does not tell. */
    uint32_t edge_name(uint32_t from, uint32_t to) const;

  private:
    struct Root {
        std::string name;
        std::vector<uint64_t> references;
    };
    struct Name {
        uint64_t from, to; /* addresses, then nodes; a root: its word in `from`, before linking */
        uint32_t word;
        bool of_root;
    };

    struct Fields {
        std::vector<bool> is;  /* of each object; empty: none is one */
        Shelf<uint32_t> nodes; /* those that are */
        Edges held;            /* by each of these */
    };

    size_t number(const Job &job);
    size_t sort(const Job &job);
    Shelf<uint32_t> by_address(const Job &job);
    Fields find_fields(const Vocabulary &vocabulary, const Job &job);
    void link_objects(const Vocabulary &vocabulary, const Fields &fields, const Job &job);
    void link_names(const Vocabulary &vocabulary);
    void push_edge(uint64_t address, const Fields &fields);

    std::shared_ptr<Store> store_;
    Shelf<Node> nodes_;
    Shelf<uint64_t> references_;
    Shelf<char> values_;
    Shelf<uint32_t> classes_;                                          /* of each object */
    std::unordered_map<uint64_t, std::pair<uint64_t, uint64_t>> wide_; /* bytes, length by address */
    std::vector<Root> roots_;
    std::vector<Name> names_;
    Directory directory_;
    Edges outgoing_, incoming_;
};

} // namespace heapline

#endif
