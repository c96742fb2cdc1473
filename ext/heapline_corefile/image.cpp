/* SPDX-License-Identifier: MIT */
#include "image.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "../heapline_core/platform/platform.h"
#include "../heapline_heap/source.hpp"

namespace heapline {
namespace corefile {

namespace {

/* More than any process has (I1). */
constexpr size_t most_parts = 1 << 20;
constexpr size_t most_registers = 1 << 16;
/* A program's memory lies below it; what a core has above is the kernel's (the page of vsyscall). So adding a page to
 * an address never wraps. */
constexpr uint64_t address_end = uint64_t{1} << 56;
constexpr uint64_t most_note_bytes = 128 << 20;
/* Smaller holes are read. */
constexpr uint64_t least_hole = 64 << 10;
constexpr size_t unpacked_at_once = 8 << 20; /* the headers are in the first */

struct Ender {
    void operator()(Elf *elf) const {
        elf_end(elf);
    }
};

/* Of a file that may be cut: up to its end. */
uint64_t read_up_to(int fd, char *to, uint64_t size, uint64_t offset) {
    uint64_t done = 0;
    while (done < size) {
        const ssize_t got = pread(fd, to + done, size - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<uint64_t>(got);
    }
    return done;
}

/* How long an ELF file is by its headers, of which these are the first bytes. 0: they do not say. */
uint64_t size_by_headers(char *bytes, size_t size) {
    const std::unique_ptr<Elf, Ender> elf(elf_memory(bytes, size));
    size_t count = 0;
    uint64_t end = 0;
    if (!elf || elf_kind(elf.get()) != ELF_K_ELF || elf_getphdrnum(elf.get(), &count)) return 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr part;
        if (!gelf_getphdr(elf.get(), static_cast<int>(i), &part) || part.p_offset + part.p_filesz < part.p_offset)
            return 0;
        end = std::max(end, part.p_offset + part.p_filesz);
    }
    return end;
}

} // namespace

Image::Image(const std::string &path, const Job &job) : cache_(windows) {
    elf_version(EV_CURRENT);
    open_file(path, job);
    try {
        read_headers(path);
    } catch (...) {
        close(fd_);
        throw;
    }
}

Image::~Image() {
    close(fd_);
}

void Image::open_file(const std::string &path, const Job &job) {
    File file(path, job, "core file");
    char head[SELFMAG];
    const uint64_t size = file.total() ? read_up_to(file.descriptor(), head, sizeof(head), 0) : 0;
    if (!file.total() || packing(head, size) != Packing::none) unpack(file, job);
    fd_ = fcntl(spool_ ? spool_->descriptor() : file.descriptor(), F_DUPFD_CLOEXEC, 0);
    if (fd_ < 0) throw Failure(path + " cannot be read: " + strerror(errno));
    file_bytes_ = spool_ ? spool_->size() : file.total();
}

void Image::unpack(File &file, const Job &job) {
    const std::unique_ptr<Source> source = open_source(file);
    std::vector<char> bytes(unpacked_at_once);
    spool_ = std::make_unique<Spool>();
    uint64_t end = 0;
    for (size_t got = bytes.size(); got == bytes.size() && (!spool_->size() || spool_->size() < end);) {
        job.check();
        got = source->read(bytes.data(), bytes.size());
        if (!spool_->size()) end = size_by_headers(bytes.data(), got);
        if (end > spool_->room() + spool_->size())
            throw Failure(file.path() + " is " + std::to_string(end) + " bytes unpacked, and " + spool_->directory() +
                          " has room for " + std::to_string(spool_->room()) + ": set TMPDIR to another place");
        spool_->append(bytes.data(), got);
    }
    problem_ = source->problem();
    spool_->end();
}

void Image::read_headers(const std::string &path) {
    const std::unique_ptr<Elf, Ender> elf(elf_begin(fd_, ELF_C_READ, nullptr));
    GElf_Ehdr header;
    if (!elf || elf_kind(elf.get()) != ELF_K_ELF || !gelf_getehdr(elf.get(), &header))
        throw Failure(path + " is not a core file");
    if (header.e_type != ET_CORE) throw Failure(path + " is not a core file, but a program or library");
    if (header.e_machine != HL_ELF_MACHINE || gelf_getclass(elf.get()) != ELFCLASS64)
        throw Failure(path + " is the core file of a machine of another architecture");
    size_t count = 0;
    uint64_t bytes = 0;
    if (elf_getphdrnum(elf.get(), &count) || count > most_parts)
        throw Failure(path + " is cut: its headers are not there");
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr part;
        if (!gelf_getphdr(elf.get(), static_cast<int>(i), &part)) {
            if (segments_.empty()) throw Failure(path + " is cut: its headers are not there");
            break;
        }
        if (part.p_type == PT_NOTE) read_notes(elf.get(), part.p_offset, part.p_filesz);
        if (part.p_type != PT_LOAD || part.p_vaddr > address_end || part.p_memsz > address_end - part.p_vaddr) continue;
        uint64_t there = std::min(part.p_filesz, part.p_memsz);
        const uint64_t left = part.p_offset < file_bytes_ ? file_bytes_ - part.p_offset : 0;
        if (there > left) {
            missing_ += there - left;
            there = left;
        }
        bytes += there;
        segments_.push_back({part.p_vaddr, part.p_vaddr + there, part.p_vaddr + part.p_memsz, part.p_offset,
                             (part.p_flags & PF_W) != 0});
    }
    const auto by_begin = [](const auto &one, const auto &other) { return one.begin < other.begin; };
    std::sort(segments_.begin(), segments_.end(), by_begin);
    std::sort(mappings_.begin(), mappings_.end(), by_begin);
    /* No two hold one address. */
    for (size_t i = 1; i < segments_.size(); i++)
        if (segments_[i].begin < segments_[i - 1].memory_end) throw Failure(path + " is damaged: its parts overlap");
    /* Nor do two have the same bytes of the file: a small file would stand for memory without end. */
    if (bytes > file_bytes_) throw Failure(path + " is damaged: its parts overlap");
    if (segments_.empty()) throw Failure(path + " has no memory in it");
    find_holes();
}

/* Stacks and arenas are reserved far beyond what they use: a core of 1 GB may look like one of 30. */
void Image::find_holes() {
    struct stat status;
    if (fstat(fd_, &status) || static_cast<uint64_t>(status.st_blocks) * 512 >= file_bytes_) return;
    for (const Segment &segment : segments_) {
        const uint64_t bytes = segment.end - segment.begin;
        for (uint64_t at = 0; at < bytes && holes_.size() < most_parts;) {
            const off_t hole = lseek(fd_, static_cast<off_t>(segment.offset + at), SEEK_HOLE);
            if (hole < 0) return;
            const uint64_t from = static_cast<uint64_t>(hole) - segment.offset;
            if (from >= bytes) break;
            const off_t data = lseek(fd_, hole, SEEK_DATA);
            const uint64_t to = data < 0 ? bytes : std::min(bytes, static_cast<uint64_t>(data) - segment.offset);
            if (to - from >= least_hole) holes_.push_back({segment.begin + from, segment.begin + to});
            at = to;
        }
    }
}

uint64_t Image::behind_hole(uint64_t address) const {
    const auto after = std::upper_bound(holes_.begin(), holes_.end(), address,
                                        [](uint64_t one, const Hole &other) { return one < other.begin; });
    return after != holes_.begin() && address < std::prev(after)->end ? std::prev(after)->end : address;
}

void Image::read_notes(void *elf, uint64_t offset, uint64_t size) {
    if (offset > file_bytes_ || size > file_bytes_ - offset || size > most_note_bytes) {
        missing_ += size;
        return;
    }
    Elf_Data *data = elf_getdata_rawchunk(static_cast<Elf *>(elf), static_cast<int64_t>(offset), size, ELF_T_NHDR);
    if (!data) return;
    GElf_Nhdr note;
    size_t name, description;
    for (size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &description)) > 0;) {
        const char *body = static_cast<const char *>(data->d_buf) + description;
        if (note.n_type == NT_PRSTATUS && note.n_descsz >= sizeof(prstatus_t)) {
            prstatus_t status;
            memcpy(&status, body, sizeof(status));
            if (!threads_++) pid_ = static_cast<uint32_t>(status.pr_pid);
            if (registers_.size() < most_registers) {
                std::vector<uint64_t> words(sizeof(status.pr_reg) / sizeof(uint64_t));
                memcpy(words.data(), &status.pr_reg, words.size() * sizeof(uint64_t));
                const uint64_t variables = HL_CORE_THREAD_POINTER < words.size() ? words[HL_CORE_THREAD_POINTER] : 0;
                registers_.push_back({words[HL_CORE_STACK], variables, std::move(words)});
            }
        } else if (note.n_type == NT_PRPSINFO && note.n_descsz >= sizeof(prpsinfo_t)) {
            prpsinfo_t info;
            memcpy(&info, body, sizeof(info));
            pid_ = static_cast<uint32_t>(info.pr_pid);
            command_.assign(info.pr_psargs, strnlen(info.pr_psargs, sizeof(info.pr_psargs)));
        } else if (note.n_type == NT_ARM_TLS && note.n_descsz >= sizeof(uint64_t) && !registers_.empty()) {
            memcpy(&registers_.back().variables, body, sizeof(uint64_t));
        } else if (note.n_type == NT_FILE) {
            read_files(body, note.n_descsz);
        } else if (note.n_type == NT_AUXV) {
            read_auxiliary(body, note.n_descsz);
        }
    }
}

/* Their number and the size of a page; of each begin, end and offset; then their names. */
void Image::read_files(const char *note, size_t size) {
    const auto at = [&](size_t index) {
        uint64_t value;
        memcpy(&value, note + index * sizeof(value), sizeof(value));
        return value;
    };
    if (size < 2 * sizeof(uint64_t)) return;
    const uint64_t count = at(0), unit = at(1);
    if (count > most_parts - std::min(most_parts, mappings_.size()) || (2 + 3 * count) * sizeof(uint64_t) > size)
        return;
    const char *name = note + (2 + 3 * count) * sizeof(uint64_t), *const end = note + size;
    for (size_t i = 0; i < count && name < end; i++) {
        const size_t length = strnlen(name, static_cast<size_t>(end - name));
        mappings_.push_back({at(2 + 3 * i), at(3 + 3 * i), at(4 + 3 * i) * unit, std::string(name, length)});
        name += length + 1;
    }
}

/* What the kernel told the program at its start: pairs of words. */
void Image::read_auxiliary(const char *note, size_t size) {
    uint64_t pair[2];
    for (size_t at = 0; size - at >= sizeof(pair); at += sizeof(pair)) {
        memcpy(pair, note + at, sizeof(pair));
        if (pair[0] == AT_PHDR) program_headers_.first = pair[1];
        if (pair[0] == AT_PHNUM) program_headers_.second = pair[1];
    }
}

const Image::Segment *Image::segment_at(uint64_t address) const {
    auto after = std::upper_bound(segments_.begin(), segments_.end(), address,
                                  [](uint64_t one, const Segment &other) { return one < other.begin; });
    if (after == segments_.begin()) return nullptr;
    --after;
    return address < after->memory_end ? &*after : nullptr;
}

const Image::Mapping *Image::mapping_at(uint64_t address) const {
    auto after = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                  [](uint64_t one, const Mapping &other) { return one < other.begin; });
    return after != mappings_.begin() && address < std::prev(after)->end ? &*std::prev(after) : nullptr;
}

void Image::forget() {
    for (Window &window : cache_) window = Window();
    bytes_.release();
}

char *Image::bytes_of(const Window &window) {
    bytes_.resize(windows * window_bytes);
    return &bytes_[static_cast<size_t>(&window - cache_.data()) * window_bytes];
}

void Image::fill(Window &window, uint64_t begin) {
    char *const bytes = bytes_of(window);
    window.begin = begin;
    window.valid = 0;
    for (uint64_t page = begin; page - begin < window_bytes;) {
        const Segment *segment = segment_at(page);
        if (!segment || page + page_bytes > segment->end) {
            page += page_bytes;
            continue;
        }
        const uint64_t until = std::min(segment->end & ~(page_bytes - 1), begin + window_bytes);
        const uint64_t got =
            read_up_to(fd_, &bytes[page - begin], until - page, segment->offset + (page - segment->begin));
        for (uint64_t done = page_bytes; done <= got; done += page_bytes, page += page_bytes)
            window.valid |= 1u << (page - begin) / page_bytes;
        if (got < page_bytes || got % page_bytes) page = std::max(page + page_bytes, until);
    }
}

bool Image::inside(uint64_t address, void *to, size_t size) {
    const uint64_t begin = address & ~(window_bytes - 1), at = address - begin;
    Window &window = cache_[begin / window_bytes % windows];
    if (window.begin != begin) fill(window, begin);
    if (!size) return true;
    const uint64_t first = at / page_bytes, last = (at + size - 1) / page_bytes;
    for (uint64_t page = first; page <= last; page++)
        if (!(window.valid >> page & 1)) return false;
    memcpy(to, bytes_of(window) + at, size);
    return true;
}

bool Image::across(uint64_t address, void *to, size_t size) {
    while (size) {
        const size_t part = static_cast<size_t>(std::min<uint64_t>(size, window_bytes - address % window_bytes));
        if (!inside(address, to, part)) return false;
        address += part;
        to = static_cast<char *>(to) + part;
        size -= part;
    }
    return true;
}

std::string Image::text(uint64_t address, size_t most) {
    std::string text;
    char one;
    while (text.size() < most && read(address + text.size(), &one, 1) && one) text.push_back(one);
    return text;
}

} // namespace corefile
} // namespace heapline
