/* SPDX-License-Identifier: MIT */
/*
 * From the ring of one recorded process to its capture: puts the events of all threads in one order and hands them to a
 * Writer. One thread at a time; no Ruby.
 *
 * Threads' events are merged by time. What is younger than LAG waits, so that an event which a thread has timed and not
 * shown yet comes in its turn. One that is later still (the thread was put off the processor between the two) is
 * settled by its address: a death that is older than the block which lies there now was that of an earlier one.
 */
#ifndef HEAPLINE_CAPTURE_DRAIN_HPP
#define HEAPLINE_CAPTURE_DRAIN_HPP

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ring.hpp"
#include "writer.hpp"

namespace heapline {
namespace capture {

class Drain {
  public:
    /* path: the ring's; fd: an empty file for the capture, the caller's. Throws std::runtime_error. */
    Drain(const std::string &path, int fd);
    ~Drain();

    /* Take over what is there now; `last`: nothing more will come. Returns the number of events. */
    uint64_t pass(bool last);
    /* How large the process is now, and what its threads are called. */
    void sample();
    /* Take over what is left, take the last sample, and end. ending: as Totals has it. */
    void finish(const std::string &ending);

    /* The recorded process ended the recording itself. */
    bool stopped() const;
    const Ring &ring() const {
        return *ring_;
    }
    const Writer &writer() const {
        return *writer_;
    }
    /* Events that found no room in the ring, so far. */
    uint64_t lost() const;
    /* Nanoseconds since the beginning. */
    uint64_t elapsed_ns() const;
    /* Likewise, when the process saw its last Ruby object, though the recording went on; 0: it sees them. */
    uint64_t objects_until_ns() const;

  private:
    /* A realloc between its two events. given_out: its address belongs to another block by now. */
    struct Move {
        uint64_t address;
        bool given_out;
    };
    struct Mapping {
        uint64_t address, size;
    };
    /* What is read of one lane. */
    struct Lane {
        uint32_t sequence = 0; /* of the chunk that is read */
        uint32_t chunk = HL_CHUNKS, at = 0;
        uint32_t thread = 0, tag = 0;
        uint64_t tid = 0;         /* 0: of no thread, or of several */
        std::string name;         /* of the thread, as it was last told */
        Mapping mapping = {0, 0}; /* that a mremap ended whose new one comes next */
        std::vector<Move> moving; /* reallocs that began; the last one is the innermost: signal handlers nest */
    };
    struct Birth {
        uint64_t address, time;
        const Lane *lane;
        bool early;  /* the end of the block that lay there is not known yet, but may come … */
        bool taking; /* … and did: if it was this one's own, nobody will tell of that again */
    };

    void find_chunks();
    bool next_chunk(Lane &lane, uint32_t number);
    bool has_event(uint32_t number, bool last, uint64_t &time);
    uint64_t take(uint32_t number, bool last, uint64_t until);
    void handle(Lane &lane, const RingEvent &event);
    void begin_thread(Lane &lane, const RingEvent &event);
    void name_thread(Lane &lane, const std::string &name);
    void look_at_names();
    void reallocated(Lane &lane, const RingEvent &event, const Writer::Call &call);
    void remapped(Lane &lane, const RingEvent &event, const Writer::Call &call);
    void move_away(Lane &lane, const RingEvent &event);
    void death(const Lane &lane, Kind kind, const RingEvent &event, const Writer::Call &call);
    void birth(const Lane &lane, const RingEvent &event, const Writer::Call &call);
    void object(const Lane &lane, const RingEvent &event, const Writer::Call &call);
    void name_class(const RingEvent &event);
    void note_birth(const Lane &lane, const RingEvent &event, bool vanished);
    bool note_end(const Lane &lane, const RingEvent &event);
    void tell_lost();
    uint32_t stack(uint32_t node);
    uint32_t frame(uint32_t number);
    void tell_library(uint32_t path, std::string_view name);
    uint64_t ns(uint64_t time) const;

    std::unique_ptr<Ring> ring_;
    std::unique_ptr<Writer> writer_;
    std::vector<Lane> lanes_;
    std::vector<uint32_t> active_;           /* lanes with a chunk */
    std::unordered_set<uint32_t> libraries_; /* strings of the capture; those that were told */
    std::vector<uint32_t> frames_, nodes_;   /* the ring's numbers → the capture's; 0: not met yet */
    std::vector<uint32_t> classes_;          /* likewise; a number may come to be another class's */
    std::vector<Birth> births_;              /* the last ones, by address */
    unsigned moves_ = 0;                     /* in all lanes */
    uint32_t looked_at_ = 0;                 /* the lane whose thread's name was looked at last */
    uint64_t time_ = 0;                      /* of the last event, in the ring's units */
    uint64_t lost_told_ = 0, generation_ = 0, ruby_heap_ = 0;
    uint64_t rss_ = 0;             /* bytes, when it was read last; 0: never */
    uint64_t lag_ = 0, early_ = 0; /* in the ring's units */
    double ns_per_unit_ = 1;
};

} // namespace capture
} // namespace heapline

#endif
