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

#include "column.hpp"

namespace heapline {

const uint32_t NOBODY = UINT32_MAX;

class Directory {
  public:
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
        if (address % 8 || groups_.empty()) return NOBODY;
        const Group &group = groups_[place(groups_, key_of(address))];
        uint64_t bit = bit_of(address);
        if (!(group.bits & bit)) return NOBODY;
        return group.first + static_cast<uint32_t>(__builtin_popcountll(group.bits & (bit - 1)));
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

    static size_t place(const Column<Group> &groups, uint64_t key) {
        size_t mask = groups.size() - 1, i = (key * 0x9e3779b97f4a7c15u >> 20) & mask;
        while (groups[i].bits && groups[i].key != key) i = (i + 1) & mask;
        return i;
    }

    bool begin_group(uint64_t key) {
        if ((used_ + 1) * 4 >= groups_.size() * 3) grow();
        last_ = place(groups_, key);
        if (groups_[last_].bits) return false;
        groups_[last_] = {key, 0, count_};
        last_key_ = key;
        used_++;
        return true;
    }

    void grow() {
        Column<Group> larger(std::max<size_t>(1024, groups_.size() * 2));
        for (const Group &group : groups_)
            if (group.bits) larger[place(larger, group.key)] = group;
        groups_.swap(larger);
    }

    Column<Group> groups_; /* an open table, a power of two */
    size_t used_ = 0, last_ = 0;
    uint64_t last_key_ = UINT64_MAX;
    uint32_t count_ = 0;
};

} // namespace heapline

#endif
