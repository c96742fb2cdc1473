/* SPDX-License-Identifier: MIT */
#include "addresses.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace heapline {
namespace capture {

namespace {

const uint32_t STEP = 8; /* numbers, by which a page grows */

} // namespace

/* ---- a page ---- */

/* With room for so many numbers; page NULL: an empty one. NULL: there is no memory, and the page is as it was. */
Addresses::Page *Addresses::Page::sized(Page *page, uint32_t room) {
    Page *const changed = static_cast<Page *>(realloc(page, sizeof(Page) + room * sizeof(uint32_t)));
    if (!changed) return nullptr;
    if (!page) *changed = {};
    changed->room = static_cast<uint16_t>(room);
    return changed;
}

void Addresses::Page::flip(uint32_t place, int change) {
    bits[place / 64] ^= uint64_t{1} << (place % 64);
    for (uint32_t word = place / 64 + 1; word < 4; word++) before[word] = static_cast<uint8_t>(before[word] + change);
    count = static_cast<uint16_t>(count + change);
}

void Addresses::Page::insert(uint32_t place, uint32_t number) {
    uint32_t *const at = numbers() + rank(place);
    memmove(at + 1, at, static_cast<size_t>(numbers() + count - at) * sizeof(uint32_t));
    *at = number;
    flip(place, 1);
}

uint32_t Addresses::Page::take(uint32_t place) {
    uint32_t *const at = numbers() + rank(place);
    const uint32_t number = *at;
    flip(place, -1);
    memmove(at, at + 1, static_cast<size_t>(numbers() + count - at) * sizeof(uint32_t));
    return number;
}

/* With one block more. */
Addresses::Page *Addresses::grown(Page *page, uint32_t place, uint32_t number) {
    if (page->count == page->room) page = Page::sized(page, page->room + STEP);
    if (!page) throw std::bad_alloc();
    page->insert(place, number);
    return page;
}

/* What stands for a page from which a block was taken (A2). */
uint64_t Addresses::shrunk(Page *page) {
    if (page->count + 2 * STEP <= page->room) {
        Page *const smaller = Page::sized(page, page->room - STEP);
        if (smaller) page = smaller;
    }
    if (page->count > 1) return content_of(page);
    uint32_t word = 0;
    while (!page->bits[word]) word++;
    const uint32_t place = word * 64 + static_cast<uint32_t>(__builtin_ctzll(page->bits[word]));
    const uint64_t content = alone(place, page->numbers()[0]);
    free(page);
    return content;
}

/* ---- regions ---- */

Addresses::Addresses() {
    resize(1 << 6);
}

Addresses::~Addresses() {
    for (Region *region : regions_) {
        for (size_t page = 0; region && page < 64; page++)
            if (!is_alone(region->pages[page])) free(page_in(region->pages[page]));
        delete region;
    }
}

/* Where it is, or where it would be put. */
size_t Addresses::at(uint64_t key) const {
    size_t at = home(key);
    while (regions_[at] && regions_[at]->key != key) at = (at + 1) & mask_;
    return at;
}

Addresses::Region *Addresses::begin(uint64_t key) {
    if ((count_ + 1) * 2 > regions_.size()) resize(regions_.size() * 2);
    Region *const region = new Region{key, 0, {}};
    regions_[at(key)] = region;
    count_++;
    return region;
}

/* Those behind a gap move up until one is at home or the row ends: there are never marks of what was removed. */
void Addresses::end(size_t gap) {
    delete regions_[gap];
    for (size_t at = (gap + 1) & mask_; regions_[at]; at = (at + 1) & mask_) {
        if (((at - home(regions_[at]->key)) & mask_) < ((at - gap) & mask_)) continue;
        regions_[gap] = regions_[at];
        gap = at;
    }
    regions_[gap] = nullptr;
    count_--;
}

void Addresses::resize(size_t size) {
    std::vector<Region *> regions(size);
    regions.swap(regions_);
    mask_ = size - 1;
    shift_ = 64 - __builtin_ctzll(size);
    for (Region *region : regions)
        if (region) regions_[at(region->key)] = region;
}

/* ---- blocks ---- */

uint32_t Addresses::find(uint64_t address) const {
    const Region *const region = regions_[at(key_of(address))];
    const uint64_t content = region ? region->pages[page_of(address)] : 0;
    const uint32_t place = place_of(address);
    if (is_alone(content)) return place_in(content) == place ? number_in(content) : 0;
    Page *const page = page_in(content);
    return page && page->has(place) ? page->numbers()[page->rank(place)] : 0;
}

void Addresses::add(uint64_t address, uint32_t number) {
    const uint64_t key = key_of(address);
    Region *region = regions_[at(key)];
    if (!region) region = begin(key);
    uint64_t &content = region->pages[page_of(address)];
    if (!content) {
        content = alone(place_of(address), number);
        region->used++;
    } else if (is_alone(content)) {
        Page *const page = Page::sized(nullptr, STEP);
        if (!page) throw std::bad_alloc();
        page->insert(place_in(content), number_in(content));
        content = content_of(grown(page, place_of(address), number));
    } else {
        content = content_of(grown(page_in(content), place_of(address), number));
    }
    used_++;
}

uint32_t Addresses::remove(uint64_t address) {
    const size_t at = this->at(key_of(address));
    Region *const region = regions_[at];
    if (!region) return 0;
    uint64_t &content = region->pages[page_of(address)];
    const uint32_t place = place_of(address);
    uint32_t number = 0;
    if (is_alone(content)) {
        if (place_in(content) != place) return 0;
        number = number_in(content);
        content = 0;
        if (!--region->used) end(at);
    } else {
        Page *const page = page_in(content);
        if (!page || !page->has(place)) return 0;
        number = page->take(place);
        content = shrunk(page);
    }
    used_--;
    return number;
}

} // namespace capture
} // namespace heapline
