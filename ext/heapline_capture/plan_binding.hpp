/* SPDX-License-Identifier: MIT */
#ifndef HEAPLINE_CAPTURE_PLAN_BINDING_HPP
#define HEAPLINE_CAPTURE_PLAN_BINDING_HPP

#include <ruby.h>

namespace heapline {
namespace capture {

void define_plan(VALUE native);

} // namespace capture
} // namespace heapline

#endif
