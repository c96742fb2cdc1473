/* SPDX-License-Identifier: MIT */
#include "about.hpp"

#include <cstdlib>

#include "varint.hpp"

namespace heapline {
namespace capture {

namespace {

/* Key and value, both texts; a reader passes over keys that it does not know. */
class Pairs {
  public:
    void put(std::string_view key, std::string_view value) {
        put_text(bytes_, key);
        put_text(bytes_, value);
    }
    void put(std::string_view key, uint64_t value) {
        put(key, std::to_string(value));
    }
    std::string take() {
        return std::move(bytes_);
    }

  private:
    std::string bytes_;
};

template <typename Each> void each_pair(std::string_view payload, const Each &each) {
    for (Bytes bytes(payload); !bytes.empty();) {
        std::string_view key = bytes.text();
        each(key, bytes.text());
    }
}

uint64_t number(std::string_view text) {
    return std::strtoull(std::string(text).c_str(), nullptr, 10);
}

} // namespace

std::string packed(const Header &header) {
    Pairs pairs;
    pairs.put("version", header.version);
    pairs.put("time_unit_ns", header.time_unit_ns);
    pairs.put("pid", header.pid);
    pairs.put("page_size", header.page_size);
    pairs.put("started_ns", header.started_ns);
    pairs.put("started_monotonic_ns", header.started_monotonic_ns);
    pairs.put("generation", header.generation);
    pairs.put("ruby", header.ruby);
    pairs.put("allocator", header.allocator);
    for (const std::string &word : header.command) pairs.put("command", word);
    for (const auto &[key, value] : header.options) pairs.put("option:" + key, value);
    return pairs.take();
}

Header unpacked_header(std::string_view payload) {
    Header header;
    header.time_unit_ns = 0;
    each_pair(payload, [&](std::string_view key, std::string_view value) {
        if (key == "version") header.version = number(value);
        if (key == "time_unit_ns") header.time_unit_ns = number(value);
        if (key == "pid") header.pid = number(value);
        if (key == "page_size") header.page_size = number(value);
        if (key == "started_ns") header.started_ns = number(value);
        if (key == "started_monotonic_ns") header.started_monotonic_ns = number(value);
        if (key == "generation") header.generation = number(value);
        if (key == "ruby") header.ruby = value;
        if (key == "allocator") header.allocator = value;
        if (key == "command") header.command.emplace_back(value);
        if (key.substr(0, 7) == "option:") header.options[std::string(key.substr(7))] = value;
    });
    if (!header.time_unit_ns || header.time_unit_ns > 1000000000) throw Damage("its time has no unit");
    return header;
}

std::string packed(const Totals &totals) {
    Pairs pairs;
    pairs.put("time_ns", totals.time_ns);
    pairs.put("lost", totals.lost);
    pairs.put("ending", totals.ending);
    pairs.put("events", totals.events);
    pairs.put("births", totals.births);
    pairs.put("bytes", totals.bytes);
    pairs.put("most_blocks", totals.most_blocks);
    return pairs.take();
}

Totals unpacked_totals(std::string_view payload) {
    Totals totals;
    each_pair(payload, [&](std::string_view key, std::string_view value) {
        if (key == "time_ns") totals.time_ns = number(value);
        if (key == "lost") totals.lost = number(value);
        if (key == "ending") totals.ending = value;
        if (key == "events") totals.events = number(value);
        if (key == "births") totals.births = number(value);
        if (key == "bytes") totals.bytes = number(value);
        if (key == "most_blocks") totals.most_blocks = number(value);
    });
    return totals;
}

std::string packed(const std::vector<Sample> &samples) {
    std::string bytes;
    for (const Sample &sample : samples)
        for (uint64_t value : {sample.time_ns, sample.rss, sample.ruby_heap, sample.generation})
            put_varint(bytes, value);
    return bytes;
}

void unpack_samples(std::string_view payload, std::vector<Sample> &samples) {
    for (Bytes bytes(payload); !bytes.empty();) {
        Sample sample;
        sample.time_ns = bytes.varint();
        sample.rss = bytes.varint();
        sample.ruby_heap = bytes.varint();
        sample.generation = bytes.varint();
        samples.push_back(sample);
    }
}

} // namespace capture
} // namespace heapline
