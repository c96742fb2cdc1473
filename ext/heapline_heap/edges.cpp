/* SPDX-License-Identifier: MIT */
#include "edges.hpp"

namespace heapline {

namespace {

const size_t PARTS_MAX = 64; /* each is a file */

} // namespace

EdgeSorter::EdgeSorter(const std::shared_ptr<Store> &store, size_t rows) : store_(store), rows_(rows) {
    while (rows >> shift_ >= PARTS_MAX) shift_++;
    for (size_t first = 0; first < rows; first += size_t{1} << shift_) parts_.emplace_back(store);
}

void EdgeSorter::finish() {
    for (Shelf<Edge> &part : parts_) part.finish();
}

/* Counting sort. */
EdgeSorter::Sorted EdgeSorter::sort(size_t part, const Job &job) {
    const size_t first_row = first(part), rows = last(part) - first_row;
    const Shelf<Edge> &edges = parts_[part];
    Sorted sorted = {Column<uint32_t>(rows + 1), Ledger<uint32_t>(store_, edges.size())};
    for (size_t i = 0; i < edges.size(); i++) {
        job.check(i);
        store_->trim();
        sorted.begin[edges[i].row - first_row]++;
    }
    for (size_t row = 0; row < rows; row++) sorted.begin[row + 1] += sorted.begin[row];
    for (size_t i = edges.size(); i-- > 0;) { /* from where each row ends to where it begins */
        job.check(i);
        store_->trim();
        sorted.ends[--sorted.begin[edges[i].row - first_row]] = edges[i].target;
    }
    parts_[part].release();
    return sorted;
}

} // namespace heapline
