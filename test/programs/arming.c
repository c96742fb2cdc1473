/* SPDX-License-Identifier: MIT */
/* A Ruby extension that arms the allocator of failing.c: Arming.arm(n, k). */
#include <dlfcn.h>
#include <ruby.h>
#include <string.h>

static VALUE arm(VALUE self, VALUE n, VALUE k) {
    void (*definition)(long, long);
    void *symbol = dlsym(RTLD_DEFAULT, "failing_arm");
    if (!symbol) rb_raise(rb_eRuntimeError, "the failing allocator is not preloaded");
    memcpy(&definition, &symbol, sizeof(symbol));
    definition(NUM2LONG(n), NUM2LONG(k));
    return Qnil;
}

void Init_arming(void) {
    rb_define_module_function(rb_define_module("Arming"), "arm", arm, 2);
}
