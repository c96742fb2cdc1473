/* SPDX-License-Identifier: MIT */
/*
 * What histograms and totals need, added up while lines are read: its size depends on how many classes, lines and
 * generations a dump has, and not on how many objects. Each thread fills its own with numbers of its own vocabulary;
 * `add` takes it over.
 */
#ifndef HEAPLINE_HEAP_SURVEY_HPP
#define HEAPLINE_HEAP_SURVEY_HPP

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "line.hpp"
#include "vocabulary.hpp"

namespace heapline {

struct Figures {
    uint64_t count = 0, bytes = 0, slots = 0;

    void add(uint64_t memsize, uint64_t slot_size) {
        count++;
        bytes += memsize;
        slots += slot_size;
    }
    void add(const Figures &more) {
        count += more.count;
        bytes += more.bytes;
        slots += more.slots;
    }
};

struct Survey {
    static const uint32_t SLOT = 40; /* bytes, where a dump does not say: Ruby 3.1 has no others */
    static const int STRINGS = 4;    /* interned, embedded, shared, with memory of their own */

    struct ClassKey {
        uint64_t address;
        uint32_t kind;
        bool operator==(const ClassKey &other) const {
            return address == other.address && kind == other.kind;
        }
    };
    struct ClassHash {
        size_t operator()(const ClassKey &key) const {
            return (key.address >> 3 ^ uint64_t{key.kind} << 40) * 0x9e3779b97f4a7c15u >> 7;
        }
    };

    Figures all;
    uint64_t free_slots = 0, references = 0, shapes = 0, shape_bytes = 0, pid = 0, version = 0;
    bool begun = false, ended = false; /* does it have the first and the last line of a dump by heapline? */
    std::string ruby, time;
    std::unordered_map<ClassKey, Figures, ClassHash> classes;
    std::vector<Figures> places;                       /* by place */
    std::unordered_map<uint64_t, Figures> generations; /* by generation + 1; 0: unknown */
    std::map<std::string, uint64_t> roots;             /* references by name */
    Figures strings[STRINGS];

    /* An object, with its words in the vocabulary that belongs to this survey. */
    void object(const Line &line, uint32_t kind, uint32_t place);
    /* Any other line. */
    void other(const Line &line);
    void add(const Survey &more, const Translation &translation);
};

} // namespace heapline

#endif
