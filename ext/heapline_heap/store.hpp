/* SPDX-License-Identifier: MIT */
/*
 * Where the long lists of one graph lie: in memory while they are small together, then in files without names, of which
 * only what is looked at is mapped. What is written from the beginning to the end is a Shelf, what is written at random
 * places a Ledger.
 *
 * M1: however long the lists in files are, no more of them is in memory than `room`, and what a loop looks at between
 *     two hundred calls of trim().
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
    static const size_t ROOM = size_t{160} << 20;

    /* in_memory: bytes of lists from which on they lie in files; room: bytes that may then be in memory, of ledgers and
     * of what is mapped. */
    explicit Store(size_t in_memory = IN_MEMORY, size_t room = ROOM);
    ~Store();
    Store(const Store &) = delete;
    Store &operator=(const Store &) = delete;

    bool in_files() const {
        return in_files_;
    }
    /* A list has taken so many bytes of memory, or gives them back. */
    void take(size_t bytes);
    void give_back(size_t bytes);
    /* Is there room for a ledger of so many bytes? Then it has that until let_go(). */
    bool hold(size_t bytes);
    void let_go(size_t bytes);

    /* A file: where it lies in memory. Throws Failure. */
    void *map(int fd, size_t bytes, bool writable);
    void unmap(const void *place, size_t bytes);

    /* For loops that look at lists, at each look: where more of the files is mapped than may be, it is given up. What
     * is looked at again then comes from the system's cache of files, or from the disk. */
    void trim() {
        if (in_files_ && (++looks_ & 0xff) == 0) give_up();
    }

  private:
    void give_up();
    size_t mapped_bytes() const;

    const size_t in_memory_, room_;
    size_t taken_ = 0, held_ = 0, looks_ = 0;
    bool in_files_ = false;
    int statm_ = -1;       /* what the kernel says of this process's memory */
    size_t elsewhere_ = 0; /* bytes of files that were in memory before, as of libraries */
    std::vector<std::pair<void *, size_t>> maps_;
    size_t next_ = 0, offset_ = 0; /* what is given up next: which of these, and where in it */
};

} // namespace heapline

#endif
