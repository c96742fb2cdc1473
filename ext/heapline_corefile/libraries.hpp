/* SPDX-License-Identifier: MIT */
/*
 * The files that the process had mapped, found by their build-ids: on this machine, below another root, or at
 * debuginfod's servers. libelf reads them.
 *
 * L1  What is used of a file has the build-id that the core has: no other build is taken for it, whatever its path.
 * L2  Only regular files are opened, and no path (with links, or "..") leads out of the root that it is looked for in.
 *     What a file says of other files (a debug link) is followed neither here nor by the tools that get it.
 * L3  What was looked for and not found is told once.
 * One thread at a time.
 */
#ifndef HEAPLINE_COREFILE_LIBRARIES_HPP
#define HEAPLINE_COREFILE_LIBRARIES_HPP

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../heapline_heap/job.hpp"
#include "../heapline_heap/spool.hpp"
#include "image.hpp"

namespace heapline {
namespace corefile {

/* A descriptor that is closed. */
class Descriptor {
  public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    Descriptor(Descriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor &operator=(Descriptor &&other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor();
    int get() const {
        return fd_;
    }
    explicit operator bool() const {
        return fd_ >= 0;
    }

  private:
    int fd_;
};

/* A regular file below the directory `root`, resolved as if that were "/". None: errno says why (EINVAL: it is
 * something else, or empty). */
Descriptor open_below(int root, const std::string &path);
class Libraries {
  public:
    struct Search {
        std::string root; /* another one to look below; empty: none */
        bool debuginfod = false;
    };

    /* Throws Failure where there is no such root. */
    Libraries(Image &image, Search search);
    ~Libraries();

    /* What may cancel what comes now; nullptr: nothing. */
    void under(const Job *job) {
        job_ = job;
    }
    /* What was mapped from a file and is not in the core. told: is it missed where there is no such file? */
    bool read(uint64_t address, void *to, size_t size, bool told = true);
    /* The file to ask for names of the functions of the library that the linker knows by this path, or the core has
     * mapped from there: its descriptor, or -1. */
    int named(const std::string &path);
    /* What is missing, in sentences. */
    const std::vector<std::string> &problems() const {
        return problems_;
    }

  private:
    struct Library {
        std::string path, build_id;
        bool headed = false;         /* does the core have its first page? */
        bool is_elf = false;         /* by that */
        bool sought = false;         /* its code, on this machine and below the other root */
        bool fetched = false;        /* its code, from servers */
        bool chosen = false;         /* the file of its names */
        std::string other;           /* what was found in its place */
        Descriptor code, debug;      /* of L1 */
        std::unique_ptr<Spool> bare; /* the file of its names, where it must be without its links */
        int names = -1;
    };
    struct Client;

    Library *library_at(uint64_t address);
    void identify(Library &library, uint64_t begin);
    void read_link_map();
    bool is(const Library &library, int fd, std::string *other = nullptr);
    bool seek_code(Library &library);
    bool seek_debug(Library &library);
    bool fetch(const Library &library, bool debug, Descriptor &to);
    bool fetch_code(Library &library);
    int choose(Library &library);
    int without_links(Library &library, int fd);
    void miss(const Library &library);
    void tell(const std::string &problem);

    Image &image_;
    const Search search_;
    const Job *job_ = nullptr;
    std::vector<Descriptor> roots_;
    std::map<uint64_t, Library> libraries_; /* by where they begin */
    /* By path, the linker's and the kernel's: an address in it; 0: of several builds. */
    std::unordered_map<std::string, uint64_t> places_;
    bool linked_read_ = false;       /* are the linker's there? */
    std::unique_ptr<Client> client_; /* none: nothing is fetched (any more) */
    std::vector<std::string> problems_;
};

} // namespace corefile
} // namespace heapline

#endif
