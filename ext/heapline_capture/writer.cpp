/* SPDX-License-Identifier: MIT */
#include "writer.hpp"

#include <endian.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "block.hpp"

namespace heapline {
namespace capture {

namespace {

const size_t SAMPLES_MAX = 1024; /* that wait */

} // namespace

Writer::Writer(int fd, const Header &header)
    : fd_(fd), time_unit_ns_(header.time_unit_ns), page_size_(header.page_size ? header.page_size : 4096) {
    write(std::string_view(PREAMBLE, PREAMBLE_SIZE));
    block(Section::header, 0, 0, packed(header));
}

uint32_t Writer::string(std::string_view text) {
    return names_.string(text);
}
uint32_t Writer::frame(const Frame &frame) {
    return names_.frame(frame);
}
uint32_t Writer::node(uint32_t parent, uint32_t frame) {
    return names_.node(parent, frame);
}
uint32_t Writer::thread(std::string_view name, uint64_t tid) {
    return names_.thread(name, tid);
}
void Writer::rename_thread(uint32_t thread, std::string_view name) {
    names_.rename(thread, name);
}
uint32_t Writer::tag(std::string_view name) {
    return names_.tag(name);
}
void Writer::library(uint32_t path, std::string_view identity) {
    names_.library(path, identity);
}

uint32_t Writer::klass(std::string_view name, uint32_t type) {
    return names_.klass(name, type);
}
void Writer::rename_class(uint32_t klass, std::string_view name, uint32_t type) {
    names_.rename_class(klass, name, type);
}

bool Writer::birth(Kind kind, uint64_t address, uint64_t size, uint64_t alignment, const Call &call) {
    const bool vanished = vanish(address, call);
    uint32_t number = numbers_.take();
    addresses_.add(address, number);
    add(kind, number, size, alignment, call);
    return vanished;
}

void Writer::death(Kind kind, uint64_t address, const Call &call) {
    uint32_t number = addresses_.remove(address);
    if (number) numbers_.give_back(number);
    add(number ? kind : Kind::free_older, number, 0, 0, call);
}

bool Writer::moved(uint64_t old_address, uint64_t new_address, uint64_t size, const Call &call) {
    uint32_t number = addresses_.remove(old_address);
    if (!number) return birth(Kind::realloc_older, new_address, size, 0, call);
    const bool vanished = vanish(new_address, call);
    addresses_.add(new_address, number);
    add(Kind::resize, number, size, 0, call);
    return vanished;
}

bool Writer::vanish(uint64_t address, const Call &call) {
    return end_known(addresses_, Kind::vanish, address, call);
}

bool Writer::end_known(Addresses &addresses, Kind kind, uint64_t address, const Call &call) {
    uint32_t number = addresses.remove(address);
    if (!number) return false;
    numbers_.give_back(number);
    add(kind, number, 0, 0, call);
    return true;
}

void Writer::object(uint64_t address, uint64_t bytes, uint32_t klass, const Call &call) {
    object_freed(address, call); /* its end was not seen */
    uint32_t number = numbers_.take();
    objects_.add(address, number);
    add(Kind::object, number, bytes, 0, call, klass);
}

void Writer::object_freed(uint64_t address, const Call &call) {
    end_known(objects_, Kind::object_freed, address, call);
}

void Writer::object_moved(uint64_t from, uint64_t to, uint64_t bytes, const Call &call) {
    uint32_t number = objects_.remove(from);
    if (!number) return;
    object_freed(to, call);
    objects_.add(to, number);
    if (bytes) add(Kind::object_resized, number, bytes, 0, call);
}

uint64_t Writer::pages(uint64_t size) const {
    return (size + page_size_ - 1) / page_size_ * page_size_;
}

void Writer::map(Kind kind, uint64_t address, uint64_t size, const Call &call) {
    if (!size) return;
    uint32_t number = numbers_.take();
    mappings_[address] = {size, number, call};
    add(kind, number, size, 0, call);
}

/* End the known mappings in this range, the first of them by a call of `kind`; what lies outside of it remains. Returns
 * whether there was one. */
bool Writer::cut(uint64_t address, uint64_t size, Kind kind, const Call &call) {
    uint64_t end = address + size;
    auto at = mappings_.upper_bound(address);
    if (at != mappings_.begin() && std::prev(at)->first + std::prev(at)->second.size > address) --at;
    bool found = false;
    while (size && at != mappings_.end() && at->first < end) {
        uint64_t from = at->first, to = from + at->second.size;
        Mapping cut = at->second;
        mappings_.erase(at);
        numbers_.give_back(cut.block);
        add(found ? Kind::vanish : kind, cut.block, 0, 0, call);
        found = true;
        cut.call.time_ns = call.time_ns;
        if (from < address) map(Kind::remains, from, address - from, cut.call);
        if (to > end) map(Kind::remains, end, to - end, cut.call);
        at = mappings_.lower_bound(to);
    }
    return found;
}

void Writer::mapped(uint64_t address, uint64_t size, const Call &call) {
    size = pages(size);
    cut(address, size, Kind::vanish, call);
    map(Kind::mmap, address, size, call);
}

void Writer::unmapped(uint64_t address, uint64_t size, const Call &call) {
    if (!cut(address, pages(size), Kind::munmap, call)) add(Kind::munmap_older, 0, 0, 0, call);
}

void Writer::remapped(uint64_t old_address, uint64_t old_size, uint64_t new_address, uint64_t new_size,
                      const Call &call) {
    old_size = pages(old_size);
    new_size = pages(new_size);
    auto known = mappings_.find(old_address);
    if (known == mappings_.end() || known->second.size != old_size) {
        cut(old_address, old_size, Kind::vanish, call);
        cut(new_address, new_size, Kind::vanish, call);
        return map(Kind::mremap_older, new_address, new_size, call);
    }
    uint32_t number = known->second.block;
    mappings_.erase(known);
    cut(new_address, new_size, Kind::vanish, call);
    mappings_[new_address] = {new_size, number, call};
    add(Kind::remap, number, new_size, 0, call);
}

void Writer::mark(Kind kind, uint64_t value, const Call &call) {
    add(kind, 0, value, 0, call);
}

void Writer::sample(const Sample &sample) {
    samples_.push_back(sample);
    if (samples_.size() >= SAMPLES_MAX) flush_samples();
}

/* Time never goes back: what comes late is told as happening now. */
void Writer::add(Kind kind, uint32_t block, uint64_t size, uint64_t alignment, const Call &call, uint32_t klass) {
    time_ = std::max(time_, call.time_ns / time_unit_ns_);
    if (untold_) {
        uint64_t untold = untold_;
        untold_ = 0;
        add(Kind::lost, 0, untold, 0, call);
    }
    if (kind == Kind::lost) {
        marks_++;
        told_ += size;
    }
    columns_.add({0, size, alignment, block, call.stack, call.thread, call.tag, klass, kind}, time_);
    written_.events++;
    if (allocates(kind)) {
        written_.births++;
        written_.bytes += size;
    }
    if (columns_.count() == EVENTS_MAX) flush_events();
}

void Writer::flush() {
    flush_events();
    flush_names();
    flush_samples();
}

bool Writer::flush_names() {
    if (!names_.waiting()) return true;
    if (!block(Section::names, names_.waiting(), time_ * time_unit_ns_, names_.payload())) return false;
    names_.written();
    return true;
}

void Writer::flush_events() {
    uint32_t count = columns_.count();
    if (!count) return;
    if (!flush_names() || !block(Section::events, count, columns_.first_time() * time_unit_ns_, columns_.payload())) {
        dropped_ += count - marks_;
        untold_ += count - marks_ + told_;
        left_out_ += count;
        reason_ = error_;
    }
    columns_.clear();
    marks_ = 0;
    told_ = 0;
}

void Writer::flush_samples() {
    if (samples_.empty()) return;
    block(Section::samples, static_cast<uint32_t>(samples_.size()), samples_.front().time_ns, packed(samples_));
    samples_.clear();
}

void Writer::finish(Totals totals) {
    flush();
    totals.lost += dropped_;
    totals.events = written_.events;
    totals.births = written_.births;
    totals.bytes = written_.bytes;
    totals.most_blocks = numbers_.highest();
    if (!block(Section::end, 0, totals.time_ns, packed(totals))) return;
    uint64_t index_at = htole64(offset_);
    if (!block(Section::index, 0, totals.time_ns, index_)) return;
    std::string finis(reinterpret_cast<const char *>(&index_at), sizeof(index_at));
    write(finis + FINIS);
}

/* The INDEX lists the blocks before it: section, how far behind the last one, count, time. */
bool Writer::block(Section section, uint32_t count, uint64_t time_ns, std::string_view payload) {
    Head head;
    head.section = section;
    head.count = count;
    head.time_ns = time_ns;
    std::string stored = pack(head, payload), bytes(HEAD_SIZE, '\0');
    put_head(head, &bytes[0]);
    uint64_t at = offset_;
    if (!write(bytes + stored)) return false;
    index_.push_back(static_cast<char>(section));
    for (uint64_t value : {at - indexed_, uint64_t{count}, time_ns}) put_varint(index_, value);
    indexed_ = at;
    return true;
}

bool Writer::write(std::string_view bytes) {
    size_t done = 0;
    error_ = 0;
    while (done < bytes.size() && !error_) {
        ssize_t wrote = pwrite(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset_ + done));
        if (wrote > 0) done += static_cast<size_t>(wrote);
        if (wrote == 0) error_ = EIO;
        if (wrote < 0 && errno != EINTR) error_ = errno;
    }
    if (!error_)
        offset_ += bytes.size();
    else if (done && ftruncate(fd_, static_cast<off_t>(offset_)))
        error_ = errno;
    return !error_;
}

} // namespace capture
} // namespace heapline
