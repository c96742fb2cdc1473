/* SPDX-License-Identifier: MIT */
/* A Ruby extension that arms the allocator of failing.c: Arming.arm(n, k). Arming.limit(ms): the process is ended by
 * SIGPROF when it has used that much processor time. */
#include <dlfcn.h>
#include <ruby.h>
#include <string.h>
#include <sys/time.h>

static VALUE arm(VALUE self, VALUE n, VALUE k) {
    void (*definition)(long, long);
    void *symbol = dlsym(RTLD_DEFAULT, "failing_arm");
    if (!symbol) rb_raise(rb_eRuntimeError, "the failing allocator is not preloaded");
    memcpy(&definition, &symbol, sizeof(symbol));
    definition(NUM2LONG(n), NUM2LONG(k));
    return Qnil;
}

static VALUE limit(VALUE self, VALUE milliseconds) {
    const struct itimerval timer = {.it_value = {.tv_usec = 1000 * NUM2LONG(milliseconds)}};
    if (setitimer(ITIMER_PROF, &timer, NULL)) rb_sys_fail("setitimer");
    return Qnil;
}

void Init_arming(void) {
    rb_define_module_function(rb_define_module("Arming"), "arm", arm, 2);
    rb_define_module_function(rb_define_module("Arming"), "limit", limit, 1);
}
