/* SPDX-License-Identifier: MIT */
#include "code.h"

#include <ruby.h>
#include <ruby/debug.h>
#include <ruby/st.h>
#include <stdlib.h>
#include <string.h>

#include "births.h"
#include "json_writer.h"
#include "vm_access.h"

enum { DEEPEST = 256 };

struct list {
    VALUE *items;
    size_t count, room;
};

struct code {
    struct rbhl_json json;
    struct list found;  /* by the walk under way */
    struct list todo;   /* what methods lead to, and whose own references were not followed yet */
    st_table *reached;  /* entries, procs and code that a method leads to */
    st_table *names;    /* of code that is a method's own: the method, a String */
    VALUE class, entry; /* those that are asked */
    unsigned long lines;
};

/* Without memory the rest is not followed. */
static void push(struct list *list, VALUE object) {
    if (list->count == list->room) {
        const size_t room = list->room ? list->room * 2 : 1024;
        VALUE *items = realloc(list->items, room * sizeof(VALUE));
        if (!items) return;
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = object;
}

/* ---- what methods lead to: from the classes to their entries, to procs and code, to the code inside ---- */

static void find_entry(VALUE object, void *data) {
    struct code *code = data;
    if (rbhl_vm_is_method_entry(object)) push(&code->found, object);
}

static void find_code(VALUE object, void *data) {
    struct code *code = data;
    if (rbhl_vm_is_method_entry(object) || rbhl_vm_is_code(object) || rb_obj_is_proc(object))
        push(&code->found, object);
}

static void find_own_code(VALUE object, void *data) {
    struct code *code = data;
    if (rbhl_vm_is_code(object)) push(&code->found, object);
}

static void walk(struct code *code, VALUE from, void (*find)(VALUE, void *)) {
    code->found.count = 0;
    if (rb_objspace_reachable_objects_from) rb_objspace_reachable_objects_from(from, find, code);
}

static void reach(struct code *code, VALUE object) {
    if (!st_insert(code->reached, object, 1)) push(&code->todo, object);
}

/* "Shop#render", "Shop.open"; "render" where the class has no name that stays. The VM does not know a module's. */
static VALUE method_name(VALUE data) {
    const struct code *code = (const struct code *)data;
    const ID id = rbhl_vm_method_id(code->entry);
    const int is_module = RB_TYPE_P(code->class, T_MODULE);
    const VALUE owner = is_module ? rb_mod_name(code->class) : rb_profile_frame_classpath(code->entry);
    const int is_singleton = !is_module && rb_profile_frame_singleton_method_p(code->entry) == Qtrue;
    if (!rb_id2name(id)) return Qnil;
    if (!RB_TYPE_P(owner, T_STRING) || RSTRING_LEN(owner) == 0 || RSTRING_PTR(owner)[0] == '#') return rb_id2str(id);
    return rb_str_append(rb_str_cat_cstr(rb_str_dup(owner), is_singleton ? "." : "#"), rb_id2str(id));
}

static void enter(struct code *code, VALUE class, VALUE entry) {
    int raised;
    code->class = class;
    code->entry = entry;
    walk(code, entry, find_code);
    if (!code->found.count) return;
    reach(code, entry);
    const VALUE name = rb_protect(method_name, (VALUE)code, &raised);
    if (raised) rb_set_errinfo(Qnil);
    if (raised || !RB_TYPE_P(name, T_STRING)) return;
    /* What define_method made is a proc that has the code. */
    for (size_t i = 0; i < code->found.count; i++)
        if (rb_obj_is_proc(code->found.items[i]))
            rb_objspace_reachable_objects_from(code->found.items[i], find_own_code, code);
    for (size_t i = 0; i < code->found.count; i++)
        if (rbhl_vm_is_code(code->found.items[i])) st_insert(code->names, code->found.items[i], name);
}

static void enter_all(struct code *code, VALUE class) {
    walk(code, class, find_entry);
    struct list entries = code->found;
    code->found = (struct list){NULL, 0, 0};
    for (size_t i = 0; i < entries.count; i++) enter(code, class, entries.items[i]);
    free(code->found.items);
    code->found = entries;
}

static int page_of_classes(void *start, void *end, size_t stride, void *data) {
    for (char *slot = start; slot != end; slot += stride) {
        const VALUE object = (VALUE)slot;
        if (RB_TYPE_P(object, T_CLASS) || RB_TYPE_P(object, T_MODULE) || RB_TYPE_P(object, T_ICLASS))
            enter_all(data, object);
    }
    return 0;
}

static void follow(struct code *code) {
    while (code->todo.count) {
        walk(code, code->todo.items[--code->todo.count], find_code);
        while (code->found.count) reach(code, code->found.items[--code->found.count]);
    }
}

/* ---- the lines ---- */

static void text(struct code *code, const char *key, VALUE string) {
    if (RB_TYPE_P(string, T_STRING)) rbhl_json_text(&code->json, key, RSTRING_PTR(string), (size_t)RSTRING_LEN(string));
}

static void number(struct code *code, const char *key, VALUE value) {
    if (RB_FIXNUM_P(value) && FIX2LONG(value) >= 0) rbhl_json_number(&code->json, key, (uint64_t)FIX2LONG(value));
}

static int is_same(VALUE one, VALUE other) {
    return RB_TYPE_P(one, T_STRING) && RB_TYPE_P(other, T_STRING) && RSTRING_LEN(one) == RSTRING_LEN(other) &&
           memcmp(RSTRING_PTR(one), RSTRING_PTR(other), (size_t)RSTRING_LEN(one)) == 0;
}

/* The method around it, or what else has that base label (a class's body …), and the line where that begins. */
static void write_method(struct code *code, VALUE iseq) {
    const VALUE base = rb_profile_frame_base_label(iseq);
    st_data_t name = 0;
    VALUE outer = iseq;
    for (int i = 0; i < DEEPEST && !st_lookup(code->names, outer, &name); i++) {
        const VALUE parent = rbhl_vm_code_parent(outer);
        if (!parent || !is_same(rb_profile_frame_base_label(parent), base)) break;
        outer = parent;
    }
    text(code, "method", name ? (VALUE)name : base);
    number(code, "method_line", rb_profile_frame_first_lineno(outer));
}

static void write_birth(struct code *code, VALUE iseq) {
    struct rbhl_birth birth;
    if (!rbhl_birth_of_block(rbhl_vm_code_body(iseq), &birth)) return;
    rbhl_json_number(&code->json, "site", birth.site);
    rbhl_json_number(&code->json, "generation", birth.generation);
}

static void write_line(struct code *code, VALUE iseq) {
    rbhl_json_open(&code->json, NULL, '{');
    rbhl_json_text(&code->json, "type", "HEAPLINE_CODE", 13);
    rbhl_json_address(&code->json, "address", iseq);
    text(code, "path", rb_profile_frame_path(iseq));
    number(code, "line", rb_profile_frame_first_lineno(iseq));
    rbhl_json_number(&code->json, "column", rbhl_vm_code_column(iseq));
    text(code, "label", rb_profile_frame_label(iseq));
    write_method(code, iseq);
    rbhl_json_number(&code->json, "bytes", rb_obj_memsize_of ? rb_obj_memsize_of(iseq) : 0);
    rbhl_json_number(&code->json, "reached", st_lookup(code->reached, iseq, NULL) != 0);
    write_birth(code, iseq);
    rbhl_json_line_end(&code->json);
    code->lines++;
}

static int page_of_code(void *start, void *end, size_t stride, void *data) {
    for (char *slot = start; slot != end; slot += stride)
        if (rbhl_vm_is_code((VALUE)slot)) write_line(data, (VALUE)slot);
    return 0;
}

unsigned long rbhl_code_write(FILE *out) {
    struct code code = {.json = {out, 0}, .reached = st_init_numtable(), .names = st_init_numtable()};
    rb_objspace_each_objects(page_of_classes, &code);
    follow(&code);
    rb_objspace_each_objects(page_of_code, &code);
    return code.lines;
}
