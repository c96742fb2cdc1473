/* SPDX-License-Identifier: MIT */
/*
 * Numbers of as many bytes as they need: 7 bits a byte, the lowest first, the top bit where another byte follows. A
 * difference is folded first, so that small negative ones are short too.
 */
#ifndef HEAPLINE_CAPTURE_VARINT_HPP
#define HEAPLINE_CAPTURE_VARINT_HPP

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace heapline {
namespace capture {

const size_t VARINT_MAX = 10; /* bytes */

/* Bytes that cannot be what the format says; the message names what. */
struct Damage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline uint64_t fold(int64_t value) {
    return static_cast<uint64_t>(value) << 1 ^ (value < 0 ? UINT64_MAX : 0);
}
inline int64_t unfold(uint64_t value) {
    return static_cast<int64_t>(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

/* Returns behind what it wrote: at most VARINT_MAX bytes. */
inline uint8_t *put_varint(uint8_t *to, uint64_t value) {
    while (value >= 0x80) {
        *to++ = static_cast<uint8_t>(value | 0x80);
        value >>= 7;
    }
    *to++ = static_cast<uint8_t>(value);
    return to;
}

inline void put_varint(std::string &to, uint64_t value) {
    uint8_t bytes[VARINT_MAX];
    to.append(reinterpret_cast<char *>(bytes), static_cast<size_t>(put_varint(bytes, value) - bytes));
}

inline void put_text(std::string &to, std::string_view text) {
    put_varint(to, text.size());
    to.append(text);
}

/* Reads within [at, end); throws Damage where that does not suffice. */
class Bytes {
  public:
    Bytes() = default;
    Bytes(const uint8_t *at, const uint8_t *end) : at_(at), end_(end) {}
    explicit Bytes(std::string_view bytes)
        : at_(reinterpret_cast<const uint8_t *>(bytes.data())), end_(at_ + bytes.size()) {}

    bool empty() const {
        return at_ == end_;
    }
    size_t size() const {
        return static_cast<size_t>(end_ - at_);
    }

    uint8_t byte() {
        if (at_ == end_) throw Damage("a value is cut off");
        return *at_++;
    }

    uint64_t varint() {
        if (at_ != end_ && *at_ < 0x80) return *at_++;
        return long_varint();
    }

    /* A varint that must be less than `limit`. */
    uint32_t number(uint64_t limit) {
        uint64_t value = varint();
        if (value >= limit) throw Damage("a number names nothing");
        return static_cast<uint32_t>(value);
    }

    std::string_view take(uint64_t size) {
        if (size > this->size()) throw Damage("a text is cut off");
        std::string_view taken(reinterpret_cast<const char *>(at_), static_cast<size_t>(size));
        at_ += size;
        return taken;
    }
    std::string_view text() {
        return take(varint());
    }

  private:
    uint64_t long_varint() {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            uint8_t next = byte();
            value |= static_cast<uint64_t>(next & 0x7f) << shift;
            if (next < 0x80) return value;
        }
        throw Damage("a number is too long");
    }

    const uint8_t *at_ = nullptr, *end_ = nullptr;
};

} // namespace capture
} // namespace heapline

#endif
