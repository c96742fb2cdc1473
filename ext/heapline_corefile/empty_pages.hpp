/* SPDX-License-Identifier: MIT */
/*
 * Pages of Ruby's object heap that the VM keeps empty (since Ruby 3.4). What objects left in them is no reference.
 *
 * E1  Such a page begins with the address of its description, which leads back to it, has no slots, and is a block as
 *     large as the descriptions of pages that have objects. Where a description says what is learned from those.
 * One thread at a time.
 */
#ifndef HEAPLINE_COREFILE_EMPTY_PAGES_HPP
#define HEAPLINE_COREFILE_EMPTY_PAGES_HPP

#include <cstdint>
#include <vector>

#include "../heapline_heap/job.hpp"
#include "image.hpp"
#include "ruby_heap.hpp"

namespace heapline {
namespace corefile {

/* Where they begin, by address. While the blocks of the heap are known. */
std::vector<uint64_t> empty_pages(Image &image, const RubyHeap &heap, const Job &job);

} // namespace corefile
} // namespace heapline

#endif
