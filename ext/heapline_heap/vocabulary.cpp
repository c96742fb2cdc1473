/* SPDX-License-Identifier: MIT */
#include "vocabulary.hpp"

namespace heapline {

/* Kinds are numbered in 16 bits by the nodes; a Ruby has some 150. What a hostile dump has beyond is one kind. */
static const size_t KINDS_MAX = 60000;

Vocabulary::Vocabulary() {
    word("");
    kind(0, 0);
    place({0, 0, 0});
}

size_t Vocabulary::PlaceHash::operator()(const Place &place) const {
    uint64_t mixed = (uint64_t{place.file} << 32 | place.line) * 0x9e3779b97f4a7c15u;
    return (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u + place.method;
}

uint32_t Vocabulary::word(std::string_view text) {
    auto found = word_numbers_.find(text);
    if (found != word_numbers_.end()) return found->second;
    uint32_t number = static_cast<uint32_t>(words_.size());
    words_.emplace_back(text);
    word_numbers_.emplace(words_.back(), number);
    return number;
}

uint32_t Vocabulary::kind(uint32_t type, uint32_t detail) {
    uint64_t key = uint64_t{type} << 32 | detail;
    auto found = kind_numbers_.find(key);
    if (found != kind_numbers_.end()) return found->second;
    if (kinds_.size() >= KINDS_MAX) return 0;
    uint32_t number = static_cast<uint32_t>(kinds_.size());
    kinds_.push_back({type, detail});
    kind_numbers_.emplace(key, number);
    return number;
}

uint32_t Vocabulary::place(const Place &place) {
    auto found = place_numbers_.find(place);
    if (found != place_numbers_.end()) return found->second;
    uint32_t number = static_cast<uint32_t>(places_.size());
    places_.push_back(place);
    place_numbers_.emplace(place, number);
    return number;
}

void Translation::learn(const Vocabulary &from, Vocabulary &to) {
    while (words_.size() < from.words()) {
        uint32_t word = static_cast<uint32_t>(words_.size());
        words_.push_back(to.word(from.text(word)));
    }
    while (kinds_.size() < from.kinds()) {
        const Kind &kind = from.kind_at(static_cast<uint32_t>(kinds_.size()));
        kinds_.push_back(to.kind(words_[kind.type], words_[kind.detail]));
    }
    while (places_.size() < from.places()) {
        const Place &place = from.place_at(static_cast<uint32_t>(places_.size()));
        places_.push_back(to.place({words_[place.file], place.line, words_[place.method]}));
    }
}

} // namespace heapline
