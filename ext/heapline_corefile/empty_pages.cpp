/* SPDX-License-Identifier: MIT */
#include "empty_pages.hpp"

#include <algorithm>
#include <cstring>

namespace heapline {
namespace corefile {

namespace {

enum : uint64_t {
    WORD = 8,
    WORDS = 12,        /* of a description that are looked at; */
    PARTS = 4 * WORDS, /* of 16 bits, in which it counts its slots */
};

struct Description {
    uint64_t words[WORDS];
    uint16_t parts[PARTS];
};

/* Where a description says what. */
struct Layout {
    size_t slot_bytes, count, slots, page;
    uint64_t least, most; /* bytes of the block that it is */
};

uint64_t block_bytes(const RubyHeap &heap, uint64_t address) {
    const size_t number = find_block(heap.blocks(), address);
    return number < heap.blocks().size() && heap.blocks()[number].begin == address ? heap.blocks()[number].bytes : 0;
}

bool describe(Image &image, uint64_t address, Description &description) {
    if (!image.read(address, description.words, sizeof(description.words))) return false;
    memcpy(description.parts, description.words, sizeof(description.parts));
    return true;
}

/* The first place that nearly all have it at; `places` where there is none: something else may look like a page. */
template <size_t places> size_t place_of(const uint64_t (&votes)[places], size_t of) {
    for (size_t i = 0; i < places; i++)
        if (votes[i] * 10 >= of * 9) return i;
    return places;
}

bool learn(Image &image, const RubyHeap &heap, Layout &layout) {
    uint64_t slot_bytes[PARTS] = {}, count[PARTS] = {}, slots[WORDS] = {}, begin[WORDS] = {};
    std::vector<uint64_t> sizes;
    for (const RubyHeap::Page &page : heap.pages()) {
        Description description;
        const uint64_t address = image.word(page.begin), bytes = block_bytes(heap, address);
        if (!bytes || !describe(image, address, description)) continue;
        sizes.push_back(bytes);
        for (size_t i = 0; i < PARTS; i++) {
            slot_bytes[i] += description.parts[i] == page.slot_bytes;
            count[i] += description.parts[i] == page.count;
        }
        for (size_t i = 0; i < WORDS; i++) {
            slots[i] += description.words[i] == page.slots;
            begin[i] += description.words[i] == page.begin;
        }
    }
    if (sizes.empty()) return false;
    /* An allocator may give some bytes more than another time. */
    std::sort(sizes.begin(), sizes.end());
    const uint64_t usual = sizes[sizes.size() / 2];
    layout = {place_of(slot_bytes, sizes.size()),
              place_of(count, sizes.size()),
              place_of(slots, sizes.size()),
              place_of(begin, sizes.size()),
              usual - 2 * WORD,
              usual + 2 * WORD};
    return layout.slot_bytes < PARTS && layout.count < PARTS && layout.slots < WORDS && layout.page < WORDS;
}

/* By E1. */
bool is_empty(Image &image, const RubyHeap &heap, const Layout &layout, uint64_t page) {
    Description description;
    const uint64_t address = image.word(page), bytes = address % WORD ? 0 : block_bytes(heap, address);
    return bytes >= layout.least && bytes <= layout.most && describe(image, address, description) &&
           description.words[layout.page] == page && !description.words[layout.slots] &&
           !description.parts[layout.slot_bytes] && !description.parts[layout.count];
}

} // namespace

std::vector<uint64_t> empty_pages(Image &image, const RubyHeap &heap, const Job &job) {
    std::vector<uint64_t> found;
    Layout layout;
    if (!heap.found() || !learn(image, heap, layout)) return found;
    image.each_piece(heap.page_bytes(), job, [&](const Image::Segment &, uint64_t page) {
        if (is_empty(image, heap, layout, page)) found.push_back(page);
    });
    return found;
}

} // namespace corefile
} // namespace heapline
