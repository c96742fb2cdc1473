/* SPDX-License-Identifier: MIT */
/* What heapline, preloaded into the process, left in its core: the mark (core_mark.h), and by it the trailer of each
 * live block. */
#ifndef HEAPLINE_COREFILE_PRELOAD_HPP
#define HEAPLINE_COREFILE_PRELOAD_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../heapline_heap/job.hpp"
#include "allocator.hpp"
#include "image.hpp"

namespace heapline {
namespace corefile {

class Preload {
  public:
    struct Live {
        uint32_t site;
        uint64_t blocks, bytes;
    };

    /* Finds the mark. */
    explicit Preload(Image &image);

    bool found() const {
        return found_;
    }
    /* Of the flight file; empty: it had none. */
    const std::string &flight() const {
        return flight_;
    }
    /* When the process started, as its flight file has it. */
    uint64_t start_ticks() const {
        return start_ticks_;
    }
    /* The flight that was kept in the core, in a file; -1: it was left out. Throws Failure. */
    int kept_flight(const Job &job);
    bool over_glibc() const {
        return chunked_ != 0;
    }
    /* What lives, by site, in the order of their numbers. */
    const std::vector<Live> &live() const {
        return live_;
    }
    void add_up(const Job &job, Allocators &allocators);
    /* Of a live block, and its size; bytes: to the end of what it may use. 0: it is none of heapline's. */
    uint32_t site_of(uint64_t block, uint64_t bytes, uint64_t *size = nullptr);
    uint32_t site_of(const Allocator::Chunk &chunk);

  private:
    bool is_mark(uint64_t address);
    uint64_t mapped_more() const;
    bool count(uint64_t block, uint64_t bytes);

    Image &image_;
    bool found_ = false;
    uint64_t key_ = 0, start_ticks_ = 0, flight_at_ = 0;
    uint32_t tail_ = 0, chunked_ = 0;
    std::string flight_;
    std::unique_ptr<Spool> kept_;
    std::vector<Live> live_;
};

} // namespace corefile
} // namespace heapline

#endif
