/* SPDX-License-Identifier: MIT */
/*
 * Which births lived as long as was asked for: a pass of its own before the one that counts, since a birth does not
 * know. A bit a birth. What is live at the end lived until then, at least.
 */
#ifndef HEAPLINE_CAPTURE_LIFESPANS_HPP
#define HEAPLINE_CAPTURE_LIFESPANS_HPP

#include "analysis.hpp"

namespace heapline {
namespace capture {

/* Bits by the number of the birth (changes are births too), from 0. Throws Cancelled. */
Column<uint64_t> suited_births(Reader &reader, const Query &query, const Job &job);

} // namespace capture
} // namespace heapline

#endif
