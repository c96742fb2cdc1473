/* SPDX-License-Identifier: MIT */
/* What the user is told; the message is whole. */
#ifndef HEAPLINE_HEAP_FAILURE_HPP
#define HEAPLINE_HEAP_FAILURE_HPP

#include <stdexcept>

namespace heapline {

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace heapline

#endif
