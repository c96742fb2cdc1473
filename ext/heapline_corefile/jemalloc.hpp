/* SPDX-License-Identifier: MIT */
/*
 * jemalloc's memory in a core (5.0 to 5.3): its extents, the regions of its slabs, and what it keeps for threads. No
 * symbol names what is looked for: jemalloc's tree, from an address to the extent that lies there, proves itself.
 *
 * J1  A leaf of the tree stands for a range of addresses, of which it knows some pages. A page that it knows leads to
 *     what describes the extent that this page is in. So each leaf says where in the tree it must stand.
 * J2  Where a description has its fields is what makes the slabs right: as many regions are free by their bits as they
 *     say, and of the size class that the tree says. Where no known layout does, nothing is told.
 * J3  Each step goes forward in the addresses, so that no core, whatever is in it, makes the walk endless.
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
    struct Shape;
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

    Jemalloc(Image &image, const Shape &shape) : Allocator(image), shape_(&shape) {}
    bool read_table(uint64_t at, void *to, size_t size);
    bool is_table(uint64_t at, uint64_t bytes);
    bool is_root_around(uint64_t at);
    bool find_leaf(uint64_t at, uint64_t &budget, Leaf &leaf);
    bool fits(uint64_t at, uint64_t number, uint64_t element, Leaf &leaf);
    bool find_first(uint64_t at, uint32_t levels, uint64_t &budget, Leaf &leaf);
    bool find_leaves(uint64_t at, uint32_t levels, uint64_t begin, uint64_t &budget);
    uint64_t find_root(const Job &job, uint64_t at, uint64_t word, uint64_t &budget);
    bool read_extent(uint64_t page, uint64_t element, Extent &extent);
    bool find_layout(const Job &job);
    template <typename Body> void each_extent(const Job &job, const Body &each);
    void note_books(uint64_t address);
    bool add_books(uint64_t begin);
    Arena &arena_of(const Extent &extent);
    void take_slab(const Extent &extent, Arena &arena, const Each &each);
    size_t find_stacks(const uint64_t *words, size_t count, const std::vector<Block> &blocks, const Take &take) const;

    const Shape *shape_;
    std::vector<Leaf> leaves_; /* by address */
    const Layout *layout_ = nullptr;
    bool padded_ = false;      /* a large block begins anywhere in its first page, and has a page more for that */
    std::vector<Range> books_; /* by address */
};

} // namespace corefile
} // namespace heapline

#endif
