/* SPDX-License-Identifier: MIT */
#ifndef HEAPLINE_CAPTURE_DRAIN_BINDING_HPP
#define HEAPLINE_CAPTURE_DRAIN_BINDING_HPP

#include <ruby.h>

namespace heapline {
namespace capture {

/* Define Native::Drain. error: Heapline::Error. */
void define_drain(VALUE native, VALUE error);

} // namespace capture
} // namespace heapline

#endif
