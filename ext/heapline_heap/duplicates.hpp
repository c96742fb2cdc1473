/* SPDX-License-Identifier: MIT */
/*
 * Values that several strings have. Of each value 64 bits of a hash are kept, and its beginning from the second string
 * on; two values with one hash would be taken for one, which among 10 million values happens once in 300,000 dumps. Any
 * thread may add; asking needs that nobody does.
 */
#ifndef HEAPLINE_HEAP_DUPLICATES_HPP
#define HEAPLINE_HEAP_DUPLICATES_HPP

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "column.hpp"

namespace heapline {

class Duplicates {
  public:
    static const size_t SHOWN_MAX = 200; /* bytes of a value that are kept */

    struct Value {
        std::string beginning; /* valid UTF-8 */
        uint64_t bytesize, count, bytes, wasted;
    };

    void add(std::string_view value, std::string_view encoding, uint64_t memsize);

    /* The values that waste most, most first. */
    std::vector<Value> worst(size_t limit) const;

  private:
    struct Entry {
        uint64_t hash, count, bytes, largest, bytesize;
        uint32_t beginning, beginning_size; /* in the shard's texts */
    };
    /* An open table; hash 0 is an empty place. */
    struct Shard {
        std::mutex mutex;
        Column<Entry> table;
        Column<char> texts;
        size_t used = 0;
    };
    static const size_t SHARDS = 64;

    static Entry &place(Column<Entry> &table, uint64_t hash);
    static void grow(Shard &shard);

    std::array<Shard, SHARDS> shards_;
};

/* The first bytes of a UTF-8 text, at most `most`, without a torn character. */
std::string_view beginning(std::string_view text, size_t most);

} // namespace heapline

#endif
