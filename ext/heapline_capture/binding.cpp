/* SPDX-License-Identifier: MIT */
#include <ruby.h>

#include "drain_binding.hpp"
#include "plan_binding.hpp"

extern "C" {
RUBY_FUNC_EXPORTED void Init_capture(void);
}

void Init_capture(void) {
    rb_require("heapline/errors");
    VALUE heapline = rb_define_module("Heapline"), native = rb_define_module_under(heapline, "Native");
    VALUE error = rb_const_get(heapline, rb_intern("Error"));
    rb_gc_register_mark_object(error);
    heapline::capture::define_plan(native);
    heapline::capture::define_drain(native, error);
}
