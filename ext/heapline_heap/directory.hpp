/* SPDX-License-Identifier: MIT */
/*
 * From an address to the number of the object there. Objects lie aligned to 8 bytes in runs of slots, and a dump lists
 * them page by page, so 64 possible places are one bitmap, and an object's number is that of the first in its group
 * plus the bits below its own: two loads from a table of a few megabytes, whatever the order of the pages.
 *
 * D1: the objects of a group are numbered in the order of their addresses, one after the other. `add` refuses what
 * would break that; the caller then sorts the objects and begins anew.
 */
#ifndef HEAPLINE_HEAP_DIRECTORY_HPP
#define HEAPLINE_HEAP_DIRECTORY_HPP

#include <cstdint>
#include <memory>
#include <utility>

#include "column.hpp"
#include "shelf.hpp"

namespace heapline {

const uint32_t NOBODY = UINT32_MAX;

class Directory {
  public:
    explicit Directory(std::shared_ptr<Store> store) : kept_(std::move(store)) {}

    /* The objects come in the order of their numbers, from 0. Returns false where D1 would break. */
    bool add(uint64_t address) {
        uint64_t key = key_of(address), bit = bit_of(address);
        if (key != last_key_ && !begin_group(key)) return false;
        Group &group = groups_[last_];
        if (group.bits >= bit) return false;
        group.bits |= bit;
        count_++;
        return true;
    }

    /* NOBODY: there is none. */
    uint32_t find(uint64_t address) const {
        if (address % 8 || !size_) return NOBODY;
        const Group &group = table_[place(table_, size_, key_of(address))];
        uint64_t bit = bit_of(address);
        if (!(group.bits & bit)) return NOBODY;
        return group.first + static_cast<uint32_t>(__builtin_popcountll(group.bits & (bit - 1)));
    }

    /* All were added, and few are looked for from now on: it goes where the store has it. */
    void finish() {
        kept_ = Shelf<Group>(kept_.store(), std::move(groups_));
        groups_.release();
        table_ = kept_.data();
    }

  private:
    struct Group {
        uint64_t key, bits; /* no bits: an empty place */
        uint32_t first;
    };

    static uint64_t key_of(uint64_t address) {
        return address >> 9;
    }
    static uint64_t bit_of(uint64_t address) {
        return uint64_t{1} << (address >> 3 & 63);
    }

    static size_t place(const Group *groups, size_t size, uint64_t key) {
        size_t mask = size - 1, i = (key * 0x9e3779b97f4a7c15u >> 20) & mask;
        while (groups[i].bits && groups[i].key != key) i = (i + 1) & mask;
        return i;
    }

    bool begin_group(uint64_t key) {
        if ((used_ + 1) * 4 >= groups_.size() * 3) grow();
        last_ = place(table_, size_, key);
        if (groups_[last_].bits) return false;
        groups_[last_] = {key, 0, count_};
        last_key_ = key;
        used_++;
        return true;
    }

    void grow() {
        Column<Group> larger(std::max<size_t>(1024, groups_.size() * 2));
        for (const Group &group : groups_)
            if (group.bits) larger[place(larger.data(), larger.size(), group.key)] = group;
        groups_.swap(larger);
        table_ = groups_.data();
        size_ = groups_.size();
    }

    Column<Group> groups_; /* an open table, a power of two; while objects are added */
    Shelf<Group> kept_;    /* the same, when it is finished */
    const Group *table_ = nullptr;
    size_t size_ = 0; /* of the table */
    size_t used_ = 0, last_ = 0;
    uint64_t last_key_ = UINT64_MAX;
    uint32_t count_ = 0;
};

} // namespace heapline

#endif
