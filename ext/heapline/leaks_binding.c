/* SPDX-License-Identifier: MIT */
/*
 * Native.leaks: the search for lost blocks in this process (leak_scan.h). The copy of the process is made with the GVL,
 * so that Ruby's objects are whole in it; its work is waited for without.
 */
#include "native.h"

#include <errno.h>
#include <ruby/thread.h>

static VALUE not_enabled_error;

static struct {
    int (*start)(int, uint64_t, int, void **);
    int (*wait)(void *);
} core;

struct wait {
    void *scan;
    int failed;
};

static void *wait_without_gvl(void *argument) {
    struct wait *wait = argument;
    wait->failed = core.wait(wait->scan);
    return NULL;
}

/* Native.leaks(fd, since, reachable) -> nil: a full GC, then a report as JSON to the descriptor: of the blocks born in
 * generation `since` or later; reachable: with those that are not lost. Raises NotEnabled, also where blocks are not
 * kept, and SystemCallError. */
static VALUE rbhl_leaks(VALUE self, VALUE fd, VALUE since, VALUE reachable) {
    const int number = NUM2INT(fd);
    const uint64_t generation = NUM2ULL(since);
    struct wait wait = {NULL, 0};
    rbhl_check_enabled();
    const int failed = core.start(number, generation, RTEST(reachable), &wait.scan);
    if (failed == -ENODATA)
        rb_raise(not_enabled_error, "blocks are not kept in this process: start it with HEAPLINE=blocks, or with "
                                    "`heapline leaks …`");
    if (failed) rb_syserr_fail(-failed, "the process could not be copied");
    rb_thread_call_without_gvl(wait_without_gvl, &wait, NULL, NULL);
    if (wait.failed) rb_syserr_fail(-wait.failed, "the search for lost blocks failed");
    return Qnil;
}

void rbhl_define_leaks(VALUE native, VALUE not_enabled) {
    not_enabled_error = not_enabled; /* registered by rbhl_define_core */
    rbhl_core_function("heapline_leaks_start", &core.start);
    rbhl_core_function("heapline_leaks_wait", &core.wait);
    rb_define_singleton_method(native, "leaks", rbhl_leaks, 3);
}
