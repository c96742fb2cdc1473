/* SPDX-License-Identifier: MIT */
#include "plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>

#include "varint.hpp"

namespace heapline {
namespace capture {

namespace {

const uint32_t THREADS_MAX = 65536;
const uint32_t SLOTS_MAX = UINT32_MAX - 1;
/* So many slots may lie unused with other threads before a thread takes of them: taking makes it wait. */
const uint64_t SPARE_SLOTS = 1024;
/* So many times in an epoch a thread waits for its turn: threads that a lock keeps apart, as Ruby's, change places less
 * often. Those that change more often allocate at the same time, and are to do so in the replay. */
const uint32_t TURNS = 64;
const unsigned LEAST_ALIGNMENT = 3, MOST_ALIGNMENT = 30;

void put(std::vector<uint8_t> &stream, uint64_t number) {
    uint8_t bytes[VARINT_MAX];
    stream.insert(stream.end(), bytes, put_varint(bytes, number));
}

unsigned exponent_of(uint64_t alignment) {
    unsigned exponent = LEAST_ALIGNMENT;
    while (exponent < MOST_ALIGNMENT && uint64_t{1} << exponent < alignment) exponent++;
    return exponent;
}

} // namespace

/* ---- calls ---- */

void Plan::allocate(hl_plan_op op, uint32_t number, uint32_t block, uint64_t size, uint64_t alignment,
                    uint64_t time_ns) {
    const uint32_t thread = thread_of(number);
    if (has(block)) free(number, block, time_ns);
    const uint32_t slot = new_slot(thread);
    if (block >= slot_by_block_.size())
        slot_by_block_.resize(std::max<size_t>(block + size_t{1}, slot_by_block_.size() * 2));
    slot_by_block_[block] = slot + 1;
    call(op, thread, slot, size, alignment);
    live_blocks_++;
    header_.allocations++;
    set_size(slot, size);
    finish_call(time_ns);
}

void Plan::resize(uint32_t number, uint32_t block, uint64_t size, uint64_t time_ns) {
    if (!has(block)) return allocate(HL_PLAN_MALLOC, number, block, size, 0, time_ns);
    if (!size) return free(number, block, time_ns); /* and what it gives then is no memory */
    const uint32_t slot = slot_by_block_[block] - 1;
    call(HL_PLAN_REALLOC, thread_of(number), slot, size, 0);
    set_size(slot, size);
    finish_call(time_ns);
}

void Plan::free(uint32_t number, uint32_t block, uint64_t time_ns) {
    if (!has(block)) return leave_out();
    const uint32_t slot = slot_by_block_[block] - 1, thread = thread_of(number);
    slot_by_block_[block] = 0;
    call(HL_PLAN_FREE, thread, slot, 0, 0);
    live_blocks_--;
    live_bytes_ -= slots_[slot].size;
    slots_[slot].size = 0;
    threads_[thread].free_slots.push_back(slot);
    free_slots_++;
    finish_call(time_ns);
}

void Plan::leave_out() {
    header_.left_out++;
}

void Plan::end_thread(uint32_t number) {
    auto found = thread_by_number_.find(number);
    if (found != thread_by_number_.end()) threads_[found->second].lasts = false;
}

void Plan::call(hl_plan_op op, uint32_t thread, uint32_t slot, uint64_t size, uint64_t alignment) {
    enter_epoch(thread);
    take_turn(thread);
    wait_for(slots_[slot].last, thread);
    Thread &who = threads_[thread];
    slots_[slot].last = last_ = {++who.calls, who.stream.size(), thread};
    who.stream.push_back(static_cast<uint8_t>(op));
    put(who.stream, fold(static_cast<int64_t>(slot) - static_cast<int64_t>(who.slot)));
    who.slot = slot;
    if (op != HL_PLAN_FREE) put(who.stream, size);
    if (op == HL_PLAN_ALIGNED) put(who.stream, exponent_of(alignment));
}

void Plan::set_size(uint32_t slot, uint64_t size) {
    live_bytes_ += size - slots_[slot].size;
    slots_[slot].size = size;
    header_.bytes_allocated += size;
    header_.largest = std::max(header_.largest, size);
    header_.peak_live_bytes = std::max(header_.peak_live_bytes, live_bytes_);
}

void Plan::finish_call(uint64_t time_ns) {
    header_.calls++;
    header_.recorded_ns = std::max(header_.recorded_ns, time_ns);
    epochs_.back().live_bytes = live_bytes_;
    epochs_.back().time_ns = header_.recorded_ns;
}

/* ---- threads and their order ---- */

uint32_t Plan::thread_of(uint32_t number) {
    auto [found, added] = thread_by_number_.try_emplace(number, static_cast<uint32_t>(threads_.size()));
    if (!added) return found->second;
    if (threads_.size() == THREADS_MAX) throw std::runtime_error("the recording has more threads than a plan can have");
    const uint32_t thread = found->second;
    threads_.emplace_back();
    if (thread) start(thread);
    return thread;
}

void Plan::start(uint32_t thread) {
    enter_epoch(0);
    take_turn(0);
    threads_[0].stream.push_back(HL_PLAN_START);
    put(threads_[0].stream, thread);
}

void Plan::enter_epoch(uint32_t thread) {
    Thread &who = threads_[thread];
    const int64_t epoch = static_cast<int64_t>(header_.calls / HL_PLAN_WINDOW);
    if (who.epoch == epoch) return;
    if (epochs_.size() == static_cast<size_t>(epoch)) turns_ = 0;
    epochs_.resize(static_cast<size_t>(epoch) + 1);
    epochs_.back().threads++;
    who.stream.push_back(HL_PLAN_EPOCH);
    put(who.stream, static_cast<uint64_t>(epoch - who.epoch));
    who.epoch = epoch;
}

/* The thread before it has done what it did in its turn. */
void Plan::take_turn(uint32_t thread) {
    if (last_.thread != thread && turns_++ < TURNS) wait_for(last_, thread);
}

void Plan::wait_for(const Call &call, uint32_t thread) {
    if (call.thread == thread || !call.calls) return;
    uint64_t &waited = threads_[thread].waited[call.thread];
    if (waited >= call.calls) return;
    waited = call.calls;
    threads_[call.thread].stream[call.at] |= HL_PLAN_AWAITED;
    threads_[thread].stream.push_back(HL_PLAN_WAIT);
    put(threads_[thread].stream, call.thread);
    put(threads_[thread].stream, call.calls);
}

/* ---- slots ---- */

/* One that the thread itself freed, where it can be. */
uint32_t Plan::new_slot(uint32_t thread) {
    std::deque<uint32_t> &own = threads_[thread].free_slots;
    if (own.empty() && free_slots_ > live_blocks_ / 4 + SPARE_SLOTS) borrow_slots(thread);
    if (own.empty()) {
        if (slots_.size() == SLOTS_MAX) throw std::runtime_error("the recording has more blocks than a plan can have");
        slots_.emplace_back();
        return static_cast<uint32_t>(slots_.size() - 1);
    }
    const uint32_t slot = own.back();
    own.pop_back();
    free_slots_--;
    return slot;
}

/* Half of those of the thread that has most, the oldest: their frees are likely to have been performed by then. */
void Plan::borrow_slots(uint32_t thread) {
    Thread &from = *std::max_element(threads_.begin(), threads_.end(), [](const Thread &one, const Thread &other) {
        return one.free_slots.size() < other.free_slots.size();
    });
    const auto end = from.free_slots.begin() + static_cast<std::ptrdiff_t>((from.free_slots.size() + 1) / 2);
    threads_[thread].free_slots.assign(from.free_slots.begin(), end);
    from.free_slots.erase(from.free_slots.begin(), end);
}

/* ---- the file ---- */

namespace {

class Output {
  public:
    explicit Output(int fd) : fd_(fd) {}

    void write(const void *bytes, size_t size) {
        const char *at = static_cast<const char *>(bytes);
        while (size) {
            const ssize_t written = ::write(fd_, at, size);
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) throw std::runtime_error(std::string("the plan cannot be written: ") + strerror(errno));
            at += written;
            size -= static_cast<size_t>(written);
        }
    }

  private:
    int fd_;
};

/* The checksum over pieces that need not end where a word does. */
class Sum {
  public:
    void add(const void *bytes, size_t size) {
        const uint8_t *at = static_cast<const uint8_t *>(bytes);
        while (size) {
            const size_t part = std::min(size, sizeof(word_) - filled_);
            memcpy(reinterpret_cast<uint8_t *>(&word_) + filled_, at, part);
            filled_ += part;
            at += part;
            size -= part;
            if (filled_ < sizeof(word_)) continue;
            sum_ = hl_plan_sum_word(sum_, word_);
            filled_ = 0;
        }
    }
    uint64_t value() {
        for (size_t i = 0; i < filled_; i++) sum_ = hl_plan_sum_word(sum_, reinterpret_cast<uint8_t *>(&word_)[i]);
        return sum_;
    }

  private:
    uint64_t sum_ = HL_PLAN_SUM_START, word_ = 0;
    size_t filled_ = 0;
};

} // namespace

/* The header's numbers and the table of threads. */
uint64_t Plan::lay_out(std::vector<hl_plan_thread> &table) {
    memcpy(header_.magic, HL_PLAN_MAGIC, sizeof(header_.magic));
    header_.version = HL_PLAN_VERSION;
    header_.window = HL_PLAN_WINDOW;
    header_.threads = static_cast<uint32_t>(threads_.size());
    header_.slots = slots_.size();
    header_.epochs = epochs_.size();
    header_.end_live_bytes = live_bytes_;
    header_.threads_at = sizeof(header_);
    header_.epochs_at = header_.threads_at + threads_.size() * sizeof(hl_plan_thread);
    uint64_t at = header_.epochs_at + epochs_.size() * sizeof(hl_plan_epoch);
    for (const Thread &thread : threads_) {
        table.push_back({at, thread.stream.size(), thread.calls, thread.lasts, 0});
        at += thread.stream.size();
    }
    return at;
}

void Plan::write(int fd) {
    if (threads_.empty()) throw std::runtime_error("the recording has no allocation");
    std::vector<hl_plan_thread> table;
    header_.size = lay_out(table);
    Sum sum;
    sum.add(&header_, offsetof(hl_plan_header, checksum));
    sum.add(table.data(), table.size() * sizeof(table[0]));
    sum.add(epochs_.data(), epochs_.size() * sizeof(epochs_[0]));
    for (const Thread &thread : threads_) sum.add(thread.stream.data(), thread.stream.size());
    header_.checksum = sum.value();
    Output output(fd);
    output.write(&header_, sizeof(header_));
    output.write(table.data(), table.size() * sizeof(table[0]));
    output.write(epochs_.data(), epochs_.size() * sizeof(epochs_[0]));
    for (const Thread &thread : threads_) output.write(thread.stream.data(), thread.stream.size());
}

} // namespace capture
} // namespace heapline
