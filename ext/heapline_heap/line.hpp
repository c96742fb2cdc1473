/* SPDX-License-Identifier: MIT */
/*
 * One line of a heap dump. The keys are those of ObjectSpace.dump_all in Ruby 3.1 to 4.0, and of heapline's own lines;
 * others are passed over. simdjson's DOM parser checks each line whole and picks the fastest code for the processor
 * when the program runs (its on-demand parser picks it when it is compiled); nothing recurses, whatever a line nests.
 */
#ifndef HEAPLINE_HEAP_LINE_HPP
#define HEAPLINE_HEAP_LINE_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heapline {

/* What a line says. Texts are valid until the next line is parsed; empty or 0: the line does not say. */
struct Line {
    enum class Sort { object, root, free_slot, shape, names, definition, header, end, note, other };
    enum Flag : uint8_t { embedded = 1, shared = 2, frozen = 4, interned = 8, singleton = 16, has_length = 32 };

    Sort sort;
    uint8_t flags;
    bool has_generation;
    uint32_t line, lineno; /* lineno, and path: of Sort definition */
    uint64_t address, class_address, superclass;
    uint64_t memsize, slot_size, length, generation, pid, version;
    std::string_view type, detail, name, real_class_name, file, method, value, encoding, root, ruby, time, path;
    std::vector<uint64_t> references;
    std::vector<std::pair<uint64_t, std::string_view>> edge_names; /* of Sort names */
};

/* One for each thread. */
class LineParser {
  public:
    static const size_t PADDING = 64; /* bytes that must be readable behind a line */

    LineParser();
    ~LineParser();

    /* Returns whether the line is sound; `line` is complete only
     * then. */
    bool parse(const char *text, size_t length, Line &line);

  private:
    struct Json;

    void repair(const char *text, size_t length);

    std::unique_ptr<Json> json_;
    std::string repaired_;
};

} // namespace heapline

#endif
