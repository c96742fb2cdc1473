/* SPDX-License-Identifier: MIT */
/* A file without a name, for captures that a test writes and reads. */
#ifndef HEAPLINE_TEST_MEMORY_FILE_HPP
#define HEAPLINE_TEST_MEMORY_FILE_HPP

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "check.h"

class MemoryFile {
  public:
    explicit MemoryFile(const std::string &bytes = "") : fd_(memfd_create("capture", MFD_ALLOW_SEALING)) {
        CHECK_EQUAL(pwrite(fd_, bytes.data(), bytes.size(), 0), bytes.size());
    }
    ~MemoryFile() {
        close(fd_);
    }
    MemoryFile(const MemoryFile &) = delete;
    MemoryFile &operator=(const MemoryFile &) = delete;

    int fd() const {
        return fd_;
    }
    std::string path() const {
        return "/proc/self/fd/" + std::to_string(fd_);
    }
    std::string bytes() const {
        struct stat status;
        CHECK_EQUAL(fstat(fd_, &status), 0);
        std::string bytes(static_cast<size_t>(status.st_size), '\0');
        CHECK_EQUAL(pread(fd_, &bytes[0], bytes.size(), 0), bytes.size());
        return bytes;
    }

  private:
    int fd_;
};

#endif
