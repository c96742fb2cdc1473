/* SPDX-License-Identifier: MIT */
/* Edges by row, and how edges that come in no order are brought into it. */
#ifndef HEAPLINE_HEAP_EDGES_HPP
#define HEAPLINE_HEAP_EDGES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "column.hpp"
#include "job.hpp"
#include "ledger.hpp"
#include "shelf.hpp"
#include "store.hpp"

namespace heapline {

/* The targets of each row, those of a row together (compressed sparse rows). */
struct Edges {
    Shelf<uint32_t> begin; /* one more than there are rows */
    Shelf<uint32_t> ends;

    explicit Edges(const std::shared_ptr<Store> &store) : begin(store), ends(store) {}

    /* The rows begun before end here, and one begins. */
    void begin_row() {
        begin.push_back(static_cast<uint32_t>(ends.size()));
    }
    /* All rows were written, and can be read from now on. */
    void finish() {
        begin_row();
        begin.finish();
        ends.finish();
    }
    const uint32_t *first(uint32_t row) const {
        return ends.data() + begin[row];
    }
    const uint32_t *last(uint32_t row) const {
        return ends.data() + begin[row + 1];
    }
};

/* Edges that come in any order. They lie in parts, of two million rows each, unless there are very many: so one part at
 * a time is brought into order in little memory. */
class EdgeSorter {
  public:
    EdgeSorter(const std::shared_ptr<Store> &store, size_t rows);

    void add(uint32_t row, uint32_t target) {
        parts_[row >> shift_].push_back({row, target});
    }
    /* All were added. */
    void finish();

    size_t parts() const {
        return parts_.size();
    }
    /* Where the part's rows begin, and where they end. */
    size_t first(size_t part) const {
        return part << shift_;
    }
    size_t last(size_t part) const {
        return std::min(rows_, (part + 1) << shift_);
    }
    /* A part's rows, counted from its first; the targets of each in the order in which they came. */
    struct Sorted {
        Column<uint32_t> begin; /* one more than there are rows */
        Ledger<uint32_t> ends;

        const uint32_t *first(size_t row) const {
            return ends.data() + begin[row];
        }
        const uint32_t *last(size_t row) const {
            return ends.data() + begin[row + 1];
        }
    };
    /* Once for each part. */
    Sorted sort(size_t part, const Job &job);

  private:
    struct Edge {
        uint32_t row, target;
    };

    std::shared_ptr<Store> store_;
    size_t rows_;
    unsigned shift_ = 21;
    std::vector<Shelf<Edge>> parts_;
};

} // namespace heapline

#endif
