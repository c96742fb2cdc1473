/* SPDX-License-Identifier: MIT */
#include "libraries.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "../heapline_heap/failure.hpp"

namespace heapline {
namespace corefile {

namespace {

constexpr size_t most_head = 64 << 10; /* bytes of a library's begin that are looked through in the core */
constexpr size_t most_parts = 512, most_sections = 1 << 16;
constexpr size_t most_notes = 64 << 10; /* bytes */
constexpr size_t least_id = 4, most_id = 64;
constexpr uint64_t most_file = uint64_t{4} << 30; /* of what is copied */
constexpr size_t copied_at_once = 1 << 20;
constexpr size_t mappings_of_library = 64;
constexpr size_t most_links = 40, most_depth = 256;
constexpr size_t most_linked = 1 << 14;
constexpr size_t most_dynamic = 1 << 10;
constexpr uint64_t word_bytes = 8, page_bytes = 4096;
const char missing[] = ": names from it are missing",
           no_pages[] =
               ": the core does not have the first pages of files, which tell their builds (coredump_filter 0x10 "
               "keeps them)";

struct Ender {
    void operator()(Elf *elf) const {
        elf_end(elf);
    }
};
using Held = std::unique_ptr<Elf, Ender>;

std::string build_id_in(Elf *elf, uint64_t offset, uint64_t size, uint64_t alignment) {
    if (!size || size > most_notes) return "";
    Elf_Data *data =
        elf_getdata_rawchunk(elf, static_cast<int64_t>(offset), size, alignment == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    if (!data) return "";
    GElf_Nhdr note;
    size_t name, description;
    for (size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &description)) > 0;) {
        const char *const bytes = static_cast<const char *>(data->d_buf);
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || memcmp(bytes + name, "GNU", 4) != 0) continue;
        if (note.n_descsz < least_id || note.n_descsz > most_id) return "";
        std::string id;
        for (size_t i = 0; i < note.n_descsz; i++) {
            const unsigned char byte = static_cast<unsigned char>(bytes[description + i]);
            id += "0123456789abcdef"[byte >> 4];
            id += "0123456789abcdef"[byte & 15];
        }
        return id;
    }
    return "";
}

/* Calls each(section, its name) until one is true. */
template <typename Each> bool any_section(Elf *elf, const Each &each) {
    size_t names;
    if (elf_getshdrstrndx(elf, &names)) return false;
    Elf_Scn *section = nullptr;
    for (size_t i = 0; i < most_sections && (section = elf_nextscn(elf, section)); i++) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header)) continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (each(header, name ? name : "", elf_ndxscn(section))) return true;
    }
    return false;
}

/* What strip puts aside may have notes in its sections alone. */
std::string build_id_of(Elf *elf) {
    size_t count = 0;
    std::string id;
    if (!elf || elf_kind(elf) != ELF_K_ELF || gelf_getclass(elf) != ELFCLASS64) return id;
    if (elf_getphdrnum(elf, &count)) count = 0;
    for (size_t i = 0; i < std::min(count, most_parts) && id.empty(); i++) {
        GElf_Phdr part;
        if (gelf_getphdr(elf, static_cast<int>(i), &part) && part.p_type == PT_NOTE)
            id = build_id_in(elf, part.p_offset, part.p_filesz, part.p_align);
    }
    if (id.empty())
        any_section(elf, [&](const GElf_Shdr &header, const char *, size_t) {
            if (header.sh_type == SHT_NOTE)
                id = build_id_in(elf, header.sh_offset, header.sh_size, header.sh_addralign);
            return !id.empty();
        });
    return id;
}

/* Does it end before what its sections say of it? */
bool is_cut(Elf *elf, int fd) {
    GElf_Ehdr header;
    struct stat status;
    size_t names;
    if (!gelf_getehdr(elf, &header) || fstat(fd, &status)) return true;
    if (!header.e_shoff) return false;
    const uint64_t size = static_cast<uint64_t>(status.st_size);
    if (header.e_shoff > size || header.e_shnum > (size - header.e_shoff) / sizeof(Elf64_Shdr)) return true;
    return elf_getshdrstrndx(elf, &names) || any_section(elf, [size](const GElf_Shdr &section, const char *, size_t) {
               return section.sh_type != SHT_NOBITS &&
                      (section.sh_offset > size || section.sh_size > size - section.sh_offset);
           });
}

Held elf_of(int fd) {
    return Held(elf_begin(fd, ELF_C_READ, nullptr));
}

/* Does it tell which lines its code is of? */
bool has_lines(int fd) {
    const Held elf = elf_of(fd);
    return elf && any_section(elf.get(), [](const GElf_Shdr &header, const char *name, size_t) {
               return header.sh_type != SHT_NOBITS && (!strcmp(name, ".debug_line") || !strcmp(name, ".zdebug_line"));
           });
}

} // namespace

Descriptor::~Descriptor() {
    if (fd_ >= 0) close(fd_);
}

/* Each folder on the way is open, so that ".." leads back to where the path came from, whatever is moved meanwhile. A
 * device is not opened only to see that it is one. */
Descriptor open_below(int root, const std::string &path) {
    std::string left = path;
    std::vector<Descriptor> way;
    struct stat status;
    size_t links = 0;
    while (!left.empty()) {
        const size_t end = left.find('/');
        const std::string name = left.substr(0, end);
        left.erase(0, end == std::string::npos ? end : end + 1);
        if (name.empty() || name == ".") continue;
        if (name == "..") {
            if (!way.empty()) way.pop_back();
            continue;
        }
        Descriptor next(openat(way.empty() ? root : way.back().get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        if (!next || fstat(next.get(), &status)) return Descriptor();
        if (way.size() == most_depth) return errno = ELOOP, Descriptor();
        if (!S_ISLNK(status.st_mode)) {
            way.push_back(std::move(next));
            continue;
        }
        char target[PATH_MAX];
        const ssize_t length = readlinkat(next.get(), "", target, sizeof(target));
        if (length <= 0 || length == sizeof(target) || ++links > most_links) return errno = ELOOP, Descriptor();
        if (target[0] == '/') way.clear();
        left = std::string(target, static_cast<size_t>(length)) + "/" + left;
    }
    errno = EINVAL;
    if (way.empty() || fstat(way.back().get(), &status) || !S_ISREG(status.st_mode) || !status.st_size)
        return Descriptor();
    const std::string there = "/proc/self/fd/" + std::to_string(way.back().get());
    return Descriptor(open(there.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

/* ---- debuginfod: elfutils' client, where it is asked for ---- */

struct Libraries::Client {
    using Begin = void *(*)();
    using End = void (*)(void *);
    using Find = int (*)(void *, const unsigned char *, int, char **);
    using Progress = int (*)(void *, long, long);

    void *library = nullptr, *handle = nullptr;
    Find code = nullptr, debug = nullptr;
    static thread_local const Job *waiting; /* the client tells its caller nothing else */

    /* Empty, or what is missing. */
    std::string begin() {
        const char *servers = getenv("DEBUGINFOD_URLS");
        if (!servers || !servers[strspn(servers, " ")])
            return "--debuginfod: DEBUGINFOD_URLS names no server (Debian: https://debuginfod.debian.net, Fedora: "
                   "https://debuginfod.fedoraproject.org, all: https://debuginfod.elfutils.org)";
        library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
        const auto symbol = [this](const char *name) { return library ? dlsym(library, name) : nullptr; };
        const auto start = reinterpret_cast<Begin>(symbol("debuginfod_begin"));
        const auto progress = reinterpret_cast<void (*)(void *, Progress)>(symbol("debuginfod_set_progressfn"));
        code = reinterpret_cast<Find>(symbol("debuginfod_find_executable"));
        debug = reinterpret_cast<Find>(symbol("debuginfod_find_debuginfo"));
        if (!start || !progress || !code || !debug || !symbol("debuginfod_end") || !(handle = start()))
            return "--debuginfod needs elfutils' client, libdebuginfod.so.1: apt-get install libdebuginfod1, dnf "
                   "install elfutils-debuginfod-client, apk add libdebuginfod, pacman -S debuginfod";
        progress(handle, [](void *, long, long) {
            try {
                if (waiting) waiting->check();
            } catch (const Cancelled &) {
                return 1;
            }
            return 0;
        });
        return "";
    }
    ~Client() {
        if (handle) reinterpret_cast<End>(dlsym(library, "debuginfod_end"))(handle);
    }
};

thread_local const Job *Libraries::Client::waiting = nullptr;

bool Libraries::fetch(const Library &library, bool debug, Descriptor &to) {
    if (!client_ || library.build_id.empty()) return false;
    char *path = nullptr;
    Client::waiting = job_;
    const int got = (debug ? client_->debug : client_->code)(
        client_->handle, reinterpret_cast<const unsigned char *>(library.build_id.c_str()), 0, &path);
    Client::waiting = nullptr;
    Descriptor file(got);
    free(path);
    if (job_) job_->check();
    if (got < 0 && got != -ENOENT) { /* it would keep us waiting for each */
        tell(std::string("--debuginfod: the servers of DEBUGINFOD_URLS do not answer: ") + strerror(-got));
        client_.reset();
    }
    if (!file || !is(library, file.get())) return false;
    to = std::move(file);
    return true;
}

/* ---- which library it is ---- */

Libraries::Libraries(Image &image, Search search) : image_(image), search_(std::move(search)) {
    for (const std::string &root : {std::string("/"), search_.root}) {
        if (root.empty()) continue;
        roots_.emplace_back(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (!roots_.back()) throw Failure(root + " cannot be opened (--sysroot): " + strerror(errno));
    }
    read_link_map();
    linked_read_ = !places_.empty();
    for (const Image::Mapping &mapping : image_.mappings()) places_.emplace(mapping.path, mapping.begin);
    if (!search_.debuginfod) return;
    client_ = std::make_unique<Client>();
    const std::string missing = client_->begin();
    if (missing.empty()) return;
    tell(missing);
    client_.reset();
}

Libraries::~Libraries() = default;

/* It begins with the nearest mapping below that has the begin of the same file. */
Libraries::Library *Libraries::library_at(uint64_t address) {
    const Image::Mapping *mapping = image_.mapping_at(address);
    if (!mapping) return nullptr;
    const Image::Mapping *const first = image_.mappings().data();
    for (size_t i = 0; i < mappings_of_library && mapping - i >= first; i++) {
        const Image::Mapping &one = *(mapping - i);
        if (one.offset || one.path != mapping->path) continue;
        const auto [known, added] = libraries_.try_emplace(one.begin);
        if (added) {
            known->second.path = one.path;
            identify(known->second, one.begin);
        }
        return &known->second;
    }
    return nullptr;
}

/* What the core has from its first page on: a kernel keeps that page alone. */
void Libraries::identify(Library &library, uint64_t begin) {
    std::vector<char> head(most_head);
    size_t size = 0;
    while (size < head.size() && image_.read(begin + size, &head[size], page_bytes)) size += page_bytes;
    library.headed = size > 0;
    library.is_elf = library.headed && !memcmp(head.data(), ELFMAG, SELFMAG);
    if (library.is_elf) library.build_id = build_id_of(Held(elf_memory(head.data(), size)).get());
}

/* From the program's headers to the linker's list: struct link_map has an offset, a path, where the dynamic section
 * is, and the next one. */
void Libraries::read_link_map() {
    uint64_t bias = 0, dynamic = 0, debug = 0;
    const auto [headers, count] = image_.program_headers();
    for (size_t i = 0; i < std::min<size_t>(count, most_parts); i++) {
        Elf64_Phdr part;
        if (!image_.read(headers + i * sizeof(part), &part, sizeof(part))) return;
        if (part.p_type == PT_PHDR) bias = headers - part.p_vaddr;
        if (part.p_type == PT_DYNAMIC) dynamic = part.p_vaddr;
    }
    for (size_t i = 0; dynamic && i < most_dynamic && !debug; i++) {
        Elf64_Dyn entry;
        if (!image_.read(bias + dynamic + i * sizeof(entry), &entry, sizeof(entry)) || !entry.d_tag) break;
        if (entry.d_tag == DT_DEBUG) debug = entry.d_un.d_ptr;
    }
    uint64_t map = debug ? image_.word(debug + word_bytes) : 0;
    for (size_t i = 0; map && i < most_linked; i++, map = image_.word(map + 3 * word_bytes)) {
        const std::string path = image_.text(image_.word(map + word_bytes), PATH_MAX);
        const uint64_t section = image_.word(map + 2 * word_bytes);
        const auto known = places_.emplace(path, section);
        if (known.second || !known.first->second || known.first->second == section) continue;
        const Library *one = library_at(known.first->second), *other = library_at(section);
        if (!one || !other || one->build_id != other->build_id) known.first->second = 0;
    }
}

/* ---- its files ---- */

bool Libraries::is(const Library &library, int fd, std::string *other) {
    const Held elf = elf_of(fd);
    const std::string id = build_id_of(elf.get());
    const bool same = !id.empty() && id == library.build_id;
    if (same && !is_cut(elf.get(), fd)) return true;
    if (other) *other = same ? "is cut" : id.empty() ? "has no build-id" : "is build " + id;
    return false;
}

bool Libraries::seek_code(Library &library) {
    if (library.sought || library.build_id.empty()) return static_cast<bool>(library.code);
    static const char gone[] = " (deleted)"; /* as the kernel says of a file that was replaced */
    std::string path = library.path;
    if (path.size() > sizeof(gone) && !path.compare(path.size() - sizeof(gone) + 1, std::string::npos, gone))
        path.resize(path.size() - sizeof(gone) + 1);
    library.sought = true;
    for (const Descriptor &root : roots_) {
        Descriptor file = open_below(root.get(), path);
        if (!file && errno != ENOENT && errno != ENOTDIR)
            library.other =
                errno == EINVAL ? "is no file with contents" : std::string("cannot be read: ") + strerror(errno);
        if (!file || !is(library, file.get(), &library.other)) continue;
        library.code = std::move(file);
        return true;
    }
    return false;
}

bool Libraries::fetch_code(Library &library) {
    if (seek_code(library) || library.fetched) return static_cast<bool>(library.code);
    library.fetched = true;
    return fetch(library, false, library.code);
}

bool Libraries::seek_debug(Library &library) {
    const std::string name = ".build-id/" + library.build_id.substr(0, 2) + "/" + library.build_id.substr(2) + ".debug";
    for (const Descriptor &root : roots_)
        for (const char *folder : {"usr/lib/debug/", ""}) {
            Descriptor file = open_below(root.get(), folder + name);
            if (!file || !is(library, file.get())) continue;
            library.debug = std::move(file);
            return true;
        }
    return false;
}

int Libraries::named(const std::string &path) {
    const auto place = places_.find(path);
    Library *library = place == places_.end() ? nullptr : library_at(place->second);
    if (!library) {
        const bool several = place != places_.end() && !place->second;
        tell(path +
             (!linked_read_ ? no_pages
              : several     ? " is in the core in several builds"
                            : " is not in the core") +
             missing);
        return -1;
    }
    if (!library->chosen) library->names = choose(*library);
    library->chosen = true;
    return library->names;
}

/* Where lines are, else where at least exported functions are. */
int Libraries::choose(Library &library) {
    if (!library.build_id.empty()) {
        if (seek_debug(library)) return without_links(library, library.debug.get());
        if (!(seek_code(library) && has_lines(library.code.get())) && fetch(library, true, library.debug))
            return without_links(library, library.debug.get());
        if (fetch_code(library)) return without_links(library, library.code.get());
    }
    miss(library);
    return -1;
}

/* The file, or a copy of it in which the sections that name other files have no names: tools would open those. */
int Libraries::without_links(Library &library, int fd) {
    const Held elf = elf_of(fd);
    GElf_Ehdr header;
    std::vector<uint64_t> linking; /* where the headers of such sections are */
    if (!elf || !gelf_getehdr(elf.get(), &header)) return -1;
    any_section(elf.get(), [&](const GElf_Shdr &, const char *name, size_t number) {
        if (!strcmp(name, ".gnu_debuglink") || !strcmp(name, ".gnu_debugaltlink") || !strcmp(name, ".debug_sup"))
            linking.push_back(header.e_shoff + number * sizeof(Elf64_Shdr));
        return false;
    });
    if (linking.empty()) return fd;
    struct stat status;
    if (fstat(fd, &status) || static_cast<uint64_t>(status.st_size) > most_file) {
        tell(library.path + ": the file with its names is larger than 4 GB" + missing);
        return -1;
    }
    try {
        auto copy = std::make_unique<Spool>();
        std::vector<char> bytes(copied_at_once);
        for (ssize_t got; (got = pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(copy->size()))) > 0;) {
            if (job_) job_->check();
            copy->append(bytes.data(), static_cast<size_t>(got));
        }
        copy->end();
        const Elf64_Word none = 0; /* the first field of such a header is its name */
        for (const uint64_t place : linking)
            if (pwrite(copy->descriptor(), &none, sizeof(none), static_cast<off_t>(place)) != sizeof(none)) return -1;
        library.bare = std::move(copy);
        return library.bare->descriptor();
    } catch (const Failure &failure) {
        tell(library.path + missing + ": " + failure.what());
        return -1;
    }
}

bool Libraries::read(uint64_t address, void *to, size_t size, bool told) {
    const Image::Mapping *mapping = image_.mapping_at(address);
    Library *library = mapping && size <= mapping->end - address ? library_at(address) : nullptr;
    if (!library) return false;
    if (!fetch_code(*library)) {
        if (told) miss(*library);
        return false;
    }
    const off_t offset = static_cast<off_t>(mapping->offset + (address - mapping->begin));
    return pread(library->code.get(), to, size, offset) == static_cast<ssize_t>(size);
}

/* ---- what is missing ---- */

void Libraries::miss(const Library &library) {
    if (library.headed && !library.is_elf) return;
    if (!library.headed) return tell(library.path + no_pages + missing);
    if (library.build_id.empty())
        return tell(library.path + " has no build-id, so that no file can be known to be it" + missing);
    std::string where =
                    search_.root.empty() ? "not on this machine" : "neither on this machine nor below " + search_.root,
                advice = search_.root.empty() ? "--sysroot DIR" : "";
    if (client_) where += ", nor do debuginfod's servers have it";
    if (!search_.debuginfod) advice += advice.empty() ? "--debuginfod" : " or --debuginfod";
    tell(library.path + " (build-id " + library.build_id + ") is " + where +
         (library.other.empty() ? "" : " (what lies there " + library.other + ")") + missing +
         (advice.empty() ? "" : "; " + advice + " may find it"));
}

void Libraries::tell(const std::string &problem) {
    if (std::find(problems_.begin(), problems_.end(), problem) == problems_.end()) problems_.push_back(problem);
}

} // namespace corefile
} // namespace heapline
