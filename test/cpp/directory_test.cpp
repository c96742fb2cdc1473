/* SPDX-License-Identifier: MIT */
/* Addresses near each other and far apart, in any order of pages, lead to the numbers of the objects there. */
#include "directory.hpp"

#include <vector>

#include "check.h"

using namespace heapline;

namespace {

void fill(Directory &directory, const std::vector<uint64_t> &addresses) {
    for (uint64_t address : addresses) directory.expect(address);
    directory.begin();
    for (uint64_t address : addresses) CHECK(directory.add(address));
}

void check_all(const Directory &directory, const std::vector<uint64_t> &addresses) {
    for (uint32_t i = 0; i < addresses.size(); i++) {
        CHECK_EQUAL(directory.find(addresses[i]), i);
        CHECK_EQUAL(directory.find(addresses[i] + 1), NOBODY);
        CHECK_EQUAL(directory.find(addresses[i] + 8), NOBODY);
        CHECK_EQUAL(directory.find(addresses[i] + 16384 * 5000), NOBODY);
    }
}

/* Pages of 16 kB with slots of 40 bytes, the last first; and objects so far apart that each has a group for itself. */
std::vector<uint64_t> spread(uint64_t pages) {
    std::vector<uint64_t> addresses;
    for (uint64_t page = pages; page-- > 0;)
        for (uint64_t slot = 0; slot < 400; slot++) addresses.push_back(0x7f0000000000 + page * 16384 + slot * 40);
    for (uint64_t i = 0; i < 4000; i++) addresses.push_back(0x550000000000 + (i * 7 % 4000) * 1024);
    return addresses;
}

void test_pages_and_far_ones() {
    for (size_t in_memory : {size_t{0}, Store::IN_MEMORY}) {
        Directory directory(std::make_shared<Store>(in_memory));
        CHECK_EQUAL(directory.find(0x7f0000000000), NOBODY);
        const std::vector<uint64_t> addresses = spread(2000); /* so many that the table grows */
        fill(directory, addresses);
        check_all(directory, addresses);
        directory.finish();
        check_all(directory, addresses);
    }
}

void test_what_breaks_the_order() {
    Directory directory(std::make_shared<Store>());
    const std::vector<uint64_t> addresses = {0x1000, 0x1100, 0x1400, 0x1028};
    for (uint64_t address : addresses) directory.expect(address);
    directory.begin();
    CHECK(directory.add(0x1100));
    CHECK(!directory.add(0x1100)); /* a second time */
    CHECK(!directory.add(0x1000)); /* below one of its group */
    CHECK(directory.add(0x1400));
    CHECK(!directory.add(0x1128)); /* its group was left */
    directory.begin();
    for (uint64_t address : {0x1000, 0x1028, 0x1100, 0x1400}) CHECK(directory.add(address));
    CHECK_EQUAL(directory.find(0x1100), 2);
    CHECK_EQUAL(directory.find(0x1400), 3);
}

const check_test TESTS[] = {{"pages and far ones", test_pages_and_far_ones},
                            {"what breaks the order", test_what_breaks_the_order}};

} // namespace

CHECK_MAIN(TESTS)
