/* SPDX-License-Identifier: MIT */
/*
 * What a page recomputes from: blocks by who allocated them (a row), the span of time in which they were born, that in
 * which they ended, whether they were temporary and whether they lived at the peak. For every window that begins and
 * ends between two spans the sums of cells are exact. It is filled by a second pass of the same query, so contexts have
 * the numbers that they had in the first one; where there are more than `most` cells, each two spans become one.
 */
#ifndef HEAPLINE_CAPTURE_CELLS_HPP
#define HEAPLINE_CAPTURE_CELLS_HPP

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "../heapline_heap/column.hpp"
#include "analysis.hpp"

namespace heapline {
namespace capture {

class Cells {
  public:
    static const unsigned SPANS = 64;

    /* rows: by context. first: the analysis of the first pass. most: cells */
    Cells(std::vector<uint32_t> rows, const Analysis &first, size_t most);

    /* Of a chosen block; live: all bytes, with it. */
    void birth(uint64_t block, uint64_t time_ns, uint64_t live);
    void end(uint64_t block, uint32_t context, uint64_t size, uint64_t time_ns, bool temporary);
    /* It lived on. */
    void rest(uint64_t block, uint32_t context, uint64_t size);

    uint64_t width_ns() const {
        return width_ << shift_;
    }
    unsigned spans() const {
        return SPANS >> shift_;
    }
    /*
     * Varints, five a cell, in the order of row and time: rows further than the last cell; 4 times the span of birth,
     * plus 1 where it was temporary, plus 2 where it lived at the peak; 0 where it lived on, else 1 + spans until its
     * end; blocks; bytes.
     */
    std::string bytes() const;

  private:
    struct Born {
        uint8_t span;
        bool by_peak;
    };
    enum Flag { TEMPORARY = 1, AT_PEAK = 2 };
    static const unsigned LIVES = 255; /* in place of the span of the end */

    uint64_t span(uint64_t time_ns) const {
        return time_ns < begin_ ? 0 : (time_ns - begin_) / width_;
    }
    void add(uint64_t block, uint32_t context, uint64_t size, unsigned ended, unsigned flags);
    void coarsen();

    const std::vector<uint32_t> rows_;
    const size_t most_;
    const uint64_t begin_, width_, peak_bytes_;
    unsigned shift_ = 0; /* spans are 2^shift_ times as wide */
    bool peaked_ = false;
    Column<Born> births_;
    std::unordered_map<uint64_t, Figures> cells_; /* by row, birth, end and flags */
};

} // namespace capture
} // namespace heapline

#endif
