/* SPDX-License-Identifier: MIT */
/*
 * Events as columns, so that like lies beside like and packs well. One byte an event says its kind and which of the
 * rarer columns it has a value in; the others follow from the kind:
 *
 *   BLOCKS      births, changes, ends, also of objects: the difference to the number that the last such event named
 *   STACKS, SIZES   births and changes; marks have a size too
 *   ALIGNMENTS  memalign and its kin; of objects the class
 *   TIMES       where the time moved: by how many units
 *   THREADS, TAGS   where they are others than before
 *
 * A payload begins with the time of its first event and the sizes of the columns. All that is remembered from event to
 * event begins anew in each payload: one can be read without those before it.
 */
#ifndef HEAPLINE_CAPTURE_COLUMNS_HPP
#define HEAPLINE_CAPTURE_COLUMNS_HPP

#include <memory>
#include <string>

#include "block.hpp"
#include "event.hpp"
#include "names.hpp"
#include "varint.hpp"

namespace heapline {
namespace capture {

enum Columns { OPS, BLOCKS, STACKS, SIZES, ALIGNMENTS, TIMES, THREADS, TAGS, END_STACKS, COLUMNS };

enum OpBits : uint8_t { KIND_BITS = 0x1f, TIME_MOVED = 0x20, OTHER_THREAD = 0x40, OTHER_TAG = 0x80 };

/* What the next event is told relative to. */
struct Relative {
    uint64_t time = 0; /* in units */
    uint32_t block = 0, thread = 0, tag = 0, end_stack = 0;
};

class ColumnWriter {
  public:
    ColumnWriter();

    /* time: in units, not before the last. There is room for EVENTS_MAX. */
    void add(const Event &event, uint64_t time);

    uint32_t count() const {
        return count_;
    }
    /* Units. */
    uint64_t first_time() const {
        return first_time_;
    }
    std::string payload() const;
    void clear();

  private:
    void put(Columns column, uint64_t value) {
        ends_[column] = put_varint(ends_[column], value);
    }

    std::unique_ptr<uint8_t[]> columns_[COLUMNS];
    uint8_t *ends_[COLUMNS];
    Relative last_;
    uint64_t first_time_ = 0;
    uint32_t count_ = 0;
};

/* What numbers there are: the limits of those in a payload. */
struct Limits {
    uint64_t stacks, threads, tags, blocks, classes;
    bool ends; /* do they have stacks? */
};

class ColumnReader {
  public:
    ColumnReader() = default;
    /* The payload stays the caller's. count: as its head says. Throws Damage. */
    ColumnReader(std::string_view payload, uint32_t count, uint64_t time_unit_ns, const Limits &limits);

    uint32_t left() const {
        return static_cast<uint32_t>(columns_[OPS].size());
    }
    /* The next event; there must be one. Throws Damage. */
    void next(Event &event) {
        uint8_t op = columns_[OPS].byte();
        if (!is_known(op & KIND_BITS)) throw Damage("an event is of no known kind");
        Kind kind = event.kind = static_cast<Kind>(op & KIND_BITS);
        if (op & TIME_MOVED) move_time();
        if (op & OTHER_THREAD) last_.thread = columns_[THREADS].number(limits_.threads);
        if (op & OTHER_TAG) last_.tag = columns_[TAGS].number(limits_.tags);
        event.time_ns = time_ns_;
        event.thread = last_.thread;
        event.block = has_number(kind) ? block() : 0;
        event.alignment = has_alignment(kind) ? columns_[ALIGNMENTS].varint() : 0;
        event.klass = kind == Kind::object ? columns_[ALIGNMENTS].number(limits_.classes) : 0;
        event.stack = has_stack(kind) ? columns_[STACKS].number(limits_.stacks) : 0;
        if (limits_.ends && has_end_stack(kind)) event.stack = end_stack();
        event.tag = has_stack(kind) || has_end_stack(kind) ? last_.tag : 0;
        event.size = has_size(kind) ? columns_[SIZES].varint() : 0;
    }

  private:
    uint32_t block() {
        int64_t block = int64_t{last_.block} + unfold(columns_[BLOCKS].varint());
        if (block < 1 || static_cast<uint64_t>(block) >= limits_.blocks) throw Damage("a block has no such number");
        return last_.block = static_cast<uint32_t>(block);
    }
    uint32_t end_stack() {
        int64_t stack = int64_t{last_.end_stack} + unfold(columns_[END_STACKS].varint());
        if (stack < 0 || static_cast<uint64_t>(stack) >= limits_.stacks) throw Damage("a number names nothing");
        return last_.end_stack = static_cast<uint32_t>(stack);
    }
    void move_time();

    Bytes columns_[COLUMNS];
    Limits limits_ = {};
    Relative last_;
    uint64_t time_unit_ns_ = 0, time_ns_ = 0;
};

} // namespace capture
} // namespace heapline

#endif
