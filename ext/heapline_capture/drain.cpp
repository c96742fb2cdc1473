/* SPDX-License-Identifier: MIT */
#include "drain.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "identity.hpp"

namespace heapline {
namespace capture {

namespace {

const uint64_t LAG_NS = 2000000;
const uint64_t EARLY_NS = 2000;    /* more than a processor may be ahead of what it is still waiting for */
const uint64_t RATE_NS = 20000000; /* the least time that tells how fast the clock is */
const size_t BIRTHS = 1 << 14;
const uint32_t UNKNOWN = 0;
const uint32_t LOOKS = 16; /* at names of threads, with each sample */

uint64_t monotonic_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

/* A text of the ring's header: it may have no end. */
template <size_t SIZE> std::string text(const char (&bytes)[SIZE]) {
    return {bytes, strnlen(bytes, SIZE)};
}

/* The command line's words, each ended by NUL; the last one may be cut. */
std::vector<std::string> words(const char *bytes, size_t size) {
    std::vector<std::string> words;
    for (size_t at = 0; at < size;) {
        words.emplace_back(bytes + at, strnlen(bytes + at, size - at));
        at += words.back().size() + 1;
    }
    return words;
}

Header described(const hl_ring_header &ring) {
    Header header;
    header.ruby = text(ring.ruby);
    header.allocator = text(ring.allocator);
    header.command = words(ring.command, std::min<size_t>(ring.command_length, sizeof(ring.command)));
    header.pid = ring.pid;
    header.page_size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    header.started_ns = ring.start_wall_ns;
    header.started_monotonic_ns = ring.start_ns;
    header.generation = ring.generation;
    for (const auto &[option, name] : {std::pair(HL_RING_NATIVE, "native"), std::pair(HL_RING_OBJECTS, "objects"),
                                       std::pair(HL_RING_FOLLOW, "follow")})
        if (ring.options & option) header.options[name] = "1";
    return header;
}

/* Two who drain one ring would each get a part. */
void claim(uint32_t &owner, const std::string &path) {
    uint32_t nobody = 0;
    const uint32_t self = static_cast<uint32_t>(getpid());
    if (__atomic_compare_exchange_n(&owner, &nobody, self, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
    throw std::runtime_error(path + ": process " + std::to_string(nobody) + " is recording this one");
}

/* What a thread is called now; empty where it is not there any more. */
std::string name_of(uint32_t pid, uint64_t tid) {
    char path[64], name[32];
    snprintf(path, sizeof(path), "/proc/%u/task/%llu/comm", pid, static_cast<unsigned long long>(tid));
    FILE *file = fopen(path, "re");
    if (!file) return "";
    const size_t size = fread(name, 1, sizeof(name), file);
    fclose(file);
    return {name, size ? size - 1 : 0}; /* without the end of the line */
}

/* Bytes; 0 where the process has ended. */
uint64_t resident(uint32_t pid) {
    char path[64];
    unsigned long long pages = 0;
    snprintf(path, sizeof(path), "/proc/%u/statm", pid);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    if (fscanf(file, "%*u %llu", &pages) != 1) pages = 0;
    fclose(file);
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

Kind kind_of(uint32_t event) {
    switch (event) {
    case HL_EVENT_CALLOC:
        return Kind::calloc;
    case HL_EVENT_REALLOC:
        return Kind::realloc;
    case HL_EVENT_POSIX_MEMALIGN:
        return Kind::posix_memalign;
    case HL_EVENT_ALIGNED_ALLOC:
        return Kind::aligned_alloc;
    case HL_EVENT_MEMALIGN:
        return Kind::memalign;
    case HL_EVENT_VALLOC:
        return Kind::valloc;
    case HL_EVENT_PVALLOC:
        return Kind::pvalloc;
    case HL_EVENT_NEW:
        return Kind::cxx_new;
    case HL_EVENT_DELETE:
        return Kind::cxx_delete;
    case HL_EVENT_FREE:
    case HL_EVENT_GONE:
        return Kind::free;
    default:
        return Kind::malloc;
    }
}

} // namespace

Drain::Drain(const std::string &path, int fd) : ring_(new Ring(path)), lanes_(HL_RING_LANES), births_(BIRTHS) {
    hl_ring_header &about = ring_->header();
    claim(about.drain_pid, path);
    writer_.reset(new Writer(fd, described(about)));
    generation_ = about.generation;
    ruby_heap_ = about.ruby_heap;
    if (about.clock == HL_CLOCK_TSC) {
        uint64_t passed = monotonic_ns() - about.start_ns;
        if (passed < RATE_NS) usleep(static_cast<useconds_t>((RATE_NS - passed) / 1000));
        ns_per_unit_ = static_cast<double>(monotonic_ns() - about.start_ns) / static_cast<double>(ring_->now());
    }
    lag_ = static_cast<uint64_t>(LAG_NS / ns_per_unit_);
    early_ = static_cast<uint64_t>(EARLY_NS / ns_per_unit_);
}

Drain::~Drain() = default;

uint64_t Drain::ns(uint64_t time) const {
    return static_cast<uint64_t>(static_cast<double>(time) * ns_per_unit_);
}

uint64_t Drain::elapsed_ns() const {
    const uint64_t stop = ring_->header().stop;
    return ns(stop ? stop - ring_->header().start : ring_->now());
}

uint64_t Drain::objects_until_ns() const {
    const uint64_t end = __atomic_load_n(&ring_->header().objects_end, __ATOMIC_ACQUIRE), start = ring_->header().start;
    return end > start ? ns(end - start) : 0;
}

uint64_t Drain::lost() const {
    return __atomic_load_n(&ring_->header().lost, __ATOMIC_RELAXED);
}

bool Drain::stopped() const {
    return __atomic_load_n(&ring_->header().state, __ATOMIC_ACQUIRE) == HL_RING_STOPPED;
}

/* ---- chunks ---- */

bool Drain::next_chunk(Lane &lane, uint32_t number) {
    for (uint32_t i = 0; i < HL_CHUNKS; i++) {
        const hl_ring_chunk &chunk = ring_->chunk(i);
        if (__atomic_load_n(&chunk.state, __ATOMIC_ACQUIRE) != HL_CHUNK_OPEN || chunk.lane != number ||
            chunk.sequence != lane.sequence + 1)
            continue;
        lane.chunk = i;
        lane.at = 0;
        lane.sequence++;
        return true;
    }
    return false;
}

/* Lanes that have something to read now. */
void Drain::find_chunks() {
    active_.clear();
    for (uint32_t i = 0; i < HL_CHUNKS; i++) {
        const hl_ring_chunk &chunk = ring_->chunk(i);
        if (__atomic_load_n(&chunk.state, __ATOMIC_ACQUIRE) != HL_CHUNK_OPEN || chunk.lane >= HL_RING_LANES) continue;
        if (std::find(active_.begin(), active_.end(), chunk.lane) == active_.end()) active_.push_back(chunk.lane);
    }
}

/* A slot that is empty for good, because the process was killed between two of its instructions, ends a chunk. */
bool Drain::has_event(uint32_t number, bool last, uint64_t &time) {
    Lane &lane = lanes_[number];
    while (lane.chunk != HL_CHUNKS || next_chunk(lane, number)) {
        const uint32_t end =
            std::min(__atomic_load_n(&ring_->chunk(lane.chunk).end, __ATOMIC_ACQUIRE), uint32_t{HL_CHUNK_LIMIT});
        const bool full = lane.at >= (end ? end : HL_CHUNK_LIMIT);
        if (!full && ring_->time(lane.chunk, lane.at, time)) return true;
        if (!(full && end) && !last) return false;
        ring_->give_back(lane.chunk, HL_CHUNK_BYTES);
        lane.chunk = HL_CHUNKS;
    }
    return false;
}

/* ---- events ---- */

/* Take what this lane has up to a time; the number of events. */
uint64_t Drain::take(uint32_t number, bool last, uint64_t until) {
    Lane &lane = lanes_[number];
    RingEvent event;
    uint64_t count = 0, time;
    while (has_event(number, last, time) && time <= until && ring_->event(lane.chunk, lane.at, event)) {
        lane.at += event.words * sizeof(uint64_t);
        handle(lane, event);
        time_ = std::max(time_, event.time);
        count++;
    }
    return count;
}

uint64_t Drain::pass(bool last) {
    const uint64_t now = ring_->now(), until = last ? UINT64_MAX : now > lag_ ? now - lag_ : 0;
    uint64_t count = 0;
    find_chunks();
    for (;;) {
        uint64_t first = UINT64_MAX, second = UINT64_MAX, time;
        uint32_t chosen = HL_RING_LANES;
        for (uint32_t number : active_) {
            if (!has_event(number, last, time)) continue;
            if (time < first || chosen == HL_RING_LANES) {
                second = first;
                first = time;
                chosen = number;
            } else {
                second = std::min(second, time);
            }
        }
        if (chosen == HL_RING_LANES || first > until) break;
        count += take(chosen, last, std::min(std::max(first, second), until));
    }
    tell_lost();
    return count;
}

void Drain::handle(Lane &lane, const RingEvent &event) {
    const Writer::Call call = {lane.thread, event.stack ? stack(event.stack) : 0, lane.tag, ns(event.time)};
    switch (event.kind) {
    case HL_EVENT_THREAD_START:
        return begin_thread(lane, event);
    case HL_EVENT_THREAD_END:
        if (event.name[0]) name_thread(lane, event.name);
        writer_->mark(Kind::thread_end, 0, call);
        lane.thread = UNKNOWN;
        lane.tid = 0;
        return;
    case HL_EVENT_GC:
        generation_ = event.address;
        return writer_->mark(Kind::gc_start, event.address - 1, call);
    case HL_EVENT_GC_END:
        return writer_->mark(Kind::gc_end, generation_ - 1, call);
    case HL_EVENT_GC_ENTER:
        return writer_->mark(Kind::gc_enter, 0, call);
    case HL_EVENT_GC_EXIT:
        return writer_->mark(Kind::gc_exit, 0, call);
    case HL_EVENT_RUBY_HEAP:
        ruby_heap_ = event.address;
        return;
    case HL_EVENT_TAG:
        lane.tag = writer_->tag(event.text);
        return;
    case HL_EVENT_OBJECT:
        return object(lane, event, call);
    case HL_EVENT_OBJECT_FREED:
        if (!note_end(lane, event)) writer_->object_freed(event.address, call);
        return;
    case HL_EVENT_OBJECT_MOVED:
        return writer_->object_moved(event.address, event.moved_to, event.size, call);
    case HL_EVENT_CLASS:
        return name_class(event);
    case HL_EVENT_REALLOC:
        return reallocated(lane, event, call);
    case HL_EVENT_REALLOC_FROM:
        return move_away(lane, event);
    case HL_EVENT_MMAP:
        return writer_->mapped(event.address, event.size, call);
    case HL_EVENT_MUNMAP:
        return writer_->unmapped(event.address, event.size, call);
    case HL_EVENT_MREMAP_FROM:
        lane.mapping = {event.address, event.size};
        return;
    case HL_EVENT_MREMAP:
        return remapped(lane, event, call);
    case HL_EVENT_FREE:
    case HL_EVENT_DELETE:
        return death(lane, kind_of(event.kind), event, call);
    case HL_EVENT_UNMOVED:
    case HL_EVENT_GONE:
        if (lane.moving.empty()) return;
        moves_--;
        if (event.kind == HL_EVENT_GONE && !lane.moving.back().given_out) death(lane, Kind::free, event, call);
        lane.moving.pop_back();
        return;
    default:
        return birth(lane, event, call);
    }
}

void Drain::begin_thread(Lane &lane, const RingEvent &event) {
    const Writer::Call former = {lane.thread, 0, 0, ns(event.time)};
    if (lane.thread != UNKNOWN) writer_->mark(Kind::thread_end, 0, former);
    moves_ -= static_cast<unsigned>(lane.moving.size());
    lane.moving.clear();
    lane.tid = event.address;
    lane.name = lane.tid ? event.name : "(without a lane)";
    lane.thread = writer_->thread(lane.name, lane.tid);
    writer_->mark(Kind::thread_start, 0, {lane.thread, 0, 0, ns(event.time)});
}

/* `vanished`: a block lay there whose end was not told. It will not be, if it was taken for that of the block which
 * lay there before. */
void Drain::note_birth(const Lane &lane, const RingEvent &event, bool vanished) {
    Birth &birth = births_[event.address >> 4 & (BIRTHS - 1)];
    const bool explained = birth.address == event.address && birth.taking;
    birth = {event.address, event.time, &lane, vanished && !explained, false};
}

/* An end is noted; 1 where it is that of a block which has made room for another already, and so was told: the event
 * came late, or the other thread, which got the address, read its clock ahead of that (E1). What one lane tells is in
 * order. */
bool Drain::note_end(const Lane &lane, const RingEvent &event) {
    Birth &birth = births_[event.address >> 4 & (BIRTHS - 1)];
    if (birth.address != event.address || birth.lane == &lane) return false;
    birth.taking = birth.early && event.time - birth.time < early_;
    birth.early = false;
    return birth.taking || birth.time > event.time;
}

void Drain::birth(const Lane &lane, const RingEvent &event, const Writer::Call &call) {
    for (size_t i = 0; moves_ && i < lanes_.size(); i++)
        for (Move &move : lanes_[i].moving)
            if (move.address == event.address) move.given_out = true;
    const bool vanished = writer_->birth(kind_of(event.kind), event.address, event.size, event.alignment, call);
    note_birth(lane, event, vanished);
}

void Drain::death(const Lane &lane, Kind kind, const RingEvent &event, const Writer::Call &call) {
    if (!note_end(lane, event)) writer_->death(kind, event.address, call);
}

void Drain::object(const Lane &lane, const RingEvent &event, const Writer::Call &call) {
    const uint32_t klass = event.klass < classes_.size() ? classes_[event.klass] : 0;
    writer_->object(event.address, event.size, klass, call);
    note_birth(lane, event, false);
}

void Drain::name_class(const RingEvent &event) {
    const uint32_t type = event.size & 0x1f;
    if (event.klass >= classes_.size()) classes_.resize(event.klass + 1024);
    uint32_t &known = classes_[event.klass];
    if (event.is_fresh || !known)
        known = writer_->klass(event.text, type);
    else
        writer_->rename_class(known, event.text, type);
}

void Drain::move_away(Lane &lane, const RingEvent &event) {
    lane.moving.push_back({event.address, note_end(lane, event)});
    moves_++;
}

void Drain::reallocated(Lane &lane, const RingEvent &event, const Writer::Call &call) {
    if (lane.moving.empty()) return birth(lane, event, call);
    const Move move = lane.moving.back();
    lane.moving.pop_back();
    moves_--;
    if (move.given_out) return birth(lane, event, call);
    note_birth(lane, event, writer_->moved(move.address, event.address, event.size, call));
}

void Drain::remapped(Lane &lane, const RingEvent &event, const Writer::Call &call) {
    const Mapping former = lane.mapping;
    lane.mapping = {0, 0};
    if (!former.size) return writer_->mapped(event.address, event.size, call);
    writer_->remapped(former.address, former.size, event.address, event.size, call);
}

void Drain::tell_lost() {
    const uint64_t lost = this->lost();
    if (lost == lost_told_) return;
    writer_->mark(Kind::lost, lost - lost_told_, {0, 0, 0, ns(time_)});
    lost_told_ = lost;
}

/* ---- names ---- */

uint32_t Drain::frame(uint32_t number) {
    if (number >= HL_RING_FRAMES) return 0;
    if (number >= frames_.size()) frames_.resize(number + 1024);
    if (frames_[number]) return frames_[number];
    const hl_ring_frame frame = ring_->frame(number);
    const uint32_t path = writer_->string(ring_->string(frame.path));
    const bool native = frame.kind == HL_FRAME_NATIVE;
    if (native && path && libraries_.insert(path).second) tell_library(path, ring_->string(frame.path));
    return frames_[number] = writer_->frame({writer_->string(ring_->string(frame.label)), native ? 0 : path, frame.line,
                                             native ? path : 0, native ? frame.offset : 0});
}

/* While it is the file that the program has loaded. */
void Drain::tell_library(uint32_t path, std::string_view name) {
    const std::string found = identity(std::string(name));
    if (!found.empty()) writer_->library(path, found);
}

uint32_t Drain::stack(uint32_t node) {
    std::vector<uint32_t> missing;
    if (node < nodes_.size() && nodes_[node]) return nodes_[node];
    if (node >= HL_RING_NODES) return 0;
    uint32_t known = 0;
    for (uint32_t at = node; at && at < HL_RING_NODES; at = ring_->node(at).parent) {
        if (at >= nodes_.size()) nodes_.resize(std::min(at + at / 2 + 4096, uint32_t{HL_RING_NODES}));
        known = nodes_[at];
        /* A parent is older than its children: a damaged one cannot lead round in a circle. */
        if (known || (!missing.empty() && at >= missing.back())) break;
        missing.push_back(at);
    }
    for (auto at = missing.rbegin(); at != missing.rend(); ++at)
        known = nodes_[*at] = writer_->node(known, frame(ring_->node(*at).frame));
    return known;
}

/* ---- the process ---- */

void Drain::name_thread(Lane &lane, const std::string &name) {
    if (name == lane.name) return;
    lane.name = name;
    writer_->rename_thread(lane.thread, name);
}

/* A thread is called something after its first event, and may never be seen to end. Some of them at a time, in turn. */
void Drain::look_at_names() {
    for (uint32_t i = 0, looks = 0; i < HL_RING_LANES && looks < LOOKS; i++) {
        looked_at_ = (looked_at_ + 1) % HL_RING_LANES;
        Lane &lane = lanes_[looked_at_];
        if (!lane.tid) continue;
        looks++;
        const std::string name = name_of(ring_->header().pid, lane.tid);
        if (!name.empty()) name_thread(lane, name);
    }
}

/* A process that has ended keeps what was read of it last; one that ended before has no RSS (0), and may have told of
 * its heap. */
void Drain::sample() {
    look_at_names();
    const uint64_t now = resident(ring_->header().pid);
    if (now) rss_ = now;
    Sample sample;
    sample.time_ns = elapsed_ns();
    sample.rss = rss_;
    sample.ruby_heap = ruby_heap_;
    sample.generation = generation_;
    if (rss_ || ruby_heap_) writer_->sample(sample);
}

void Drain::finish(const std::string &ending) {
    pass(true);
    sample(); /* what the last events told is in no sample yet */
    Totals totals;
    totals.time_ns = elapsed_ns();
    totals.lost = lost();
    totals.ending = ending;
    totals.objects_until_ns = objects_until_ns();
    writer_->finish(totals);
    if (stopped()) ring_->release();
}

} // namespace capture
} // namespace heapline
