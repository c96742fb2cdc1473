/* SPDX-License-Identifier: MIT */
/*
 * When most was live, in every window of a page at once. A window begins and ends between two of SPANS spans of equal
 * length and is about the blocks that were born in it. What its blocks held at most, it held after a birth; for each
 * span that a window may begin with, the moments at which more was live than ever before are noted, of each span the
 * last one. So the peak of a window is among the moments of its spans (M1), and they are few.
 */
#ifndef HEAPLINE_CAPTURE_MOMENTS_HPP
#define HEAPLINE_CAPTURE_MOMENTS_HPP

#include <array>
#include <cstdint>
#include <vector>

#include "../heapline_heap/column.hpp"
#include "analysis.hpp"

namespace heapline {
namespace capture {

/* Spans of equal length that reach behind the last event. */
class Spans {
  public:
    static constexpr unsigned COUNT = 64;

    explicit Spans(const Analysis &first);

    /* In a damaged capture time may go back: then it stands still. */
    unsigned at(uint64_t time_ns) {
        if (time_ns >= end_) move(time_ns);
        return now_;
    }
    uint64_t width_ns() const {
        return width_;
    }

  private:
    void move(uint64_t time_ns);

    uint64_t begin_, width_, end_;
    unsigned now_ = 0;
};

class Moments : public Watcher {
  public:
    /* After so many births (and changes of size), in this span, the blocks born from span `from` on held more than ever
     * before. */
    struct Moment {
        unsigned from, span;
        uint64_t births;
    };

    explicit Moments(const Analysis &first) : spans_(first) {}

    void birth(uint64_t block, uint64_t size, uint64_t time_ns) override;
    void end(uint64_t block, uint32_t context, uint64_t size, uint64_t time_ns, bool temporary) override;
    void resize(uint64_t block, uint32_t context, uint64_t before, uint64_t after, uint64_t time_ns) override;
    void cut(uint64_t block, uint32_t context, uint64_t size, uint64_t time_ns, bool temporary,
             const std::vector<uint32_t> &rests) override;
    void rest(uint64_t, uint32_t, uint64_t) override {}

    /* By span. Nothing is watched any more. */
    const std::vector<Moment> &all();

  private:
    void move(uint64_t time_ns);
    void compare();
    void close();

    Spans spans_;
    unsigned span_ = 0;
    Column<uint8_t> born_;                               /* by block: its span */
    std::array<uint64_t, Spans::COUNT> live_{}, most_{}; /* bytes by span of birth; the most of all since it */
    std::array<uint64_t, Spans::COUNT> raised_{};        /* after how many births, in this span; 0: not in it */
    uint64_t births_ = 0, grown_ = 0; /* grown_: after so many births it was more than before, and was not compared */
    std::vector<Moment> moments_;
};

} // namespace capture
} // namespace heapline

#endif
