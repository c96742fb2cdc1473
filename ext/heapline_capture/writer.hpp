/* SPDX-License-Identifier: MIT */
/*
 * Writes a capture. One thread at a time; no Ruby, no signal handler. Events come in the order in which they happened.
 *
 * W1: names are in the file before the first event that names them.
 * W2: the file always ends with a whole block. Where one cannot be written, what was written of it is cut off again,
 * its events are dropped and counted (`dropped`, and a mark `lost` before the next event), and `error` says why until
 *     one could be written; names stay and are tried again with the next block. Nothing is thrown but std::bad_alloc.
 */
#ifndef HEAPLINE_CAPTURE_WRITER_HPP
#define HEAPLINE_CAPTURE_WRITER_HPP

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "about.hpp"
#include "addresses.hpp"
#include "columns.hpp"
#include "free_numbers.hpp"
#include "names.hpp"

namespace heapline {
namespace capture {

class Writer {
  public:
    /* Who did it, where and when. time_ns: since the recording began. */
    struct Call {
        uint32_t thread, stack, tag;
        uint64_t time_ns;
    };

    /* fd: an empty regular file, open for writing; it stays the caller's. */
    Writer(int fd, const Header &header);
    Writer(const Writer &) = delete;
    Writer &operator=(const Writer &) = delete;

    /* Each returns its number. Equal strings and tags have one number; of frames, nodes and threads it is the caller
     * who knows which it has written. An empty string or tag is 0. */
    uint32_t string(std::string_view text);
    uint32_t frame(const Frame &frame);
    uint32_t node(uint32_t parent, uint32_t frame);
    uint32_t thread(std::string_view name, uint64_t tid);
    void rename_thread(uint32_t thread, std::string_view name);
    uint32_t tag(std::string_view name);
    /* Which file the library of this path (a string) is; see identity.hpp. */
    void library(uint32_t path, std::string_view identity);
    /* The same class may come to have a name later. 0: there are too many. */
    uint32_t klass(std::string_view name, uint32_t type);
    void rename_class(uint32_t klass, std::string_view name, uint32_t type);

    /* A block at `address` (not 0). kind: a birth of malloc's family. Where a block is known to lie there, its end was
     * not seen: it vanishes, and that is true. */
    bool birth(Kind kind, uint64_t address, uint64_t size, uint64_t alignment, const Call &call);
    /* kind: free or cxx_delete. A block that is not known is older than the recording. */
    void death(Kind kind, uint64_t address, const Call &call);
    /* A realloc that succeeded; old_address not 0. Likewise. */
    bool moved(uint64_t old_address, uint64_t new_address, uint64_t size, const Call &call);

    /* A Ruby object in a slot of so many bytes; one that was freed, and one that moved (`bytes`: of the slot, 0: as
     * before). Objects that are older than the recording are in no event. */
    void object(uint64_t address, uint64_t bytes, uint32_t klass, const Call &call);
    void object_freed(uint64_t address, const Call &call);
    void object_moved(uint64_t from, uint64_t to, uint64_t bytes, const Call &call);

    /* mmap, munmap, mremap that succeeded. Sizes are rounded up to pages; what a mapping covers of others is cut out of
     * them. */
    void mapped(uint64_t address, uint64_t size, const Call &call);
    void unmapped(uint64_t address, uint64_t size, const Call &call);
    void remapped(uint64_t old_address, uint64_t old_size, uint64_t new_address, uint64_t new_size, const Call &call);

    /* thread_start, thread_end, gc_start, gc_end, lost; value: see Kind. */
    void mark(Kind kind, uint64_t value, const Call &call);

    void sample(const Sample &sample);

    /* Bring what waits into the file. */
    void flush();
    /* The end: after it nothing may be added. */
    void finish(Totals totals);

    /* errno of the last attempt to write; 0: it succeeded. */
    int error() const {
        return error_;
    }

    /* Blocks, mappings and objects that live now, as far as is known. */
    uint64_t live() const {
        return addresses_.size() + mappings_.size() + objects_.size();
    }
    /* Events that are in the file, or wait. */
    uint64_t events() const {
        return written_.events - left_out_;
    }
    /* errno: why something is not in the file; 0: nothing is missing. */
    int reason() const {
        return error_ ? error_ : reason_;
    }
    uint64_t bytes() const {
        return offset_;
    }
    uint64_t dropped() const {
        return dropped_;
    }

  private:
    struct Mapping {
        uint64_t size;
        uint32_t block;
        Call call; /* of its birth */
    };

    void add(Kind kind, uint32_t block, uint64_t size, uint64_t alignment, const Call &call, uint32_t klass = 0);
    bool vanish(uint64_t address, const Call &call);
    /* What is known to live there ends with this event. */
    bool end_known(Addresses &addresses, Kind kind, uint64_t address, const Call &call);
    void map(Kind kind, uint64_t address, uint64_t size, const Call &call);
    bool cut(uint64_t address, uint64_t size, Kind kind, const Call &call);
    uint64_t pages(uint64_t size) const;

    bool flush_names();
    void flush_events();
    void flush_samples();
    bool block(Section section, uint32_t count, uint64_t time_ns, std::string_view payload);
    bool write(std::string_view bytes);

    const int fd_;
    const uint64_t time_unit_ns_, page_size_;
    uint64_t offset_ = 0, time_ = 0; /* of the file; of the last event, in units */
    NewNames names_;
    ColumnWriter columns_;
    std::vector<Sample> samples_;
    FreeNumbers numbers_;
    Addresses addresses_, objects_;
    std::map<uint64_t, Mapping> mappings_;
    std::string index_; /* the INDEX so far */
    uint64_t indexed_ = 0;
    Totals written_;
    int error_ = 0;
    uint64_t dropped_ = 0, untold_ = 0; /* events; those, and others that were lost, that no mark tells of yet */
    uint64_t left_out_ = 0;             /* dropped events and marks */
    int reason_ = 0;                    /* errno of the last drop */
    uint32_t marks_ = 0;                /* of the block that is being filled: marks `lost`, */
    uint64_t told_ = 0;                 /* and what they tell of */
};

} // namespace capture
} // namespace heapline

#endif
