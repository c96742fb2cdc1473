/* SPDX-License-Identifier: MIT */
/*
 * A long list that is written from its beginning to its end, and then read, in a graph's store: in memory, or in a file
 * without a name, so that what a disk has no room for is told when it is written. Not for more than one thread at a
 * time.
 */
#ifndef HEAPLINE_HEAP_SHELF_HPP
#define HEAPLINE_HEAP_SHELF_HPP

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "column.hpp"
#include "spool.hpp"
#include "store.hpp"

namespace heapline {

template <typename T> class Shelf {
  public:
    explicit Shelf(std::shared_ptr<Store> store) : store_(std::move(store)) {}
    Shelf(Shelf &&other) noexcept : store_(other.store_) {
        swap(other);
    }
    Shelf &operator=(Shelf &&other) noexcept {
        swap(other);
        return *this;
    }
    Shelf(const Shelf &) = delete;
    Shelf &operator=(const Shelf &) = delete;
    ~Shelf() {
        release();
    }

    size_t size() const {
        return filed_ + tail_.size();
    }
    bool empty() const {
        return size() == 0;
    }

    /* Throws Failure, as all that writes. */
    void push_back(const T &value) {
        if (tail_.size() >= room_) turn();
        tail_.push_back(value);
    }
    void append(const T *values, size_t count) {
        while (count) {
            if (tail_.size() >= room_) turn();
            const size_t part = std::min(count, room_ - tail_.size());
            tail_.append(values, part);
            values += part;
            count -= part;
        }
    }

    /* All is written. From now on, and not before, it can be read. */
    void finish() {
        if (store_->in_files()) {
            file();
            tail_.release();
            spool_->end();
            if (filed_) values_ = static_cast<const T *>(store_->map(spool_->descriptor(), filed_ * sizeof(T), false));
        } else {
            values_ = tail_.data();
        }
    }

    const T &operator[](size_t i) const {
        return values_[i];
    }
    const T *data() const {
        return values_;
    }
    const T *begin() const {
        return values_;
    }
    const T *end() const {
        return values_ + size();
    }

    /* The first ones are not read again. */
    void forget(size_t count) {
        if (!spool_) tail_.forget(count);
    }
    /* Gives memory and file back. */
    void release() {
        if (spool_ && values_) store_->unmap(values_, filed_ * sizeof(T));
        if (taken_) store_->give_back(taken_ * sizeof(T));
        tail_.release();
        spool_.reset();
        values_ = nullptr;
        filed_ = taken_ = 0;
        room_ = PART;
    }

    void swap(Shelf &other) noexcept {
        std::swap(store_, other.store_);
        std::swap(spool_, other.spool_);
        std::swap(values_, other.values_);
        std::swap(filed_, other.filed_);
        std::swap(taken_, other.taken_);
        std::swap(room_, other.room_);
        tail_.swap(other.tail_);
    }

  private:
    static const size_t PART = (size_t{1} << 18) / sizeof(T); /* how many are written at a time */

    /* There are as many as were reckoned with. */
    void turn() {
        store_->take(PART * sizeof(T));
        taken_ += PART;
        if (store_->in_files())
            file();
        else
            room_ += PART;
    }

    void file() {
        if (!spool_) spool_ = std::make_unique<Spool>();
        spool_->append(reinterpret_cast<const char *>(tail_.data()), tail_.size() * sizeof(T));
        filed_ += tail_.size();
        if (tail_.size() > PART) tail_.release();
        tail_.clear();
        if (taken_) store_->give_back(taken_ * sizeof(T));
        taken_ = 0;
        room_ = PART;
    }

    std::shared_ptr<Store> store_;
    std::unique_ptr<Spool> spool_; /* none: all is in memory */
    const T *values_ = nullptr;    /* once it can be read */
    Column<T> tail_;               /* what is not in the file */
    size_t filed_ = 0, taken_ = 0; /* how many are in the file, and are reckoned with in memory */
    size_t room_ = PART;
};

} // namespace heapline

#endif
