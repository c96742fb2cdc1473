/* SPDX-License-Identifier: MIT */
#include "duplicates.hpp"

#include <algorithm>
#include <cstring>

namespace heapline {

namespace {

uint64_t mix(uint64_t value) {
    value = (value ^ value >> 32) * 0xd6e8feb86659fd93u;
    return (value ^ value >> 32) * 0xd6e8feb86659fd93u;
}

/* Never 0. */
uint64_t hash_of(std::string_view text, uint64_t seed) {
    uint64_t sum = seed ^ text.size() * 0x9e3779b97f4a7c15u;
    size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) {
        uint64_t part;
        std::memcpy(&part, text.data() + i, 8);
        sum = (sum ^ mix(part)) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    uint64_t rest = 0;
    if (i < text.size()) std::memcpy(&rest, text.data() + i, text.size() - i);
    sum = mix(sum ^ mix(rest + 1));
    return sum ? sum : 1;
}

} // namespace

std::string_view beginning(std::string_view text, size_t most) {
    if (text.size() <= most) return text;
    size_t size = most;
    while (size && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) size--;
    return text.substr(0, size);
}

Duplicates::Entry &Duplicates::place(Column<Entry> &table, uint64_t hash) {
    size_t mask = table.size() - 1, i = hash & mask;
    while (table[i].hash && table[i].hash != hash) i = (i + 1) & mask;
    return table[i];
}

void Duplicates::grow(Shard &shard) {
    Column<Entry> larger(std::max<size_t>(1024, shard.table.size() * 2));
    for (const Entry &entry : shard.table)
        if (entry.hash) place(larger, entry.hash) = entry;
    shard.table.swap(larger);
}

void Duplicates::add(std::string_view value, std::string_view encoding, uint64_t memsize) {
    uint64_t hash = hash_of(value, hash_of(encoding, 0));
    Shard &shard = shards_[hash >> 58];
    std::lock_guard<std::mutex> lock(shard.mutex);
    if (shard.used * 4 >= shard.table.size() * 3) grow(shard);
    Entry &entry = place(shard.table, hash);
    if (!entry.hash) {
        entry = {hash, 1, memsize, memsize, value.size(), 0, 0};
        shard.used++;
        return;
    }
    entry.count++;
    entry.bytes += memsize;
    entry.largest = std::max(entry.largest, memsize);
    if (entry.count > 2 || shard.texts.size() > UINT32_MAX - SHOWN_MAX) return;
    std::string_view shown = beginning(value, SHOWN_MAX);
    entry.beginning = static_cast<uint32_t>(shard.texts.size());
    entry.beginning_size = static_cast<uint32_t>(shown.size());
    shard.texts.append(shown.data(), shown.size());
}

std::vector<Duplicates::Value> Duplicates::worst(size_t limit) const {
    std::vector<std::pair<const Shard *, const Entry *>> found;
    for (const Shard &shard : shards_)
        for (const Entry &entry : shard.table)
            if (entry.count > 1) found.emplace_back(&shard, &entry);
    auto more = [](const auto &a, const auto &b) {
        uint64_t left = a.second->bytes - a.second->largest, right = b.second->bytes - b.second->largest;
        return left != right ? left > right : a.second->hash < b.second->hash;
    };
    limit = std::min(limit, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<long>(limit), found.end(), more);
    std::vector<Value> values;
    for (size_t i = 0; i < limit; i++) {
        const auto &[shard, entry] = found[i];
        std::string text(shard->texts.data() + entry->beginning, entry->beginning_size);
        values.push_back({text, entry->bytesize, entry->count, entry->bytes, entry->bytes - entry->largest});
    }
    return values;
}

} // namespace heapline
