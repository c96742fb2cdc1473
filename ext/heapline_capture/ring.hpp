/* SPDX-License-Identifier: MIT */
/*
 * The ring file of a recorded process (../heapline_core/record/ring_layout.h) as its reader sees it. What lies there is
 * checked before it is believed: the process that writes it may be damaged.
 */
#ifndef HEAPLINE_CAPTURE_RING_HPP
#define HEAPLINE_CAPTURE_RING_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include "../heapline_core/record/ring_layout.h"

namespace heapline {
namespace capture {

/* One event, unpacked. */
struct RingEvent {
    uint32_t kind, words; /* enum hl_event; 64-bit words in the ring */
    uint64_t time;        /* units of the ring's clock, since its start */
    uint64_t address, size, alignment;
    uint64_t moved_to; /* objects; `size`: bytes of the slot there, 0: as before */
    uint32_t stack, klass;
    bool is_fresh;         /* classes: another one had the number so far; `size` is the type of its objects */
    std::string_view text; /* classes, tags: name */
    char name[17];         /* threads: name; their id is in `address` */
};

class Ring {
  public:
    /* Maps the file. Throws std::runtime_error with what is wrong: it is not complete yet, or of another version. */
    explicit Ring(const std::string &path);
    ~Ring();
    Ring(const Ring &) = delete;
    Ring &operator=(const Ring &) = delete;

    hl_ring_header &header() const {
        return *reinterpret_cast<hl_ring_header *>(base_);
    }
    hl_ring_chunk &chunk(uint32_t number) const {
        return reinterpret_cast<hl_ring_chunk *>(base_ + HL_RING_STATES_AT)[number];
    }

    /* Empty, or 0, where the number is none of the tables'. */
    std::string_view string(uint32_t number) const;
    hl_ring_frame frame(uint32_t number) const;
    hl_ring_node node(uint32_t number) const;

    /* The event at a place in a chunk; false where there is none (yet). */
    bool event(uint32_t chunk, uint32_t at, RingEvent &event) const;
    /* The time of that event alone. */
    bool time(uint32_t chunk, uint32_t at, uint64_t &time) const;

    /* Everything in this chunk was read: the program may have it. `used`: bytes that were written. */
    void give_back(uint32_t chunk, uint32_t used);

    /* Give back the memory of all chunks. The process has ended the recording, and keeps the mapping until the next. */
    void release();

    /* Now, by the ring's clock, since its start. */
    uint64_t now() const;

  private:
    void object(const uint64_t *word, RingEvent &event) const;

    uint64_t *words(uint32_t chunk, uint32_t at) const {
        return reinterpret_cast<uint64_t *>(base_ + HL_RING_CHUNKS_AT + size_t{chunk} * HL_CHUNK_BYTES + at);
    }

    char *base_ = nullptr;
};

} // namespace capture
} // namespace heapline

#endif
