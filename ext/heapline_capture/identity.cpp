/* SPDX-License-Identifier: MIT */
#include "identity.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <vector>

namespace heapline {
namespace capture {

namespace {

const size_t MOST_PARTS = 512, MOST_NOTES = 1 << 16, MOST_ID = 64;

/* An open file, read at places. */
class File {
  public:
    /* A device is not opened only to see that it is one. */
    explicit File(const std::string &path) {
        struct stat about;
        if (stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode))
            fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    }
    ~File() {
        if (fd_ >= 0) close(fd_);
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    bool regular(struct stat &about) const {
        return fd_ >= 0 && fstat(fd_, &about) == 0 && S_ISREG(about.st_mode);
    }
    bool read(void *to, size_t bytes, uint64_t at) const {
        return pread(fd_, to, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
    }

  private:
    int fd_ = -1;
};

std::string hex(const unsigned char *bytes, size_t count) {
    std::string text;
    for (size_t i = 0; i < count; i++) {
        text += "0123456789abcdef"[bytes[i] >> 4];
        text += "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
}

size_t rounded(size_t at, size_t step) {
    return (at + step - 1) / step * step;
}

/* The build id among the notes of one part, or "". */
std::string build_id(const std::vector<unsigned char> &notes, size_t step) {
    Elf64_Nhdr head;
    for (size_t at = 0; at + sizeof head <= notes.size();) {
        memcpy(&head, &notes[at], sizeof head);
        const size_t name = at + sizeof head;
        const size_t content = rounded(name + head.n_namesz, step), end = rounded(content + head.n_descsz, step);
        if (content > notes.size() || content + head.n_descsz > notes.size()) return "";
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && memcmp(&notes[name], "GNU", 4) == 0 &&
            head.n_descsz && head.n_descsz <= MOST_ID)
            return hex(&notes[content], head.n_descsz);
        at = end;
    }
    return "";
}

std::string build_id(const File &file) {
    Elf64_Ehdr head;
    if (!file.read(&head, sizeof head, 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > MOST_PARTS)
        return "";
    std::vector<Elf64_Phdr> parts(head.e_phnum);
    if (parts.empty() || !file.read(parts.data(), parts.size() * sizeof parts[0], head.e_phoff)) return "";
    for (const Elf64_Phdr &part : parts) {
        if (part.p_type != PT_NOTE || part.p_filesz > MOST_NOTES) continue;
        std::vector<unsigned char> notes(part.p_filesz);
        if (!file.read(notes.data(), notes.size(), part.p_offset)) continue;
        std::string id = build_id(notes, part.p_align == 8 ? 8 : 4);
        if (!id.empty()) return id;
    }
    return "";
}

} // namespace

std::string identity(const std::string &path) {
    const File file(path);
    struct stat about;
    if (!file.regular(about)) return "";
    const std::string id = build_id(file);
    if (!id.empty()) return "build " + id;
    const std::string fraction = std::to_string(about.st_mtim.tv_nsec);
    return "file " + std::to_string(about.st_size) + " " + std::to_string(about.st_mtim.tv_sec) + "." +
           std::string(9 - fraction.size(), '0') + fraction;
}

} // namespace capture
} // namespace heapline
