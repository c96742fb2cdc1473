/* SPDX-License-Identifier: MIT */
/* The corpus as a Ruby extension, and the cases that need Ruby. */
#include <ruby.h>
#include <ruby/encoding.h>
#include <ruby/re.h>
#include <ruby/st.h>
#include <stdio.h>

#include "corpus.h"

static void lose_data(void *unused) {
    (void)unused;
}

static const rb_data_type_t forgetful = {
    "Corpus::Forgetful", {NULL, lose_data, NULL}, NULL, NULL, RUBY_TYPED_FREE_IMMEDIATELY};
static const rb_data_type_t careful = {
    "Corpus::Careful", {NULL, RUBY_DEFAULT_FREE, NULL}, NULL, NULL, RUBY_TYPED_FREE_IMMEDIATELY};

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

/* Where dropped arrays had their elements. */
static VALUE ruby_lost_after_many_arrays(VALUE self) {
    char *volatile block = malloc(1001);
    block = NULL;
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

/* A pool: the owner is lost, its page is still in the list of all pages. */
static VALUE ruby_lost_owner_of_a_pool(VALUE self) {
    static void **pages;
    void **page = ruby_xcalloc(1, 2300), ***owner = ruby_xmalloc(32);
    page[0] = pages;
    pages = page;
    owner[0] = page;
    return Qnil;
}

/* The allocator gives the freed block's address out again. */
static VALUE ruby_lost_where_a_freed_block_was(VALUE self) {
    static char *volatile stale;
    stale = ruby_xmalloc(127);
    ruby_xfree(stale);
    char *volatile block = ruby_xmalloc(127);
    block = NULL;
    return Qnil;
}

/* Called in fibers that end, that are dropped, and that an Enumerator made. */
static VALUE ruby_lost_by_ended_fibers(VALUE self) {
    void *volatile blocks[2] = {ruby_xmalloc(404), ruby_xmalloc(405)};
    rb_fiber_yield(0, NULL);
    (void)blocks;
    return Qnil;
}

static VALUE ruby_lost_by_dropped_fibers(VALUE self) {
    void *volatile block = ruby_xmalloc(406);
    rb_fiber_yield(0, NULL);
    ruby_xfree(block);
    return Qnil;
}

static VALUE ruby_lost_by_enumerators(VALUE self) {
    void *volatile block = ruby_xmalloc(407);
    rb_yield(Qnil);
    (void)block;
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

static VALUE ruby_held_by_a_thread(VALUE self) {
    void *volatile block = ruby_xmalloc(415);
    rb_yield(Qnil);
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

/* What the VM takes for itself when an extension asks it for something is nobody's loss. */
static VALUE ruby_held_by_the_vm(VALUE self) {
    static VALUE global;
    char name[40];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "corpus_name_%d", i);
        rb_intern(name);
        rb_str_intern(rb_sprintf("dynamic_%s", name));
        rb_define_singleton_method(self, name, ruby_held_by_the_vm, 0);
        rb_undef_method(rb_singleton_class(self), name);
        rb_ivar_set(self, rb_intern("@corpus"), rb_hash_new());
        snprintf(name, sizeof(name), "Corpus%d", i);
        const VALUE class = rb_define_class_under(self, name, rb_cObject);
        rb_ivar_set(class, rb_intern("@a"), rb_struct_new(rb_struct_define(NULL, "a", "b", NULL), Qnil, Qtrue));
        rb_ivar_set(rb_obj_alloc(class), rb_intern("@b"), rb_ary_new_capa(100));
        rb_define_alias(class, "an_alias", "inspect");
        rb_include_module(class, rb_mComparable);
        rb_const_get(self, rb_intern(name));
        snprintf(name, sizeof(name), "$corpus_%d", i);
        rb_gv_set(name, rb_reg_new_str(rb_str_new_cstr("a(b|c)*"), 0));
    }
    global = rb_enc_str_new_static("text", 4, rb_utf8_encoding());
    rb_gc_register_address(&global);
    rb_gc_register_mark_object(rb_str_new_cstr("kept"));
    rb_str_export_locale(rb_str_encode(rb_str_new_cstr("text"), rb_str_new_cstr("UTF-16LE"), 0, Qnil));
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
    METHOD(ruby_lost_after_many_arrays);
    METHOD(ruby_lost_by_a_raise);
    METHOD(ruby_lost_table);
    METHOD(ruby_lost_owner_of_a_pool);
    METHOD(ruby_lost_where_a_freed_block_was);
    METHOD(ruby_lost_by_ended_fibers);
    METHOD(ruby_lost_by_dropped_fibers);
    METHOD(ruby_lost_by_enumerators);
    METHOD(ruby_held_by_an_object);
    METHOD(ruby_held_by_a_fiber);
    METHOD(ruby_held_by_a_thread);
    METHOD(ruby_held_below);
    METHOD(ruby_freed_with_its_object);
    METHOD(ruby_held_by_the_vm);
}
