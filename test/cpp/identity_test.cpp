/* SPDX-License-Identifier: MIT */
/* Which file a library is: by its build id, or by its size and time; and what hostile files say. */
#include "../../ext/heapline_capture/identity.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "check.h"

using heapline::capture::identity;

namespace {

struct Directory {
    char path[40] = "/tmp/heapline-identity-XXXXXX";
    Directory() {
        CHECK(mkdtemp(path));
    }
    ~Directory() {
        unlink(file().c_str());
        rmdir(path);
    }
    std::string file() const {
        return std::string(path) + "/lib.so";
    }
    /* Writes it, changed last at a known time. */
    std::string write(const std::string &bytes) const {
        FILE *to = fopen(file().c_str(), "wb");
        CHECK(to && fwrite(bytes.data(), 1, bytes.size(), to) == bytes.size() && fclose(to) == 0);
        const timespec times[2] = {{1, 0}, {1700000000, 5}};
        CHECK_EQUAL(utimensat(AT_FDCWD, file().c_str(), times, 0), 0);
        return file();
    }
};

template <typename Part> std::string bytes_of(const Part &part) {
    return std::string(reinterpret_cast<const char *>(&part), sizeof part);
}

std::string note(uint32_t name_size, uint32_t size, uint32_t type, const std::string &content) {
    return bytes_of(Elf64_Nhdr{name_size, size, type}) + content;
}

/* An object with one part of notes. */
std::string object(const std::string &notes, uint64_t step = 4, uint64_t size = 0) {
    Elf64_Ehdr head;
    memset(&head, 0, sizeof head);
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_phoff = sizeof head;
    head.e_phentsize = sizeof(Elf64_Phdr);
    head.e_phnum = 1;
    Elf64_Phdr part;
    memset(&part, 0, sizeof part);
    part.p_type = PT_NOTE;
    part.p_offset = sizeof head + sizeof part;
    part.p_filesz = size ? size : notes.size();
    part.p_align = step;
    return bytes_of(head) + bytes_of(part) + notes;
}

const std::string BY_TIME = " 1700000000.000000005";

void test_a_build_id() {
    Directory directory;
    const std::string other = note(4, 5, 1, std::string("GNU\0abcde\0\0\0", 12));
    const std::string id = note(4, 4, NT_GNU_BUILD_ID, std::string("GNU\0\x01\xab\xff\x00", 8));
    CHECK(identity(directory.write(object(other + id))) == "build 01abff00");
    const std::string wide = note(4, 4, 5, std::string("GNU\0abcd\0\0\0\0", 12)); /* aligned to 8 */
    CHECK(identity(directory.write(object(wide + id, 8))) == "build 01abff00");
}

void test_without_one() {
    Directory directory;
    CHECK(identity(directory.write("no object")) == "file 9" + BY_TIME);
    const std::string empty = object("");
    CHECK(identity(directory.write(empty)) == "file " + std::to_string(empty.size()) + BY_TIME);
}

/* A length that leads out of the notes, parts that are not there, a build id without end. */
void test_hostile_objects() {
    Directory directory;
    const std::string id = std::string("GNU\0\x01\xab\xff\x00", 8);
    for (const std::string &bytes :
         {object(note(4, 0xffffffff, NT_GNU_BUILD_ID, id)), object(note(0xffffffff, 4, NT_GNU_BUILD_ID, id)),
          object(note(4, 0, NT_GNU_BUILD_ID, id)), object(note(4, 4, NT_GNU_BUILD_ID, id), 4, 1u << 30),
          object(note(4, 65, NT_GNU_BUILD_ID, id + std::string(80, 'x'))),
          object(note(4, 4, NT_GNU_BUILD_ID, id)).substr(0, 100), std::string(ELFMAG)})
        CHECK(identity(directory.write(bytes)) == "file " + std::to_string(bytes.size()) + BY_TIME);
}

void test_no_file() {
    Directory directory;
    CHECK(identity(directory.file()).empty());
    CHECK(identity(directory.path).empty());
    CHECK_EQUAL(mkfifo(directory.file().c_str(), 0600), 0);
    CHECK(identity(directory.file()).empty()); /* and does not wait */
    CHECK(identity("").empty());
}

const check_test TESTS[] = {{"a build id", test_a_build_id},
                            {"without one", test_without_one},
                            {"hostile objects", test_hostile_objects},
                            {"no file", test_no_file}};

} // namespace

CHECK_MAIN(TESTS)
