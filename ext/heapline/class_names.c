/* SPDX-License-Identifier: MIT */
#include "class_names.h"

#include <ruby/st.h>
#include <stdlib.h>
#include <string.h>

#include "vm_access.h"

enum { TYPES = 32, IMEMO_KINDS = 16, KIND_BYTES = 40 };

struct rbhl_class_names {
    st_table *classes; /* class => struct rbhl_class_name * */
    struct rbhl_class_name types[TYPES];
    struct rbhl_class_name imemos[IMEMO_KINDS];
    char imemo_texts[IMEMO_KINDS][KIND_BYTES];
    struct rbhl_class_name unknown;
};

static const char *const type_names[TYPES] = {
    [T_OBJECT] = "T_OBJECT", [T_CLASS] = "T_CLASS",     [T_MODULE] = "T_MODULE",     [T_FLOAT] = "T_FLOAT",
    [T_STRING] = "T_STRING", [T_REGEXP] = "T_REGEXP",   [T_ARRAY] = "T_ARRAY",       [T_HASH] = "T_HASH",
    [T_STRUCT] = "T_STRUCT", [T_BIGNUM] = "T_BIGNUM",   [T_FILE] = "T_FILE",         [T_DATA] = "T_DATA",
    [T_MATCH] = "T_MATCH",   [T_COMPLEX] = "T_COMPLEX", [T_RATIONAL] = "T_RATIONAL", [T_SYMBOL] = "T_SYMBOL",
    [T_IMEMO] = "T_IMEMO",   [T_NODE] = "T_NODE",       [T_ICLASS] = "T_ICLASS",
};

static void name_kinds(struct rbhl_class_names *names) {
    for (int type = 0; type < TYPES; type++) {
        const char *text = type_names[type] ? type_names[type] : "T_UNKNOWN";
        names->types[type] = (struct rbhl_class_name){text, strlen(text), 1, 0};
    }
    names->unknown = (struct rbhl_class_name){"(unnamed class)", 15, 0, 0};
}

/* ---- classes ---- */

static VALUE named_ancestor(VALUE class, VALUE *name) {
    while (class && !RB_TYPE_P(*name = rb_mod_name(class), T_STRING)) class = rb_class_superclass(class);
    return class;
}

static struct rbhl_class_name *name_class(VALUE class) {
    VALUE name = Qnil;
    const VALUE named = named_ancestor(class, &name);
    if (named == Qnil || !RB_TYPE_P(name, T_STRING)) return NULL;
    const size_t room = (size_t)RSTRING_LEN(name) + sizeof("#<Class < >");
    struct rbhl_class_name *made = malloc(sizeof(*made) + room);
    if (!made) return NULL;
    char *text = (char *)(made + 1);
    if (named == class) {
        memcpy(text, RSTRING_PTR(name), (size_t)RSTRING_LEN(name));
        *made = (struct rbhl_class_name){text, (size_t)RSTRING_LEN(name), 0, 0};
    } else {
        const int length = snprintf(text, room, "#<Class < %.*s>", (int)RSTRING_LEN(name), RSTRING_PTR(name));
        *made = (struct rbhl_class_name){text, (size_t)length, 0, 0};
    }
    return made;
}

static int page(void *start, void *end, size_t stride, void *data) {
    struct rbhl_class_names *names = data;
    for (char *slot = start; slot != end; slot += stride) {
        const VALUE object = (VALUE)slot;
        if (RB_BUILTIN_TYPE(object) != T_CLASS || rb_class_real(object) != object) continue;
        struct rbhl_class_name *name = name_class(object);
        if (name) st_insert(names->classes, object, (st_data_t)name);
    }
    return 0;
}

struct rbhl_class_names *rbhl_class_names_take(void) {
    struct rbhl_class_names *names = calloc(1, sizeof(*names));
    if (!names) return NULL;
    name_kinds(names);
    names->classes = st_init_numtable();
    rb_objspace_each_objects(page, names);
    return names;
}

/* ---- of an object ---- */

/* The VM knows no more kinds than there are objects of. */
static struct rbhl_class_name *imemo_name(struct rbhl_class_names *names, int kind) {
    struct rbhl_class_name *name = &names->imemos[kind];
    if (!name->text) {
        char *text = names->imemo_texts[kind];
        const int length = snprintf(text, KIND_BYTES, "imemo_%s", rb_imemo_name(kind));
        *name = (struct rbhl_class_name){text, (size_t)length < KIND_BYTES ? (size_t)length : KIND_BYTES - 1, 1, 0};
    }
    return name;
}

struct rbhl_class_name *rbhl_class_name_of(struct rbhl_class_names *names, VALUE object) {
    const enum ruby_value_type type = RB_BUILTIN_TYPE(object);
    st_data_t name;
    if (type == T_IMEMO && rb_imemo_name) return imemo_name(names, rbhl_vm_imemo_kind(object));
    const VALUE class = type == T_IMEMO || type == T_NODE || type == T_ICLASS ? 0 : RBASIC_CLASS(object);
    if (!class) return &names->types[type];
    return st_lookup(names->classes, rb_class_real(class), &name) ? (struct rbhl_class_name *)name : &names->unknown;
}
