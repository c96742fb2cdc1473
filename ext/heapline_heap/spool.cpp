/* SPDX-License-Identifier: MIT */
#include "spool.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace heapline {

namespace {

constexpr size_t page = 1 << 12, chunk = 1 << 18;

bool is_zero(const char *bytes, size_t size) {
    return !size || (!bytes[0] && !memcmp(bytes, bytes + 1, size - 1));
}

} // namespace

bool Spool::open_in(const char *directory) {
    if (!directory || directory[0] != '/') return false;
    directory_ = directory;
    fd_ = open(directory, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (fd_ >= 0) return true;
    std::string name = directory_ + "/heapline-XXXXXX"; /* not all file systems know files without a name */
    fd_ = mkostemp(&name[0], O_CLOEXEC);
    if (fd_ >= 0) unlink(name.c_str());
    return fd_ >= 0;
}

Spool::Spool() {
    if (!open_in(secure_getenv("TMPDIR")) && !open_in("/var/tmp") && !open_in("/tmp"))
        throw Failure(std::string("no temporary file can be made (set TMPDIR to another place): ") + strerror(errno));
}

Spool::~Spool() {
    close(fd_);
}

void Spool::append(const char *bytes, size_t size) {
    size_t begin = 0; /* of what is to be written */
    for (size_t at = 0, part; at < size; at += part) {
        part = std::min<size_t>(size - at, page - (size_ + at) % page);
        if (!is_zero(bytes + at, part)) continue;
        write(bytes + begin, at - begin, size_ + begin);
        begin = at + part;
    }
    write(bytes + begin, size - begin, size_ + begin);
    size_ += size;
}

void Spool::write(const char *bytes, size_t size, uint64_t place) {
    for (size_t done = 0; done < size;) {
        const ssize_t written = pwrite(fd_, bytes + done, size - done, static_cast<off_t>(place + done));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail();
        done += static_cast<size_t>(written);
    }
}

void Spool::end() {
    if (ftruncate(fd_, static_cast<off_t>(size_))) fail();
}

void Spool::reserve(uint64_t size) {
    int done;
    do done = fallocate(fd_, 0, 0, static_cast<off_t>(size));
    while (done && errno == EINTR);
    if (done && errno != EOPNOTSUPP) fail();
    const std::vector<char> zeros(done ? chunk : 0); /* a file system that cannot set room aside */
    for (uint64_t at = 0; done && at < size; at += chunk) write(zeros.data(), std::min<uint64_t>(chunk, size - at), at);
    size_ = size;
}

void Spool::fail() const {
    throw Failure("there is no room in " + directory_ + " (TMPDIR): " + strerror(errno));
}

uint64_t Spool::room() const {
    struct statvfs status;
    return fstatvfs(fd_, &status) ? 0 : static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
}

} // namespace heapline
