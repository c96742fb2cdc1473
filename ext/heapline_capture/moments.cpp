/* SPDX-License-Identifier: MIT */
#include "moments.hpp"

#include <algorithm>

namespace heapline {
namespace capture {

Spans::Spans(const Analysis &first) : begin_(first.timeline().begin_ns()) {
    const uint64_t whole = first.end_ns() < begin_ ? 0 : first.end_ns() - begin_;
    width_ = whole / COUNT + 1;
    end_ = begin_ + width_;
}

void Spans::move(uint64_t time_ns) {
    now_ = static_cast<unsigned>(std::min<uint64_t>((time_ns - begin_) / width_, COUNT - 1));
    end_ = now_ == COUNT - 1 ? UINT64_MAX : begin_ + (now_ + 1) * width_;
}

void Moments::birth(uint64_t block, uint64_t size, uint64_t time_ns) {
    move(time_ns);
    births_++;
    if (block >= born_.size()) born_.resize(block + 1);
    born_[block] = static_cast<uint8_t>(span_);
    live_[span_] += size;
    if (size) grown_ = births_;
}

/* Only before something ends can it have been more than ever. */
void Moments::end(uint64_t block, uint32_t, uint64_t size, uint64_t time_ns, bool) {
    move(time_ns);
    compare();
    live_[born_[block]] -= size;
}

/* As Cells has it: one ends, and one that is larger or smaller begins. */
void Moments::resize(uint64_t block, uint32_t context, uint64_t before, uint64_t after, uint64_t time_ns) {
    end(block, context, before, time_ns, false);
    birth(block, after, time_ns);
}

void Moments::cut(uint64_t block, uint32_t context, uint64_t size, uint64_t time_ns, bool temporary,
                  const std::vector<uint32_t> &rests) {
    const uint8_t born = born_[block];
    end(block, context, size, time_ns, temporary);
    for (uint32_t rest : rests) {
        if (rest >= born_.size()) born_.resize(rest + 1);
        born_[rest] = born;
    }
}

void Moments::move(uint64_t time_ns) {
    const unsigned now = spans_.at(time_ns);
    if (now == span_) return;
    close();
    span_ = now;
}

void Moments::compare() {
    if (!grown_) return;
    uint64_t live = 0;
    for (unsigned from = span_ + 1; from--;) {
        live += live_[from];
        if (live <= most_[from]) continue;
        most_[from] = live;
        raised_[from] = grown_;
    }
    grown_ = 0;
}

void Moments::close() {
    compare();
    for (unsigned from = 0; from <= span_; from++)
        if (raised_[from]) moments_.push_back({from, span_, raised_[from]});
    raised_.fill(0);
}

const std::vector<Moments::Moment> &Moments::all() {
    close();
    return moments_;
}

} // namespace capture
} // namespace heapline
