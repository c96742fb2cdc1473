/* SPDX-License-Identifier: MIT */
/* The numbers of blocks by address, beside a map in scenes at random, dense and sparse; and free numbers. */
#include "../../ext/heapline_capture/addresses.hpp"

#include <random>
#include <unordered_map>
#include <vector>

#include "../../ext/heapline_capture/free_numbers.hpp"
#include "check.h"

using namespace heapline::capture;

namespace {

class Scene {
  public:
    explicit Scene(unsigned seed) : random_(seed) {}

    uint64_t below(uint64_t limit) {
        return random_() % limit;
    }

    /* One step: an address comes to have a block, or loses it. */
    void step(uint64_t address) {
        const auto known = truth_.find(address);
        CHECK_EQUAL(addresses_.find(address), known == truth_.end() ? 0 : known->second);
        if (known == truth_.end()) {
            const uint32_t number = static_cast<uint32_t>(random_()) | 1u << 31; /* as high as numbers can be */
            addresses_.add(address, number);
            truth_[address] = number;
        } else {
            CHECK_EQUAL(addresses_.remove(address), known->second);
            truth_.erase(known);
        }
        CHECK_EQUAL(addresses_.size(), truth_.size());
    }

    /* All that is known is there; its neighbours are where they are known. */
    void check() const {
        for (const auto &[address, number] : truth_) {
            CHECK_EQUAL(addresses_.find(address), number);
            for (const uint64_t beside : {address + 16, address - 16, address + 8, address + 4096, address - 4096})
                CHECK_EQUAL(addresses_.find(beside), truth_.count(beside) ? truth_.at(beside) : 0);
        }
    }

    void end_all() {
        for (const auto &[address, number] : truth_) {
            CHECK_EQUAL(addresses_.remove(address), number);
            CHECK_EQUAL(addresses_.remove(address), 0);
        }
        truth_.clear();
        CHECK_EQUAL(addresses_.size(), 0);
    }

  private:
    std::mt19937_64 random_;
    Addresses addresses_;
    std::unordered_map<uint64_t, uint32_t> truth_;
};

/* span: bytes in which all lies; step: a multiple of which each address is. */
void test_a_scene(unsigned seed, uint64_t base, uint64_t span, uint64_t step) {
    Scene scene(seed);
    for (int i = 0; i < 60000; i++) scene.step(base + scene.below(span / step) * step);
    scene.check();
    scene.end_all();
    for (int i = 0; i < 2000; i++) scene.step(base + scene.below(span / step) * step);
    scene.check();
}

void test_scenes() {
    const uint64_t heap = 0x7f1234560000;
    test_a_scene(1, heap, 1 << 12, 16);      /* one page, full and empty and full again */
    test_a_scene(2, heap, 1 << 18, 16);      /* dense */
    test_a_scene(3, heap, 1 << 16, 40);      /* slots of objects */
    test_a_scene(4, heap, 1 << 24, 48);      /* some in each page */
    test_a_scene(5, heap, 1ull << 34, 4096); /* one in each page */
    test_a_scene(6, heap, 1 << 16, 1);       /* any byte */
    test_a_scene(7, 1, UINT64_MAX, 1);       /* anywhere at all */
    test_a_scene(8, UINT64_MAX - 8192, 8192, 16);
}

/* A page from its first to its last place, forth and back; what was taken last is what comes next. */
void test_rows() {
    Addresses addresses;
    FreeNumbers numbers;
    for (uint64_t address = 16; address <= 1 << 20; address += 16) addresses.add(address, numbers.take());
    CHECK_EQUAL(numbers.highest(), 1 << 16);
    for (uint64_t address = 1 << 20; address; address -= 16) {
        CHECK_EQUAL(addresses.find(address), address / 16);
        numbers.give_back(addresses.remove(address));
    }
    CHECK_EQUAL(addresses.size(), 0);
    for (uint32_t number = 1; number <= 1 << 16; number++) CHECK_EQUAL(numbers.take(), number);
    CHECK_EQUAL(numbers.take(), (1 << 16) + 1);
}

const check_test TESTS[] = {{"scenes at random", test_scenes}, {"rows", test_rows}};

} // namespace

CHECK_MAIN(TESTS)
