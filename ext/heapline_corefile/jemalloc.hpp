/* SPDX-License-Identifier: MIT */
/*
 * jemalloc's memory in a core (5.0 to 5.3): its extents, the regions of its slabs, and what it keeps for threads. No
 * symbol names what is looked for: jemalloc's tree, from an address to the extent that lies there, proves itself.
 *
 * J1  A leaf of the tree stands for a gigabyte, of which it knows some pages. A page that it knows leads to a
 * description that begins at this page. So each leaf says where in the root it must stand, and each extent where it
 * ends. J2  Where a description has its fields is what makes the slabs right: as many regions are free by their bits as
 * they say, and of the size class that the tree says. Where no known layout does, nothing is told. J3  Each step goes
 * forward in the addresses, so that no core, whatever is in it, makes the walk endless.
 */
#ifndef HEAPLINE_COREFILE_JEMALLOC_HPP
#define HEAPLINE_COREFILE_JEMALLOC_HPP

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../heapline_heap/job.hpp"
#include "allocator.hpp"

namespace heapline {
namespace corefile {

class Jemalloc : public Allocator {
  public:
    /* Those of the process: one a copy of the library. */
    static std::vector<std::unique_ptr<Jemalloc>> find(Image &image, const Job &job);

    const char *name() const override {
        return "jemalloc";
    }
    void walk(const Job &job, const Each &each) override;
    void find_cached(const Job &job, const std::vector<Block> &blocks, const Take &take) override;
    std::vector<Range> books() const override {
        return books_;
    }

  private:
    struct Layout;
    struct Leaf {
        uint64_t begin, at; /* the first address that it stands for; where it lies */
    };
    struct Extent {
        uint64_t at, begin, bytes, block; /* where it is described; its pages; the first byte that was given */
        uint64_t kind;                    /* its size class; as many as there are: no block is in it */
        uint64_t bits;
        bool slab;
        uint64_t regions[8]; /* of a slab: a bit is set where one is free */
    };

    Jemalloc(Image &image, std::vector<Leaf> leaves) : Allocator(image), leaves_(std::move(leaves)) {}
    static bool is_child(Image &image, uint64_t at);
    static bool is_root_around(Image &image, uint64_t at);
    static bool find_leaf(Image &image, uint64_t at, uint64_t &budget, Leaf &leaf);
    static std::vector<Leaf> find_leaves(Image &image, uint64_t root, uint64_t &budget);
    static bool read_extent(Image &image, uint64_t page, uint64_t element, Extent &extent);
    bool find_layout(const Job &job);
    template <typename Body> void each_extent(const Job &job, const Body &each);
    void note_books(uint64_t address);
    bool add_books(uint64_t begin);
    Arena &arena_of(const Extent &extent);
    void take_slab(const Extent &extent, Arena &arena, const Each &each);
    size_t find_stacks(const uint64_t *words, size_t count, const std::vector<Block> &blocks, const Take &take) const;

    std::vector<Leaf> leaves_; /* by address */
    const Layout *layout_ = nullptr;
    bool padded_ = false;      /* a large block begins anywhere in its first page, and has a page more for that */
    std::vector<Range> books_; /* by address */
};

} // namespace corefile
} // namespace heapline

#endif
