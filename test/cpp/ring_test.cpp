/* SPDX-License-Identifier: MIT */
/* What a ring's reader believes, and what it refuses. */
#include "../../ext/heapline_capture/ring.hpp"

#include <stdexcept>

#include "check.h"
#include "written_ring.hpp"

using namespace heapline::capture;

namespace {

/* What opening it says; empty: nothing. */
std::string refusal(const std::string &path) {
    try {
        Ring ring(path);
    } catch (const std::runtime_error &error) {
        return error.what();
    }
    return "";
}

bool says(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}

void test_what_is_no_ring() {
    WrittenRing written;
    CHECK(refusal(written.path()).empty());
    CHECK(says(refusal(written.path() + "x"), "No such file"));
    const std::string link = written.path() + "l";
    CHECK_EQUAL(symlink(written.path().c_str(), link.c_str()), 0);
    CHECK(!refusal(link).empty());
    unlink(link.c_str());
    written.header().version++;
    CHECK(says(refusal(written.path()), "another version"));
    written.header().magic[0] = 0;
    CHECK(says(refusal(written.path()), "not complete yet"));
    CHECK_EQUAL(truncate(written.path().c_str(), 4096), 0);
    CHECK(says(refusal(written.path()), "no ring of a recording"));
}

void test_tables() {
    WrittenRing written;
    const uint32_t frame = written.add_frame("work", "app.rb", 7), node = written.add_node(0, frame);
    Ring ring(written.path());
    CHECK(ring.string(ring.frame(frame).path) == "app.rb");
    CHECK(ring.string(ring.frame(frame).label) == "work");
    CHECK_EQUAL(ring.frame(frame).line, 7);
    CHECK_EQUAL(ring.node(node).frame, frame);
}

void test_numbers_that_are_none() {
    WrittenRing written;
    written.string("text");
    Ring ring(written.path());
    for (uint32_t number : {0u, 4u, 16u, HL_RING_STRINGS - 8, HL_RING_STRINGS, UINT32_MAX & ~7u})
        CHECK(ring.string(number).empty());
    for (uint32_t number : {1u, HL_RING_FRAMES, UINT32_MAX}) CHECK_EQUAL(ring.frame(number).kind, 0);
    for (uint32_t number : {1u, HL_RING_NODES, UINT32_MAX}) CHECK_EQUAL(ring.node(number).frame, 0);
    /* Tables that claim to hold more than they can. */
    written.header().strings_used = written.header().frames_used = written.header().nodes_used = UINT32_MAX;
    const uint16_t long_one = 4000;
    memcpy(written.base() + HL_RING_STRINGS_AT + HL_RING_STRINGS - 8, &long_one, sizeof(long_one));
    CHECK(ring.string(HL_RING_STRINGS - 8).empty());
    CHECK_EQUAL(ring.frame(HL_RING_FRAMES).kind, 0);
    CHECK_EQUAL(ring.node(HL_RING_NODES).frame, 0);
}

void test_events() {
    WrittenRing written;
    written.open(5, 2, 1);
    written.birth(HL_EVENT_POSIX_MEMALIGN, 11, 0x7fff12345678, 100, 77, 12);
    const uint32_t tag = written.at();
    written.tag(12, "payroll");
    const uint32_t large = written.at();
    written.birth(HL_EVENT_MALLOC, 12, 16, uint64_t{1} << 45);
    const uint32_t thread = written.at();
    written.thread(HL_EVENT_THREAD_START, 13, 4711, "sixteen-letters!");
    Ring ring(written.path());
    RingEvent event;
    uint64_t time = 0;
    CHECK(ring.event(5, 0, event) && ring.time(5, 0, time));
    CHECK_EQUAL(event.kind, HL_EVENT_POSIX_MEMALIGN);
    CHECK_EQUAL(event.words, 3);
    CHECK_EQUAL(event.time, 11);
    CHECK_EQUAL(time, 11);
    CHECK_EQUAL(event.address, 0x7fff12345678);
    CHECK_EQUAL(event.size, 100);
    CHECK_EQUAL(event.alignment, 4096);
    CHECK_EQUAL(event.stack, 77);
    CHECK(ring.event(5, tag, event));
    CHECK(event.kind == HL_EVENT_TAG && event.text == "payroll");
    CHECK(ring.event(5, large, event));
    CHECK_EQUAL(event.words, 4);
    CHECK_EQUAL(event.size, int64_t{1} << 45);
    CHECK(ring.event(5, thread, event));
    CHECK_EQUAL(event.address, 4711);
    CHECK(std::string(event.name) == "sixteen-letters!");
    CHECK(!ring.event(5, written.at(), event) && !ring.time(5, written.at(), time));
}

void test_a_chunk_that_is_given_back() {
    WrittenRing written;
    written.open(9, 0, 1);
    for (uint64_t i = 1; i < 100; i++) written.birth(HL_EVENT_MALLOC, i, i * 16, i);
    Ring ring(written.path());
    ring.give_back(9, HL_CHUNK_BYTES);
    CHECK_EQUAL(written.chunk(9).state, HL_CHUNK_FREE);
    CHECK_EQUAL(written.header().chunks_freed, 1);
    uint64_t left = 0;
    for (uint32_t at = 0; at < HL_CHUNK_BYTES; at += 8) left |= written.word(9, at);
    CHECK_EQUAL(left, 0);
}

const check_test TESTS[] = {{"what is no ring", test_what_is_no_ring},
                            {"tables", test_tables},
                            {"numbers that are none", test_numbers_that_are_none},
                            {"events", test_events},
                            {"a chunk that is given back", test_a_chunk_that_is_given_back}};

} // namespace

CHECK_MAIN(TESTS)
