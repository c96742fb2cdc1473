/* SPDX-License-Identifier: MIT */
/* A file without a name, where what must be read again and again is put: in TMPDIR, else in /var/tmp or /tmp. It is
 * gone with its last descriptor, also when the process is killed. */
#ifndef HEAPLINE_HEAP_SPOOL_HPP
#define HEAPLINE_HEAP_SPOOL_HPP

#include <cstddef>
#include <cstdint>
#include <string>

#include "failure.hpp"

namespace heapline {

class Spool {
  public:
    /* Throws Failure. */
    Spool();
    ~Spool();
    Spool(const Spool &) = delete;
    Spool &operator=(const Spool &) = delete;

    int descriptor() const {
        return fd_;
    }
    /* Behind what was written. Pages of zeros take no room. Throws Failure. */
    void append(const char *bytes, size_t size);
    /* Without bytes: as zeros. */
    void skip(uint64_t size) {
        size_ += size;
    }
    /* What was skipped last counts, too. Throws Failure. */
    void end();
    /* Makes it so long, of zeros, with room on the disk: what is mapped of it can be written. Throws Failure. */
    void reserve(uint64_t size);
    uint64_t size() const {
        return size_;
    }
    /* Of the file system, for this user. */
    uint64_t room() const;
    const std::string &directory() const {
        return directory_;
    }

  private:
    bool open_in(const char *directory);
    void write(const char *bytes, size_t size, uint64_t place);
    [[noreturn]] void fail() const;

    int fd_ = -1;
    uint64_t size_ = 0;
    std::string directory_;
};

} // namespace heapline

#endif
