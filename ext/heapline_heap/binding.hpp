/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native::HeapDump. By rule B2 (raising.hpp) what Ruby objects are made of is owned by the HeapDump
 * (`scratch`) or lies still in the index.
 */
#ifndef HEAPLINE_HEAP_BINDING_HPP
#define HEAPLINE_HEAP_BINDING_HPP

#include <memory>
#include <string>
#include <vector>

#include "code.hpp"
#include "comparison.hpp"
#include "computing.hpp"
#include "dump.hpp"
#include "raising.hpp"
#include "source.hpp"

namespace heapline {

/* What belongs to one HeapDump. */
struct Owner {
    std::unique_ptr<Dump> dump;
    Busy work;

    /* Results on their way to Ruby. */
    struct {
        std::vector<uint32_t> nodes;
        std::vector<std::pair<uint32_t, uint32_t>> edges; /* from, to */
        std::vector<std::pair<std::string, Figures>> groups;
        std::vector<Duplicates::Value> values;
        std::vector<std::string> labels;
        std::vector<Place> places;
        std::vector<Code> code;
        std::unique_ptr<Comparison> comparison;
        std::string text;
    } scratch;
};

/* The dump of a HeapDump that was read; raises where it was not, or not to this depth. */
Owner &owner_at(VALUE self, Dump::Depth depth);

void define_reading(VALUE dump); /* read, and what a survey tells */
void define_graph(VALUE dump);   /* objects, references, paths */
void define_holders(VALUE dump); /* dominators */
void define_code(VALUE dump);    /* compiled code */
void define_comparison(VALUE dump);

VALUE object_row(Owner &owner, uint32_t node);

} // namespace heapline

#endif
