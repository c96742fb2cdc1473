/* SPDX-License-Identifier: MIT */
/*
 * From the calls of a recording to a plan (see ../heapline_replay/plan_layout.h): blocks become slots, each thread gets
 * its operations, and a wait where a block or a slot comes from another thread.
 *
 * One pass, in time linear in calls; memory: the plan itself, and 40 bytes for each block that lives at the peak.
 */
#ifndef HEAPLINE_CAPTURE_PLAN_HPP
#define HEAPLINE_CAPTURE_PLAN_HPP

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "../heapline_replay/plan_layout.h"

namespace heapline {
namespace capture {

class Plan {
  public:
    /* A call, in the order of the recording. block: a number that no other live block has. thread: any number. Each
     * throws std::bad_alloc, or std::runtime_error where there are more threads or blocks than a plan can have. */
    void allocate(hl_plan_op op, uint32_t thread, uint32_t block, uint64_t size, uint64_t alignment, uint64_t time_ns);
    void resize(uint32_t thread, uint32_t block, uint64_t size, uint64_t time_ns);
    void free(uint32_t thread, uint32_t block, uint64_t time_ns);
    /* Is the block live? */
    bool has(uint32_t block) const {
        return block < slot_by_block_.size() && slot_by_block_[block];
    }
    /* A free of what is older than the recording. */
    void leave_out();
    void end_thread(uint32_t thread);

    const hl_plan_header &header() const {
        return header_;
    }

    /* The whole file, to an empty one. Throws std::runtime_error with what the system says. */
    void write(int fd);

  private:
    struct Thread {
        std::vector<uint8_t> stream;
        std::deque<uint32_t> free_slots;               /* those that it freed */
        std::unordered_map<uint32_t, uint64_t> waited; /* thread -> calls that this one has waited for */
        uint64_t calls = 0, slot = 0;
        int64_t epoch = -1;
        bool lasts = true;
    };
    /* A call, as others wait for it. */
    struct Call {
        uint64_t calls = 0, at = 0; /* of its thread, with it (0: there was none); where it stands in the stream */
        uint32_t thread = 0;
    };
    struct Slot {
        uint64_t size = 0; /* of its block */
        Call last;         /* for it */
    };

    uint32_t thread_of(uint32_t number);
    void start(uint32_t thread);
    void enter_epoch(uint32_t thread);
    uint32_t new_slot(uint32_t thread);
    void borrow_slots(uint32_t thread);
    void call(hl_plan_op op, uint32_t thread, uint32_t slot, uint64_t size, uint64_t alignment);
    void take_turn(uint32_t thread);
    void wait_for(const Call &call, uint32_t thread);
    void set_size(uint32_t slot, uint64_t size);
    void finish_call(uint64_t time_ns);
    uint64_t lay_out(std::vector<hl_plan_thread> &table);

    hl_plan_header header_ = {};
    uint64_t live_bytes_ = 0, live_blocks_ = 0, free_slots_ = 0;
    Call last_;          /* of all */
    uint32_t turns_ = 0; /* in this epoch */
    std::vector<Thread> threads_;
    std::vector<Slot> slots_;
    std::vector<uint32_t> slot_by_block_; /* + 1; 0: there is none */
    std::vector<hl_plan_epoch> epochs_;
    std::unordered_map<uint32_t, uint32_t> thread_by_number_;
};

} // namespace capture
} // namespace heapline

#endif
