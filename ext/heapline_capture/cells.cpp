/* SPDX-License-Identifier: MIT */
#include "cells.hpp"

#include <algorithm>

#include "varint.hpp"

namespace heapline {
namespace capture {

namespace {

uint64_t key_of(uint64_t row, unsigned born, unsigned ended, unsigned flags) {
    return row << 20 | uint64_t{born} << 12 | ended << 4 | flags;
}
uint64_t row_of(uint64_t key) {
    return key >> 20;
}
unsigned born_of(uint64_t key) {
    return key >> 12 & 0xff;
}
unsigned ended_of(uint64_t key) {
    return key >> 4 & 0xff;
}
unsigned flags_of(uint64_t key) {
    return key & 0xf;
}

/* So wide that SPANS of them reach behind the last event. */
uint64_t width_for(const Analysis &first, unsigned spans) {
    uint64_t begin = first.timeline().begin_ns();
    uint64_t whole = first.end_ns() < begin ? 0 : first.end_ns() - begin;
    return whole / spans + 1;
}

} // namespace

Cells::Cells(std::vector<uint32_t> rows, const Analysis &first, size_t most)
    : rows_(std::move(rows)), most_(most), begin_(first.timeline().begin_ns()), width_(width_for(first, SPANS)),
      peak_bytes_(first.sums().peak.bytes) {}

void Cells::birth(uint64_t block, uint64_t time_ns, uint64_t live) {
    if (block >= births_.size()) births_.resize(block + 1);
    births_[block] = {static_cast<uint8_t>(std::min<uint64_t>(span(time_ns), SPANS - 1)), !peaked_};
    if (peak_bytes_ && live == peak_bytes_) peaked_ = true; /* the first moment at which most was live */
}

void Cells::end(uint64_t block, uint32_t context, uint64_t size, uint64_t time_ns, bool temporary) {
    unsigned ended = static_cast<unsigned>(std::min<uint64_t>(span(time_ns), SPANS - 1)) >> shift_;
    add(block, context, size, ended, temporary ? TEMPORARY : 0);
}

void Cells::rest(uint64_t block, uint32_t context, uint64_t size) {
    add(block, context, size, LIVES, 0);
}

void Cells::add(uint64_t block, uint32_t context, uint64_t size, unsigned ended, unsigned flags) {
    Born born = births_[block];
    if (born.by_peak && peaked_) flags |= AT_PEAK;
    unsigned since = born.span >> shift_;
    ended = std::max(ended, since); /* in a damaged capture time may go back */
    cells_[key_of(rows_.at(context), since, ended, flags)].add(size);
    while (cells_.size() > most_ && SPANS >> shift_ > 1) coarsen();
}

void Cells::coarsen() {
    std::unordered_map<uint64_t, Figures> coarse;
    for (const auto &[key, figures] : cells_) {
        unsigned ended = ended_of(key) == LIVES ? LIVES : ended_of(key) / 2;
        coarse[key_of(row_of(key), born_of(key) / 2, ended, flags_of(key))].add(figures);
    }
    cells_.swap(coarse);
    shift_++;
}

std::string Cells::bytes() const {
    std::vector<uint64_t> keys;
    for (const auto &[key, figures] : cells_) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    std::string bytes;
    uint64_t row = 0;
    for (uint64_t key : keys) {
        const Figures &figures = cells_.at(key);
        put_varint(bytes, row_of(key) - row);
        put_varint(bytes, born_of(key) << 2 | flags_of(key));
        put_varint(bytes, ended_of(key) == LIVES ? 0 : ended_of(key) - born_of(key) + 1);
        put_varint(bytes, figures.count);
        put_varint(bytes, figures.bytes);
        row = row_of(key);
    }
    return bytes;
}

} // namespace capture
} // namespace heapline
