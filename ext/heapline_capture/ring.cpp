/* SPDX-License-Identifier: MIT */
#include "ring.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "../heapline_core/platform/platform.h"

namespace heapline {
namespace capture {

namespace {

const uint64_t TIME_MASK = (uint64_t{1} << HL_EVENT_TIME_BITS) - 1;
const uint64_t ADDRESS_MASK = (uint64_t{1} << HL_EVENT_ADDRESS_BITS) - 1;

std::runtime_error failure(const std::string &path, const char *problem) {
    return std::runtime_error(path + ": " + problem);
}

char *map(const std::string &path) {
    int fd = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) throw failure(path, strerror(errno));
    struct stat status;
    if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        static_cast<uint64_t>(status.st_size) != HL_RING_BYTES) {
        close(fd);
        throw failure(path, "no ring of a recording, or not complete yet");
    }
    void *base = mmap(nullptr, HL_RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    close(fd);
    if (base == MAP_FAILED) throw failure(path, strerror(errno));
    return static_cast<char *>(base);
}

} // namespace

Ring::Ring(const std::string &path) : base_(map(path)) {
    uint64_t magic, there = __atomic_load_n(reinterpret_cast<uint64_t *>(base_), __ATOMIC_ACQUIRE);
    memcpy(&magic, HL_RING_MAGIC, sizeof(magic));
    if (there == magic && header().version == HL_RING_VERSION) return;
    munmap(base_, HL_RING_BYTES);
    throw failure(path, there == magic ? "the process runs another version of heapline" : "not complete yet");
}

Ring::~Ring() {
    munmap(base_, HL_RING_BYTES);
}

std::string_view Ring::string(uint32_t number) const {
    const uint32_t used =
        std::min(__atomic_load_n(&header().strings_used, __ATOMIC_ACQUIRE), uint32_t{HL_RING_STRINGS});
    if (!number || number % 8 || number >= used) return {};
    const char *text = base_ + HL_RING_STRINGS_AT + number;
    uint16_t length;
    memcpy(&length, text, sizeof(length));
    if (number + sizeof(length) + length > used) return {};
    return {text + sizeof(length), length};
}

hl_ring_frame Ring::frame(uint32_t number) const {
    if (number >= __atomic_load_n(&header().frames_used, __ATOMIC_ACQUIRE) || number >= HL_RING_FRAMES) return {};
    return reinterpret_cast<hl_ring_frame *>(base_ + HL_RING_FRAMES_AT)[number];
}

hl_ring_node Ring::node(uint32_t number) const {
    if (number >= __atomic_load_n(&header().nodes_used, __ATOMIC_ACQUIRE) || number >= HL_RING_NODES) return {};
    return reinterpret_cast<hl_ring_node *>(base_ + HL_RING_NODES_AT)[number];
}

bool Ring::time(uint32_t chunk, uint32_t at, uint64_t &time) const {
    const uint64_t first = __atomic_load_n(words(chunk, at), __ATOMIC_ACQUIRE);
    time = first & TIME_MASK;
    return first != 0;
}

bool Ring::event(uint32_t chunk, uint32_t at, RingEvent &event) const {
    const uint64_t *word = words(chunk, at);
    const uint64_t first = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (!first) return false;
    event.kind = static_cast<uint32_t>(first >> HL_EVENT_TIME_BITS);
    event.time = first & TIME_MASK;
    event.words = hl_event_words(event.kind, word[2]);
    event.address = word[1];
    event.size = event.alignment = event.stack = event.klass = 0;
    if (event.kind < HL_EVENT_THREAD_START || event.kind >= HL_EVENT_MUNMAP) event.address = word[1] & ADDRESS_MASK;
    if (event.kind <= HL_EVENT_LAST_BIRTH) {
        const uint64_t power = word[1] >> HL_EVENT_ALIGNMENT_SHIFT;
        event.alignment = power ? uint64_t{1} << power : 0;
        event.size = event.words == 4 ? word[3] : word[2] & HL_EVENT_SIZE_MAX;
        event.stack = static_cast<uint32_t>(word[2] >> HL_EVENT_STACK_SHIFT);
    } else if (event.kind <= HL_EVENT_LAST_DEATH || event.kind == HL_EVENT_GC) {
        event.stack = static_cast<uint32_t>(word[2] >> HL_EVENT_STACK_SHIFT);
    } else if (event.kind >= HL_EVENT_MUNMAP) {
        event.size = word[2];
        event.stack = static_cast<uint32_t>(word[3]);
    } else if (event.kind >= HL_EVENT_OBJECT && event.kind <= HL_EVENT_CLASS) {
        object(word, event);
    } else if (event.kind == HL_EVENT_TAG) {
        event.text = string(static_cast<uint32_t>(word[1]));
    } else if (event.words == 4) {
        memcpy(event.name, &word[2], 16);
        event.name[16] = 0;
    }
    return true;
}

void Ring::object(const uint64_t *word, RingEvent &event) const {
    if (event.kind == HL_EVENT_OBJECT) {
        event.address = word[1] & ADDRESS_MASK;
        event.size = word[2] & ((uint64_t{1} << HL_EVENT_CLASS_SHIFT) - 1);
        event.klass = word[2] >> HL_EVENT_CLASS_SHIFT & HL_EVENT_CLASS_MASK;
        event.stack = static_cast<uint32_t>(word[2] >> HL_EVENT_STACK_SHIFT);
    } else if (event.kind == HL_EVENT_OBJECT_MOVED) {
        event.moved_to = word[2] & ADDRESS_MASK;
        event.size = word[2] >> HL_EVENT_ADDRESS_BITS;
    } else {
        event.klass = static_cast<uint32_t>(word[1]) & HL_EVENT_CLASS_MASK;
        event.size = word[2] & (HL_EVENT_FRESH_CLASS - 1);
        event.is_fresh = word[2] & HL_EVENT_FRESH_CLASS;
        event.text = string(static_cast<uint32_t>(word[2] >> 32));
    }
}

void Ring::give_back(uint32_t number, uint32_t used) {
    memset(words(number, 0), 0, std::min(used, uint32_t{HL_CHUNK_BYTES}));
    __atomic_fetch_add(&header().chunks_freed, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&chunk(number).state, HL_CHUNK_FREE, __ATOMIC_RELEASE);
}

void Ring::release() {
    madvise(base_ + HL_RING_STRINGS_AT, HL_RING_BYTES - HL_RING_STRINGS_AT, MADV_REMOVE);
}

uint64_t Ring::now() const {
    if (header().clock == HL_CLOCK_TSC) return hl_clock_counter() - header().start;
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec) - header().start;
}

} // namespace capture
} // namespace heapline
