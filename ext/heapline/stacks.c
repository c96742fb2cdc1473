/* SPDX-License-Identifier: MIT */
#include "stacks.h"

#include <ruby.h>
#include <ruby/st.h>
#include <string.h>

#include "json_writer.h"
#include "vm_access.h"

enum { CLASSES = 64 };

struct held {
    VALUE class;
    unsigned long count;
};

struct stacks {
    struct rbhl_json json;
    unsigned long lines;
    VALUE object;
    struct held held[CLASSES]; /* the classes that were met first */
    int classes;
    st_table *seen; /* a stack may refer to an object many times */
};

/* ---- what it holds ---- */

static void hold(VALUE object, void *data) {
    struct stacks *stacks = data;
    const VALUE class = RB_SPECIAL_CONST_P(object) || RB_TYPE_P(object, T_IMEMO) ? 0 : RBASIC_CLASS(object);
    int i = 0;
    if (!class || RB_TYPE_P(object, T_NODE) || (rb_objspace_internal_object_p && rb_objspace_internal_object_p(object)))
        return;
    if (st_insert(stacks->seen, object, 1)) return;
    const VALUE real = rb_class_real(class);
    while (i < stacks->classes && stacks->held[i].class != real) i++;
    if (i == CLASSES) return;
    if (i == stacks->classes) stacks->held[stacks->classes++] = (struct held){real, 0};
    stacks->held[i].count++;
}

static void write_held(struct stacks *stacks) {
    stacks->classes = 0;
    stacks->seen = st_init_numtable();
    if (rb_objspace_reachable_objects_from) rb_objspace_reachable_objects_from(stacks->object, hold, stacks);
    st_free_table(stacks->seen);
    rbhl_json_open(&stacks->json, "holds", '[');
    for (int i = 0; i < stacks->classes; i++) {
        const VALUE name = rb_mod_name(stacks->held[i].class);
        rbhl_json_open(&stacks->json, NULL, '{');
        if (RB_TYPE_P(name, T_STRING))
            rbhl_json_text(&stacks->json, "class", RSTRING_PTR(name), (size_t)RSTRING_LEN(name));
        else
            rbhl_json_text(&stacks->json, "class", "(anonymous class)", 17);
        rbhl_json_number(&stacks->json, "count", stacks->held[i].count);
        rbhl_json_close(&stacks->json, '}');
    }
    rbhl_json_close(&stacks->json, ']');
}

/* ---- where it is ---- */

static void write_text(struct stacks *stacks, const char *key, VALUE text) {
    if (RB_TYPE_P(text, T_STRING)) rbhl_json_text(&stacks->json, key, RSTRING_PTR(text), (size_t)RSTRING_LEN(text));
}

static VALUE write_backtrace(VALUE argument) {
    struct stacks *stacks = (struct stacks *)argument;
    const VALUE lines = rbhl_vm_ask(stacks->object, "backtrace");
    /* This thread is where it was, in Thread#backtrace. */
    for (long i = stacks->object == rb_thread_current(); RB_TYPE_P(lines, T_ARRAY) && i < RARRAY_LEN(lines); i++)
        write_text(stacks, NULL, RARRAY_AREF(lines, i));
    return Qnil;
}

/* ---- all of them ---- */

static VALUE write_one(VALUE argument) {
    struct stacks *stacks = (struct stacks *)argument;
    const int is_thread = rbhl_vm_is_thread(stacks->object);
    rbhl_json_text(&stacks->json, "type", is_thread ? "THREAD" : "FIBER", is_thread ? 6 : 5);
    rbhl_json_address(&stacks->json, "address", stacks->object);
    write_text(stacks, "label", rbhl_vm_ask(stacks->object, "to_s"));
    return Qnil;
}

static void write_line(struct stacks *stacks) {
    int raised;
    rbhl_json_open(&stacks->json, NULL, '{');
    rb_protect(write_one, (VALUE)stacks, &raised);
    rbhl_json_open(&stacks->json, "backtrace", '[');
    rb_protect(write_backtrace, (VALUE)stacks, &raised);
    rbhl_json_close(&stacks->json, ']');
    write_held(stacks);
    rbhl_json_line_end(&stacks->json);
    rb_set_errinfo(Qnil);
    stacks->lines++;
}

/* A fiber that its thread runs now is where the thread is. */
static int is_wanted(VALUE object) {
    if (rbhl_vm_is_fiber(object)) return rbhl_vm_ask(object, "alive?") == Qtrue && !rbhl_vm_fiber_runs(object);
    return rbhl_vm_is_thread(object) && rbhl_vm_ask(object, "alive?") == Qtrue;
}

static int page(void *start, void *end, size_t stride, void *data) {
    struct stacks *stacks = data;
    for (char *slot = start; slot != end; slot += stride) {
        stacks->object = (VALUE)slot;
        if (is_wanted(stacks->object)) write_line(stacks);
    }
    return 0;
}

unsigned long rbhl_stacks_write(FILE *out) {
    struct stacks stacks = {.json = {out, 0}};
    rb_objspace_each_objects(page, &stacks);
    return stacks.lines;
}
