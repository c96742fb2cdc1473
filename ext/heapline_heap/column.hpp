/* SPDX-License-Identifier: MIT */
/*
 * A growing array of plain values in mappings of its own: growing moves pages instead of copying them, so that there is
 * never a second copy, and what is given up goes back to the system at once. An index is made of few and large ones.
 * Not for more than one thread at a time.
 */
#ifndef HEAPLINE_HEAP_COLUMN_HPP
#define HEAPLINE_HEAP_COLUMN_HPP

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace heapline {

template <typename T> class Column {
    static_assert(std::is_trivially_copyable<T>::value, "pages are moved and zeroed, nothing is constructed");

  public:
    Column() = default;
    explicit Column(size_t size) {
        resize(size);
    }
    Column(Column &&other) noexcept {
        swap(other);
    }
    Column &operator=(Column &&other) noexcept {
        swap(other);
        return *this;
    }
    Column(const Column &) = delete;
    Column &operator=(const Column &) = delete;
    ~Column() {
        release();
    }

    size_t size() const {
        return size_;
    }
    bool empty() const {
        return size_ == 0;
    }
    T *data() {
        return values_;
    }
    const T *data() const {
        return values_;
    }
    T &operator[](size_t i) {
        return values_[i];
    }
    const T &operator[](size_t i) const {
        return values_[i];
    }
    T *begin() {
        return values_;
    }
    T *end() {
        return values_ + size_;
    }
    const T *begin() const {
        return values_;
    }
    const T *end() const {
        return values_ + size_;
    }

    void push_back(const T &value) {
        if (size_ == room_) reserve(size_ + 1);
        values_[size_++] = value;
    }

    void append(const T *values, size_t count) {
        if (!count) return;
        if (count > room_ - size_) reserve(size_ + count);
        std::memcpy(values_ + size_, values, count * sizeof(T));
        size_ += count;
    }

    /* New values are all zero bytes, unless the column was longer before. */
    void resize(size_t size) {
        if (size > room_) reserve(size);
        size_ = size;
    }

    /* Keeps its memory. */
    void clear() {
        size_ = 0;
    }

    /* Gives its memory back. */
    void release() {
        if (values_) munmap(values_, room_ * sizeof(T));
        values_ = nullptr;
        size_ = room_ = 0;
    }

    /* Gives back the memory of the first values, which nobody reads again. (Pages are of 64 kB at most.) */
    void forget(size_t count) {
        const size_t page = 1 << 16, bytes = count * sizeof(T) / page * page;
        if (bytes) madvise(values_, bytes, MADV_DONTNEED);
    }

    void swap(Column &other) noexcept {
        std::swap(values_, other.values_);
        std::swap(size_, other.size_);
        std::swap(room_, other.room_);
    }

    /* Throws std::bad_alloc. */
    void reserve(size_t wanted) {
        if (wanted <= room_) return;
        size_t room = std::max({wanted, room_ + room_ / 2, size_t{65536} / sizeof(T) + 1});
        if (room > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
        void *place =
            mmap(nullptr, room * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (place == MAP_FAILED) throw std::bad_alloc();
        /* Onto a mapping that was made for it: sanitizers do not see where mremap alone moves pages to. */
        if (values_ &&
            mremap(values_, room_ * sizeof(T), room * sizeof(T), MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED) {
            munmap(place, room * sizeof(T));
            throw std::bad_alloc();
        }
        values_ = static_cast<T *>(place);
        room_ = room;
    }

  private:
    T *values_ = nullptr;
    size_t size_ = 0, room_ = 0;
};

} // namespace heapline

#endif
