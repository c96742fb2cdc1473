/* SPDX-License-Identifier: MIT */
/*
 * What a page recomputes from: blocks by who allocated them (a row), when they were born, when they ended, and whether
 * they were temporary. Time is cut into ticks: at the beginning of each span, and at each moment at which the peak of a
 * window may be (moments.hpp). For every window that begins and ends between two spans the sums of cells are exact, its
 * peak included. It is filled by another pass of the same query, so contexts have the numbers that they had in the
 * first one; where there are more than `most` cells, each two spans become one. An object that moves into a slot of
 * another size is from then on as if it had been born then, so a window that begins in between has it, too; it counts
 * as one only till then.
 */
#ifndef HEAPLINE_CAPTURE_CELLS_HPP
#define HEAPLINE_CAPTURE_CELLS_HPP

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "../heapline_heap/column.hpp"
#include "moments.hpp"

namespace heapline {
namespace capture {

class Cells : public Watcher {
  public:
    /* rows: by context. first: the analysis of the first pass. moments: of the second. most: cells */
    Cells(std::vector<uint32_t> rows, const Analysis &first, std::vector<Moments::Moment> moments, size_t most);

    void birth(uint64_t block, uint64_t size, uint64_t time_ns) override;
    void end(uint64_t block, uint32_t context, uint64_t size, uint64_t time_ns, bool temporary) override;
    void resize(uint64_t block, uint32_t context, uint64_t before, uint64_t after, uint64_t time_ns) override;
    void cut(uint64_t block, uint32_t context, uint64_t size, uint64_t time_ns, bool temporary,
             const std::vector<uint32_t> &rests) override;
    void rest(uint64_t block, uint32_t context, uint64_t size) override;

    uint64_t width_ns() const {
        return spans_.width_ns() << shift_;
    }
    /* The first tick of each span, and how many ticks there are. After each other tick but the last of a span is a
     * moment at which a peak may be. */
    std::vector<unsigned> starts() const;
    /*
     * Varints, five a cell, in the order of row and time: rows further than the last cell; twice the tick of birth,
     * plus 1 where it was temporary; 0 where it lived on, else 1 + ticks until its end; blocks; bytes.
     */
    std::string bytes() const;

  private:
    /* As short as it can be told: the span, and how many moments were before. */
    struct Place {
        uint8_t span;
        bool moved; /* counted before, in a slot of another size */
        uint16_t passed;
    };
    static constexpr unsigned LIVES = (1u << 13) - 1; /* in place of the tick of the end */

    Place now(uint64_t time_ns);
    unsigned tick(Place place) const {
        return (place.span >> shift_) + kept_[place.passed];
    }
    void add(Place born, uint32_t context, uint64_t size, unsigned ended, bool temporary);
    void keep();
    void coarsen();

    const std::vector<uint32_t> rows_;
    const std::vector<Moments::Moment> moments_;
    const size_t most_;
    Spans spans_;
    unsigned shift_ = 0;           /* spans are 2^shift_ times as wide */
    std::vector<uint64_t> places_; /* moments, in order, each once: births until then */
    std::vector<uint16_t> before_; /* by span: moments that are before it, and how many there are in all */
    std::vector<uint16_t> kept_;   /* of the first so many moments: how many are still told apart */
    uint64_t births_ = 0;
    uint16_t passed_ = 0;
    Column<Place> born_;
    std::unordered_map<uint64_t, Figures> cells_; /* by row, birth, end and temporary */
};

} // namespace capture
} // namespace heapline

#endif
