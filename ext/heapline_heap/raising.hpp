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

/* Valid UTF-8: what is none becomes \xHH, as in what heapline prints. */
inline VALUE valid_text(const char *bytes, size_t size) {
    rb_encoding *utf8 = rb_utf8_encoding();
    VALUE whole = rb_enc_str_new(bytes, static_cast<long>(size), utf8);
    if (rb_enc_str_coderange(whole) != ENC_CODERANGE_BROKEN) return whole;
    VALUE valid = rb_enc_str_new("", 0, utf8);
    for (const char *at = bytes, *end = bytes + size; at < end;) {
        int length = rb_enc_precise_mbclen(at, end, utf8);
        if (MBCLEN_CHARFOUND_P(length)) {
            rb_str_cat(valid, at, MBCLEN_CHARFOUND_LEN(length));
            at += MBCLEN_CHARFOUND_LEN(length);
        } else {
            rb_str_catf(valid, "\\x%02X", static_cast<unsigned>(static_cast<unsigned char>(*at++)));
        }
    }
    return valid;
}

/* nil where it is empty */
inline VALUE text(const std::string &string) {
    return string.empty() ? Qnil : valid_text(string.data(), string.size());
}

} // namespace heapline

#endif
