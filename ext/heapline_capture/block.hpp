/* SPDX-License-Identifier: MIT */
/*
 * A capture file is PREAMBLE and then blocks, one behind the other. Each has a head that proves itself, so that a
 * reader who met damage finds the next one, and a payload that the head proves. Integers are little-endian.
 */
#ifndef HEAPLINE_CAPTURE_BLOCK_HPP
#define HEAPLINE_CAPTURE_BLOCK_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heapline {
namespace capture {

const char PREAMBLE[] = "heapline-capture"; /* its 16 characters */
const size_t PREAMBLE_SIZE = 16;
const size_t HEAD_SIZE = 40;
const uint32_t BLOCK_MAGIC = 0x4b4c4248; /* "HBLK" */
/* The last bytes of a file that was finished: where its INDEX begins, and this. */
const char FINIS[] = "hlc-end\n";
const size_t FINIS_SIZE = 16;

const uint32_t EVENTS_MAX = 65536;               /* in a block */
const uint32_t PAYLOAD_MAX = uint32_t{64} << 20; /* bytes, packed or not: more is damage */

enum class Section : uint8_t { header = 1, names, events, samples, index, end };

struct Head {
    Section section = Section::header;
    bool zstd = false;     /* is the payload one zstd frame? */
    uint32_t stored = 0;   /* bytes of the payload in the file */
    uint32_t unpacked = 0; /* bytes of it unpacked */
    uint32_t count = 0;    /* events, samples or names in it */
    uint64_t time_ns = 0;  /* of its first event or sample */
    uint64_t check = 0;    /* of the payload as it lies in the file */
};

uint64_t check_of(std::string_view bytes);

/* HEAD_SIZE bytes. */
void put_head(const Head &head, char *to);
/* False: these HEAD_SIZE bytes are no head. */
bool read_head(const char *from, Head &head);

/* The section of `payload`, packed where that is shorter; sets what `head` says of it. Throws std::bad_alloc. */
std::string pack(Head &head, std::string_view payload);
/* Throws Damage. */
std::string unpack(const Head &head, std::string_view stored);

} // namespace capture
} // namespace heapline

#endif
