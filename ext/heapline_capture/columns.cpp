/* SPDX-License-Identifier: MIT */
#include "columns.hpp"

namespace heapline {
namespace capture {

namespace {

const uint64_t LATEST = uint64_t{1} << 62; /* nanoseconds: 146 years; what is later is damage */

} // namespace

ColumnWriter::ColumnWriter() {
    for (int i = 0; i < COLUMNS; i++) columns_[i].reset(new uint8_t[EVENTS_MAX * (i == OPS ? 1 : VARINT_MAX)]);
    clear();
}

void ColumnWriter::clear() {
    for (int i = 0; i < COLUMNS; i++) ends_[i] = columns_[i].get();
    last_ = {};
    count_ = 0;
}

void ColumnWriter::add(const Event &event, uint64_t time) {
    uint8_t op = static_cast<uint8_t>(event.kind);
    if (!count_++) first_time_ = last_.time = time;
    if (time != last_.time) {
        op |= TIME_MOVED;
        put(TIMES, time - last_.time);
        last_.time = time;
    }
    if (event.thread != last_.thread) {
        op |= OTHER_THREAD;
        put(THREADS, last_.thread = event.thread);
    }
    if (has_number(event.kind)) {
        put(BLOCKS, fold(int64_t{event.block} - int64_t{last_.block}));
        last_.block = event.block;
    }
    if (has_alignment(event.kind)) put(ALIGNMENTS, event.alignment);
    if (event.kind == Kind::object) put(ALIGNMENTS, event.klass);
    if ((has_stack(event.kind) || has_end_stack(event.kind)) && event.tag != last_.tag) {
        op |= OTHER_TAG;
        put(TAGS, last_.tag = event.tag);
    }
    if (has_stack(event.kind)) put(STACKS, event.stack);
    if (has_end_stack(event.kind)) {
        put(END_STACKS, fold(int64_t{event.stack} - int64_t{last_.end_stack}));
        last_.end_stack = event.stack;
    }
    if (has_size(event.kind)) put(SIZES, event.size);
    *ends_[OPS]++ = op;
}

std::string ColumnWriter::payload() const {
    std::string payload;
    put_varint(payload, first_time_);
    for (int i = BLOCKS; i < COLUMNS; i++) put_varint(payload, static_cast<uint64_t>(ends_[i] - columns_[i].get()));
    for (int i = 0; i < COLUMNS; i++)
        payload.append(reinterpret_cast<const char *>(columns_[i].get()),
                       static_cast<size_t>(ends_[i] - columns_[i].get()));
    return payload;
}

ColumnReader::ColumnReader(std::string_view payload, uint32_t count, uint64_t time_unit_ns, const Limits &limits)
    : limits_(limits), time_unit_ns_(time_unit_ns) {
    Bytes bytes(payload);
    uint64_t time = bytes.varint(), sizes[COLUMNS] = {count};
    if (time > LATEST / time_unit_ns) throw Damage("its time is impossible");
    time_ns_ = time * time_unit_ns;
    const int columns = limits.ends ? COLUMNS : END_STACKS;
    for (int i = BLOCKS; i < columns; i++) sizes[i] = bytes.varint();
    for (int i = 0; i < columns; i++) columns_[i] = Bytes(bytes.take(sizes[i]));
    if (!bytes.empty()) throw Damage("it has more bytes than its columns");
}

void ColumnReader::move_time() {
    uint64_t units = columns_[TIMES].varint();
    if (units > (LATEST - time_ns_) / time_unit_ns_) throw Damage("its time is impossible");
    time_ns_ += units * time_unit_ns_;
}

} // namespace capture
} // namespace heapline
