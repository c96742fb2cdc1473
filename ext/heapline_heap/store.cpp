/* SPDX-License-Identifier: MIT */
#include "store.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "failure.hpp"

namespace heapline {

namespace {

const size_t MAPPED_PART = 6;         /* so many parts of the room: one at least is for what is mapped */
const size_t PIECE = size_t{4} << 20; /* of what is mapped, to be given up at once */

} // namespace

Store::Store(size_t in_memory, size_t room) : in_memory_(in_memory), room_(room) {
    take(0);
}

Store::~Store() {
    if (statm_ >= 0) close(statm_);
}

void Store::take(size_t bytes) {
    taken_ += bytes;
    if (in_files_ || taken_ < in_memory_) return;
    in_files_ = true;
    statm_ = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    elsewhere_ = mapped_bytes();
    if (elsewhere_ == SIZE_MAX) elsewhere_ = 0;
}

void Store::give_back(size_t bytes) {
    taken_ -= bytes;
}

bool Store::hold(size_t bytes) {
    if (in_files_ && bytes && held_ + bytes > room_ - room_ / MAPPED_PART) return false;
    held_ += bytes;
    return true;
}

void Store::let_go(size_t bytes) {
    held_ -= bytes;
}

void *Store::map(int fd, size_t bytes, bool writable) {
    maps_.reserve(maps_.size() + 1);
    void *place = mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    if (place == MAP_FAILED) throw Failure(std::string("a temporary file cannot be mapped: ") + strerror(errno));
    maps_.emplace_back(place, bytes);
    return place;
}

void Store::unmap(const void *place, size_t bytes) {
    maps_.erase(std::find_if(maps_.begin(), maps_.end(), [&](const auto &map) { return map.first == place; }));
    munmap(const_cast<void *>(place), bytes);
    offset_ = 0;
}

/* SIZE_MAX: not known. */
size_t Store::mapped_bytes() const {
    char text[128];
    const ssize_t size = statm_ < 0 ? -1 : pread(statm_, text, sizeof(text) - 1, 0);
    unsigned long all, resident, shared;
    if (size <= 0) return SIZE_MAX;
    text[size] = 0;
    if (sscanf(text, "%lu %lu %lu", &all, &resident, &shared) < 3) return SIZE_MAX;
    return shared * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

/* It is given up piece by piece, in turn, so that most of what is looked at again and again stays. */
void Store::give_up() {
    const size_t most = elsewhere_ + std::max(room_ / MAPPED_PART, room_ - std::min(room_, held_));
    if (mapped_bytes() <= most) return;
    size_t pieces = 0;
    for (const auto &[place, bytes] : maps_) pieces += bytes / PIECE + 1;
    for (; pieces && mapped_bytes() > most - most / 4; pieces--) {
        if (next_ >= maps_.size()) next_ = 0;
        const auto &[place, bytes] = maps_[next_];
        madvise(static_cast<char *>(place) + offset_, std::min(PIECE, bytes - offset_), MADV_DONTNEED);
        offset_ += PIECE;
        if (offset_ < bytes) continue;
        offset_ = 0;
        next_++;
    }
}

} // namespace heapline
