/* SPDX-License-Identifier: MIT */
#include "plan_binding.hpp"

#include <ruby.h>

extern "C" {
RUBY_FUNC_EXPORTED void Init_capture(void);
}

void Init_capture(void) {
    rb_require("heapline/errors");
    VALUE native = rb_define_module_under(rb_define_module("Heapline"), "Native");
    heapline::capture::define_plan(native);
}
