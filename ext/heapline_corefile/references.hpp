/* SPDX-License-Identifier: MIT */
/*
 * Who leads to whom in a core: roots, Ruby's objects and C blocks. A word that is an object's address, or lies in a
 * block, leads there; what is no pointer (a string's own bytes, the unused rest of an array's slot) is left out.
 *
 * R1  One pass over the memory, and for leaks a second; what is kept meanwhile is some bits and four bytes a block.
 * One thread at a time.
 */
#ifndef HEAPLINE_COREFILE_REFERENCES_HPP
#define HEAPLINE_COREFILE_REFERENCES_HPP

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../heapline_heap/job.hpp"
#include "allocator.hpp"
#include "image.hpp"
#include "preload.hpp"
#include "ruby_heap.hpp"

namespace heapline {
namespace corefile {

class References {
  public:
    struct Place {
        std::string path;
        uint32_t line;
    };
    using Places = std::unordered_map<uint32_t, Place>; /* by site */
    struct Sum {
        uint64_t blocks = 0, bytes = 0;
    };
    /* By site (0: heapline was not there) and, without one, by bytes. */
    using Leaks = std::map<std::pair<uint32_t, uint64_t>, Sum>;

    References(Image &image, const Job &job, Allocators &allocators, RubyHeap &heap, Preload &preload);

    /* All of it, in the format of ObjectSpace.dump_all; blocks are of the type BLOCK. contents: also what is in
     * strings. Throws Failure. */
    void write(int fd, const Places &places, bool contents, const Job &job);
    /* The blocks to which neither a root nor an object leads, dead objects that are not swept included. */
    Leaks leaks(const Job &job);
    /* Blocks of these sites, at most so many. */
    std::vector<uint64_t> blocks_of(const std::unordered_set<uint32_t> &sites, size_t most, const Job &job);
    /* Where the block begins in which it lies; 0: in none that is in use. */
    uint64_t begin_of(uint64_t address) const;
    /* used: the program has them; cached: free, in an allocator's caches. */
    const Sum &used() const {
        return used_;
    }
    const Sum &cached() const {
        return cached_;
    }

  private:
    struct Range {
        uint64_t begin, end;
    };
    struct Root {
        std::string name;
        std::vector<Range> ranges;
        std::vector<uint64_t> words;
    };

    /* As find_block() of what the heap has. */
    size_t block_at(uint64_t address) const {
        return find_block(heap_.blocks(), address);
    }
    void leave_out(uint64_t address);
    void find_machinery(const Job &job);
    bool is_mark_stack(size_t number);
    void find_cached(const Job &job, Allocators &allocators);
    void find_roots(const Allocators &allocators, const Job &job);
    std::string root_name(uint64_t begin);
    uint64_t target(uint64_t word);
    template <typename Each> void scan(Range range, const Job &job, const Each &each);
    template <typename Each> void scan_root(const Root &root, const Job &job, const Each &each);
    template <typename Each>
    void scan_object(uint64_t slot, uint64_t bytes, uint64_t flags, const Job &job, const Each &each);
    Range transient_of(uint64_t slot, uint64_t word);
    void find_transient(std::vector<Range> &found, const Job &job);
    bool ends_in_a_number(uint64_t slot, uint64_t flags) const;
    Range words_of(uint64_t slot, uint64_t bytes, uint64_t flags) const;

    Image &image_;
    RubyHeap &heap_;
    Preload &preload_;
    uint64_t lowest_ = UINT64_MAX, highest_ = 0;
    std::vector<bool>
        hidden_; /* blocks that are no program's: free, an allocator's own, or the collector's lists of objects */
    std::vector<bool> mapped_; /* blocks with mappings of their own */
    std::vector<Root> roots_;
    Sum used_, cached_;
};

} // namespace corefile
} // namespace heapline

#endif
