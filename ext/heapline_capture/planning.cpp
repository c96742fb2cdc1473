/* SPDX-License-Identifier: MIT */
#include "planning.hpp"

#include <algorithm>

namespace heapline {
namespace capture {

namespace {

const size_t BATCH = 4096;

/* How a birth is performed: C++'s new is malloc below, and aligned_alloc, memalign … are one another. */
hl_plan_op birth(const Event &event) {
    if (event.kind == Kind::calloc) return HL_PLAN_CALLOC;
    return event.alignment ? HL_PLAN_ALIGNED : HL_PLAN_MALLOC;
}

void perform(const Event &event, Plan &plan) {
    if (event.kind == Kind::thread_end) return plan.end_thread(event.thread);
    if (event.kind == Kind::free_older) return plan.leave_out();
    if (is_mark(event.kind) || is_mapping(event.kind)) return;
    if (is_birth(event.kind))
        plan.allocate(birth(event), event.thread, event.block, event.size, event.alignment, event.time_ns);
    else if (is_change(event.kind))
        plan.resize(event.thread, event.block, event.size, event.time_ns);
    else if (is_end(event.kind) && plan.has(event.block))
        plan.free(event.thread, event.block, event.time_ns);
}

} // namespace

uint64_t make_plan(Reader &reader, Plan &plan, const Job &job, std::atomic<uint64_t> &done) {
    std::vector<Event> events(BATCH);
    uint64_t lost = 0;
    reader.rewind();
    while (size_t count = reader.next(events.data(), events.size())) {
        job.check();
        for (size_t i = 0; i < count; i++) {
            if (events[i].kind == Kind::lost) lost += events[i].size;
            perform(events[i], plan);
        }
        done = reader.bytes_read();
    }
    return std::max(lost, reader.finished() ? reader.totals().lost : 0);
}

} // namespace capture
} // namespace heapline
