/* SPDX-License-Identifier: MIT */
/*
 * Compiled code (instruction sequences), as far as any dump tells: Ruby marks the label of a piece of code, its base
 * label and then its path, one after the other, so these are strings that stand together among its references. The path
 * may be an array of the path and the absolute path. There are no lines.
 */
#ifndef HEAPLINE_HEAP_CODE_HPP
#define HEAPLINE_HEAP_CODE_HPP

#include <cstdint>
#include <vector>

#include "graph.hpp"
#include "job.hpp"
#include "vocabulary.hpp"

namespace heapline {

struct Code {
    uint32_t node, label, base_label, path; /* nodes; the last three NOBODY where the dump does not tell */
};

/* All code of a dump that was read with its references. */
std::vector<Code> find_code(const Graph &graph, const Vocabulary &vocabulary, const Job &job);

} // namespace heapline

#endif
