/* SPDX-License-Identifier: MIT */
/*
 * Each GC of a recording: what ran into it, when it began, when it ended, and for how long the program stood still for
 * it. A GC may do its work in several pieces, between which the program goes on; a piece belongs to the GC that began
 * last until it ended. Marks must come in the order of time; in a damaged capture any of them may be missing.
 */
#ifndef HEAPLINE_CAPTURE_COLLECTIONS_HPP
#define HEAPLINE_CAPTURE_COLLECTIONS_HPP

#include <cstdint>
#include <vector>

namespace heapline {
namespace capture {

struct Collection {
    uint64_t number; /* GCs that began before it, in the process's life */
    uint64_t begin_ns, end_ns, paused_ns;
    uint32_t stack; /* that ran into it; 0: not known */
};

class Collections {
  public:
    static constexpr uint64_t UNKNOWN = UINT64_MAX; /* an end that was not seen */

    void start(uint64_t number, uint32_t stack, uint64_t now_ns);
    void end(uint64_t now_ns);
    void enter(uint64_t now_ns);
    void exit(uint64_t now_ns);

    const std::vector<Collection> &all() const {
        return all_;
    }

  private:
    void pass(uint64_t now_ns);

    std::vector<Collection> all_;
    uint64_t entered_ = UNKNOWN; /* the piece of work since then is nobody's yet */
};

} // namespace capture
} // namespace heapline

#endif
