/* SPDX-License-Identifier: MIT */
#include "block.hpp"

#include <endian.h>
#include <zstd.h>

#include <cstring>
#include <new>

#include "varint.hpp"

namespace heapline {
namespace capture {

namespace {

const int LEVEL = 1; /* a writer has to keep up with a program; 3 gains little */

template <typename T> void put(char *to, T value) {
    std::memcpy(to, &value, sizeof(value));
}
template <typename T> T get(const char *from) {
    T value;
    std::memcpy(&value, from, sizeof(value));
    return value;
}

/* The head's own check lies where it is zero while it is computed. */
uint32_t head_check(const char *head) {
    char copy[HEAD_SIZE];
    std::memcpy(copy, head, HEAD_SIZE);
    std::memset(copy + 20, 0, 4);
    uint64_t check = check_of(std::string_view(copy, HEAD_SIZE));
    return static_cast<uint32_t>(check ^ check >> 32);
}

} // namespace

/* FNV-1a (Fowler, Noll, Vo) over words of 8 bytes and then over the bytes that are left. A multiplication carries
 * nothing down, so after each the upper half is brought to the lower one. */
uint64_t check_of(std::string_view bytes) {
    uint64_t hash = 0xcbf29ce484222325u;
    auto add = [&hash](uint64_t word) {
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 32;
    };
    size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) add(le64toh(get<uint64_t>(bytes.data() + at)));
    for (; at < bytes.size(); at++) add(static_cast<uint8_t>(bytes[at]));
    return hash;
}

void put_head(const Head &head, char *to) {
    std::memset(to, 0, HEAD_SIZE);
    put<uint32_t>(to, htole32(BLOCK_MAGIC));
    put<uint8_t>(to + 4, static_cast<uint8_t>(head.section));
    put<uint8_t>(to + 5, head.zstd);
    put<uint32_t>(to + 8, htole32(head.stored));
    put<uint32_t>(to + 12, htole32(head.unpacked));
    put<uint32_t>(to + 16, htole32(head.count));
    put<uint64_t>(to + 24, htole64(head.time_ns));
    put<uint64_t>(to + 32, htole64(head.check));
    put<uint32_t>(to + 20, htole32(head_check(to)));
}

bool read_head(const char *from, Head &head) {
    if (le32toh(get<uint32_t>(from)) != BLOCK_MAGIC || le32toh(get<uint32_t>(from + 20)) != head_check(from))
        return false;
    head.section = static_cast<Section>(get<uint8_t>(from + 4));
    head.zstd = get<uint8_t>(from + 5) != 0;
    head.stored = le32toh(get<uint32_t>(from + 8));
    head.unpacked = le32toh(get<uint32_t>(from + 12));
    head.count = le32toh(get<uint32_t>(from + 16));
    head.time_ns = le64toh(get<uint64_t>(from + 24));
    head.check = le64toh(get<uint64_t>(from + 32));
    return head.stored <= PAYLOAD_MAX && head.unpacked <= PAYLOAD_MAX;
}

std::string pack(Head &head, std::string_view payload) {
    std::string stored(ZSTD_compressBound(payload.size()), '\0');
    size_t size = ZSTD_compress(&stored[0], stored.size(), payload.data(), payload.size(), LEVEL);
    head.zstd = !ZSTD_isError(size) && size < payload.size();
    if (head.zstd)
        stored.resize(size);
    else
        stored.assign(payload);
    head.stored = static_cast<uint32_t>(stored.size());
    head.unpacked = static_cast<uint32_t>(payload.size());
    head.check = check_of(stored);
    return stored;
}

std::string unpack(const Head &head, std::string_view stored) {
    if (check_of(stored) != head.check) throw Damage("its bytes are not those that were written");
    if (!head.zstd) return std::string(stored);
    std::string payload(head.unpacked, '\0');
    size_t size = ZSTD_decompress(&payload[0], payload.size(), stored.data(), stored.size());
    if (ZSTD_isError(size) || size != payload.size()) throw Damage("it cannot be unpacked");
    return payload;
}

} // namespace capture
} // namespace heapline
