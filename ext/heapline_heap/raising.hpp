/* SPDX-License-Identifier: MIT */
/*
 * Between C++ and Ruby. Two rules keep them apart:
 *
 * B1: no C++ exception reaches a frame of Ruby's: what may throw runs in `guarded`, which raises when all is unwound.
 * B2: no exception of Ruby's passes a frame that owns anything: while Ruby objects are made, what they are made of is
 *     owned by an object of Ruby's.
 */
#ifndef HEAPLINE_HEAP_RAISING_HPP
#define HEAPLINE_HEAP_RAISING_HPP

#include <ruby.h>
#include <ruby/encoding.h>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>

namespace heapline {

inline VALUE error_class; /* Heapline::Error */

/* Before anything else of here: finds error_class. Returns Heapline. */
inline VALUE begin_raising() {
    rb_require("heapline/errors");
    VALUE heapline = rb_define_module("Heapline");
    error_class = rb_const_get(heapline, rb_intern("Error"));
    rb_gc_register_mark_object(error_class);
    return heapline;
}

[[noreturn]] inline void raise_failure(const char *message) {
    rb_raise(error_class, "%s", message);
}

/* Runs what may throw; raises what it threw as an exception of Ruby's. It must own nothing when it calls Ruby. */
template <typename Body> void guarded(const Body &body) {
    char message[400] = "";
    bool no_memory = false;
    try {
        body();
    } catch (const std::bad_alloc &) {
        no_memory = true;
    } catch (const std::exception &error) {
        snprintf(message, sizeof(message), "%s", error.what()[0] ? error.what() : "unknown failure");
    }
    if (no_memory) rb_memerror();
    if (message[0]) raise_failure(message);
}

/* nil where it is empty */
inline VALUE text(const std::string &string) {
    return string.empty() ? Qnil : rb_enc_str_new(string.data(), static_cast<long>(string.size()), rb_utf8_encoding());
}

} // namespace heapline

#endif
