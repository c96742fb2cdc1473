/* SPDX-License-Identifier: MIT */
/* Dumps made of text, in memory. */
#ifndef HEAPLINE_TEST_TEXT_DUMP_HPP
#define HEAPLINE_TEST_TEXT_DUMP_HPP

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "dump.hpp"

/* A file without a name that has this text, as long as the object lives. */
class TextFile {
  public:
    explicit TextFile(const std::string &text) : fd_(memfd_create("dump", 0)) {
        size_t done = 0;
        while (done < text.size()) {
            ssize_t written = write(fd_, text.data() + done, text.size() - done);
            if (written <= 0) break;
            done += static_cast<size_t>(written);
        }
    }
    ~TextFile() {
        close(fd_);
    }
    TextFile(const TextFile &) = delete;
    TextFile &operator=(const TextFile &) = delete;

    std::string path() const {
        return "/proc/self/fd/" + std::to_string(fd_);
    }

  private:
    int fd_;
};

inline uint64_t address_of(uint32_t number) {
    return 0x7f0000000000 + uint64_t{number} * 40;
}

inline std::string hex(uint64_t address) {
    char text[24];
    snprintf(text, sizeof(text), "\"0x%lx\"", static_cast<unsigned long>(address));
    return text;
}

inline std::string references(const std::vector<uint32_t> &numbers) {
    std::string text;
    for (uint32_t number : numbers) text += (text.empty() ? "" : ", ") + hex(address_of(number));
    return "\"references\":[" + text + "]";
}

inline std::string object_line(uint32_t number, const std::vector<uint32_t> &to, uint64_t memsize,
                               const std::string &more = "") {
    return "{\"address\":" + hex(address_of(number)) + ", \"type\":\"OBJECT\", " + references(to) + more +
           ", \"memsize\":" + std::to_string(memsize) + ", \"flags\":{\"old\":true}}\n";
}

inline std::string root_line(const std::vector<uint32_t> &to) {
    return "{\"type\":\"ROOT\", \"root\":\"vm\", " + references(to) + "}\n";
}

#endif
