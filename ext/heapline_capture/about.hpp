/* SPDX-License-Identifier: MIT */
/* What a capture says of itself: at its beginning (Header), now and then (Sample) and at its end (Totals). */
#ifndef HEAPLINE_CAPTURE_ABOUT_HPP
#define HEAPLINE_CAPTURE_ABOUT_HPP

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heapline {
namespace capture {

struct Header {
    uint64_t version = 3;
    uint64_t time_unit_ns = 10000; /* steps of the events' time */
    uint64_t pid = 0, page_size = 4096;
    uint64_t started_ns = 0;           /* wall clock, nanoseconds since 1970 */
    uint64_t started_monotonic_ns = 0; /* CLOCK_MONOTONIC at the same moment */
    uint64_t generation = 0;           /* GC.count then */
    std::string ruby, allocator;
    std::vector<std::string> command;
    std::map<std::string, std::string> options; /* what was asked for: "native", "objects", "follow": "1" */
};

/* The process at one moment. */
struct Sample {
    uint64_t time_ns = 0;    /* since the recording began */
    uint64_t rss = 0;        /* bytes; 0: unknown */
    uint64_t ruby_heap = 0;  /* bytes of pages of Ruby's object heap; 0: unknown */
    uint64_t generation = 0; /* GC.count */
};

struct Totals {
    uint64_t time_ns = 0;     /* since the recording began */
    uint64_t lost = 0;        /* events that were not recorded */
    std::string ending;       /* "exit 0", "signal 9", "stopped"; empty: unknown */
    uint64_t events = 0;      /* what the writer counted; set by it */
    uint64_t births = 0;      /* the same, with changes */
    uint64_t bytes = 0;       /* what these asked for */
    uint64_t most_blocks = 0; /* the highest number of a block */
    uint64_t objects_until_ns =
        0; /* since the recording began: when Ruby objects ended to be recorded; 0: they did not */
};

std::string packed(const Header &header);
std::string packed(const Totals &totals);
std::string packed(const std::vector<Sample> &samples);

/* Throw Damage. */
Header unpacked_header(std::string_view payload);
Totals unpacked_totals(std::string_view payload);
void unpack_samples(std::string_view payload, std::vector<Sample> &samples);

} // namespace capture
} // namespace heapline

#endif
