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
#include <unordered_set>
#include <utility>
#include <vector>

#include "../heapline_heap/job.hpp"
#include "allocator.hpp"
#include "image.hpp"

namespace heapline {
namespace corefile {

class Glibc : public Allocator {
  public:
    /* Finds the arenas. */
    explicit Glibc(Image &image);

    const char *name() const override {
        return "glibc";
    }
    void walk(const Job &job, const Each &each) override;
    /* What is in its lists for threads and for short blocks. */
    void find_cached(const Job &job, const std::vector<Block> &blocks, const Take &take) override;
    std::vector<Range> books() const override;
    /* What looks like a chunk with a mapping of its own, outside these heaps. is_block: is it one? */
    void walk_mapped(const Job &job, const std::vector<Range> &heaps,
                     const std::function<bool(uint64_t block, uint64_t bytes)> &is_block);

  private:
    bool is_arena(uint64_t address);
    bool is_main(uint64_t address);
    bool read_arenas(uint64_t main);
    uint64_t size_at(uint64_t chunk);
    uint64_t chain(const Job &job, uint64_t from, uint64_t end, Arena &arena, const Each *each, bool &reached);
    void take(uint64_t chunk, uint64_t size, Arena &arena, const Each &each);
    void free_list(const std::vector<Block> &blocks, uint64_t first, uint64_t least, uint64_t most, const Take &take);
    void find_thread_cache(const std::vector<Block> &blocks, uint64_t begin, const Take &take);
    void walk_main(const Job &job, Arena &arena, const Each &each);
    void walk_heaps(const Job &job, Arena &arena, const Each &each);

    Range main_{0, 0};
    std::unordered_set<uint64_t> seen_; /* where heaps of arenas but the main one begin: each is walked once */
    std::vector<Image::Segment> data_;  /* libc's writable data */
};

} // namespace corefile
} // namespace heapline

#endif
