/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a dump, plain or unpacked from gzip or zstd, in order and once. What is unpacked is told by the first
 * bytes, not by the name. Damage ends the source early and is told by `problem`; only what cannot even be opened
 * throws. One thread at a time; `consumed` may be asked by any.
 */
#ifndef HEAPLINE_HEAP_SOURCE_HPP
#define HEAPLINE_HEAP_SOURCE_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "failure.hpp"
#include "job.hpp"

namespace heapline {

/* A file, read from its beginning. */
class File {
  public:
    /* "-" is standard input; kind: what it should be. Throws Failure, also where it is neither a file nor a pipe.
     * Reading throws Cancelled where `job` says so, and Failure where nobody has a pipe open to write to it. */
    File(const std::string &path, const Job &job, const char *kind = "heap dump");
    ~File();
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    /* Bytes, fewer than `size` only at the end or after an error, which `problem` then tells. */
    size_t read(char *to, size_t size);

    uint64_t consumed() const {
        return consumed_.load(std::memory_order_relaxed);
    }
    /* Bytes in all; 0: unknown. */
    uint64_t total() const {
        return total_;
    }
    const std::string &problem() const {
        return problem_;
    }
    const std::string &path() const {
        return path_;
    }
    int descriptor() const {
        return fd_;
    }
    /* What makes it the same file as before. */
    const std::string &identity() const {
        return identity_;
    }

  private:
    void open_named(const char *kind);
    bool await(int limit_ms);
    bool go_on(ssize_t got);

    const std::string path_;
    int fd_ = -1;
    bool pipe_ = false, begun_ = false; /* a pipe with a name; was it ever written to? */
    const Job &job_;
    uint64_t total_ = 0;
    std::atomic<uint64_t> consumed_{0};
    std::string problem_, identity_;
};

class Source {
  public:
    virtual ~Source() = default;

    /* Bytes, fewer than `size` only at the end. */
    virtual size_t read(char *to, size_t size) = 0;

    /* Why it ended early; empty: it did not. */
    virtual const std::string &problem() const = 0;
};

enum class Packing { none, gzip, zstd };
/* By the first bytes of a file; four are enough. */
Packing packing(const char *head, size_t size);

/* The source for what `file` holds. */
std::unique_ptr<Source> open_source(File &file);

} // namespace heapline

#endif
