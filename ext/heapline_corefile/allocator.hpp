/* SPDX-License-Identifier: MIT */
/*
 * The allocators of a process, and what they say of its memory: what is in use and where, what is free, and what they
 * keep for the next call. Who follows references, or adds up what lives, does not know which allocator gave a block.
 */
#ifndef HEAPLINE_COREFILE_ALLOCATOR_HPP
#define HEAPLINE_COREFILE_ALLOCATOR_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../heapline_heap/job.hpp"
#include "image.hpp"

namespace heapline {
namespace corefile {

struct Block {
    uint64_t begin, bytes; /* up to the end of what may be used */
};

/* The number of the block in which it lies, of blocks by address; as many as there are: in none. */
size_t find_block(const std::vector<Block> &blocks, uint64_t address);

class Allocator {
  public:
    using Range = std::pair<uint64_t, uint64_t>; /* begin and end */
    struct Arena {
        uint64_t address = 0; /* glibc's: where it describes itself */
        uint32_t index = 0;   /* jemalloc's: its number there */
        uint64_t top = 0;     /* glibc's: where its last chunk begins */
        /* What it has from the kernel, as it says, and what of that was found. */
        uint64_t system_bytes = 0, walked_bytes = 0;
        /* What it keeps in caches is in use. glibc's chunks count with their headers; its top one is in neither. */
        uint64_t used_bytes = 0, free_bytes = 0, top_bytes = 0;
        uint64_t retained_bytes = 0; /* addresses that it keeps, whose memory it gave back to the kernel */
        uint64_t free_chunks = 0, largest_free = 0;
    };
    /* arena: its number, from 1; 0: it has a mapping for itself. bytes: from it to the end of what it may use. */
    struct Chunk {
        uint64_t block, bytes;
        uint32_t arena;
        bool used;
    };
    using Each = std::function<void(uint64_t block, uint64_t bytes)>;
    /* A block by its number. free: it waits for the next call; else it is the allocator's own. false: it was taken. */
    using Take = std::function<bool(size_t number, bool free)>;

    explicit Allocator(Image &image) : image_(image) {}
    virtual ~Allocator() = default;
    Allocator(const Allocator &) = delete;
    Allocator &operator=(const Allocator &) = delete;

    virtual const char *name() const = 0;
    /* Every block of the arenas that is in use, those in caches included. */
    virtual void walk(const Job &job, const Each &each) = 0;
    /* Of the blocks that are in use those that are not the program's. */
    virtual void find_cached(const Job &job, const std::vector<Block> &blocks, const Take &take) = 0;
    /* Where it keeps its own books: they know all blocks and hold none. */
    virtual std::vector<Range> books() const = 0;

    const std::vector<Arena> &arenas() const {
        return arenas_;
    }
    /* What was walked, by address. */
    const std::vector<Range> &heaps() const {
        return heaps_;
    }
    /* Of what was walked the largest, in no order; top chunks are not among them. */
    const std::vector<Chunk> &largest() const {
        return largest_;
    }

  protected:
    void keep(const Chunk &chunk);
    static void add_free(Arena &arena, uint64_t bytes);

    Image &image_;
    std::vector<Arena> arenas_;
    std::vector<Range> heaps_;
    std::vector<Chunk> largest_; /* a heap, the least on top */
};

class Glibc;

/* All that are in the process. */
class Allocators {
  public:
    /* Looks for them. */
    Allocators(Image &image, const Job &job);
    ~Allocators();

    bool has_glibc() const;
    bool has_jemalloc() const {
        return all_.size() > 1;
    }
    const std::vector<std::unique_ptr<Allocator>> &all() const {
        return all_;
    }
    /* The library of one that is in the process and was not found, or is not known; empty: there is none. */
    const std::string &unread() const {
        return unread_;
    }
    void walk(const Job &job, const Allocator::Each &each);
    /* What looks like a block of glibc's with a mapping of its own. is_block: is it one? After walk(). */
    void walk_mapped(const Job &job, const std::function<bool(uint64_t block, uint64_t bytes)> &is_block);
    void find_cached(const Job &job, const std::vector<Block> &blocks, const Allocator::Take &take);
    /* By address. After walk(). */
    std::vector<Allocator::Range> heaps() const;
    std::vector<Allocator::Range> books() const;
    /* A thousand at most; arenas are numbered through. */
    std::vector<Allocator::Chunk> largest() const;

  private:
    std::vector<std::unique_ptr<Allocator>> all_; /* the first is glibc's */
    Glibc *glibc_;
    std::string unread_;
};

} // namespace corefile
} // namespace heapline

#endif
