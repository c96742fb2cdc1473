/* SPDX-License-Identifier: MIT */
/*
 * What copies of this process find where live blocks are kept: Native.leaks searches for lost ones (leak_scan.h),
 * Native.blocks lists those of some sites (block_list.h). A copy is made with the GVL, so that Ruby's objects are whole
 * in it; its work is waited for without.
 */
#include "bindings.h"

#include <errno.h>
#include <ruby/thread.h>

#include "../heapline_core/heapline_core.h"

static VALUE not_enabled_error;

static struct {
    int (*start)(int, uint64_t, int, void **);
    int (*wait)(void *);
    int (*blocks_start)(int, const uint32_t *, size_t, void **);
    int (*blocks_wait)(void *);
} core;

/* The core may have been loaded after this extension. */
static void find_functions(void) {
    rbhl_check_enabled();
    if (core.start) return;
    rbhl_core_function("heapline_leaks_wait", &core.wait);
    rbhl_core_function("heapline_blocks_start", &core.blocks_start);
    rbhl_core_function("heapline_blocks_wait", &core.blocks_wait);
    rbhl_core_function("heapline_leaks_start", &core.start);
}

struct wait {
    int (*wait)(void *);
    void *handle;
    int failed;
};

static void *wait_without_gvl(void *argument) {
    struct wait *wait = argument;
    wait->failed = wait->wait(wait->handle);
    return NULL;
}

/* `failed`: what the start returned. */
static VALUE wait_for(int failed, struct wait wait, const char *problem) {
    if (failed == -ENODATA)
        rb_raise(not_enabled_error, "blocks are not kept in this process: start it with HEAPLINE=blocks, or with "
                                    "`heapline leaks …`");
    if (failed) rb_syserr_fail(-failed, "the process could not be copied");
    rb_thread_call_without_gvl(wait_without_gvl, &wait, NULL, NULL);
    if (wait.failed) rb_syserr_fail(-wait.failed, problem);
    return Qnil;
}

/* Native.leaks(fd, since, reachable) -> nil: a full GC, then a report as JSON to the descriptor: of the blocks born in
 * generation `since` or later; reachable: with those that are not lost. Raises NotEnabled, also where blocks are not
 * kept, and SystemCallError. */
static VALUE rbhl_leaks(VALUE self, VALUE fd, VALUE since, VALUE reachable) {
    const int number = NUM2INT(fd);
    const uint64_t generation = NUM2ULL(since);
    find_functions();
    struct wait wait = {core.wait, NULL, 0};
    const int failed = core.start(number, generation, RTEST(reachable), &wait.handle);
    return wait_for(failed, wait, "the search for lost blocks failed");
}

/* Native.blocks(fd, sites) -> nil: the live blocks of the sites with these numbers (Array) to the descriptor: of each
 * address, bytes, generation and thread as words of 8 bytes. Raises as `leaks` does. */
static VALUE rbhl_blocks(VALUE self, VALUE fd, VALUE sites) {
    const int number = NUM2INT(fd);
    VALUE memory;
    Check_Type(sites, T_ARRAY);
    find_functions();
    struct wait wait = {core.blocks_wait, NULL, 0};
    const long count = RARRAY_LEN(sites);
    uint32_t *numbers = ALLOCV_N(uint32_t, memory, count + 1);
    for (long i = 0; i < count; i++) numbers[i] = NUM2UINT(RARRAY_AREF(sites, i));
    const int failed = core.blocks_start(number, numbers, (size_t)count, &wait.handle);
    wait_for(failed, wait, "the live blocks could not be listed");
    ALLOCV_END(memory);
    return Qnil;
}

void rbhl_define_leaks(VALUE native, VALUE not_enabled) {
    not_enabled_error = not_enabled; /* registered by rbhl_define_core */
    rb_define_singleton_method(native, "leaks", rbhl_leaks, 3);
    rb_define_singleton_method(native, "blocks", rbhl_blocks, 2);
}
