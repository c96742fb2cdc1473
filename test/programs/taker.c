/* SPDX-License-Identifier: MIT */
/*
 * A Ruby extension that allocates blocks of known sizes, so that a test can tell by the size where the block was asked
 * for: with the GVL, without it, at a pc never seen before, from native threads, through libc and through realloc.
 */
#include <pthread.h>
#include <ruby.h>
#include <ruby/thread.h>
#include <stdlib.h>
#include <string.h>

/* Taken and freed. */
static VALUE take(VALUE self, VALUE size) {
    void *block = malloc(NUM2SIZET(size));
    memset(block, 1, NUM2SIZET(size));
    free(block);
    return size;
}

/* Taken and kept. */
static VALUE take_and_keep(VALUE self, VALUE size) {
    void *block = malloc(NUM2SIZET(size));
    return ULL2NUM((uintptr_t)block);
}

static VALUE give_back(VALUE self, VALUE address) {
    free((void *)(uintptr_t)NUM2ULL(address));
    return Qnil;
}

static void *take_unlocked(void *size) {
    void *block = malloc(*(size_t *)size);
    free(block);
    return NULL;
}

static VALUE take_without_gvl(VALUE self, VALUE size) {
    size_t bytes = NUM2SIZET(size);
    rb_thread_call_without_gvl(take_unlocked, &bytes, NULL, NULL);
    return size;
}

/* strdup allocates in libc: a text of size - 1 characters. */
static VALUE duplicate(VALUE self, VALUE size) {
    char text[4096];
    size_t length = NUM2SIZET(size) - 1;
    memset(text, 'x', length);
    text[length] = 0;
    char *copy = strdup(text);
    free(copy);
    return size;
}

void *taker_native_thread(void *size) {
    void *block = malloc(*(size_t *)size);
    free(block);
    return NULL;
}

static VALUE take_in_native_thread(VALUE self, VALUE size) {
    size_t bytes = NUM2SIZET(size);
    pthread_t thread;
    if (pthread_create(&thread, NULL, taker_native_thread, &bytes)) rb_sys_fail("pthread_create");
    pthread_join(thread, NULL);
    return size;
}

void Init_taker(void) {
    rb_ext_ractor_safe(1);
    VALUE taker = rb_define_module("Taker");
    rb_define_module_function(taker, "take", take, 1);
    rb_define_module_function(taker, "keep", take_and_keep, 1);
    rb_define_module_function(taker, "give_back", give_back, 1);
    rb_define_module_function(taker, "unlocked", take_without_gvl, 1);
    rb_define_module_function(taker, "duplicate", duplicate, 1);
    rb_define_module_function(taker, "native", take_in_native_thread, 1);
}
