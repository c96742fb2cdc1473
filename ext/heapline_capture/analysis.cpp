/* SPDX-License-Identifier: MIT */
#include "analysis.hpp"

#include <algorithm>

#include "lifespans.hpp"

namespace heapline {
namespace capture {

namespace {

const size_t AT_ONCE = 1024; /* events that are read: they stay in the cache */
const size_t AHEAD = 8;      /* events */

size_t bits(uint64_t value) {
    return value ? 64 - static_cast<size_t>(__builtin_clzll(value)) : 0;
}

} // namespace

Analysis::Analysis(Reader &reader, const Query &query, const Job &job, Watcher *watcher)
    : reader_(reader), query_(query), watcher_(watcher), recent_(reader.names().nodes()), calls_{}, sizes_{}, ages_{},
      timeline_(query.from_ns) {
    if (query.lifespan) suited_ = suited_births(reader, query, job);
    read(job);
    finish();
}

void Analysis::read(const Job &job) {
    std::vector<Event> events(AT_ONCE);
    reader_.rewind();
    while (size_t count = reader_.next(events.data(), events.size())) {
        job.check();
        for (size_t i = 0; i < count; i++) {
            if (events[i].time_ns >= query_.to_ns) return;
            if (i + 2 * AHEAD < count) fetch(events[i + 2 * AHEAD], events[i + AHEAD]);
            event(events[i]);
        }
    }
}

/* Most of the time would go by in waiting for memory: what later events need is asked for before. */
void Analysis::fetch(const Event &later, const Event &sooner) {
    if (later.block < blocks_.size()) __builtin_prefetch(&blocks_[later.block], 1);
    uint32_t context = sooner.block < blocks_.size() ? blocks_[sooner.block].context : 0;
    if (has_stack(sooner.kind)) context = recent_[sooner.stack].context;
    if (context && context < OTHER) __builtin_prefetch(&contexts_[context - 1], 1);
}

/* What happened before the query's time is passed over, but the generation goes on. */
void Analysis::event(const Event &event) {
    if (waits_ && event.kind != Kind::remains) settle();
    end_ns_ = std::max(end_ns_, event.time_ns);
    if (event.kind == Kind::gc_enter || event.kind == Kind::gc_exit) pause(event);
    if (event.time_ns < query_.from_ns) {
        if (begins(event.kind, query_.objects)) births_++;
        if (event.kind == Kind::gc_start) generation_++;
        return;
    }
    events_++;
    if (query_.objects || is_object(event.kind)) {
        if (query_.objects && is_object(event.kind)) object(event);
        if (is_mark(event.kind)) mark(event);
        return;
    }
    if (event.kind == Kind::munmap || event.kind == Kind::vanish) {
        ending_ = event;
        waits_ = true;
        return;
    }
    if (event.kind == Kind::remains && waits_) {
        births_++;
        return rests_.push_back(event);
    }
    if (has_block(event.kind)) end(event);
    if (allocates(event.kind))
        birth(event);
    else
        mark(event);
}

uint32_t Analysis::context(const Event &event) {
    Recent &recent = recent_[event.stack];
    if (recent.context && recent.thread == event.thread && recent.tag == event.tag && recent.klass == event.klass)
        return recent.context - 1;
    if ((contexts_.size() + 1) * 2 > places_.size()) make_places();
    uint32_t &number = place(event.stack, event.thread, event.tag, event.klass);
    if (!number) {
        contexts_.push_back({event.stack, event.thread, event.tag, event.klass, peak_, {}});
        number = static_cast<uint32_t>(contexts_.size());
    }
    recent = {event.thread, event.tag, event.klass, number};
    return number - 1;
}

uint32_t &Analysis::place(uint32_t stack, uint32_t thread, uint32_t tag, uint32_t klass) {
    uint64_t hash =
        ((uint64_t{stack} << 32 | thread) ^ uint64_t{tag} << 16 ^ uint64_t{klass} << 24) * 0x9e3779b97f4a7c15u;
    size_t mask = places_.size() - 1, at = (hash ^ hash >> 32) & mask;
    while (places_[at]) {
        const Context &other = contexts_[places_[at] - 1];
        if (other.stack == stack && other.thread == thread && other.tag == tag && other.klass == klass) break;
        at = (at + 1) & mask;
    }
    return places_[at];
}

void Analysis::make_places() {
    places_.assign(std::max<size_t>(1024, places_.size() * 2), 0);
    for (uint32_t number = 0; number < contexts_.size(); number++) {
        const Context &context = contexts_[number];
        place(context.stack, context.thread, context.tag, context.klass) = number + 1;
    }
}

/* A1: what a context has now, before it changes, it had at the last peak, unless it changed since. */
void Analysis::note_peak(Context &context) {
    if (context.seen == peak_) return;
    context.sums.peak = context.sums.live;
    context.seen = peak_;
}

bool Analysis::suits(const Event &event) {
    uint64_t birth = births_++;
    if (!query_.threads.empty() && (event.thread >= query_.threads.size() || !query_.threads[event.thread]))
        return false;
    if (!query_.tags.empty() && (event.tag >= query_.tags.size() || !query_.tags[event.tag])) return false;
    if (!query_.classes.empty() && (event.klass >= query_.classes.size() || !query_.classes[event.klass])) return false;
    return !query_.lifespan || (birth / 64 < suited_.size() && suited_[birth / 64] >> birth % 64 & 1);
}

void Analysis::birth(const Event &event) {
    if (event.block >= blocks_.size()) blocks_.resize(event.block + 1);
    bool suited = suits(event);
    if (suited) calls_[static_cast<size_t>(event.kind)].add(event.size);
    if (!suited || is_mapping(event.kind) != query_.mappings) {
        blocks_[event.block] = {event.size, suited ? OTHER : NOBODY, generation_, false};
        return;
    }
    uint32_t number = context(event);
    Context &context = contexts_[number];
    note_peak(context);
    context.sums.allocated.add(event.size);
    context.sums.live.add(event.size);
    sums_.allocated.add(event.size);
    sums_.live.add(event.size);
    sizes_[bits(event.size)].add(event.size);
    blocks_[event.block] = {event.size, number + 1, generation_, false};
    if (watcher_) watcher_->birth(event.block, event.size, event.time_ns);
    Timeline::Span &span = timeline_.at(end_ns_);
    span.allocations++;
    span.allocated += event.size;
    note_live();
}

/* More is live now, perhaps more than ever. */
void Analysis::note_live() {
    Timeline::Span &span = timeline_.at(end_ns_);
    span.live = sums_.live.bytes;
    if (span.most < span.live) span.most = span.live;
    if (sums_.live.bytes > sums_.peak.bytes) {
        sums_.peak = sums_.live;
        peak_ns_ = end_ns_;
        peak_++;
    }
}

/* The rest of a mapping is no new one: it has the birth and the context of the whole, and the first part its count. In
 * a damaged file it may be larger than the whole, or have a living block's number. */
void Analysis::settle() {
    waits_ = false;
    Block whole = ending_.block < blocks_.size() ? blocks_[ending_.block] : Block{};
    uint64_t kept = 0;
    for (Event &rest : rests_) {
        if (rest.block != ending_.block) make_room_for(rest);
        rest.size = std::min<uint64_t>(rest.size, whole.size - kept);
        kept += rest.size;
    }
    end(ending_, kept);
    for (const Event &rest : rests_) {
        make_room_for(rest);
        blocks_[rest.block] = whole;
        blocks_[rest.block].size = rest.size;
        whole.is_part = 1;
    }
    rests_.clear();
}

void Analysis::make_room_for(const Event &rest) {
    if (rest.block >= blocks_.size()) blocks_.resize(rest.block + 1);
    if (blocks_[rest.block].context) end(rest);
}

/* Of the block that an end or a change names, or of one whose end was lost and whose number is used again. kept: bytes
 * of it that rests_ have. */
void Analysis::end(const Event &event, uint64_t kept) {
    Block none = {}, &block = event.block < blocks_.size() ? blocks_[event.block] : none;
    Block ended = block;
    block.context = 0;
    if (!ended.context) unknown_ends_ += !is_birth(event.kind) && event.kind != Kind::object && !query_.from_ns;
    if (!ended.context || ended.context == NOBODY) return;
    const uint64_t size = ended.size - std::min<uint64_t>(kept, ended.size), blocks = !kept && !ended.is_part;
    if (is_end(event.kind)) calls_[static_cast<size_t>(event.kind)].add(size);
    if (ended.context == OTHER) return;
    Context &context = contexts_[ended.context - 1];
    note_peak(context);
    context.sums.live.remove(size, blocks);
    sums_.live.remove(size, blocks);
    uint32_t age = generation_ - ended.generation;
    ages_[bits(age)].add(size, blocks);
    if (age <= 1) {
        context.sums.temporary.add(size, blocks);
        sums_.temporary.add(size, blocks);
    }
    sums_.freed.add(size, blocks);
    if (!query_.objects)
        contexts_[this->context(event)].sums.freed.add(size, blocks); /* nobody's line frees an object */
    if (watcher_) tell_end(event, ended.context - 1, size, age <= 1, kept);
    Timeline::Span &span = timeline_.at(end_ns_);
    span.frees++;
    span.freed += size;
    span.live = sums_.live.bytes;
}

void Analysis::tell_end(const Event &event, uint32_t context, uint64_t size, bool temporary, uint64_t kept) {
    std::vector<uint32_t> rests;
    if (!kept) return watcher_->end(event.block, context, size, event.time_ns, temporary);
    for (const Event &rest : rests_) rests.push_back(rest.block);
    watcher_->cut(event.block, context, size, event.time_ns, temporary, rests);
}

void Analysis::object(const Event &event) {
    if (event.kind == Kind::object_resized) return resize(event);
    end(event);
    if (event.kind == Kind::object) birth(event);
}

/* As the accounting has it: the bytes of both slots were allocated, the former ones are freed. */
void Analysis::resize(const Event &event) {
    if (event.block >= blocks_.size()) return;
    Block &block = blocks_[event.block];
    const uint64_t before = block.size;
    block.size = event.size;
    if (!block.context || block.context >= OTHER) return;
    Context &context = contexts_[block.context - 1];
    note_peak(context);
    for (Sums *sums : {&context.sums, &sums_}) {
        sums->allocated.bytes += event.size;
        sums->live.bytes += event.size - before;
    }
    sums_.freed.bytes += before;
    if (watcher_) watcher_->resize(event.block, block.context - 1, before, event.size, event.time_ns);
    note_live();
}

void Analysis::mark(const Event &event) {
    if (event.kind == Kind::gc_start) {
        generation_++;
        collections_.start(event.size, event.stack, end_ns_);
        timeline_.at(end_ns_).collections++;
    } else if (event.kind == Kind::gc_end) {
        collections_.end(end_ns_);
    } else if (event.kind == Kind::lost) {
        lost_ += event.size;
    } else if (!has_block(event.kind)) {
        calls_[static_cast<size_t>(event.kind)].add(0);
    }
}

/* In a damaged capture one of the two may be missing. */
void Analysis::pause(const Event &event) {
    tells_pauses_ = true;
    const uint64_t began = std::max(pause_began_, query_.from_ns);
    event.kind == Kind::gc_enter ? collections_.enter(end_ns_) : collections_.exit(end_ns_);
    pause_began_ = event.kind == Kind::gc_enter ? end_ns_ : UINT64_MAX;
    if (event.kind == Kind::gc_enter || began >= end_ns_) return;
    paused_ns_ += end_ns_ - began;
    timeline_.pause(began, end_ns_);
}

void Analysis::finish() {
    if (waits_) settle();
    for (Context &context : contexts_) note_peak(context);
    if (reader_.finished()) {
        uint64_t end = std::min(reader_.totals().time_ns, query_.to_ns);
        end_ns_ = std::max(end_ns_, end);
        if (query_.to_ns == UINT64_MAX) lost_ = std::max(lost_, reader_.totals().lost);
    }
    if (end_ns_ >= query_.from_ns) timeline_.at(end_ns_);
    for (size_t block = 0; watcher_ && block < blocks_.size(); block++)
        if (uint32_t context = blocks_[block].context; context && context < OTHER)
            watcher_->rest(block, context - 1, blocks_[block].size);
}

} // namespace capture
} // namespace heapline
