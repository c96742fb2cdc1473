/* SPDX-License-Identifier: MIT */
/*
 * Figures by place, as the accounting has them: the innermost line of Ruby, and the library that allocated on its
 * behalf where it was not Ruby itself; by the way the thread and the tag. The frames of a place that are called again
 * further out count once.
 */
#ifndef HEAPLINE_CAPTURE_SITES_HPP
#define HEAPLINE_CAPTURE_SITES_HPP

#include <cstdint>
#include <vector>

#include "analysis.hpp"
#include "names.hpp"
#include "shown.hpp"

namespace heapline {
namespace capture {

struct Site {
    uint32_t ruby, leaf; /* frames: the innermost of Ruby and the innermost native one below it; 0: there is none */
    uint32_t thread, tag, klass;
    Sums sums;
};

/* One for each combination. */
std::vector<Site> sites(const Names &names, const Shown &shown, const std::vector<Analysis::Context> &contexts);

} // namespace capture
} // namespace heapline

#endif
