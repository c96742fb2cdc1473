/* SPDX-License-Identifier: MIT */
/* The corpus as a Ruby extension, and the cases that need Ruby. */
#include <ruby.h>
#include <ruby/st.h>

#include "corpus.h"

static void lose_data(void *unused) {
    (void)unused;
}

static const rb_data_type_t forgetful = {"Corpus::Forgetful", {NULL, lose_data, NULL}, NULL, NULL, RUBY_TYPED_FREE_IMMEDIATELY};
static const rb_data_type_t careful = {"Corpus::Careful", {NULL, RUBY_DEFAULT_FREE, NULL}, NULL, NULL, RUBY_TYPED_FREE_IMMEDIATELY};

/* An object that does not free what it has. */
static VALUE ruby_lost_by_a_free_function(VALUE self) {
    TypedData_Wrap_Struct(rb_cObject, &forgetful, ruby_xmalloc(401));
    return Qnil;
}

static VALUE ruby_lost_by_xmalloc(VALUE self) {
    char *volatile block = ruby_xmalloc(402);
    (void)block;
    return Qnil;
}

static VALUE ruby_lost_by_a_raise(VALUE self) {
    char *volatile copy = ruby_xmalloc(403);
    rb_raise(rb_eArgError, "on purpose");
    ruby_xfree(copy);
    return Qnil;
}

static VALUE ruby_lost_table(VALUE self) {
    st_table *table = st_init_numtable_with_size(100);
    st_insert(table, 1, 2);
    return Qnil;
}

static VALUE ruby_held_by_an_object(VALUE self) {
    return TypedData_Wrap_Struct(rb_cObject, &careful, ruby_xmalloc(411));
}

static VALUE ruby_held_by_a_fiber(VALUE self) {
    void *volatile block = ruby_xmalloc(412);
    rb_fiber_yield(0, NULL);
    ruby_xfree(block);
    return Qnil;
}

static VALUE ruby_held_below(VALUE self) {
    void *volatile block = ruby_xmalloc(413);
    rb_yield(Qnil);
    ruby_xfree(block);
    return Qnil;
}

static VALUE ruby_freed_with_its_object(VALUE self) {
    TypedData_Wrap_Struct(rb_cObject, &careful, ruby_xmalloc(414));
    return Qnil;
}

static VALUE run(VALUE self, VALUE name) {
    return corpus_run(StringValueCStr(name)) ? Qtrue : Qfalse;
}

void Init_leak_corpus(void) {
    VALUE module = rb_define_module("LeakCorpus");
    char *volatile once = ruby_xmalloc(499); /* lost, but once */
    rb_define_module_function(module, "run", run, 1);
    (void)once;
#define METHOD(name) rb_define_module_function(module, #name, name, 0)
    METHOD(ruby_lost_by_a_free_function);
    METHOD(ruby_lost_by_xmalloc);
    METHOD(ruby_lost_by_a_raise);
    METHOD(ruby_lost_table);
    METHOD(ruby_held_by_an_object);
    METHOD(ruby_held_by_a_fiber);
    METHOD(ruby_held_below);
    METHOD(ruby_freed_with_its_object);
}
