/* SPDX-License-Identifier: MIT */
#include "preload.hpp"

#include <algorithm>
#include <cstring>

#define _Static_assert static_assert /* the core's headers are C */

#include "allocator/real_malloc.h"
#include "flight/core_mark.h"
#include "flight/flight_layout.h"
#include "state/trailer.h"

namespace heapline {
namespace corefile {

namespace {

constexpr uint64_t most_pages = 1 << 20; /* of a flight */
constexpr uint64_t most_data = 16 << 20; /* of a library's writable data that are looked at */

} // namespace

Preload::Preload(Image &image) : image_(image) {
    for (const Image::Segment &segment : image_.segments()) {
        if (!segment.writable || !image_.is_file(segment.begin)) continue;
        const uint64_t end = std::min(segment.end, segment.begin + most_data);
        for (uint64_t at = segment.begin; at + sizeof(hl_core_mark) <= end; at += sizeof(uint64_t))
            if (is_mark(at)) return;
    }
}

bool Preload::is_mark(uint64_t address) {
    static const char magic[16] = HL_CORE_MARK_MAGIC;
    hl_core_mark mark;
    if (!image_.read(address, &mark, sizeof(mark)) || memcmp(mark.magic, magic, sizeof(magic)) != 0) return false;
    const auto at = [](const void *pointer) { return reinterpret_cast<uint64_t>(pointer); };
    if (!image_.read(at(mark.trailer_key), &key_, sizeof(key_)) || !key_ ||
        !image_.read(at(mark.tail_bytes), &tail_, sizeof(tail_)) ||
        !image_.read(at(mark.chunked), &chunked_, sizeof(chunked_)) ||
        !image_.read(at(mark.start_ticks), &start_ticks_, sizeof(start_ticks_)))
        return false;
    const std::string directory = image_.text(at(mark.flight_directory), HL_CORE_DIRECTORY_BYTES),
                      name = image_.text(at(mark.flight_name), HL_CORE_NAME_BYTES);
    if (!directory.empty() && !name.empty()) flight_ = directory + "/" + name;
    flight_at_ = image_.word(at(mark.flight));
    return found_ = true;
}

/* As far as it is there: pages that are not hold nothing, or the reader of flight files says what is missing. */
int Preload::kept_flight(const Job &job) {
    hl_flight_header header;
    if (kept_) return kept_->descriptor();
    if (!flight_at_ || !image_.read(flight_at_, &header, sizeof(header)) ||
        memcmp(header.magic, HL_FLIGHT_MAGIC, sizeof(header.magic)) != 0 || header.page_count > most_pages)
        return -1;
    std::vector<char> page(HL_PAGE_SIZE);
    auto file = std::make_unique<Spool>();
    for (uint64_t i = 0; i < header.page_count; i++) {
        job.check(i);
        if (image_.read(flight_at_ + i * HL_PAGE_SIZE, page.data(), page.size()))
            file->append(page.data(), page.size());
        else
            file->skip(page.size());
    }
    file->end();
    kept_ = std::move(file);
    return kept_->descriptor();
}

uint32_t Preload::site_of(uint64_t block, uint64_t bytes, uint64_t *size) {
    uint64_t word;
    if (bytes < tail_ + HL_TRAILER_SIZE) return 0;
    const uint64_t trailer = block + bytes - tail_ - HL_TRAILER_SIZE;
    if (!image_.read(trailer, &word, sizeof(word))) return 0;
    if (!hl_trailer_valid_by(key_, word, block)) return 0;
    const uint32_t site = static_cast<uint32_t>(word >> HL_SITE_SHIFT);
    const uint64_t slack = word >> HL_SLACK_SHIFT & 63, room = trailer - block;
    uint64_t asked = room - slack;
    if (slack == HL_SLACK_ESCAPE) asked = image_.word(trailer - sizeof(asked));
    if (asked > room) return 0;
    if (size) *size = asked;
    return site;
}

/* From 2.43 on the size of a mapped chunk does not count its header. */
uint64_t Preload::mapped_more() const {
    return chunked_ == HL_CHUNKED_2_43 ? 2 * sizeof(uint64_t) : 0;
}

uint32_t Preload::site_of(const Allocator::Chunk &chunk) {
    if (!found_ || !chunk.used) return 0;
    return site_of(chunk.block, chunk.bytes + (chunk.arena ? 0 : mapped_more()));
}

/* Is it a block of heapline's? Then it is counted. */
bool Preload::count(uint64_t block, uint64_t bytes) {
    uint64_t size;
    const uint32_t site = site_of(block, bytes, &size);
    if (!site) return false;
    if (site >= live_.size()) live_.resize(site + 1, Live{0, 0, 0});
    live_[site].site = site;
    live_[site].blocks++;
    live_[site].bytes += size;
    return true;
}

void Preload::add_up(const Job &job, Allocators &allocators) {
    live_.clear();
    allocators.walk(job, [this](uint64_t block, uint64_t bytes) { count(block, bytes); });
    allocators.walk_mapped(
        job, [this, more = mapped_more()](uint64_t block, uint64_t bytes) { return count(block, bytes + more); });
    live_.erase(std::remove_if(live_.begin(), live_.end(), [](const Live &one) { return !one.blocks; }), live_.end());
}

} // namespace corefile
} // namespace heapline
