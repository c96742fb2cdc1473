/* SPDX-License-Identifier: MIT */
#include "source.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace heapline {

namespace {

const size_t PACKED = 256 * 1024; /* bytes of a packed file that are read at a time */
const size_t HEAD = 4;            /* bytes that tell what it is */
const int PATIENCE_MS = 100;
const int WRITER_PATIENCE_MS = 10000; /* for which a pipe's name may have no writer */

std::string reason() {
    return std::strerror(errno);
}

/* Bytes of a file behind those that were read to see what it is. */
class Input {
  public:
    Input(File &file, std::string head) : file_(file), head_(std::move(head)) {}

    size_t read(char *to, size_t size) {
        size_t taken = std::min(size, head_.size());
        std::memcpy(to, head_.data(), taken);
        head_.erase(0, taken);
        return taken == size ? taken : taken + file_.read(to + taken, size - taken);
    }

    const std::string &problem() const {
        return file_.problem();
    }

  private:
    File &file_;
    std::string head_;
};

class Plain : public Source {
  public:
    explicit Plain(Input input) : input_(std::move(input)) {}
    size_t read(char *to, size_t size) override {
        return input_.read(to, size);
    }
    const std::string &problem() const override {
        return input_.problem();
    }

  private:
    Input input_;
};

/* What gzip and zstd have in common: packed bytes are fetched, and unpacked until the caller has enough. */
class Packed : public Source {
  public:
    Packed(Input input, const char *name) : input_(std::move(input)), name_(name), packed_(PACKED) {}

    size_t read(char *to, size_t size) override {
        size_t done = 0;
        while (done < size && !ended_) {
            if (at_ == end_) fetch();
            if (!ended_) done += unpack(to + done, size - done);
        }
        return done;
    }

    const std::string &problem() const override {
        return problem_;
    }

  protected:
    /* Takes bytes from at_ to end_, returns how many it wrote. */
    virtual size_t unpack(char *to, size_t size) = 0;

    void fail(const std::string &what) {
        ended_ = true;
        problem_ = std::string("its ") + name_ + " data " + what + "; what comes before it was read";
    }
    void end() {
        ended_ = true;
    }

    std::vector<char> &packed() {
        return packed_;
    }

    size_t at_ = 0, end_ = 0;
    bool between_ = false; /* has one stream ended, and no other begun? */

  private:
    void fetch() {
        at_ = 0;
        end_ = input_.read(packed_.data(), packed_.size());
        if (end_) return;
        ended_ = true;
        if (!input_.problem().empty())
            problem_ = input_.problem();
        else if (!between_)
            fail("ends in the middle");
    }

    Input input_;
    const char *name_;
    std::vector<char> packed_;
    bool ended_ = false;
    std::string problem_;
};

class Gzip : public Packed {
  public:
    explicit Gzip(Input input) : Packed(std::move(input), "gzip") {
        std::memset(&stream_, 0, sizeof(stream_));
        if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
    }
    ~Gzip() override {
        inflateEnd(&stream_);
    }

  protected:
    /* After the last stream a tape or a block device may have zeros. */
    size_t unpack(char *to, size_t size) override {
        if (between_ && packed()[at_] == 0) {
            end();
            return 0;
        }
        between_ = false;
        size_t room = std::min<size_t>(size, 1u << 30);
        stream_.next_in = reinterpret_cast<Bytef *>(packed().data() + at_);
        stream_.avail_in = static_cast<uInt>(end_ - at_);
        stream_.next_out = reinterpret_cast<Bytef *>(to);
        stream_.avail_out = static_cast<uInt>(room);
        int result = inflate(&stream_, Z_NO_FLUSH);
        at_ = end_ - stream_.avail_in;
        if (result == Z_STREAM_END) {
            between_ = true;
            inflateReset(&stream_);
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            fail("is damaged");
        }
        return room - stream_.avail_out;
    }

  private:
    z_stream stream_;
};

class Zstd : public Packed {
  public:
    explicit Zstd(Input input) : Packed(std::move(input), "zstd"), stream_(ZSTD_createDStream()) {
        if (!stream_) throw std::bad_alloc();
    }
    ~Zstd() override {
        ZSTD_freeDStream(stream_);
    }

  protected:
    size_t unpack(char *to, size_t size) override {
        ZSTD_inBuffer in = {packed().data(), end_, at_};
        ZSTD_outBuffer out = {to, size, 0};
        size_t result = ZSTD_decompressStream(stream_, &out, &in);
        at_ = in.pos;
        between_ = result == 0;
        if (ZSTD_isError(result)) fail("is damaged");
        return out.pos;
    }

  private:
    ZSTD_DStream *stream_;
};

} // namespace

/* Without waiting: a pipe may have no writer. What is neither a file nor a pipe is not even opened. */
void File::open_named(const char *kind) {
    struct stat status;
    if (stat(path_.c_str(), &status)) throw Failure(path_ + " cannot be opened: " + reason());
    if (S_ISDIR(status.st_mode)) throw Failure(path_ + " is a directory, and no " + kind);
    pipe_ = S_ISFIFO(status.st_mode);
    if (!pipe_ && !S_ISREG(status.st_mode)) throw Failure(path_ + " is a device, and no " + kind);
    fd_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd_ < 0) throw Failure(path_ + " cannot be opened: " + reason());
}

File::File(const std::string &path, const Job &job, const char *kind) : path_(path), job_(job) {
    if (path != "-")
        open_named(kind);
    else if ((fd_ = dup(STDIN_FILENO)) < 0)
        throw Failure("standard input cannot be read: " + reason());
    struct stat status;
    if (fstat(fd_, &status)) {
        std::string why = reason();
        close(fd_);
        throw Failure(path + " cannot be read: " + why);
    }
    if (!S_ISREG(status.st_mode)) return;
    total_ = static_cast<uint64_t>(status.st_size);
    identity_ = std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) + ":" +
                std::to_string(status.st_size) + ":" + std::to_string(status.st_mtim.tv_sec) + "." +
                std::to_string(status.st_mtim.tv_nsec);
}

File::~File() {
    close(fd_);
}

/* Until there is something to read, or `limit_ms` are over: false. A pipe may be silent for long; who waits wants to be
 * able to give up. */
bool File::await(int limit_ms) {
    pollfd wanted = {fd_, POLLIN, 0};
    for (int waited = 0; poll(&wanted, 1, PATIENCE_MS) == 0; waited += PATIENCE_MS) {
        job_.check();
        if (limit_ms && waited >= limit_ms) return false;
    }
    return true;
}

/* A pipe with a name is open without waiting: before its first writer it looks as if it were at its end. */
bool File::go_on(ssize_t got) {
    if (got < 0 && errno == EINTR) return true;
    if (!pipe_ || got > 0 || (got < 0 && errno != EAGAIN) || (!got && begun_)) return false;
    if (!await(got ? 0 : WRITER_PATIENCE_MS)) throw Failure(path_ + " is a pipe, and nobody writes to it");
    return begun_ = true;
}

size_t File::read(char *to, size_t size) {
    size_t done = 0;
    while (done < size) {
        job_.check();
        if (!total_ && !pipe_) await(0);
        ssize_t got = ::read(fd_, to + done, std::min<size_t>(size - done, 1 << 20));
        if (go_on(got)) continue;
        if (got < 0) problem_ = "it could not be read further: " + reason();
        if (got <= 0) break;
        begun_ = true;
        done += static_cast<size_t>(got);
        consumed_.fetch_add(static_cast<uint64_t>(got), std::memory_order_relaxed);
    }
    return done;
}

Packing packing(const char *head, size_t size) {
    if (size >= 2 && !std::memcmp(head, "\x1f\x8b", 2)) return Packing::gzip;
    /* A frame, or one that is to be skipped. */
    const bool frame = size >= HEAD && !std::memcmp(head, "\x28\xb5\x2f\xfd", 4);
    const bool skippable = size >= HEAD && (head[0] & 0xf0) == 0x50 && !std::memcmp(head + 1, "\x2a\x4d\x18", 3);
    return frame || skippable ? Packing::zstd : Packing::none;
}

std::unique_ptr<Source> open_source(File &file) {
    char head[HEAD];
    const size_t size = file.read(head, HEAD);
    Input input(file, std::string(head, size));
    switch (packing(head, size)) {
    case Packing::gzip:
        return std::make_unique<Gzip>(std::move(input));
    case Packing::zstd:
        return std::make_unique<Zstd>(std::move(input));
    case Packing::none:
        break;
    }
    return std::make_unique<Plain>(std::move(input));
}

} // namespace heapline
