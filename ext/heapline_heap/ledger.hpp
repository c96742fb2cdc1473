/* SPDX-License-Identifier: MIT */
/*
 * A long list of so many values, zeros at first, that is written and read at random places, in a graph's store: in
 * memory as long as all of these have room there together, else in a file that is mapped, of which only what is looked
 * at is in memory. Room on the disk is taken beforehand. Not for more than one thread at a time.
 */
#ifndef HEAPLINE_HEAP_LEDGER_HPP
#define HEAPLINE_HEAP_LEDGER_HPP

#include <cstddef>
#include <memory>
#include <utility>

#include "column.hpp"
#include "spool.hpp"
#include "store.hpp"

namespace heapline {

template <typename T> class Ledger {
  public:
    explicit Ledger(std::shared_ptr<Store> store) : store_(std::move(store)) {}
    /* local: only neighbours are looked at at a time, as in a stack or a queue, so that no memory is set aside for it.
     * Throws Failure where there is no room on the disk. */
    Ledger(std::shared_ptr<Store> store, size_t size, bool local = false) : Ledger(std::move(store)) {
        size_ = size;
        if ((!local || !store_->in_files()) && store_->hold(size * sizeof(T))) {
            held_ = size * sizeof(T);
            column_.resize(size);
            values_ = column_.data();
        } else {
            auto spool = std::make_unique<Spool>();
            spool->reserve(size * sizeof(T));
            map(std::move(spool));
        }
    }
    Ledger(Ledger &&other) noexcept : store_(other.store_) {
        swap(other);
    }
    Ledger &operator=(Ledger &&other) noexcept {
        swap(other);
        return *this;
    }
    Ledger(const Ledger &) = delete;
    Ledger &operator=(const Ledger &) = delete;
    ~Ledger() {
        release();
    }

    size_t size() const {
        return size_;
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
    const T *data() const {
        return values_;
    }

    /* All is written, and is read seldom or in order from now on: it goes where the store has lists. */
    void keep() {
        if (size_ && !spool_ && store_->in_files()) {
            auto spool = std::make_unique<Spool>();
            spool->append(reinterpret_cast<const char *>(values_), size_ * sizeof(T));
            spool->end();
            map(std::move(spool));
            column_.release();
            let_go();
        }
    }

    /* Gives memory and file back. */
    void release() {
        if (spool_) store_->unmap(values_, size_ * sizeof(T));
        let_go();
        column_.release();
        spool_.reset();
        values_ = nullptr;
        size_ = 0;
    }

    void swap(Ledger &other) noexcept {
        std::swap(store_, other.store_);
        std::swap(spool_, other.spool_);
        std::swap(values_, other.values_);
        std::swap(size_, other.size_);
        std::swap(held_, other.held_);
        column_.swap(other.column_);
    }

  private:
    void map(std::unique_ptr<Spool> spool) {
        values_ = static_cast<T *>(store_->map(spool->descriptor(), size_ * sizeof(T), true));
        spool_ = std::move(spool);
    }
    void let_go() {
        store_->let_go(held_);
        held_ = 0;
    }

    std::shared_ptr<Store> store_;
    std::unique_ptr<Spool> spool_; /* none: it is in memory */
    Column<T> column_;
    T *values_ = nullptr;
    size_t size_ = 0, held_ = 0; /* held_: bytes, by the store */
};

} // namespace heapline

#endif
