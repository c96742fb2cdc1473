/* SPDX-License-Identifier: MIT */
/*
 * glibc's heaps in a core: arenas, their chunks, and chunks that have mappings of their own. Its arenas are found by
 * what they look like: no symbol names them. (glibc 2.27 to 2.42.)
 *
 * G1  Each step goes forward inside one segment, so that no core, whatever is in it, makes the walk endless.
 */
#ifndef HEAPLINE_COREFILE_GLIBC_HPP
#define HEAPLINE_COREFILE_GLIBC_HPP

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../heapline_heap/job.hpp"
#include "image.hpp"

namespace heapline {
namespace corefile {

class Glibc {
  public:
    struct Arena {
        uint64_t address, top;
        uint64_t system_bytes; /* from the kernel, as it says */
        uint64_t walked_bytes; /* that were found: those of its heaps */
        /* Of chunks with their headers. Those in caches and fast bins are in use; the top one is in neither. */
        uint64_t used_bytes, free_bytes, top_bytes;
        uint64_t free_chunks, largest_free;
    };
    /* arena: its number, from 1; 0: it has a mapping for itself. bytes: from it to the end of what it may use. */
    struct Chunk {
        uint64_t block, bytes;
        uint32_t arena;
        bool used;
    };
    /* A block, and the bytes from it to the end of what it may use; mapped: it has a mapping for itself. */
    using Each = std::function<void(uint64_t block, uint64_t bytes, bool mapped)>;

    /* Finds the arenas. */
    explicit Glibc(Image &image);

    const std::vector<Arena> &arenas() const {
        return arenas_;
    }
    /* What was walked, by address, each from its begin to its end. */
    const std::vector<std::pair<uint64_t, uint64_t>> &heaps() const {
        return heaps_;
    }
    /* Of what was walked the largest, in no order; top chunks are not among them. */
    const std::vector<Chunk> &largest() const {
        return largest_;
    }
    /* Every chunk of the arenas that is in use, those in caches and fast bins included. */
    void walk(const Job &job, const Each &each);
    /* What looks like a chunk with a mapping of its own. is_block: is it one? */
    void walk_mapped(const Job &job, const std::function<bool(uint64_t block, uint64_t bytes)> &is_block);

  private:
    using Range = std::pair<uint64_t, uint64_t>;

    bool is_arena(uint64_t address);
    bool is_main(uint64_t address);
    bool read_arenas(uint64_t main);
    uint64_t size_at(uint64_t chunk);
    uint64_t chain(const Job &job, uint64_t from, uint64_t end, Arena &arena, const Each *each, bool &reached);
    void take(uint64_t chunk, uint64_t size, Arena &arena, const Each &each);
    void keep(const Chunk &chunk);
    void walk_main(const Job &job, Arena &arena, const Each &each);
    void walk_heaps(const Job &job, Arena &arena, const Each &each);

    Image &image_;
    std::vector<Arena> arenas_;
    std::vector<Range> heaps_; /* what was walked */
    Range main_{0, 0};
    std::unordered_set<uint64_t> seen_; /* where heaps of arenas but the main one begin: each is walked once */
    std::vector<Chunk> largest_;        /* a heap, the least on top */
    std::vector<Image::Segment> data_;  /* libc's writable data */
};

} // namespace corefile
} // namespace heapline

#endif
