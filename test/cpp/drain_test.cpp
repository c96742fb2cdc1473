/* SPDX-License-Identifier: MIT */
/*
 * From rings that the test writes to captures: the order of events of several threads, events that come late, reallocs
 * that overlap, a process that was killed between two instructions, and rings that hold anything at all.
 */
#include "../../ext/heapline_capture/drain.hpp"
#include "../../ext/heapline_capture/reader.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <random>
#include <stdexcept>

#include "check.h"
#include "memory_file.hpp"
#include "written_ring.hpp"

using namespace heapline::capture;

namespace {

/* What is in a capture. */
struct Told {
    Kind kind;
    uint32_t block;
    uint64_t size;
};

/* A ring, and the drain that reads it. */
class Drained {
  public:
    /* Call when the ring holds what it holds at the drain's beginning. */
    void begin() {
        drain = std::make_unique<Drain>(ring.path(), memory_.fd());
    }
    void finish(const char *ending = "exit 0") {
        if (!drain) begin();
        drain->finish(ending);
    }
    /* After the end. */
    Reader &reader() {
        if (!reader_) reader_ = std::make_unique<Reader>(memory_.path());
        return *reader_;
    }
    std::vector<Event> events() {
        std::vector<Event> events(100000);
        reader().rewind();
        size_t count = 0;
        while (size_t more = reader().next(events.data() + count, events.size() - count)) count += more;
        events.resize(count);
        CHECK(reader().problems().empty());
        return events;
    }
    void check(const std::vector<Told> &wanted) {
        const std::vector<Event> got = events();
        CHECK_EQUAL(got.size(), wanted.size());
        for (size_t i = 0; i < std::min(got.size(), wanted.size()); i++) {
            CHECK_EQUAL(got[i].kind, wanted[i].kind);
            CHECK_EQUAL(got[i].block, wanted[i].block);
            CHECK_EQUAL(got[i].size, wanted[i].size);
        }
    }

    WrittenRing ring;
    std::unique_ptr<Drain> drain;

  private:
    MemoryFile memory_;
    std::unique_ptr<Reader> reader_;
};

const uint64_t A = 0x1000, B = 0x2000, C = 0x3000, D = 0x4000;

/* ---- order ---- */

/* Lanes that each fill chunk after chunk, 100 events a chunk; the size of an event is its place among all. */
void fill(WrittenRing &ring, uint32_t lanes, uint32_t count) {
    struct Lane {
        uint32_t chunk, at, sequence, left;
    };
    std::vector<Lane> all(lanes, Lane{0, 0, 0, 0});
    std::mt19937 random(lanes);
    uint32_t chunks = 0;
    for (uint32_t i = 1; i <= count; i++) {
        Lane &lane = all[random() % lanes];
        ring.resume(lane.chunk, lane.at);
        if (!lane.left--) {
            if (lane.sequence) ring.close_chunk();
            lane = {chunks++, 0, lane.sequence + 1, 99};
            ring.open(lane.chunk, static_cast<uint32_t>(&lane - all.data()), lane.sequence);
        }
        ring.birth(HL_EVENT_MALLOC, i * 1000, uint64_t{i} * 16, i);
        lane.at = ring.at();
    }
}

void test_threads_are_merged_by_time() {
    for (uint32_t lanes : {1u, 2u, 129u}) {
        Drained drained;
        fill(drained.ring, lanes, 20000);
        drained.begin();
        CHECK_EQUAL(drained.drain->pass(false), 20000);
        drained.finish();
        const std::vector<Event> events = drained.events();
        CHECK_EQUAL(events.size(), 20000);
        for (size_t i = 0; i < events.size(); i++) CHECK_EQUAL(events[i].size, i + 1);
        for (uint32_t i = 0; i < HL_CHUNKS; i++) CHECK_EQUAL(drained.ring.chunk(i).state, HL_CHUNK_FREE);
    }
}

/* What is in the ring, and what is younger than the lag and waits. */
void test_the_youngest_wait() {
    Drained drained;
    drained.ring.open(0, 0, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 1000, A, 1);
    drained.ring.birth(HL_EVENT_MALLOC, WrittenRing::LATER, B, 2);
    drained.begin();
    CHECK_EQUAL(drained.drain->pass(false), 1);
    CHECK_EQUAL(drained.drain->pass(false), 0);
    drained.finish();
    drained.check({{Kind::malloc, 1, 1}, {Kind::malloc, 2, 2}});
}

/* Its first word is missing yet: what comes behind it waits, other lanes do not. */
void test_an_event_that_is_not_shown_yet() {
    Drained drained;
    drained.ring.open(0, 0, 1);
    drained.ring.hole(3);
    drained.ring.birth(HL_EVENT_MALLOC, 3000, A, 3);
    drained.ring.open(1, 1, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 2000, B, 2);
    drained.begin();
    CHECK_EQUAL(drained.drain->pass(false), 1);
    drained.ring.resume(0, 0);
    drained.ring.birth(HL_EVENT_MALLOC, 1000, C, 1);
    CHECK_EQUAL(drained.drain->pass(false), 2);
    drained.finish();
    drained.check({{Kind::malloc, 1, 2}, {Kind::malloc, 2, 1}, {Kind::malloc, 3, 3}});
    const std::vector<Event> events = drained.events();
    CHECK(events[0].time_ns <= events[1].time_ns && events[1].time_ns <= events[2].time_ns);
}

/* The lane has gone on while an event at the end of its last chunk is still to be shown. */
void test_a_chunk_that_is_left_before_it_is_whole() {
    Drained drained;
    drained.ring.open(0, 0, 1);
    drained.ring.hole(3);
    drained.ring.close_chunk();
    drained.ring.open(1, 0, 2);
    drained.ring.birth(HL_EVENT_MALLOC, 2000, B, 2);
    drained.begin();
    CHECK_EQUAL(drained.drain->pass(false), 0);
    drained.ring.resume(0, 0);
    drained.ring.birth(HL_EVENT_MALLOC, 1000, A, 1);
    CHECK_EQUAL(drained.drain->pass(false), 2);
    drained.finish();
    drained.check({{Kind::malloc, 1, 1}, {Kind::malloc, 2, 2}});
}

/* ---- events that come late ---- */

/* The block's successor at that address came first: its own end is no other's. */
void test_a_late_end() {
    Drained drained;
    drained.ring.open(0, 0, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 1000, A, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 9000, A, 2);
    drained.begin();
    drained.drain->pass(false);
    drained.ring.open(1, 1, 1);
    drained.ring.death(HL_EVENT_FREE, 5000, A);
    drained.ring.death(HL_EVENT_FREE, 9001, A);
    drained.finish();
    drained.check({{Kind::malloc, 1, 1}, {Kind::vanish, 1, 0}, {Kind::malloc, 1, 2}, {Kind::free, 1, 0}});
}

/* Another thread got the block's address, and read its clock ahead of that. */
void test_an_early_birth() {
    Drained drained;
    drained.ring.open(0, 0, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 1000, A, 1);
    drained.ring.death(HL_EVENT_FREE, 9100, A);
    drained.ring.birth(HL_EVENT_MALLOC, 10000, B, 3);
    drained.ring.open(1, 1, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 9000, A, 2);
    drained.ring.death(HL_EVENT_FREE, 9200, A);
    drained.ring.birth(HL_EVENT_MALLOC, 20000, B, 4); /* of 3 no end is known */
    drained.ring.death(HL_EVENT_FREE, 30000, B);
    drained.finish();
    drained.check({{Kind::malloc, 1, 1},
                   {Kind::vanish, 1, 0},
                   {Kind::malloc, 1, 2},
                   {Kind::free, 1, 0},
                   {Kind::malloc, 1, 3},
                   {Kind::vanish, 1, 0},
                   {Kind::malloc, 1, 4},
                   {Kind::free, 1, 0}});
}

/* An end that was lost makes its successor look like an early birth: of one thread that is known better, of several one
 * block ends late, and no more. */
void test_an_end_that_was_lost() {
    Drained drained;
    drained.ring.open(0, 0, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 1000, A, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 2000, A, 2);
    drained.ring.death(HL_EVENT_FREE, 2100, A);
    drained.ring.birth(HL_EVENT_MALLOC, 3000, B, 3);
    drained.ring.birth(HL_EVENT_MALLOC, 4000, B, 4);
    drained.ring.birth(HL_EVENT_MALLOC, 5000, B, 5);
    drained.ring.birth(HL_EVENT_MALLOC, 6000, B, 6);
    drained.ring.open(1, 1, 1);
    for (uint64_t time : {4100, 5100, 6100}) drained.ring.death(HL_EVENT_FREE, time, B);
    drained.finish();
    drained.check({{Kind::malloc, 1, 1},
                   {Kind::vanish, 1, 0},
                   {Kind::malloc, 1, 2},
                   {Kind::free, 1, 0},
                   {Kind::malloc, 1, 3},
                   {Kind::vanish, 1, 0},
                   {Kind::malloc, 1, 4},
                   {Kind::vanish, 1, 0},
                   {Kind::malloc, 1, 5},
                   {Kind::free, 1, 0},
                   {Kind::malloc, 1, 6},
                   {Kind::free, 1, 0}});
}

void test_a_late_birth() {
    Drained drained;
    drained.ring.open(0, 0, 1);
    drained.ring.death(HL_EVENT_FREE, 9000, B);
    drained.begin();
    drained.drain->pass(false);
    drained.ring.open(1, 1, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 5000, A, 1);
    drained.finish();
    drained.check({{Kind::free_older, 0, 0}, {Kind::malloc, 1, 1}});
}

/* ---- reallocs ---- */

void test_reallocs() {
    Drained drained;
    drained.ring.open(0, 0, 1);
    drained.ring.birth(HL_EVENT_REALLOC, 1000, A, 10); /* of nothing */
    drained.ring.plain(HL_EVENT_REALLOC_FROM, 2000, A);
    drained.ring.birth(HL_EVENT_REALLOC, 3000, B, 20);
    drained.ring.plain(HL_EVENT_REALLOC_FROM, 4000, B);
    drained.ring.plain(HL_EVENT_UNMOVED, 5000, B); /* it failed */
    drained.ring.plain(HL_EVENT_REALLOC_FROM, 6000, B);
    drained.ring.plain(HL_EVENT_GONE, 7000, B);
    drained.ring.plain(HL_EVENT_REALLOC_FROM, 8000, D);
    drained.ring.birth(HL_EVENT_REALLOC, 9000, D, 30); /* of what is older */
    drained.finish();
    drained.check({{Kind::realloc, 1, 10}, {Kind::resize, 1, 20}, {Kind::free, 1, 0}, {Kind::realloc_older, 1, 30}});
}

/* A signal's handler reallocs in the middle of one. */
void test_a_realloc_in_a_realloc() {
    Drained drained;
    drained.ring.open(0, 0, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 1000, A, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 2000, B, 2);
    drained.ring.plain(HL_EVENT_REALLOC_FROM, 3000, A);
    drained.ring.plain(HL_EVENT_REALLOC_FROM, 4000, B);
    drained.ring.birth(HL_EVENT_REALLOC, 5000, C, 3);
    drained.ring.birth(HL_EVENT_REALLOC, 6000, D, 4);
    drained.ring.death(HL_EVENT_FREE, 7000, C);
    drained.finish();
    drained.check(
        {{Kind::malloc, 1, 1}, {Kind::malloc, 2, 2}, {Kind::resize, 2, 3}, {Kind::resize, 1, 4}, {Kind::free, 2, 0}});
}

/* While it is on its way another thread gets its address: its block has ended then, and the new one stays. */
void test_an_address_that_is_given_out_meanwhile() {
    Drained drained;
    drained.ring.open(0, 0, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 1000, A, 1);
    drained.ring.plain(HL_EVENT_REALLOC_FROM, 2000, A);
    drained.ring.birth(HL_EVENT_REALLOC, 4000, B, 3);
    drained.ring.open(1, 1, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 3000, A, 2);
    drained.ring.death(HL_EVENT_FREE, 5000, A);
    drained.ring.death(HL_EVENT_FREE, 6000, B);
    drained.finish();
    drained.check({{Kind::malloc, 1, 1},
                   {Kind::vanish, 1, 0},
                   {Kind::malloc, 1, 2},
                   {Kind::realloc, 2, 3},
                   {Kind::free, 1, 0},
                   {Kind::free, 2, 0}});
}

/* The thread that was in the middle of one has ended; the next one of its lane reallocs something else. */
void test_a_realloc_that_never_came_back() {
    Drained drained;
    drained.ring.open(0, 0, 1);
    drained.ring.thread(HL_EVENT_THREAD_START, 1000, 11, "one");
    drained.ring.birth(HL_EVENT_MALLOC, 2000, A, 1);
    drained.ring.plain(HL_EVENT_REALLOC_FROM, 3000, A);
    drained.ring.thread(HL_EVENT_THREAD_START, 4000, 12, "two");
    drained.ring.birth(HL_EVENT_REALLOC, 5000, B, 2);
    drained.finish();
    drained.check({{Kind::thread_start, 0, 0},
                   {Kind::malloc, 1, 1},
                   {Kind::thread_end, 0, 0},
                   {Kind::thread_start, 0, 0},
                   {Kind::realloc, 2, 2}});
    CHECK_EQUAL(drained.events()[4].thread, 2);
}

/* ---- Ruby objects ---- */

/* The class of each object that is born, in their order. */
std::vector<std::string> classes(Drained &drained) {
    std::vector<std::string> names;
    for (const Event &event : drained.events())
        if (event.kind == Kind::object)
            names.emplace_back(drained.reader().names().string(drained.reader().names().klass(event.klass).name));
    return names;
}

/* A slot that is used again, one that moves into a larger one, and one whose sweep was not seen. */
void test_objects() {
    Drained drained;
    WrittenRing &ring = drained.ring;
    ring.open(0, 0, 1);
    ring.klass(1000, 7, 1, "Foo", true);
    ring.object(2000, A, 40, 7);
    ring.plain(HL_EVENT_OBJECT_FREED, 3000, A);
    ring.object(4000, A, 40, 7);
    ring.object(5000, B, 80, 7);
    ring.object_moved(6000, A, C);
    ring.object_moved(7000, C, D, 160);
    ring.plain(HL_EVENT_OBJECT_FREED, 8000, D);
    ring.object(9000, B, 80, 7);
    ring.plain(HL_EVENT_OBJECT_FREED, 9500, C); /* nothing is there any more */
    drained.finish();
    drained.check({{Kind::object, 1, 40},
                   {Kind::object_freed, 1, 0},
                   {Kind::object, 1, 40},
                   {Kind::object, 2, 80},
                   {Kind::object_resized, 1, 160},
                   {Kind::object_freed, 1, 0},
                   {Kind::object_freed, 2, 0},
                   {Kind::object, 2, 80}});
    CHECK(classes(drained) == std::vector<std::string>(4, "Foo"));
}

/* One that gets its name later has it from its first object on; one that gets a former one's number is another. */
void test_classes() {
    Drained drained;
    WrittenRing &ring = drained.ring;
    ring.open(0, 0, 1);
    ring.klass(1000, 3, 1, "", true);
    ring.object(2000, A, 40, 3);
    ring.klass(3000, 3, 1, "Late", false);
    ring.object(4000, B, 40, 3);
    ring.klass(5000, 3, 5, "Other", true);
    ring.object(6000, C, 40, 3);
    ring.object(7000, D, 40, 999); /* nobody told it */
    drained.finish();
    CHECK((classes(drained) == std::vector<std::string>{"Late", "Late", "Other", ""}));
}

/* Objects and blocks have addresses of their own: the one's end is none of the other's. */
void test_an_object_and_a_block_at_one_address() {
    Drained drained;
    WrittenRing &ring = drained.ring;
    ring.open(0, 0, 1);
    ring.birth(HL_EVENT_MALLOC, 1000, A, 1);
    ring.object(2000, A, 40, 0);
    ring.death(HL_EVENT_FREE, 3000, A);
    ring.plain(HL_EVENT_OBJECT_FREED, 4000, A);
    drained.finish();
    drained.check({{Kind::malloc, 1, 1}, {Kind::object, 2, 40}, {Kind::free, 1, 0}, {Kind::object_freed, 2, 0}});
}

/* ---- mappings ---- */

void test_mappings() {
    Drained drained;
    WrittenRing &ring = drained.ring;
    const uint32_t stack = ring.add_node(0, ring.add_frame("unmap", "app.rb", 1));
    ring.open(0, 0, 1);
    ring.birth(HL_EVENT_MMAP, 1000, 0x10000, 0x3000);
    ring.unmapping(HL_EVENT_MUNMAP, 2000, 0x10000, 0x1000, stack); /* its first page */
    ring.unmapping(HL_EVENT_MREMAP_FROM, 3000, 0x11000, 0x2000);
    ring.birth(HL_EVENT_MREMAP, 4000, 0x40000, 0x4000);
    ring.unmapping(HL_EVENT_MUNMAP, 5000, 0x90000, 0x1000, stack); /* older than the recording */
    drained.finish();
    drained.check({{Kind::mmap, 1, 0x3000},
                   {Kind::munmap, 1, 0},
                   {Kind::remains, 1, 0x2000},
                   {Kind::remap, 1, 0x4000},
                   {Kind::munmap_older, 0, 0}});
    const std::vector<Event> events = drained.events();
    CHECK(events[1].stack && events[1].stack == events[4].stack);
}

/* ---- the end ---- */

/* Killed between two instructions: what was told before is there, of its lane and of all others. */
void test_a_process_that_was_killed() {
    Drained drained;
    drained.ring.open(0, 0, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 1000, A, 1);
    drained.ring.hole(3);
    drained.ring.open(1, 1, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 2000, B, 2);
    drained.ring.close_chunk();
    drained.ring.open(2, 1, 2); /* empty */
    drained.ring.chunk(3) = {HL_CHUNK_TAKEN, 1, 3, 0};
    drained.begin();
    drained.drain->pass(false);
    drained.finish("signal 9");
    drained.check({{Kind::malloc, 1, 1}, {Kind::malloc, 2, 2}});
    CHECK(drained.reader().finished() && drained.reader().totals().ending == "signal 9");
}

void test_what_was_lost_is_told() {
    Drained drained;
    drained.ring.open(0, 0, 1);
    drained.ring.birth(HL_EVENT_MALLOC, 1000, A, 1);
    drained.begin();
    drained.ring.header().lost = 70;
    drained.drain->pass(false);
    drained.ring.birth(HL_EVENT_MALLOC, 2000, B, 2);
    drained.ring.header().lost = 77;
    drained.finish();
    drained.check({{Kind::malloc, 1, 1}, {Kind::lost, 0, 70}, {Kind::malloc, 2, 2}, {Kind::lost, 0, 7}});
    CHECK_EQUAL(drained.reader().totals().lost, 77);
}

void test_one_drain_a_ring() {
    Drained drained;
    MemoryFile other;
    drained.begin();
    bool failed = false;
    try {
        Drain second(drained.ring.path(), other.fd());
    } catch (const std::runtime_error &error) {
        failed = std::string(error.what()).find("is recording this one") != std::string::npos;
    }
    CHECK(failed);
}

/* ---- names ---- */

void test_names() {
    Drained drained;
    WrittenRing &ring = drained.ring;
    const uint32_t outer = ring.add_node(0, ring.add_frame("main", "app.rb", 1));
    const uint32_t inner = ring.add_node(outer, ring.add_frame("work", "lib.rb", 22));
    ring.frame(ring.header().frames_used) = {HL_FRAME_NATIVE, ring.string("libxml2.so"), 0, 0, 0x123};
    const uint32_t native = ring.add_node(inner, ring.header().frames_used++);
    ring.open(0, 0, 1);
    ring.thread(HL_EVENT_THREAD_START, 1000, 4711, "ruby");
    ring.tag(1500, "payroll");
    ring.birth(HL_EVENT_MEMALIGN, 2000, A, 10, native, 6);
    ring.death(HL_EVENT_GC, 3000, 8, inner);
    ring.tag(3200, "");
    ring.death(HL_EVENT_DELETE, 3500, A, outer);
    ring.thread(HL_EVENT_THREAD_END, 4000, 4711, "worker");
    drained.finish();
    const std::vector<Event> events = drained.events();
    const Names &names = drained.reader().names();
    CHECK_EQUAL(events.size(), 5);
    CHECK_EQUAL(events[1].alignment, 64);
    CHECK(names.tag(events[1].tag) == "payroll");
    CHECK(names.string(names.thread(events[1].thread).name) == "worker");
    CHECK_EQUAL(names.thread(events[1].thread).tid, 4711);
    CHECK_EQUAL(events[2].kind, Kind::gc_start);
    CHECK_EQUAL(events[2].size, 7);
    const Node top = names.node(events[1].stack), below = names.node(top.parent), last = names.node(below.parent);
    CHECK(names.string(names.frame(top.frame).library) == "libxml2.so");
    CHECK_EQUAL(names.frame(top.frame).offset, 0x123);
    CHECK(names.string(names.frame(below.frame).label) == "work" && names.frame(below.frame).line == 22);
    CHECK(names.string(names.frame(last.frame).path) == "app.rb" && !last.parent);
    CHECK_EQUAL(events[2].stack, top.parent);
    CHECK_EQUAL(events[3].kind, Kind::cxx_delete);
    CHECK_EQUAL(events[3].stack, below.parent);
    CHECK(names.tag(events[2].tag) == "payroll");
    CHECK_EQUAL(events[3].tag, 0);
}

/* A thread is called something when it has allocated already, and the process ends while it is there. */
void test_the_name_of_a_thread_that_does_not_end() {
    Drained drained;
    char former[16];
    prctl(PR_GET_NAME, former);
    drained.ring.header().pid = static_cast<uint32_t>(getpid());
    drained.ring.open(0, 0, 1);
    drained.ring.thread(HL_EVENT_THREAD_START, 1000, static_cast<uint64_t>(gettid()), "ruby");
    drained.ring.birth(HL_EVENT_MALLOC, 2000, A, 1);
    drained.begin();
    drained.drain->pass(false);
    prctl(PR_SET_NAME, "payroll worker");
    drained.finish();
    prctl(PR_SET_NAME, former);
    const Names &names = drained.reader().names();
    CHECK(names.string(names.thread(drained.events()[1].thread).name) == "payroll worker");
}

/* ---- samples ---- */

/* A process with a ring of its own. */
pid_t begin_process(WrittenRing &ring) {
    const pid_t child = fork();
    if (!child) {
        pause();
        _exit(0);
    }
    ring.header().pid = static_cast<uint32_t>(child);
    ring.header().ruby_heap = 65536;
    ring.open(0, 0, 1);
    return child;
}

void end_process(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

/* Nobody can be asked for its size any more, and what its last events told is in a sample all the same. */
void test_a_process_that_ends_before_it_is_sampled() {
    Drained drained;
    const pid_t child = begin_process(drained.ring);
    drained.begin();
    drained.drain->sample();
    end_process(child);
    drained.ring.plain(HL_EVENT_RUBY_HEAP, 1000, 3 * 65536);
    drained.finish();
    const std::vector<Sample> &samples = drained.reader().samples();
    CHECK_EQUAL(samples.size(), 2);
    CHECK_EQUAL(samples.back().ruby_heap, 3 * 65536);
    CHECK(samples.back().rss > 0 && samples.back().rss == samples.front().rss);
}

void test_a_process_that_ends_before_the_drain_begins() {
    Drained drained;
    end_process(begin_process(drained.ring));
    drained.ring.plain(HL_EVENT_RUBY_HEAP, 1000, 3 * 65536);
    drained.finish();
    const std::vector<Sample> &samples = drained.reader().samples();
    CHECK_EQUAL(samples.size(), 1);
    CHECK(samples.back().rss == 0 && samples.back().ruby_heap == 3 * 65536);
}

/* ---- rings that hold anything ---- */

void test_stacks_that_lead_in_a_circle() {
    Drained drained;
    WrittenRing &ring = drained.ring;
    const uint32_t frame = ring.add_frame("round", "circle.rb", 1);
    for (uint32_t i = 1; i <= 4; i++) ring.add_node(i % 4 + 1, frame); /* 1 → 2 → 3 → 4 → 1 */
    ring.add_node(5, frame);
    ring.open(0, 0, 1);
    for (uint32_t i = 1; i <= 7; i++) ring.birth(HL_EVENT_MALLOC, i * 1000, i * 16, i, i);
    ring.birth(HL_EVENT_MALLOC, 9000, 4096, 8, (1u << 24) - 1);
    drained.finish();
    CHECK_EQUAL(drained.events().size(), 8);
}

void test_frames_that_are_none() {
    Drained drained;
    WrittenRing &ring = drained.ring;
    ring.open(0, 0, 1);
    uint64_t i = 0;
    for (uint32_t frame : {UINT32_MAX, UINT32_MAX - 1023, 1u << 31, HL_RING_FRAMES, HL_RING_FRAMES - 1, 2u}) {
        i++;
        ring.birth(HL_EVENT_MALLOC, i * 1000, i * 16, i, ring.add_node(0, frame));
    }
    drained.finish();
    CHECK_EQUAL(drained.events().size(), 6);
}

/* It claims to go on behind its end, where other chunks lie, and behind the last one nothing. */
void test_a_chunk_without_an_end() {
    Drained drained;
    WrittenRing &ring = drained.ring;
    const uint32_t last = HL_CHUNKS - 1;
    ring.open(last, 0, 1);
    for (uint32_t at = 0; at + 24 <= HL_CHUNK_BYTES; at += 24) ring.death(HL_EVENT_FREE, 1000 + at, A);
    ring.chunk(last).end = UINT32_MAX;
    drained.finish();
    CHECK_EQUAL(drained.events().size(), HL_CHUNK_LIMIT / 24);
}

/* A clock that stands still, or goes back. */
void test_clocks_that_tell_nothing() {
    for (uint64_t start : {uint64_t{0}, uint64_t{1} << 63, UINT64_MAX}) {
        for (uint32_t clock : {0u, 1u, 2u, UINT32_MAX}) {
            Drained drained;
            drained.ring.header().clock = clock;
            drained.ring.header().start = start;
            drained.ring.header().start_ns = ~start;
            drained.ring.header().stop = start / 2;
            drained.ring.open(0, 0, 1);
            drained.ring.birth(HL_EVENT_MALLOC, 1000, A, 1);
            drained.ring.birth(HL_EVENT_MALLOC, (uint64_t{1} << 56) - 1, B, 2);
            drained.begin();
            drained.drain->sample();
            drained.finish();
            CHECK_EQUAL(drained.events().size(), 2);
        }
    }
}

void scribble(WrittenRing &ring, std::mt19937 &random) {
    auto some = [&random](uint32_t small) {
        return random() % 4 ? static_cast<uint32_t>(random() % small) : static_cast<uint32_t>(random());
    };
    hl_ring_header &about = ring.header();
    about.strings_used = some(4096);
    about.frames_used = some(64);
    about.nodes_used = some(64);
    about.command_length = some(2000);
    about.lost = random();
    memset(about.ruby, 'r', sizeof(about.ruby));
    memset(about.command, 'c', sizeof(about.command));
    for (uint32_t at = 0; at < 4096; at += 4) {
        const uint32_t word = some(64);
        memcpy(ring.base() + HL_RING_STRINGS_AT + at, &word, sizeof(word));
    }
    for (uint32_t i = 0; i < 64; i++) {
        ring.frame(i) = {some(4), some(4096), some(4096), some(100), random()};
        ring.node(i) = {some(64), some(64)};
    }
    for (uint32_t i = 0; i < 24; i++) {
        const uint32_t number = i < 20 ? i : HL_CHUNKS - 1 - (i - 20);
        ring.chunk(number) = {some(4), some(4), some(4), random() % 2 ? some(HL_CHUNK_BYTES) : 0};
        for (uint32_t at = 0; at < HL_CHUNK_BYTES; at += 8) {
            const uint64_t kind = random() % 20 ? 1 + some(56) % 255 : 0, low = some(4096) * uint64_t{16};
            ring.word(number, at) = kind << HL_EVENT_TIME_BITS | uint64_t{some(64)} << HL_EVENT_STACK_SHIFT | low;
        }
    }
}

/* The capture says what was asked for; what a damaged ring asks for besides is passed over. */
void test_options() {
    Drained plain, all;
    all.ring.header().options = HL_RING_NATIVE | HL_RING_OBJECTS | HL_RING_FOLLOW | 0xf0;
    plain.finish();
    all.finish();
    CHECK(plain.reader().header().options.empty());
    const std::map<std::string, std::string> wanted = {{"native", "1"}, {"objects", "1"}, {"follow", "1"}};
    CHECK(all.reader().header().options == wanted);
}

/* Where the process sees no more objects the capture says since when, whatever a damaged ring says. */
void test_objects_that_end() {
    Drained whole, cut, damaged;
    cut.ring.header().objects_end = cut.ring.header().start + 7000;
    damaged.ring.header().objects_end = 1;
    for (Drained *one : {&whole, &cut, &damaged}) one->finish();
    CHECK_EQUAL(whole.reader().totals().objects_until_ns, 0u);
    CHECK_EQUAL(cut.reader().totals().objects_until_ns, 7000u);
    CHECK_EQUAL(damaged.reader().totals().objects_until_ns, 0u);
}

/* Whatever lies there, it comes to an end, and what it wrote is a capture. */
void test_anything_at_all() {
    for (unsigned seed = 0; seed < 12; seed++) {
        Drained drained;
        std::mt19937 random(seed);
        scribble(drained.ring, random);
        drained.begin();
        drained.drain->pass(false);
        drained.finish("");
        CHECK(drained.reader().finished());
        CHECK_EQUAL(drained.events().size(), drained.reader().totals().events);
    }
}

#define TEST(name)                                                                                                     \
    { #name, test_##name }
const check_test TESTS[] = {TEST(threads_are_merged_by_time),
                            TEST(the_youngest_wait),
                            TEST(an_event_that_is_not_shown_yet),
                            TEST(a_chunk_that_is_left_before_it_is_whole),
                            TEST(a_late_end),
                            TEST(an_early_birth),
                            TEST(an_end_that_was_lost),
                            TEST(a_late_birth),
                            TEST(reallocs),
                            TEST(a_realloc_in_a_realloc),
                            TEST(an_address_that_is_given_out_meanwhile),
                            TEST(a_realloc_that_never_came_back),
                            TEST(objects),
                            TEST(objects_that_end),
                            TEST(classes),
                            TEST(an_object_and_a_block_at_one_address),
                            TEST(mappings),
                            TEST(a_process_that_was_killed),
                            TEST(what_was_lost_is_told),
                            TEST(one_drain_a_ring),
                            TEST(names),
                            TEST(the_name_of_a_thread_that_does_not_end),
                            TEST(a_process_that_ends_before_it_is_sampled),
                            TEST(a_process_that_ends_before_the_drain_begins),
                            TEST(stacks_that_lead_in_a_circle),
                            TEST(frames_that_are_none),
                            TEST(a_chunk_without_an_end),
                            TEST(clocks_that_tell_nothing),
                            TEST(options),
                            TEST(anything_at_all)};

} // namespace

CHECK_MAIN(TESTS)
