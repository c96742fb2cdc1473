/* SPDX-License-Identifier: MIT */
/*
 * A Ruby extension of C functions that call Ruby, are called by it, and allocate: for the stacks of `heapline record
 * --native`. Each allocation's size says which one it is.
 */
#include <ruby.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static ID back;
static size_t handled;

__attribute__((noinline)) static void grab(size_t size) {
    free(malloc(size));
}

static VALUE allocate(VALUE self, VALUE size) {
    grab(NUM2SIZET(size));
    return self;
}

/* Back into Ruby: self.back(argument). */
__attribute__((noinline)) static VALUE call_back(VALUE argument) {
    return rb_funcall(rb_path2class("Merging"), back, 1, argument);
}

static VALUE through_c(VALUE self, VALUE argument) {
    return call_back(argument);
}

static VALUE yield(VALUE self) {
    return rb_yield(Qnil);
}

/* A method in C that is called from C alone: between the two lies no Ruby frame. */
static VALUE through_two(VALUE self, VALUE size) {
    return rb_funcall(self, rb_intern("allocate"), 1, size);
}

/* ---- libc calls back ---- */

static int compare(const void *a, const void *b) {
    const long *x = a, *y = b;
    if (*x == 1 && *y == 2) call_back(LONG2FIX(*y));
    if (*x == 3 && *y == 4) grab(60041);
    return (*x > *y) - (*x < *y);
}

static VALUE sort(VALUE self) {
    long words[] = {1, 2, 3, 4};
    qsort(words, 4, sizeof(words[0]), compare);
    return self;
}

__attribute__((noinline)) static void recurse(long left) {
    if (left > 0)
        recurse(left - 1);
    else
        grab(60085);
    handled++; /* this is no tail call */
}

static VALUE recurse_in_c(VALUE self, VALUE depth) {
    recurse(NUM2LONG(depth));
    return self;
}

/* ---- jumps ---- */

static VALUE clean_up(VALUE size) {
    grab(NUM2SIZET(size));
    return Qnil;
}

static VALUE ensure(VALUE self, VALUE size) {
    return rb_ensure(rb_yield, Qnil, clean_up, size);
}

static VALUE protect(VALUE self, VALUE size) {
    int state;
    rb_protect(rb_yield, Qnil, &state);
    rb_set_errinfo(Qnil);
    grab(NUM2SIZET(size));
    return INT2FIX(state);
}

/* ---- without Ruby ---- */

static void *work(void *size) {
    grab((size_t)size);
    return NULL;
}

static VALUE thread(VALUE self, VALUE size) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, (void *)NUM2SIZET(size)) == 0) pthread_join(thread, NULL);
    return self;
}

static void handle(int signal) {
    (void)signal;
    grab(handled);
}

__attribute__((noinline)) static void interrupted(void) {
    raise(SIGUSR2);
}

static VALUE in_handler(VALUE self, VALUE size) {
    struct sigaction action = {.sa_handler = handle}, before;
    handled = NUM2SIZET(size);
    sigaction(SIGUSR2, &action, &before);
    interrupted();
    sigaction(SIGUSR2, &before, NULL);
    return self;
}

void Init_merging(void) {
    VALUE merging = rb_define_module("Merging");
    back = rb_intern("back");
    rb_define_singleton_method(merging, "allocate", allocate, 1);
    rb_define_singleton_method(merging, "through_c", through_c, 1);
    rb_define_singleton_method(merging, "through_two", through_two, 1);
    rb_define_singleton_method(merging, "yield", yield, 0);
    rb_define_singleton_method(merging, "sort", sort, 0);
    rb_define_singleton_method(merging, "recurse", recurse_in_c, 1);
    rb_define_singleton_method(merging, "ensure", ensure, 1);
    rb_define_singleton_method(merging, "protect", protect, 1);
    rb_define_singleton_method(merging, "thread", thread, 1);
    rb_define_singleton_method(merging, "in_handler", in_handler, 1);
    /* While it is loaded, also from Ruby. */
    grab(60087);
    rb_eval_string("Merging.allocate(60_089)");
}
