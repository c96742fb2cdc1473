/* SPDX-License-Identifier: MIT */
#include "store.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "failure.hpp"

namespace heapline {

Store::Store(size_t in_memory, size_t mapped) : in_memory_(in_memory), mapped_(mapped) {
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
    elsewhere_ = shared_pages();
}

void Store::give_back(size_t bytes) {
    taken_ -= bytes;
}

const void *Store::map(int fd, size_t bytes) {
    maps_.reserve(maps_.size() + 1);
    void *place = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (place == MAP_FAILED) throw Failure(std::string("a temporary file cannot be mapped: ") + strerror(errno));
    maps_.emplace_back(place, bytes);
    return place;
}

void Store::unmap(const void *place, size_t bytes) {
    maps_.erase(std::find_if(maps_.begin(), maps_.end(), [&](const auto &map) { return map.first == place; }));
    munmap(const_cast<void *>(place), bytes);
}

/* 0: not known. */
size_t Store::shared_pages() const {
    char text[128];
    const ssize_t size = statm_ < 0 ? -1 : pread(statm_, text, sizeof(text) - 1, 0);
    unsigned long all, resident, shared = 0;
    if (size <= 0) return 0;
    text[size] = 0;
    return sscanf(text, "%lu %lu %lu", &all, &resident, &shared) == 3 ? shared : 0;
}

void Store::trim() {
    const size_t pages = shared_pages(), page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    if (pages && (pages <= elsewhere_ || (pages - elsewhere_) * page <= mapped_)) return;
    for (const auto &[place, bytes] : maps_) madvise(place, bytes, MADV_DONTNEED);
}

} // namespace heapline
