/* SPDX-License-Identifier: MIT */
/*
 * From an address to the number of the object there. Objects lie aligned to 8 bytes in runs of slots, and a dump lists
 * them page by page, so the 64 possible places of a group are one bitmap, and an object's number is that of the first
 * in its group plus the bits below its own. The groups of a region that have objects lie one after the other: 12 bytes
 * for each of them and no more, however far apart objects are; a table of regions says where.
 *
 * D1: the objects of a group are numbered in the order of their addresses, one after the other. `add` refuses what
 * would break that; the caller then sorts the objects and begins anew.
 * D2: an address is expected before it is added.
 */
#ifndef HEAPLINE_HEAP_DIRECTORY_HPP
#define HEAPLINE_HEAP_DIRECTORY_HPP

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "column.hpp"
#include "ledger.hpp"

namespace heapline {

const uint32_t NOBODY = UINT32_MAX;

class Directory {
  public:
    explicit Directory(std::shared_ptr<Store> store) : store_(std::move(store)), groups_(store_) {}

    /* An object will be added there; in any order, and again and again. */
    void expect(uint64_t address) {
        Region &region = region_at(address);
        const uint32_t group = uint32_t{1} << group_of(address);
        if (region.groups & group) return;
        if (!region.groups && ++used_ * 4 >= regions_.size() * 3) {
            region = {address / REGION, group, NOBODY};
            grow();
        } else {
            region.key = address / REGION;
            region.groups |= group;
        }
        all_++;
    }

    /* All are expected: the first is added next. Again: as if none had been added. */
    void begin() {
        groups_.release();
        groups_ = Ledger<Group>(store_, all_);
        for (Region &region : regions_) region.first = NOBODY;
        given_ = count_ = 0;
        last_ = SIZE_MAX;
    }

    /* The objects come in the order of their numbers, from 0. Returns false where D1 would break. */
    bool add(uint64_t address) {
        Region &region = region_at(address);
        if (region.first == NOBODY) {
            region.first = given_;
            given_ += static_cast<uint32_t>(__builtin_popcount(region.groups));
        }
        const size_t number = region.first + before(region, address);
        Group &group = groups_[number];
        const uint64_t bit = bit_of(address);
        if (group.bits() >= bit || (group.bits() && number != last_)) return false;
        if (!group.bits()) group.first = count_;
        group.set(bit);
        last_ = number;
        count_++;
        return true;
    }

    /* NOBODY: there is none. */
    uint32_t find(uint64_t address) const {
        if (address % 8 || !used_) return NOBODY;
        const Region &region = regions_[place(regions_, address / REGION)];
        if (!(region.groups >> group_of(address) & 1)) return NOBODY;
        const Group &group = groups_[region.first + before(region, address)];
        const uint64_t bit = bit_of(address);
        if (!(group.bits() & bit)) return NOBODY;
        return group.first + static_cast<uint32_t>(__builtin_popcountll(group.bits() & (bit - 1)));
    }

    /* All were added, and few are looked for from now on: it goes where the store has it. */
    void finish() {
        groups_.keep();
    }

  private:
    static const uint64_t GROUP = 512, REGION = 32 * GROUP; /* bytes; pages of Ruby's heap are no smaller */

    struct Region {
        uint64_t key;
        uint32_t groups; /* which of them have objects; none: an empty place */
        uint32_t first;  /* of these, in the list of groups; NOBODY: nothing was added yet */
    };
    struct Group {
        uint32_t low, high; /* the bitmap's halves: so it takes 12 bytes */
        uint32_t first;

        uint64_t bits() const {
            return uint64_t{high} << 32 | low;
        }
        void set(uint64_t bit) {
            low |= static_cast<uint32_t>(bit);
            high |= static_cast<uint32_t>(bit >> 32);
        }
    };

    static uint32_t group_of(uint64_t address) {
        return static_cast<uint32_t>(address % REGION / GROUP);
    }
    static uint64_t bit_of(uint64_t address) {
        return uint64_t{1} << (address >> 3 & 63);
    }
    /* How many groups of the region lie before the address's. */
    static uint32_t before(const Region &region, uint64_t address) {
        const uint32_t below = (uint32_t{1} << group_of(address)) - 1;
        return static_cast<uint32_t>(__builtin_popcount(region.groups & below));
    }

    static size_t place(const Column<Region> &regions, uint64_t key) {
        size_t mask = regions.size() - 1, i = (key * 0x9e3779b97f4a7c15u >> 20) & mask;
        while (regions[i].groups && regions[i].key != key) i = (i + 1) & mask;
        return i;
    }

    /* Where it is or could be: what is asked for one after the other mostly lies in one. */
    Region &region_at(uint64_t address) {
        if (regions_.empty()) grow();
        if (regions_[recent_].groups && regions_[recent_].key == address / REGION) return regions_[recent_];
        recent_ = place(regions_, address / REGION);
        return regions_[recent_];
    }

    void grow() {
        Column<Region> larger(std::max<size_t>(1024, regions_.size() * 2));
        for (const Region &region : regions_)
            if (region.groups) larger[place(larger, region.key)] = region;
        regions_.swap(larger);
        recent_ = 0;
    }

    std::shared_ptr<Store> store_;
    Column<Region> regions_; /* an open table, a power of two */
    Ledger<Group> groups_;
    size_t used_ = 0, recent_ = 0;     /* regions */
    size_t all_ = 0, last_ = SIZE_MAX; /* groups */
    uint32_t given_ = 0, count_ = 0;   /* places of groups, objects */
};

} // namespace heapline

#endif
