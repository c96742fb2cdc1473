/* SPDX-License-Identifier: MIT */
/*
 * Two or three dumps of one process beside each other. An object is the same in two dumps where its address, type and
 * class are, and its place and generation of birth as far as both dumps tell.
 */
#ifndef HEAPLINE_HEAP_COMPARISON_HPP
#define HEAPLINE_HEAP_COMPARISON_HPP

#include <array>
#include <unordered_map>
#include <vector>

#include "dump.hpp"

namespace heapline {

class Comparison {
  public:
    /* Words are of `vocabulary()`; generation: plus 1, 0 is unknown. */
    struct Key {
        uint32_t label, type, file, line, generation;
        bool operator==(const Key &other) const {
            return label == other.label && type == other.type && file == other.file && line == other.line &&
                   generation == other.generation;
        }
    };
    /* In the first, second and third dump; born: in the second and not in the first; gone: the other way round; kept:
     * born, and in the third. */
    enum Stage { before, after, last, born, gone, kept, STAGES };
    struct Row {
        Key key;
        std::array<Figures, STAGES> figures;
    };

    /* Two or three, read to the depth of objects at least. */
    Comparison(std::vector<Dump *> dumps, const Job &job);

    bool same_process() const {
        return same_process_;
    }
    const std::vector<Row> &rows() const {
        return rows_;
    }
    const Vocabulary &vocabulary() const {
        return vocabulary_;
    }

  private:
    /* What the numbers of one dump are in vocabulary_. */
    struct View {
        Dump *dump;
        Translation translation;
        const Dump::Groups *groups;
        std::vector<uint32_t> labels; /* by group */
    };
    struct KeyHash {
        size_t operator()(const Key &key) const;
    };

    bool of_one_process() const;
    Key key(const View &view, uint32_t node) const;
    Row &row(const Key &key);
    bool has(const View &view, uint64_t address, const Key &wanted) const;
    void count(const View &view, const Job &job, Stage all, Stage alone, const View &other, const View *third);

    std::vector<View> views_;
    bool same_process_;
    Vocabulary vocabulary_;
    std::vector<Row> rows_;
    std::unordered_map<Key, uint32_t, KeyHash> numbers_;
};

} // namespace heapline

#endif
