/* SPDX-License-Identifier: MIT */
#include "cells.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "varint.hpp"

namespace heapline {
namespace capture {

namespace {

/* There are at most 64 spans and for each two of them a moment: ticks fit into 13 bits. */
uint64_t key_of(uint64_t row, unsigned born, unsigned ended, bool temporary) {
    return row << 27 | uint64_t{born} << 14 | ended << 1 | (temporary ? 1 : 0);
}
uint64_t row_of(uint64_t key) {
    return key >> 27;
}
unsigned born_of(uint64_t key) {
    return key >> 14 & 0x1fff;
}
unsigned ended_of(uint64_t key) {
    return key >> 1 & 0x1fff;
}
bool temporary_of(uint64_t key) {
    return key & 1;
}

} // namespace

Cells::Cells(std::vector<uint32_t> rows, const Analysis &first, std::vector<Moments::Moment> moments, size_t most)
    : rows_(std::move(rows)), moments_(std::move(moments)), most_(most), spans_(first) {
    std::map<uint64_t, unsigned> spans;
    for (const Moments::Moment &moment : moments_) spans[moment.births] = moment.span;
    before_.resize(Spans::COUNT + 1);
    for (const auto &[births, span] : spans) {
        places_.push_back(births);
        before_[span + 1]++;
    }
    for (unsigned span = 0; span < Spans::COUNT; span++)
        before_[span + 1] = static_cast<uint16_t>(before_[span + 1] + before_[span]);
    keep();
}

/* Of the moments those that a window of spans that are so wide may have its peak at: what is kept of wider ones was
 * kept of narrower ones. */
void Cells::keep() {
    std::map<std::pair<unsigned, unsigned>, uint64_t> last;
    for (const Moments::Moment &moment : moments_)
        if (moment.from % (1u << shift_) == 0) last[{moment.from, moment.span >> shift_}] = moment.births;
    std::set<uint64_t> kept;
    for (const auto &[window, births] : last) kept.insert(births);
    kept_.assign(1, 0);
    for (uint64_t births : places_) kept_.push_back(static_cast<uint16_t>(kept_.back() + kept.count(births)));
}

Cells::Place Cells::now(uint64_t time_ns) {
    while (passed_ < places_.size() && places_[passed_] <= births_) passed_++;
    return {static_cast<uint8_t>(spans_.at(time_ns)), false, passed_};
}

void Cells::birth(uint64_t block, uint64_t, uint64_t time_ns) {
    if (block >= born_.size()) born_.resize(block + 1);
    born_[block] = now(time_ns);
    births_++;
}

void Cells::end(uint64_t block, uint32_t context, uint64_t size, uint64_t time_ns, bool temporary) {
    add(born_[block], context, size, tick(now(time_ns)), temporary);
}

void Cells::resize(uint64_t block, uint32_t context, uint64_t before, uint64_t after, uint64_t time_ns) {
    end(block, context, before, time_ns, false);
    birth(block, after, time_ns);
    born_[block].moved = true;
}

void Cells::cut(uint64_t block, uint32_t context, uint64_t size, uint64_t time_ns, bool temporary,
                const std::vector<uint32_t> &rests) {
    Place born = born_[block], part = born;
    part.moved = true;
    add(part, context, size, tick(now(time_ns)), temporary);
    for (uint32_t rest : rests) {
        if (rest >= born_.size()) born_.resize(rest + 1);
        born_[rest] = born;
        born.moved = true;
    }
}

void Cells::rest(uint64_t block, uint32_t context, uint64_t size) {
    add(born_[block], context, size, LIVES, false);
}

void Cells::add(Place born, uint32_t context, uint64_t size, unsigned ended, bool temporary) {
    Figures &figures = cells_[key_of(rows_.at(context), tick(born), ended, temporary)];
    figures.count += !born.moved;
    figures.bytes += size;
    while (cells_.size() > most_ && Spans::COUNT >> shift_ > 1) coarsen();
}

void Cells::coarsen() {
    std::vector<unsigned> coarser(LIVES + 1, LIVES); /* by tick */
    std::vector<std::pair<Place, unsigned>> places;
    for (unsigned span = 0; span < Spans::COUNT; span++)
        for (unsigned passed = before_[span]; passed <= before_[span + 1]; passed++) {
            const Place place = {static_cast<uint8_t>(span), false, static_cast<uint16_t>(passed)};
            places.emplace_back(place, tick(place));
        }
    shift_++;
    keep();
    for (const auto &[place, before] : places) coarser[before] = tick(place);
    std::unordered_map<uint64_t, Figures> cells;
    for (const auto &[key, figures] : cells_)
        cells[key_of(row_of(key), coarser[born_of(key)], coarser[ended_of(key)], temporary_of(key))].add(figures);
    cells_.swap(cells);
}

std::vector<unsigned> Cells::starts() const {
    std::vector<unsigned> starts;
    for (unsigned span = 0; span <= Spans::COUNT; span += 1u << shift_)
        starts.push_back((span >> shift_) + kept_[before_[span]]);
    return starts;
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
        put_varint(bytes, born_of(key) << 1 | (temporary_of(key) ? 1 : 0));
        put_varint(bytes, ended_of(key) == LIVES ? 0 : ended_of(key) - born_of(key) + 1);
        put_varint(bytes, figures.count);
        put_varint(bytes, figures.bytes);
        row = row_of(key);
    }
    return bytes;
}

} // namespace capture
} // namespace heapline
