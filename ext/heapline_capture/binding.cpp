/* SPDX-License-Identifier: MIT */
#include <ruby.h>

extern "C" {
RUBY_FUNC_EXPORTED void Init_capture(void);
}

void Init_capture(void) {
    rb_require("heapline/errors");
}
