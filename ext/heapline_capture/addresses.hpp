/* SPDX-License-Identifier: MIT */
/*
 * Which block lies at which address. Blocks lie close together, so addresses are kept by page (4 KB): a bit for each
 * place in it where a block begins, and the numbers of these blocks in the order of their places. 64 pages that follow
 * each other are a region; a hash table leads to regions.
 *
 * A1  A page is the 256 addresses that differ in bits 4 to 11 alone, so any address is a place in some page; a region
 *     is those that differ in bits 4 to 17.
 * A2  A page with one block is a word in its region and nothing else. There is no region without a block.
 * Throws nothing but std::bad_alloc, and is then as it was.
 */
#ifndef HEAPLINE_CAPTURE_ADDRESSES_HPP
#define HEAPLINE_CAPTURE_ADDRESSES_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapline {
namespace capture {

class Addresses {
  public:
    Addresses();
    ~Addresses();
    Addresses(const Addresses &) = delete;
    Addresses &operator=(const Addresses &) = delete;

    /* The number of the block at this address; 0: there is none. */
    uint32_t find(uint64_t address) const;

    /* There must be none; number is not 0. */
    void add(uint64_t address, uint32_t number);

    /* The number that was there; 0: none. */
    uint32_t remove(uint64_t address);

    size_t size() const {
        return used_;
    }

  private:
    /* Numbers of at least two blocks, which lie behind it. */
    struct Page {
        uint64_t bits[4];
        uint16_t count, room;
        uint8_t before[4]; /* how many lie in places below those of each word */

        static Page *sized(Page *page, uint32_t room);
        uint32_t *numbers() {
            return reinterpret_cast<uint32_t *>(this + 1);
        }
        bool has(uint32_t place) const {
            return bits[place / 64] >> (place % 64) & 1;
        }
        uint32_t rank(uint32_t place) const {
            const uint64_t lower = bits[place / 64] & ((uint64_t{1} << (place % 64)) - 1);
            return before[place / 64] + static_cast<uint32_t>(__builtin_popcountll(lower));
        }
        void flip(uint32_t place, int change);
        void insert(uint32_t place, uint32_t number);
        uint32_t take(uint32_t place);
    };

    struct Region {
        uint64_t key;
        uint32_t used;      /* pages that have a block */
        uint64_t pages[64]; /* 0: no block; odd: one, its place and number; else a Page */
    };

    static uint64_t key_of(uint64_t address) {
        return address & ~uint64_t{0x3fff0};
    }
    static uint32_t page_of(uint64_t address) {
        return address >> 12 & 0x3f;
    }
    static uint32_t place_of(uint64_t address) {
        return address >> 4 & 0xff;
    }
    static uint64_t alone(uint32_t place, uint32_t number) {
        return uint64_t{place} << 33 | uint64_t{number} << 1 | 1;
    }
    static bool is_alone(uint64_t content) {
        return content & 1;
    }
    static uint32_t place_in(uint64_t content) {
        return static_cast<uint32_t>(content >> 33);
    }
    static uint32_t number_in(uint64_t content) {
        return static_cast<uint32_t>(content >> 1);
    }
    static Page *page_in(uint64_t content) {
        return reinterpret_cast<Page *>(content);
    }
    static uint64_t content_of(const Page *page) {
        return reinterpret_cast<uint64_t>(page);
    }

    static Page *grown(Page *page, uint32_t place, uint32_t number);
    static uint64_t shrunk(Page *page);

    /* Regions in a row, which differ in what lies above their pages, come to lie far apart. */
    size_t home(uint64_t key) const {
        return (key >> 18 | key << 46) * 0x9e3779b97f4a7c15u >> shift_;
    }
    size_t at(uint64_t key) const;
    Region *begin(uint64_t key);
    void end(size_t gap);
    void resize(size_t size);

    std::vector<Region *> regions_; /* an open table, at most half full */
    size_t used_ = 0, count_ = 0, mask_ = 0;
    int shift_ = 0;
};

} // namespace capture
} // namespace heapline

#endif
