/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native::Capture. By rule B2 (raising.hpp) what Ruby objects are made of is owned by the Capture: its
 * reader, its analysis, or the tree and the sites that were asked for last.
 */
#ifndef HEAPLINE_CAPTURE_BINDING_HPP
#define HEAPLINE_CAPTURE_BINDING_HPP

#include <memory>
#include <vector>

#include "../heapline_heap/computing.hpp"
#include "../heapline_heap/raising.hpp"
#include "analysis.hpp"
#include "cells.hpp"
#include "reader.hpp"
#include "shown.hpp"
#include "sites.hpp"
#include "tree.hpp"

namespace heapline {
namespace capture {

/* What belongs to one Capture. */
struct Owner {
    std::unique_ptr<Reader> reader;
    std::unique_ptr<Shown> shown;
    std::unique_ptr<Analysis> analysis;
    Query query; /* of the analysis */
    Busy work;

    /* Results on their way to Ruby. */
    std::unique_ptr<Tree> tree;
    std::vector<Site> sites;
    std::vector<Timeline::Span> spans;
    std::vector<uint32_t> rows;
    std::unique_ptr<Moments> moments;
    std::unique_ptr<Cells> cells;
    std::vector<unsigned> starts;
    std::string bytes;
};

/* Raise where it was not set up, or is being read. */
Owner &owner_of(VALUE self);
/* The same, and where it was not analysed. */
Owner &analysed(VALUE self);

/* Append to an Array, and return it: count and bytes; those of all sums, in the order of Recording::Sums. */
VALUE push(VALUE row, const Figures &figures);
VALUE push(VALUE row, const Sums &sums);

void define_about(VALUE capture);    /* what the capture says of itself */
void define_analysis(VALUE capture); /* analyse, and what one pass adds up */
void define_paths(VALUE capture);    /* sites, stacks, trees */
void define_cells(VALUE capture);    /* what a page recomputes from */

} // namespace capture
} // namespace heapline

#endif
