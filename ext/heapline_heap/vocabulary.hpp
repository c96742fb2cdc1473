/* SPDX-License-Identifier: MIT */
/*
 * The words of a dump, each kept once: strings, kinds of objects (type and detail) and places of birth (file, line,
 * method). Each thread that scans has a vocabulary of its own; a Translation takes its numbers over into the dump's.
 * Number 0 is "none" in all three.
 */
#ifndef HEAPLINE_HEAP_VOCABULARY_HPP
#define HEAPLINE_HEAP_VOCABULARY_HPP

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heapline {

struct Kind {
    uint32_t type, detail; /* strings */
};

struct Place {
    uint32_t file, line, method; /* file and method: strings */
};

class Vocabulary {
  public:
    Vocabulary();

    uint32_t word(std::string_view text);
    uint32_t kind(uint32_t type, uint32_t detail);
    uint32_t place(const Place &place);

    const std::string &text(uint32_t word) const {
        return words_[word];
    }
    const Kind &kind_at(uint32_t kind) const {
        return kinds_[kind];
    }
    const Place &place_at(uint32_t place) const {
        return places_[place];
    }
    const std::string &type_of(uint32_t kind) const {
        return words_[kinds_[kind].type];
    }
    size_t words() const {
        return words_.size();
    }
    size_t kinds() const {
        return kinds_.size();
    }
    size_t places() const {
        return places_.size();
    }

  private:
    struct PlaceHash {
        size_t operator()(const Place &place) const;
    };
    struct PlaceEqual {
        bool operator()(const Place &a, const Place &b) const {
            return a.file == b.file && a.line == b.line && a.method == b.method;
        }
    };

    std::deque<std::string> words_; /* a deque: the map's keys point into it */
    std::unordered_map<std::string_view, uint32_t> word_numbers_;
    std::vector<Kind> kinds_;
    std::unordered_map<uint64_t, uint32_t> kind_numbers_;
    std::vector<Place> places_;
    std::unordered_map<Place, uint32_t, PlaceHash, PlaceEqual> place_numbers_;
};

/* From one vocabulary's numbers to another's. */
class Translation {
  public:
    /* Take over what `from` has learnt since the last time. */
    void learn(const Vocabulary &from, Vocabulary &to);

    uint32_t word(uint32_t word) const {
        return words_[word];
    }
    uint32_t kind(uint32_t kind) const {
        return kinds_[kind];
    }
    uint32_t place(uint32_t place) const {
        return places_[place];
    }

  private:
    std::vector<uint32_t> words_, kinds_, places_;
};

} // namespace heapline

#endif
