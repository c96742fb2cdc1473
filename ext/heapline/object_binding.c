/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native's functions for Ruby objects: the core's hooks are started and stopped here from inside the process,
 * and here alone living objects are handed to Ruby.
 *
 * The table of functions is written once, before any other thread can see it. All functions are called with the GVL.
 */
#include "bindings.h"

#include <ruby/ractor.h>
#include <stdlib.h>

#include "../heapline_core/heapline_core.h"

/* Exported by every Ruby, declared in no public header: true for what must not be shown to Ruby. */
int rb_objspace_internal_object_p(VALUE object);

static VALUE not_enabled_error;

static struct {
    const char *(*start)(void);
    void (*stop)(void);
    int (*on)(void);
    void (*join)(uintptr_t);
    void (*settle)(void);
    uint64_t (*next_generation)(void);
    void (*each)(uint64_t, uint64_t, heapline_object_visitor *, void *);
} core;

/* When it is first asked for: the core may be loaded late. */
static void find_core(void) {
    if (rbhl_core_function("heapline_objects_start", &core.start) &&
        rbhl_core_function("heapline_objects_stop", &core.stop) &&
        rbhl_core_function("heapline_objects_join", &core.join) &&
        rbhl_core_function("heapline_objects_settle", &core.settle) &&
        rbhl_core_function("heapline_objects_next_generation", &core.next_generation) &&
        rbhl_core_function("heapline_objects_each", &core.each) && rbhl_core_function("heapline_objects_on", &core.on))
        return;
    core.on = NULL;
}

static int is_on(void) {
    if (!core.on) find_core();
    return core.on && core.on();
}

static void check_on(void) {
    rbhl_check_enabled();
    if (is_on()) return;
    rb_raise(not_enabled_error, "Ruby objects are not counted in this process: start it with `heapline --objects …`, "
                                "or call Heapline::Native.objects_start");
}

void rbhl_settle_objects(VALUE path_or_fd) {
    if (is_on() && rbhl_own_flight_p(path_or_fd)) core.settle();
}

static VALUE rbhl_objects_p(VALUE self) {
    (void)self;
    return is_on() ? Qtrue : Qfalse;
}

static VALUE ractor(const char *name) {
    return rb_funcall(rb_cRactor, rb_intern(name), 0);
}

static VALUE join(RB_BLOCK_CALL_FUNC_ARGLIST(one, unused)) {
    (void)unused;
    core.join(one);
    return Qnil;
}

/* Native.objects_start -> nil: account Ruby objects from now on, anew where that was stopped before. Raises NotEnabled,
 * and RuntimeError where this Ruby cannot be watched or this is not the main Ractor. */
static VALUE rbhl_objects_start(VALUE self) {
    (void)self;
    rbhl_check_enabled();
    if (is_on()) return Qnil;
    if (ractor("current") != ractor("main"))
        rb_raise(rb_eRuntimeError, "counting of Ruby objects can only be started in the main Ractor");
    const char *problem = core.start();
    if (problem) rb_raise(rb_eRuntimeError, "Ruby objects cannot be counted: %s", problem);
    VALUE klass = rb_cRactor;
    if (NUM2LONG(ractor("count")) > 1)
        rb_block_call(rb_path2class("ObjectSpace"), rb_intern("each_object"), 1, &klass, join, Qnil);
    return Qnil;
}

/* Native.objects_stop -> nil: the rows stay as they are. */
static VALUE rbhl_objects_stop(VALUE self) {
    (void)self;
    rbhl_check_enabled();
    if (is_on()) core.stop();
    return Qnil;
}

/* Native.next_generation -> Integer: the number of a generation of objects that begins now. */
static VALUE rbhl_next_generation(VALUE self) {
    (void)self;
    check_on();
    return ULL2NUM(core.next_generation());
}

/* ---- living objects ---- */

struct living {
    VALUE object;
    uint32_t site;
    uint64_t generation;
};

/* What the walk found; GC is off until they are in the array. */
struct walk {
    uint64_t from, to;
    struct living *found;
    size_t count, room;
    int shareable_only; /* other Ractors run: theirs are not to be touched */
    int failed;
    VALUE gc_was_off;
};

static int is_to_be_left_out(const struct walk *walk, VALUE object) {
    return rb_objspace_internal_object_p(object) || (walk->shareable_only && !rb_ractor_shareable_p(object));
}

static void found(void *context, uintptr_t object, uint32_t site, uint64_t generation) {
    struct walk *walk = context;
    if (walk->failed || is_to_be_left_out(walk, object)) return;
    if (walk->count == walk->room) {
        const size_t room = walk->room ? 2 * walk->room : 1024;
        struct living *more = realloc(walk->found, room * sizeof(*more));
        walk->failed = !more;
        if (!more) return;
        walk->found = more;
        walk->room = room;
    }
    walk->found[walk->count++] = (struct living){object, site, generation};
}

static VALUE walk_and_convert(VALUE argument) {
    struct walk *walk = (struct walk *)argument;
    core.each(walk->from, walk->to, found, walk);
    if (walk->failed) rb_memerror();
    VALUE array = rb_ary_new_capa((long)walk->count);
    for (size_t i = 0; i < walk->count; i++) {
        const struct living *one = &walk->found[i];
        rb_ary_push(array, rb_ary_new_from_args(3, one->object, UINT2NUM(one->site), ULL2NUM(one->generation)));
    }
    return array;
}

static VALUE end_walk(VALUE argument) {
    struct walk *walk = (struct walk *)argument;
    free(walk->found);
    if (walk->gc_was_off == Qfalse) rb_gc_enable();
    return Qnil;
}

/* Native.live_objects(from, to) -> Array of [object, number of its site, generation of its birth]: what lives and was
 * born in these generations. Hidden and internal objects are left out; with several Ractors, all that are not
 * shareable. Raises NotEnabled. */
static VALUE rbhl_live_objects(VALUE self, VALUE from, VALUE to) {
    struct walk walk = {.from = NUM2ULL(from), .to = NUM2ULL(to)};
    (void)self;
    check_on();
    walk.shareable_only = NUM2LONG(ractor("count")) > 1;
    walk.gc_was_off = rb_gc_disable(); /* which ends a sweep under way: what it would have freed is gone then */
    return rb_ensure(walk_and_convert, (VALUE)&walk, end_walk, (VALUE)&walk);
}

void rbhl_define_objects(VALUE native, VALUE not_enabled) {
    not_enabled_error = not_enabled; /* core_binding.c keeps it */
    rb_define_singleton_method(native, "objects?", rbhl_objects_p, 0);
    rb_define_singleton_method(native, "objects_start", rbhl_objects_start, 0);
    rb_define_singleton_method(native, "objects_stop", rbhl_objects_stop, 0);
    rb_define_singleton_method(native, "next_generation", rbhl_next_generation, 0);
    rb_define_singleton_method(native, "live_objects", rbhl_live_objects, 2);
}
