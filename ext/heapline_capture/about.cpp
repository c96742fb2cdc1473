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

/* The field of that name takes the value. */
struct Taking {
    std::string_view key, value;

    void operator()(std::string_view name, uint64_t &field) const {
        if (name == key) field = number(value);
    }
    void operator()(std::string_view name, std::string &field) const {
        if (name == key) field = value;
    }
};

/* Each calls `visit` with the name and the field of each one that is a number or a text. */
template <typename Head, typename Visit> void each_field_of_header(Head &header, const Visit &visit) {
    visit("version", header.version);
    visit("time_unit_ns", header.time_unit_ns);
    visit("pid", header.pid);
    visit("page_size", header.page_size);
    visit("started_ns", header.started_ns);
    visit("started_monotonic_ns", header.started_monotonic_ns);
    visit("generation", header.generation);
    visit("ruby", header.ruby);
    visit("allocator", header.allocator);
}

template <typename Sums, typename Visit> void each_field_of_totals(Sums &totals, const Visit &visit) {
    visit("time_ns", totals.time_ns);
    visit("lost", totals.lost);
    visit("ending", totals.ending);
    visit("events", totals.events);
    visit("births", totals.births);
    visit("bytes", totals.bytes);
    visit("most_blocks", totals.most_blocks);
    visit("objects_until_ns", totals.objects_until_ns);
}

} // namespace

std::string packed(const Header &header) {
    Pairs pairs;
    each_field_of_header(header, [&](std::string_view key, const auto &value) { pairs.put(key, value); });
    for (const std::string &word : header.command) pairs.put("command", word);
    for (const auto &[key, value] : header.options) pairs.put("option:" + key, value);
    return pairs.take();
}

Header unpacked_header(std::string_view payload) {
    Header header;
    header.time_unit_ns = 0;
    each_pair(payload, [&](std::string_view key, std::string_view value) {
        each_field_of_header(header, Taking{key, value});
        if (key == "command") header.command.emplace_back(value);
        if (key.substr(0, 7) == "option:") header.options[std::string(key.substr(7))] = value;
    });
    if (!header.time_unit_ns || header.time_unit_ns > 1000000000) throw Damage("its time has no unit");
    return header;
}

std::string packed(const Totals &totals) {
    Pairs pairs;
    each_field_of_totals(totals, [&](std::string_view key, const auto &value) { pairs.put(key, value); });
    return pairs.take();
}

Totals unpacked_totals(std::string_view payload) {
    Totals totals;
    each_pair(payload, [&](std::string_view key, std::string_view value) {
        each_field_of_totals(totals, Taking{key, value});
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
