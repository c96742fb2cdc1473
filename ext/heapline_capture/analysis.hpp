/* SPDX-License-Identifier: MIT */
/*
 * What one pass over a capture adds up. Its memory depends on how many blocks live at once, how many stacks allocate
 * and how many threads and tags they do it under; not on how many events there are.
 *
 * A query chooses blocks by their birth; everything is then told as if only these had been recorded, and only until its
 * end. What is live at the highest moment is known for each context without a second pass: a context notes what it held
 * then when it first changes afterwards (A1).
 */
#ifndef HEAPLINE_CAPTURE_ANALYSIS_HPP
#define HEAPLINE_CAPTURE_ANALYSIS_HPP

#include <array>
#include <cstdint>
#include <vector>

#include "../heapline_heap/column.hpp"
#include "../heapline_heap/job.hpp"
#include "collections.hpp"
#include "event.hpp"
#include "reader.hpp"
#include "timeline.hpp"

namespace heapline {
namespace capture {

/* Blocks that are to be counted. */
struct Query {
    enum class Unit { generations, milliseconds };

    uint64_t from_ns = 0, to_ns = UINT64_MAX; /* born from, and before, this time; nothing later is read */
    std::vector<bool> threads, tags;          /* by number; empty: all */
    bool lifespan = false;                    /* only those that lived so long? */
    uint64_t shortest = 0, longest = 0;       /* both counted in */
    Unit unit = Unit::generations;
    bool mappings = false;     /* mmap's blocks in place of malloc's */
    bool objects = false;      /* Ruby objects in place of blocks */
    std::vector<bool> classes; /* of objects, by number; empty: all */
};

struct Figures {
    uint64_t count = 0, bytes = 0;

    /* Zero bytes may be a block, and some a part of one that is counted elsewhere. */
    bool any() const {
        return count || bytes;
    }
    /* blocks: 0 where it is a part of one that is counted elsewhere. */
    void add(uint64_t size, uint64_t blocks = 1) {
        count += blocks;
        bytes += size;
    }
    void remove(uint64_t size, uint64_t blocks = 1) {
        count -= blocks;
        bytes -= size;
    }
    void add(const Figures &more) {
        count += more.count;
        bytes += more.bytes;
    }
};

/* What blocks of one kind come to. temporary: freed in the generation of their birth or the next one. freed: of whoever
 * ended them, all else of who allocated them. */
struct Sums {
    Figures allocated, peak, live, temporary, freed;

    void add(const Sums &more) {
        allocated.add(more.allocated);
        peak.add(more.peak);
        live.add(more.live);
        temporary.add(more.temporary);
        freed.add(more.freed);
    }
};

/* Is told of each chosen block, in the order of events. */
class Watcher {
  public:
    virtual ~Watcher() = default;
    virtual void birth(uint64_t block, uint64_t size, uint64_t time_ns) = 0;
    virtual void end(uint64_t block, uint32_t context, uint64_t size, uint64_t time_ns, bool temporary) = 0;
    /* An object moved into another slot. */
    virtual void resize(uint64_t block, uint32_t context, uint64_t before, uint64_t after, uint64_t time_ns) = 0;
    /* Of a mapping so many bytes end; what remains of it are these blocks, of which the first one counts as it did. */
    virtual void cut(uint64_t block, uint32_t context, uint64_t size, uint64_t time_ns, bool temporary,
                     const std::vector<uint32_t> &rests) = 0;
    /* It lived on. */
    virtual void rest(uint64_t block, uint32_t context, uint64_t size) = 0;
};

class Analysis {
  public:
    /* Who allocated or freed. */
    struct Context {
        uint32_t stack, thread, tag, klass;
        uint32_t seen; /* the peak at which sums.peak was noted */
        Sums sums;
    };
    static const int SIZES = 65; /* by the bits of a size */
    static const int AGES = 34;  /* by the bits of a lifespan in generations */

    /* Reads it from its beginning to the query's end. Throws Cancelled. watcher: is told of each block, or none. */
    Analysis(Reader &reader, const Query &query, const Job &job, Watcher *watcher = nullptr);

    const std::vector<Context> &contexts() const {
        return contexts_;
    }
    const Sums &sums() const {
        return sums_;
    }
    /* Of the first moment at which most was live. */
    uint64_t peak_ns() const {
        return peak_ns_;
    }
    /* Of the last event, or the end that the capture tells. */
    uint64_t end_ns() const {
        return end_ns_;
    }
    uint64_t events() const {
        return events_;
    }
    uint64_t lost() const {
        return lost_;
    }
    /* By Kind; of ends the bytes that they gave back. malloc's family and mmap's, whichever the query is about. */
    const std::array<Figures, KINDS> &calls() const {
        return calls_;
    }
    const std::array<Figures, SIZES> &sizes() const {
        return sizes_;
    }
    const std::array<Figures, AGES> &ages() const {
        return ages_;
    }
    const Timeline &timeline() const {
        return timeline_;
    }
    /* Those that began in the query's time. */
    const std::vector<Collection> &collections() const {
        return collections_.all();
    }
    /* Is it known when the program stood still for GC? For how long it did. */
    bool tells_pauses() const {
        return tells_pauses_;
    }
    uint64_t paused_ns() const {
        return paused_ns_;
    }
    /* Ends of blocks whose birth is not in the capture: it was lost with a damaged block. */
    uint64_t unknown_ends() const {
        return unknown_ends_;
    }

  private:
    /* In place of a context: a block that was not chosen, and one that is a mapping where malloc's were, or not. */
    static const uint32_t NOBODY = UINT32_MAX, OTHER = UINT32_MAX - 1;

    struct Block {
        uint64_t size;
        uint32_t context;                      /* plus 1; 0: no block */
        uint32_t generation : 31, is_part : 1; /* of birth; it is of a mapping that was cut, and another part counts */
    };
    struct Recent {
        uint32_t thread, tag, klass, context; /* context: plus 1 */
    };
    void read(const Job &job);
    void fetch(const Event &later, const Event &sooner);
    void event(const Event &event);
    void birth(const Event &event);
    void end(const Event &event, uint64_t kept = 0);
    void settle();
    void make_room_for(const Event &rest);
    void tell_end(const Event &event, uint32_t context, uint64_t size, bool temporary, uint64_t kept);
    void object(const Event &event);
    void resize(const Event &event);
    void mark(const Event &event);
    void pause(const Event &event);
    bool suits(const Event &event);
    uint32_t context(const Event &event);
    uint32_t &place(uint32_t stack, uint32_t thread, uint32_t tag, uint32_t klass);
    void make_places();
    void note_peak(Context &context);
    void note_live();
    void finish();

    Reader &reader_;
    const Query query_;
    Watcher *const watcher_;
    Column<uint64_t> suited_; /* bits by birth: did it live as long as was asked for? */
    uint64_t births_ = 0;

    Column<Block> blocks_; /* by number */
    /* An end that may be one of a part: what remains is told behind it. */
    Event ending_ = {};
    bool waits_ = false;
    std::vector<Event> rests_;
    std::vector<Context> contexts_;
    std::vector<Recent> recent_;   /* by stack */
    std::vector<uint32_t> places_; /* an open table by stack, thread and tag: contexts, plus 1 */

    Sums sums_;
    uint32_t peak_ = 0; /* which peak this is */
    uint32_t generation_ = 0;
    uint64_t peak_ns_ = 0, end_ns_ = 0, events_ = 0, lost_ = 0, unknown_ends_ = 0;
    Collections collections_;
    bool tells_pauses_ = false;
    uint64_t pause_began_ = UINT64_MAX, paused_ns_ = 0; /* UINT64_MAX: none */
    std::array<Figures, KINDS> calls_;
    std::array<Figures, SIZES> sizes_;
    std::array<Figures, AGES> ages_;
    Timeline timeline_;
};

} // namespace capture
} // namespace heapline

#endif
