/* SPDX-License-Identifier: MIT */
#include "code.hpp"

#include <string>

namespace heapline {

namespace {

class Finder {
  public:
    Finder(const Graph &graph, const Vocabulary &vocabulary) : graph_(graph) {
        for (uint32_t kind = 0; kind < vocabulary.kinds(); kind++) {
            const std::string &type = vocabulary.type_of(kind);
            bool is_code = type == "IMEMO" && vocabulary.text(vocabulary.kind_at(kind).detail) == "iseq";
            sorts_.push_back(is_code ? code : type == "STRING" ? string : type == "ARRAY" ? array : other);
        }
    }

    bool is_code(uint32_t node) const {
        return is(node, code);
    }

    /* The last three among the references that can be what is looked for: literals of the code come before them. */
    Code look(uint32_t node) const {
        const uint32_t *first = graph_.outgoing().first(node);
        for (auto end = graph_.outgoing().last(node) - first; end >= 3; end--) {
            uint32_t label = first[end - 3], base_label = first[end - 2], path = path_at(first[end - 1]);
            if (path != NOBODY && is(base_label, string) && is(label, string) && is_label(label, base_label))
                return {node, label, base_label, path};
        }
        return {node, NOBODY, NOBODY, NOBODY};
    }

  private:
    enum Sort : uint8_t { other, code, string, array };

    bool is(uint32_t node, Sort sort) const {
        return graph_.is_object(node) && sorts_[graph_.node(node).kind] == sort;
    }

    uint32_t path_at(uint32_t node) const {
        if (is(node, string)) return node;
        if (!is(node, array)) return NOBODY;
        const Edges &edges = graph_.outgoing();
        for (const uint32_t *to = edges.first(node); to < edges.last(node); to++)
            if (is(*to, string)) return *to;
        return NOBODY;
    }

    /* "block in render" of "render". A label that is too long is not kept to its end. */
    bool is_label(uint32_t label, uint32_t base) const {
        std::string_view text = graph_.value(label), end = graph_.value(base);
        if (end.empty() || text.size() < end.size()) return false;
        return text.substr(text.size() - end.size()) == end || text.size() < graph_.length(label);
    }

    const Graph &graph_;
    std::vector<Sort> sorts_;
};

} // namespace

std::vector<Code> find_code(const Graph &graph, const Vocabulary &vocabulary, const Job &job) {
    std::vector<Code> all;
    Finder finder(graph, vocabulary);
    for (uint32_t node = 0; node < graph.objects(); node++) {
        job.check(node);
        if (finder.is_code(node)) all.push_back(finder.look(node));
    }
    return all;
}

} // namespace heapline
