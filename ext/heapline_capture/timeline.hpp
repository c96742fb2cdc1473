/* SPDX-License-Identifier: MIT */
/*
 * What happened when, in at most MOST spans of equal length. How long a recording is shows only when it has been read:
 * so spans begin short, and where there are too many each two become one.
 */
#ifndef HEAPLINE_CAPTURE_TIMELINE_HPP
#define HEAPLINE_CAPTURE_TIMELINE_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapline {
namespace capture {

class Timeline {
  public:
    static const size_t MOST = 2048;
    static const uint64_t SHORTEST = 1000000; /* ns */

    struct Span {
        uint64_t allocations = 0, allocated = 0, frees = 0, freed = 0; /* calls and bytes in it */
        uint64_t live = 0, most = 0;                                   /* bytes at its end; the most in it */
        uint64_t collections = 0, paused = 0;                          /* GCs that began in it; ns in GC */
    };

    explicit Timeline(uint64_t begin_ns) : begin_(begin_ns) {
        set_end();
    }

    /* The span of this time, which must not be before the last one asked for. */
    Span &at(uint64_t time_ns) {
        if (time_ns >= end_) open(time_ns);
        return current_;
    }

    /* The program stood still for GC from here to there, which is now. */
    void pause(uint64_t from_ns, uint64_t to_ns);

    /* All spans up to now. */
    std::vector<Span> spans() const;
    uint64_t begin_ns() const {
        return begin_;
    }
    uint64_t width_ns() const {
        return width_;
    }

  private:
    void open(uint64_t time_ns);
    void close();
    void halve();
    void set_end() {
        end_ = begin_ + (spans_.size() + 1) * width_;
    }

    const uint64_t begin_;
    uint64_t width_ = SHORTEST, end_ = 0;
    std::vector<Span> spans_; /* those before current_ */
    Span current_;
};

} // namespace capture
} // namespace heapline

#endif
