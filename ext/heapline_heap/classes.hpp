/* SPDX-License-Identifier: MIT */
/*
 * The classes of a dump, by address, and what an object is called after its class. Instances may come before their
 * class, so names are only asked for when all lines were read. One thread at a time.
 */
#ifndef HEAPLINE_HEAP_CLASSES_HPP
#define HEAPLINE_HEAP_CLASSES_HPP

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "vocabulary.hpp"

namespace heapline {

struct Class {
    uint32_t name, real_name; /* words; real_name: of a singleton class, the class that it stands before */
    uint64_t superclass;
    bool transparent; /* a singleton class or an included module: instances are of what comes after it */
    Place definition; /* where it was defined; file 0: unknown */
};

class Classes {
  public:
    void add(uint64_t address, const Class &one) {
        classes_.emplace(address, one);
    }

    /* Its own line comes before. */
    void define(uint64_t address, const Place &place) {
        auto found = classes_.find(address);
        if (found != classes_.end()) found->second.definition = place;
    }

    /* nullptr: no class is there. */
    const Class *find(uint64_t address) const {
        auto found = classes_.find(address);
        return found == classes_.end() ? nullptr : &found->second;
    }

    static const uint64_t ELSEWHERE = UINT64_MAX; /* as an address: a class that the dump does not have */

    /* The name of the group of an object: its class, or in parentheses what it is where it has none (address 0). */
    std::string label(uint32_t kind, uint64_t class_address, const Vocabulary &vocabulary) const;

    /* Where the class is defined that such an object has; file 0: unknown. */
    Place definition(uint32_t kind, uint64_t class_address, const Vocabulary &vocabulary) const;

    /* How many of the classes with names are, by address and name, also among `others`, and how many there are. */
    std::pair<size_t, size_t> common(const Vocabulary &vocabulary, const Classes &others,
                                     const Vocabulary &others_vocabulary) const;

    /* Has the class pointer of such an object another meaning than its class? */
    static bool classless(const std::string &type) {
        return type == "IMEMO" || type == "ICLASS" || type == "NODE" || type == "BLOCK" || type == "PIECE";
    }

  private:
    /* The class of instances whose class pointer this is; nullptr: none. `address` becomes its own. */
    const Class *class_of_instances(uint64_t &address) const;
    std::string class_name(uint64_t address, const Vocabulary &vocabulary) const;

    std::unordered_map<uint64_t, Class> classes_;
};

} // namespace heapline

#endif
