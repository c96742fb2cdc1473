/* SPDX-License-Identifier: MIT */
/*
 * heapline/native: what Ruby needs from C. Everything that reads a flight file and everything that reaches the
 * preloaded core is defined here on Heapline::Native; no other file of the gem is loaded by it but the errors.
 */
#include "bindings.h"

#include <ruby/ractor.h>

RUBY_FUNC_EXPORTED void Init_native(void) {
    rb_ext_ractor_safe(true); /* no state of its own: flight files, and the core's per-thread state */
    rb_require("heapline/errors");
    VALUE heapline = rb_define_module("Heapline");
    VALUE native = rb_define_module_under(heapline, "Native");
    rbhl_define_flight(native);
    rbhl_define_header(native, rb_const_get(heapline, rb_intern("FlightError")));
    rbhl_define_core(native, rb_const_get(heapline, rb_intern("NotEnabled")));
    rbhl_define_growth(native);
    rbhl_define_objects(native, rb_const_get(heapline, rb_intern("NotEnabled")));
    rbhl_define_twin(native);
    rbhl_define_heap_pages(native);
    rbhl_define_injector(native);
    rbhl_define_leaks(native, rb_const_get(heapline, rb_intern("NotEnabled")));
}
