/* SPDX-License-Identifier: MIT */
/*
 * Reads a capture, also one that was cut short or damaged: a block that is not as it was written is passed over and
 * told
 * (`problems`), and reading goes on behind it. Opening it finds the blocks, by the index or from head to head, and
 * reads all but the events; these are read a block at a time, from the beginning or from a time. One thread at a time;
 * `bytes_read` may be asked by any.
 *
 * R1: whatever the file holds, events name only what the names have, and no block has a number above the number of
 *     events up to it.
 * R2: events are handed out in the file's order, with times that never go back within a block.
 */
#ifndef HEAPLINE_CAPTURE_READER_HPP
#define HEAPLINE_CAPTURE_READER_HPP

#include <atomic>
#include <string>
#include <vector>

#include "../heapline_heap/failure.hpp"
#include "about.hpp"
#include "block.hpp"
#include "columns.hpp"
#include "event.hpp"
#include "names.hpp"

namespace heapline {
namespace capture {

class Reader {
  public:
    /* Throws Failure where it cannot be read or is no capture. Without the index it goes from head to head. */
    explicit Reader(const std::string &path, bool use_index = true);
    ~Reader();
    Reader(const Reader &) = delete;
    Reader &operator=(const Reader &) = delete;

    const Header &header() const {
        return header_;
    }
    const Names &names() const {
        return names_;
    }
    const std::vector<Sample> &samples() const {
        return samples_;
    }
    /* Was it brought to its end? Then `totals` says what its writer counted. */
    bool finished() const {
        return finished_;
    }
    const Totals &totals() const {
        return totals_;
    }
    /* How many events the heads of the blocks promise. */
    uint64_t events() const {
        return events_;
    }
    /* What could not be read, one sentence each; more may come while events are read. */
    const std::vector<std::string> &problems() const {
        return problems_;
    }

    /* From the first event on again. */
    void rewind() {
        seek(0);
    }
    /* On with the last block of events that begins before this time (ns since the beginning): what is older than the
     * time may come first, nothing of it or later is left out. */
    void seek(uint64_t time_ns);

    /* Up to `most` events into `events`; how many: 0 at the end. */
    size_t next(Event *events, size_t most);

    /* Bytes of the file behind the place up to which events were read, and in all. */
    uint64_t bytes_read() const {
        return position_.load(std::memory_order_relaxed);
    }
    uint64_t bytes_total() const {
        return size_;
    }

  private:
    struct Block {
        uint64_t offset;
        uint64_t before; /* events in the blocks before it */
        uint64_t time_ns;
        uint32_t count;
        Section section;
    };

    void open(const std::string &path);
    std::string bytes(uint64_t offset, size_t size);
    bool head_at(uint64_t offset, Head &head);
    bool indexed();
    void walk();
    uint64_t resume(uint64_t offset);
    void enter(const Head &head, uint64_t offset);
    std::string payload(uint64_t offset);
    void read_block(const Block &block);
    bool next_block();
    void problem(uint64_t offset, const std::string &what);

    int fd_ = -1;
    uint64_t size_ = 0;
    Header header_;
    Names names_;
    std::vector<Sample> samples_;
    Totals totals_;
    bool finished_ = false;
    uint64_t events_ = 0;
    std::vector<Block> blocks_; /* of events */
    std::vector<std::string> problems_;

    size_t at_ = 0;       /* the next of blocks_ */
    uint64_t offset_ = 0; /* of the one before it */
    std::string payload_;
    ColumnReader columns_;
    std::atomic<uint64_t> position_{0};
};

} // namespace capture
} // namespace heapline

#endif
