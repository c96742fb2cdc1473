/* SPDX-License-Identifier: MIT */
/* Edges that come in any order are read by row, those of a row in the order in which they came. */
#include "edges.hpp"

#include <random>
#include <vector>

#include "check.h"

using namespace heapline;

namespace {

const uint32_t ROWS = 5000001; /* in three parts */

void add(EdgeSorter &sorter, std::vector<std::vector<uint32_t>> &expected, uint32_t row, uint32_t target) {
    sorter.add(row, target);
    expected[row].push_back(target);
}

void check_sorted(const std::shared_ptr<Store> &store) {
    EdgeSorter sorter(store, ROWS);
    std::vector<std::vector<uint32_t>> expected(ROWS);
    std::mt19937 random(1);
    for (uint32_t i = 0; i < 200000; i++) add(sorter, expected, static_cast<uint32_t>(random() % ROWS), i);
    for (uint32_t i = 0; i < 500000; i++) add(sorter, expected, ROWS - 1, i); /* as of a class */
    sorter.finish();
    size_t rows = 0;
    for (size_t part = 0; part < sorter.parts(); part++) {
        CHECK_EQUAL(sorter.first(part), rows);
        const EdgeSorter::Sorted sorted = sorter.sort(part, Job());
        for (size_t row = 0; row + 1 < sorted.begin.size(); row++, rows++)
            CHECK(std::vector<uint32_t>(sorted.first(row), sorted.last(row)) == expected[rows]);
        CHECK_EQUAL(sorter.last(part), rows);
    }
    CHECK_EQUAL(rows, ROWS);
}

void test_in_memory() {
    check_sorted(std::make_shared<Store>());
}

void test_in_files() {
    check_sorted(std::make_shared<Store>(0, 1 << 20));
}

/* There are not more files than a process may have open. */
void test_very_many_rows() {
    CHECK_EQUAL(EdgeSorter(std::make_shared<Store>(), UINT32_MAX).parts(), 64);
}

const check_test TESTS[] = {
    {"in memory", test_in_memory}, {"in files", test_in_files}, {"very many rows", test_very_many_rows}};

} // namespace

CHECK_MAIN(TESTS)
