/* SPDX-License-Identifier: MIT */
#include "timeline.hpp"

#include <algorithm>

namespace heapline {
namespace capture {

namespace {

Timeline::Span joined(const Timeline::Span &first, const Timeline::Span &second) {
    Timeline::Span span = second;
    span.allocations += first.allocations;
    span.allocated += first.allocated;
    span.frees += first.frees;
    span.freed += first.freed;
    span.collections += first.collections;
    span.paused += first.paused;
    span.most = std::max(first.most, second.most);
    return span;
}

} // namespace

std::vector<Timeline::Span> Timeline::spans() const {
    std::vector<Span> all(spans_);
    all.push_back(current_);
    return all;
}

void Timeline::pause(uint64_t from_ns, uint64_t to_ns) {
    at(to_ns);
    for (size_t i = from_ns < begin_ ? 0 : (from_ns - begin_) / width_; i <= spans_.size(); i++) {
        const uint64_t begin = std::max(from_ns, begin_ + i * width_), end = std::min(to_ns, begin_ + (i + 1) * width_);
        if (begin < end) (i < spans_.size() ? spans_[i] : current_).paused += end - begin;
    }
}

void Timeline::open(uint64_t time_ns) {
    while ((time_ns - begin_) / width_ >= MOST) halve();
    while (time_ns >= end_) close();
}

/* What lives goes on into the next span. */
void Timeline::close() {
    spans_.push_back(current_);
    Span next;
    next.live = next.most = current_.live;
    current_ = next;
    set_end();
}

void Timeline::halve() {
    if (spans_.size() % 2) {
        current_ = joined(spans_.back(), current_);
        spans_.pop_back();
    }
    for (size_t i = 0; i < spans_.size() / 2; i++) spans_[i] = joined(spans_[2 * i], spans_[2 * i + 1]);
    spans_.resize(spans_.size() / 2);
    width_ *= 2;
    set_end();
}

} // namespace capture
} // namespace heapline
