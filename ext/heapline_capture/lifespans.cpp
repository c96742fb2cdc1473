/* SPDX-License-Identifier: MIT */
#include "lifespans.hpp"

#include <algorithm>

namespace heapline {
namespace capture {

namespace {

class Pass {
  public:
    explicit Pass(const Query &query) : query_(query), milliseconds_(query.unit == Query::Unit::milliseconds) {}

    void event(const Event &event) {
        if (event.time_ns > latest_) latest_ = event.time_ns;
        if (event.kind == Kind::gc_start) generation_++;
        if (event.kind != Kind::remains) cut_ = {0, 0};
        const bool cuts = event.kind == Kind::munmap || event.kind == Kind::vanish;
        if (cuts && event.block < blocks_.size()) cut_ = blocks_[event.block];
        if (query_.objects ? is_object(event.kind) && event.kind != Kind::object_resized : has_block(event.kind))
            end(event.block);
        if (begins(event.kind, query_.objects)) birth(event.block);
        if (event.kind == Kind::remains && !query_.objects) live_on(event.block);
    }

    Column<uint64_t> finish() {
        for (uint32_t block = 0; block < blocks_.size(); block++) end(block);
        return std::move(bits_);
    }

  private:
    struct Block {
        uint64_t birth; /* plus 1; 0: none */
        uint64_t since;
    };

    uint64_t now() const {
        return milliseconds_ ? latest_ / 1000000 : generation_;
    }

    void birth(uint32_t block) {
        if (block >= blocks_.size()) blocks_.resize(block + 1);
        if (births_ % 64 == 0) bits_.push_back(0);
        blocks_[block] = {++births_, now()};
    }

    /* The rest of a mapping lives on, with the birth of the whole. */
    void live_on(uint32_t block) {
        if (!cut_.birth) return;
        bits_[(cut_.birth - 1) / 64] &= ~(uint64_t{1} << (cut_.birth - 1) % 64);
        blocks_[block] = cut_;
    }

    void end(uint32_t number) {
        if (number >= blocks_.size() || !blocks_[number].birth) return;
        uint64_t age = now() - blocks_[number].since, birth = blocks_[number].birth - 1;
        blocks_[number].birth = 0;
        if (age >= query_.shortest && age <= query_.longest) bits_[birth / 64] |= uint64_t{1} << birth % 64;
    }

    const Query &query_;
    const bool milliseconds_;
    uint64_t latest_ = 0, generation_ = 0, births_ = 0;
    Column<Block> blocks_;
    Block cut_ = {0, 0}; /* a mapping that has just ended, perhaps not all of it */
    Column<uint64_t> bits_;
};

} // namespace

Column<uint64_t> suited_births(Reader &reader, const Query &query, const Job &job) {
    std::vector<Event> events(1024);
    Pass pass(query);
    reader.rewind();
    while (size_t count = reader.next(events.data(), events.size())) {
        job.check();
        for (size_t i = 0; i < count; i++) {
            if (events[i].time_ns >= query.to_ns) return pass.finish();
            pass.event(events[i]);
        }
    }
    return pass.finish();
}

} // namespace capture
} // namespace heapline
