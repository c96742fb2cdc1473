/* SPDX-License-Identifier: MIT */
/* The ring of a recorded process, written by a test word for word. Its clock counts nanoseconds, and began AGO ago. */
#ifndef HEAPLINE_TEST_WRITTEN_RING_HPP
#define HEAPLINE_TEST_WRITTEN_RING_HPP

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "../../ext/heapline_core/record/ring_layout.h"
#include "check.h"

class WrittenRing {
  public:
    /* Nanoseconds: long before what a drain leaves for later, and long after it. */
    static const uint64_t AGO = 60000000000ull, LATER = 3600000000000ull;

    WrittenRing() {
        const int fd = mkstemp(path_);
        CHECK(fd >= 0 && ftruncate(fd, HL_RING_BYTES) == 0);
        base_ = static_cast<char *>(mmap(nullptr, HL_RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
        close(fd);
        timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        hl_ring_header &about = header();
        about.version = HL_RING_VERSION;
        about.state = HL_RING_RECORDING;
        about.pid = static_cast<uint32_t>(getpid());
        about.clock = HL_CLOCK_NS;
        about.start = about.start_ns =
            static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec) - AGO;
        about.strings_used = 8;
        about.frames_used = about.nodes_used = 1;
        memcpy(about.magic, HL_RING_MAGIC, sizeof(about.magic));
    }
    ~WrittenRing() {
        munmap(base_, HL_RING_BYTES);
        unlink(path_);
    }
    WrittenRing(const WrittenRing &) = delete;
    WrittenRing &operator=(const WrittenRing &) = delete;

    std::string path() const {
        return path_;
    }
    char *base() const {
        return base_;
    }
    hl_ring_header &header() const {
        return *reinterpret_cast<hl_ring_header *>(base_);
    }
    hl_ring_chunk &chunk(uint32_t number) const {
        return reinterpret_cast<hl_ring_chunk *>(base_ + HL_RING_STATES_AT)[number];
    }
    hl_ring_frame &frame(uint32_t number) const {
        return reinterpret_cast<hl_ring_frame *>(base_ + HL_RING_FRAMES_AT)[number];
    }
    hl_ring_node &node(uint32_t number) const {
        return reinterpret_cast<hl_ring_node *>(base_ + HL_RING_NODES_AT)[number];
    }
    uint64_t &word(uint32_t chunk, uint32_t at) const {
        return reinterpret_cast<uint64_t *>(base_ + HL_RING_CHUNKS_AT + size_t{chunk} * HL_CHUNK_BYTES)[at / 8];
    }

    uint32_t string(const std::string &text) {
        const uint32_t at = header().strings_used;
        const uint16_t length = static_cast<uint16_t>(text.size());
        memcpy(base_ + HL_RING_STRINGS_AT + at, &length, sizeof(length));
        memcpy(base_ + HL_RING_STRINGS_AT + at + sizeof(length), text.data(), length);
        header().strings_used = (at + static_cast<uint32_t>(sizeof(length)) + length + 7) & ~7u;
        return at;
    }
    /* A frame of Ruby. */
    uint32_t add_frame(const std::string &label, const std::string &file, uint32_t line) {
        const hl_ring_frame added = {HL_FRAME_RUBY, string(file), string(label), line, 0};
        frame(header().frames_used) = added;
        return header().frames_used++;
    }
    uint32_t add_node(uint32_t parent, uint32_t frame) {
        node(header().nodes_used) = {parent, frame};
        return header().nodes_used++;
    }

    /* The lane goes on to this chunk; events go there from now on. */
    void open(uint32_t number, uint32_t lane, uint32_t sequence) {
        chunk(number) = {HL_CHUNK_OPEN, lane, sequence, 0};
        chunk_ = number;
        at_ = 0;
    }
    /* No event comes into it any more. */
    void close_chunk() {
        chunk(chunk_).end = at_;
    }
    /* Go on with this chunk, from this place. */
    void resume(uint32_t number, uint32_t at) {
        chunk_ = number;
        at_ = at;
    }
    uint32_t at() const {
        return at_;
    }

    void birth(uint32_t kind, uint64_t time, uint64_t address, uint64_t size, uint32_t stack = 0, unsigned power = 0) {
        const bool large = size >= HL_EVENT_SIZE_MAX;
        word(chunk_, at_ + 8) = address | uint64_t{power} << HL_EVENT_ALIGNMENT_SHIFT;
        word(chunk_, at_ + 16) = (large ? HL_EVENT_SIZE_MAX : size) | uint64_t{stack} << HL_EVENT_STACK_SHIFT;
        if (large) word(chunk_, at_ + 24) = size;
        show(kind, time, large ? 4 : 3);
    }
    /* Three words: free and delete, or a GC. */
    void death(uint32_t kind, uint64_t time, uint64_t address, uint32_t stack = 0) {
        word(chunk_, at_ + 8) = address;
        word(chunk_, at_ + 16) = uint64_t{stack} << HL_EVENT_STACK_SHIFT;
        show(kind, time, 3);
    }
    void object(uint64_t time, uint64_t address, uint64_t bytes, uint32_t klass, uint32_t stack = 0) {
        word(chunk_, at_ + 8) = address;
        word(chunk_, at_ + 16) =
            bytes | uint64_t{klass} << HL_EVENT_CLASS_SHIFT | uint64_t{stack} << HL_EVENT_STACK_SHIFT;
        show(HL_EVENT_OBJECT, time, 3);
    }
    /* bytes: of its slot there; 0: as before */
    void object_moved(uint64_t time, uint64_t from, uint64_t to, uint64_t bytes = 0) {
        word(chunk_, at_ + 8) = from;
        word(chunk_, at_ + 16) = to | bytes << HL_EVENT_ADDRESS_BITS;
        show(HL_EVENT_OBJECT_MOVED, time, 3);
    }
    /* fresh: another class had the number so far */
    void klass(uint64_t time, uint32_t number, uint32_t type, const std::string &name, bool fresh) {
        word(chunk_, at_ + 8) = number;
        word(chunk_, at_ + 16) =
            type | (fresh ? HL_EVENT_FRESH_CLASS : 0u) | uint64_t{name.empty() ? 0 : string(name)} << 32;
        show(HL_EVENT_CLASS, time, 3);
    }
    /* What follows in this lane has this tag. */
    void tag(uint64_t time, const std::string &name) {
        plain(HL_EVENT_TAG, time, name.empty() ? 0 : string(name));
    }
    /* Two words. */
    void plain(uint32_t kind, uint64_t time, uint64_t second) {
        word(chunk_, at_ + 8) = second;
        show(kind, time, 2);
    }
    void unmapping(uint32_t kind, uint64_t time, uint64_t address, uint64_t size, uint32_t stack = 0) {
        word(chunk_, at_ + 8) = address;
        word(chunk_, at_ + 16) = size;
        word(chunk_, at_ + 24) = stack;
        show(kind, time, 4);
    }
    void thread(uint32_t kind, uint64_t time, uint64_t tid, const char *name) {
        word(chunk_, at_ + 8) = tid;
        memcpy(&word(chunk_, at_ + 16), name, strnlen(name, 16));
        show(kind, time, 4);
    }
    /* Room for an event of so many words that is not told. */
    void hole(uint32_t words) {
        at_ += words * 8;
    }

  private:
    void show(uint32_t kind, uint64_t time, uint32_t words) {
        word(chunk_, at_) = uint64_t{kind} << HL_EVENT_TIME_BITS | time;
        at_ += words * 8;
    }

    char path_[32] = "/dev/shm/heapline-ring-XXXXXX";
    char *base_ = nullptr;
    uint32_t chunk_ = 0, at_ = 0;
};

#endif
