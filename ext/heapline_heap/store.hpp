/* SPDX-License-Identifier: MIT */
/*
 * Where the long lists of one graph lie: in memory while they are small together, then in files without names, of which
 * only what is looked at is mapped. What is written at random places is never there, but in a Column.
 *
 * One thread at a time.
 */
#ifndef HEAPLINE_HEAP_STORE_HPP
#define HEAPLINE_HEAP_STORE_HPP

#include <cstddef>
#include <utility>
#include <vector>

namespace heapline {

class Store {
  public:
    static const size_t IN_MEMORY = size_t{64} << 20;
    static const size_t MAPPED = size_t{32} << 20;

    /* in_memory: bytes of lists from which on they lie in files; mapped: bytes of these that may be in memory. */
    explicit Store(size_t in_memory = IN_MEMORY, size_t mapped = MAPPED);
    ~Store();
    Store(const Store &) = delete;
    Store &operator=(const Store &) = delete;

    bool in_files() const {
        return in_files_;
    }
    /* A list has taken so many bytes of memory, or gives them back. */
    void take(size_t bytes);
    void give_back(size_t bytes);

    /* A file to read: where it lies in memory. Throws Failure. */
    const void *map(int fd, size_t bytes);
    void unmap(const void *place, size_t bytes);

    /* For loops that read lists, at each step: where more of the files is mapped than may be, it is given up. What is
     * read again then comes from the system's cache of files, or from the disk. */
    void trim(size_t step) {
        if (in_files_ && (step & 0x3ff) == 0) trim();
    }

  private:
    void trim();
    size_t shared_pages() const;

    const size_t in_memory_, mapped_;
    size_t taken_ = 0;
    bool in_files_ = false;
    int statm_ = -1;       /* what the kernel says of this process's memory */
    size_t elsewhere_ = 0; /* pages of files that were in memory before, as of libraries */
    std::vector<std::pair<void *, size_t>> maps_;
};

} // namespace heapline

#endif
