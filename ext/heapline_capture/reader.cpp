/* SPDX-License-Identifier: MIT */
#include "reader.hpp"

#include <endian.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heapline {
namespace capture {

namespace {

const size_t PROBLEMS_MAX = 20;
const uint64_t LOST_BIRTHS_MOST = 1 << 22; /* that are believed */
const size_t SCAN = 1 << 20;               /* bytes that are searched at a time for a head */
const uint64_t SEARCH_MOST = 1 << 30;      /* bytes of damage behind which nothing is looked for */

std::string place(uint64_t offset) {
    return "at byte " + std::to_string(offset);
}

} // namespace

Reader::Reader(const std::string &path, bool use_index) {
    try {
        open(path);
        if (!use_index || !indexed()) walk();
        rewind();
    } catch (...) {
        if (fd_ >= 0) close(fd_);
        throw;
    }
}

Reader::~Reader() {
    close(fd_);
}

void Reader::open(const std::string &path) {
    struct stat status;
    if (!stat(path.c_str(), &status) && !S_ISREG(status.st_mode))
        throw Failure(path + " is no file: a capture is read at several places at once");
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd_ < 0) throw Failure(path + " cannot be opened: " + std::strerror(errno));
    if (fstat(fd_, &status)) throw Failure(path + " cannot be read: " + std::strerror(errno));
    if (!S_ISREG(status.st_mode)) throw Failure(path + " is no file: a capture is read at several places at once");
    size_ = static_cast<uint64_t>(status.st_size);
    if (bytes(0, PREAMBLE_SIZE) != PREAMBLE) throw Failure(path + " is no capture");
    Head head;
    if (!head_at(PREAMBLE_SIZE, head) || head.section != Section::header)
        throw Failure(path + " has lost its beginning: nothing of it can be read");
    try {
        header_ = unpacked_header(payload(PREAMBLE_SIZE));
    } catch (const Damage &) {
        throw Failure(path + " has lost its beginning: nothing of it can be read");
    }
    if (header_.version < 1 || header_.version > Header().version)
        throw Failure(path + " is a capture of version " + std::to_string(header_.version) +
                      "; this heapline reads versions 1 to " + std::to_string(Header().version));
}

/* Fewer where the file ends. */
std::string Reader::bytes(uint64_t offset, size_t size) {
    if (offset >= size_) return "";
    std::string bytes(static_cast<size_t>(std::min<uint64_t>(size, size_ - offset)), '\0');
    size_t done = 0;
    while (done < bytes.size()) {
        ssize_t got = pread(fd_, &bytes[done], bytes.size() - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<size_t>(got);
    }
    bytes.resize(done);
    return bytes;
}

bool Reader::head_at(uint64_t offset, Head &head) {
    std::string found = bytes(offset, HEAD_SIZE);
    return found.size() == HEAD_SIZE && read_head(found.data(), head);
}

std::string Reader::payload(uint64_t offset) {
    Head head;
    if (!head_at(offset, head)) throw Damage("its head is damaged");
    std::string stored = bytes(offset + HEAD_SIZE, head.stored);
    if (stored.size() != head.stored) throw Damage("it is cut off");
    return unpack(head, stored);
}

void Reader::problem(uint64_t offset, const std::string &what) {
    if (problems_.size() < PROBLEMS_MAX) problems_.push_back("the block " + place(offset) + " is left out: " + what);
}

/* The blocks as the index lists them; false: there is none that holds. */
bool Reader::indexed() {
    std::string finis = size_ > FINIS_SIZE ? bytes(size_ - FINIS_SIZE, FINIS_SIZE) : "";
    if (finis.size() != FINIS_SIZE || finis.substr(8) != FINIS) return false;
    uint64_t index_at;
    std::memcpy(&index_at, finis.data(), sizeof(index_at));
    index_at = le64toh(index_at);
    Head head;
    if (!head_at(index_at, head) || head.section != Section::index) return false;
    std::vector<std::pair<Head, uint64_t>> found;
    try {
        std::string index = payload(index_at);
        uint64_t offset = 0;
        for (Bytes bytes(index); !bytes.empty();) {
            Head listed;
            listed.section = static_cast<Section>(bytes.byte());
            offset += bytes.varint();
            listed.count = bytes.number(uint64_t{UINT32_MAX} + 1);
            listed.time_ns = bytes.varint();
            if (offset >= index_at) return false;
            found.emplace_back(listed, offset);
        }
    } catch (const Damage &) {
        return false;
    }
    for (const auto &[listed, offset] : found) enter(listed, offset);
    return true;
}

void Reader::walk() {
    uint64_t offset = PREAMBLE_SIZE;
    while (offset < size_) {
        Head head;
        if (!head_at(offset, head)) {
            uint64_t next = resume(offset);
            bool finis =
                next == size_ && bytes(offset, FINIS_SIZE).substr(std::min<uint64_t>(8, size_ - offset)) == FINIS;
            if (!finis) problem(offset, next == size_ ? "the file ends in it" : "its head is damaged");
            offset = next;
            continue;
        }
        if (head.stored > size_ - offset - HEAD_SIZE) {
            problem(offset, "the file ends in it");
            offset = resume(offset + 1);
            continue;
        }
        enter(head, offset);
        offset += HEAD_SIZE + head.stored;
    }
    if (!finished_) problems_.push_back("it has no end: the recording was cut short, or goes on");
}

/* Where the next head is at or behind `offset`; the file's size: nowhere. */
uint64_t Reader::resume(uint64_t offset) {
    const uint32_t magic = htole32(BLOCK_MAGIC);
    const uint64_t most = offset + SEARCH_MOST;
    while (offset < size_ && offset < most) {
        std::string window = bytes(offset, SCAN);
        if (window.size() < HEAD_SIZE) break;
        const char *from = window.data(), *end = from + window.size() - HEAD_SIZE + 1;
        for (const char *at = from; at < end; at++) {
            at = static_cast<const char *>(memmem(at, static_cast<size_t>(end - at) + 3, &magic, sizeof(magic)));
            if (!at || at >= end) break;
            Head head;
            if (read_head(at, head)) return offset + static_cast<uint64_t>(at - from);
        }
        offset += static_cast<uint64_t>(end - from);
    }
    return size_;
}

void Reader::enter(const Head &head, uint64_t offset) {
    if (head.section == Section::events) {
        if (!head.count || head.count > EVENTS_MAX) return problem(offset, "it promises too many events");
        blocks_.push_back({offset, events_, head.time_ns, head.count, head.section});
        events_ += head.count;
        return;
    }
    try {
        switch (head.section) {
        case Section::names:
            names_.read(payload(offset));
            break;
        case Section::samples:
            unpack_samples(payload(offset), samples_);
            break;
        case Section::end:
            totals_ = unpacked_totals(payload(offset));
            finished_ = true;
            break;
        default:
            break; /* the header is read; an index is for who has the end of the file; later versions may have others */
        }
    } catch (const Damage &damage) {
        problem(offset, damage.what());
    }
}

void Reader::seek(uint64_t time_ns) {
    auto from = std::lower_bound(blocks_.begin(), blocks_.end(), time_ns,
                                 [](const Block &block, uint64_t time) { return block.time_ns < time; });
    at_ = from == blocks_.begin() ? 0 : static_cast<size_t>(from - blocks_.begin()) - 1;
    columns_ = ColumnReader();
    position_ = at_ < blocks_.size() ? blocks_[at_].offset : size_;
}

void Reader::read_block(const Block &block) {
    offset_ = block.offset;
    Head head;
    if (!head_at(block.offset, head) || head.section != Section::events || head.count != block.count)
        throw Damage("it is not what the index says");
    payload_ = payload(block.offset);
    Limits limits = {names_.nodes(),   names_.threads(),    names_.tags(), block.before + block.count + 1,
                     names_.classes(), header_.version >= 3};
    /* Births that were lost have taken numbers, too. */
    limits.blocks += std::min(totals_.lost, LOST_BIRTHS_MOST);
    limits.blocks = std::min<uint64_t>(limits.blocks, UINT32_MAX);
    columns_ = ColumnReader(payload_, block.count, header_.time_unit_ns, limits);
}

bool Reader::next_block() {
    while (at_ < blocks_.size()) {
        const Block &block = blocks_[at_++];
        try {
            read_block(block);
            position_.store(at_ < blocks_.size() ? blocks_[at_].offset : size_, std::memory_order_relaxed);
            return true;
        } catch (const Damage &damage) {
            problem(block.offset, damage.what());
        }
    }
    return false;
}

size_t Reader::next(Event *events, size_t most) {
    size_t count = 0;
    while (!count && (columns_.left() || next_block())) {
        size_t wanted = std::min<size_t>(most, columns_.left());
        try {
            for (; count < wanted; count++) columns_.next(events[count]);
        } catch (const Damage &damage) {
            problem(offset_, damage.what());
            columns_ = ColumnReader();
        }
    }
    return count;
}

} // namespace capture
} // namespace heapline
