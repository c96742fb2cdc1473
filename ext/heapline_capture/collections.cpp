/* SPDX-License-Identifier: MIT */
#include "collections.hpp"

namespace heapline {
namespace capture {

/* The piece in which it begins is its own from the piece's beginning, or from where another one ended in it. */
void Collections::start(uint64_t number, uint32_t stack, uint64_t now_ns) {
    all_.push_back({number, now_ns, UNKNOWN, 0, stack});
}

void Collections::end(uint64_t now_ns) {
    if (all_.empty() || all_.back().end_ns != UNKNOWN) return;
    if (entered_ != UNKNOWN) pass(now_ns);
    all_.back().end_ns = now_ns;
}

void Collections::enter(uint64_t now_ns) {
    entered_ = now_ns;
}

void Collections::exit(uint64_t now_ns) {
    if (entered_ != UNKNOWN) pass(now_ns);
    entered_ = UNKNOWN;
}

void Collections::pass(uint64_t now_ns) {
    if (!all_.empty() && now_ns > entered_) all_.back().paused_ns += now_ns - entered_;
    entered_ = now_ns;
}

} // namespace capture
} // namespace heapline
