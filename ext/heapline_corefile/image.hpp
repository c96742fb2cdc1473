/* SPDX-License-Identifier: MIT */
/*
 * A core file as the memory of the process that left it. libelf reads its headers and notes; memory is read from the
 * file when it is asked for, into windows of a fixed number.
 *
 * I1  Whatever the file says, nothing beyond it is read, and no more memory is taken than the windows and its headers:
 *     their number is bounded.
 *     What is unpacked ends where its own headers say, and must fit the disk.
 * I2  What is not in the file (left out, or cut off) is told apart from zeros: it cannot be read.
 * One thread at a time.
 */
#ifndef HEAPLINE_COREFILE_IMAGE_HPP
#define HEAPLINE_COREFILE_IMAGE_HPP

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../heapline_heap/column.hpp"
#include "../heapline_heap/failure.hpp"
#include "../heapline_heap/job.hpp"
#include "../heapline_heap/spool.hpp"

namespace heapline {

class File;

namespace corefile {

class Image {
  public:
    struct Segment {
        uint64_t begin, end; /* addresses of what the file has of it */
        uint64_t memory_end; /* of what the process had */
        uint64_t offset;     /* in the file */
        bool writable;
    };
    /* A mapping of a file's. */
    struct Mapping {
        uint64_t begin, end, offset;
        std::string path;
    };

    /* Of a thread. */
    struct Registers {
        uint64_t stack;
        uint64_t variables; /* where its own (thread-local) ones end; 0: not known */
        std::vector<uint64_t> words;
    };

    /* What is packed, or comes through a pipe, is put into a temporary file. Throws Failure and Cancelled. */
    Image(const std::string &path, const Job &job);
    ~Image();
    Image(const Image &) = delete;
    Image &operator=(const Image &) = delete;

    /* By address. */
    const std::vector<Segment> &segments() const {
        return segments_;
    }
    const std::vector<Mapping> &mappings() const {
        return mappings_;
    }
    const Segment *segment_at(uint64_t address) const;
    /* Of a file that is mapped there, or nullptr. */
    const Mapping *mapping_at(uint64_t address) const;
    bool is_file(uint64_t address) const {
        return mapping_at(address) != nullptr;
    }
    /* As far as threads have them; at most those of 65,536. */
    const std::vector<Registers> &registers() const {
        return registers_;
    }

    /* Of the program: their address in the process, and their number; 0: not known. */
    std::pair<uint64_t, uint64_t> program_headers() const {
        return program_headers_;
    }

    /* For who looks through all: where zeros that take no room in the file begin there, their end, else the address. */
    uint64_t behind_hole(uint64_t address) const;

    /* see(segment, address) for each piece of so many bytes, a power of two, that lies at a multiple of that in
     * writable memory, holes left out. */
    template <typename See> void each_piece(uint64_t bytes, const Job &job, See see) const {
        size_t step = 0;
        for (const Segment &segment : segments()) {
            if (!segment.writable) continue;
            for (uint64_t at = (segment.begin + bytes - 1) & ~(bytes - 1);
                 at < segment.end && segment.end - at >= bytes; at += bytes) {
                job.check(++step);
                at = std::max(at, behind_hole(at) & ~(bytes - 1));
                if (at >= segment.end || segment.end - at < bytes) break;
                see(segment, at);
            }
        }
    }

    /* Are all the bytes there? Then they are copied. */
    bool read(uint64_t address, void *to, size_t size) {
        return size <= window_bytes - address % window_bytes ? inside(address, to, size) : across(address, to, size);
    }
    /* The word there, or 0. */
    uint64_t word(uint64_t address) {
        uint64_t value = 0;
        return read(address, &value, sizeof(value)) ? value : 0;
    }
    /* Gives the windows' memory back; they are filled again when they are needed. */
    void forget();
    /* Up to the NUL, at most so many bytes; empty where it cannot be read. */
    std::string text(uint64_t address, size_t most);

    uint32_t pid() const {
        return pid_;
    }
    uint32_t threads() const {
        return threads_;
    }
    const std::string &command() const {
        return command_;
    }
    uint64_t file_bytes() const {
        return file_bytes_;
    }
    /* Why unpacking ended early; empty: it did not. */
    const std::string &problem() const {
        return problem_;
    }
    /* Bytes of memory and notes that the headers promise and the file does not have: it was cut. */
    uint64_t missing_bytes() const {
        return missing_;
    }

  private:
    static constexpr uint64_t window_bytes = 1 << 16, page_bytes = 1 << 12;
    static constexpr size_t windows = 1 << 9;
    struct Window {
        uint64_t begin = 1; /* 1: none */
        uint32_t valid = 0; /* a bit a page */
    };

    bool inside(uint64_t address, void *to, size_t size);
    bool across(uint64_t address, void *to, size_t size);
    char *bytes_of(const Window &window);
    void fill(Window &window, uint64_t begin);
    void open_file(const std::string &path, const Job &job);
    void unpack(File &file, const Job &job);
    void read_headers(const std::string &path);
    void find_holes();
    void read_notes(void *elf, uint64_t offset, uint64_t size);
    void read_files(const char *note, size_t size);
    void read_auxiliary(const char *note, size_t size);

    int fd_ = -1;
    std::unique_ptr<Spool> spool_; /* what fd_ is then */
    std::string problem_;
    uint64_t file_bytes_ = 0, missing_ = 0;
    uint32_t pid_ = 0, threads_ = 0;
    std::string command_;
    std::vector<Segment> segments_;
    struct Hole {
        uint64_t begin, end; /* addresses */
    };
    std::vector<Hole> holes_; /* by address */
    std::vector<Mapping> mappings_;
    std::vector<Registers> registers_;
    std::pair<uint64_t, uint64_t> program_headers_{0, 0};
    std::vector<Window> cache_;
    Column<char> bytes_; /* of the windows; none of one that was not used */
};

} // namespace corefile
} // namespace heapline

#endif
