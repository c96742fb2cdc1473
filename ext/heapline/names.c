/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <ruby.h>
#include <ruby/debug.h>
#include <ruby/st.h>
#include <string.h>

#include "json_writer.h"
#include "vm_access.h"

/* Of a large collection the first ones; the way to the others is named by the collection itself. */
enum { MOST_ELEMENTS = 100, MOST_KEYS = 1000, KEY_BYTES = 60, NAME_BYTES = 512 };

struct names {
    struct rbhl_json json;
    VALUE holder;    /* 0: the globals */
    int begun;       /* its line */
    int left;        /* of the keys */
    st_table *given; /* the objects that have a name in this line: the first one counts */
    unsigned long lines;
};

/* ---- one line ---- */

static void begin(struct names *names) {
    if (names->begun) return;
    names->begun = 1;
    rbhl_json_open(&names->json, NULL, '{');
    rbhl_json_text(&names->json, "type", "HEAPLINE_NAMES", 14);
    if (names->holder)
        rbhl_json_address(&names->json, "address", names->holder);
    else
        rbhl_json_text(&names->json, "root", "global_tbl", 10);
    rbhl_json_open(&names->json, "names", '{');
}

static void finish(struct names *names) {
    if (!names->begun) return;
    names->begun = 0;
    names->lines++;
    st_clear(names->given);
    rbhl_json_close(&names->json, '}');
    rbhl_json_line_end(&names->json);
}

static void add(struct names *names, VALUE value, const char *name, size_t length) {
    if (RB_SPECIAL_CONST_P(value) || st_insert(names->given, value, 1)) return;
    begin(names);
    rbhl_json_key_address(&names->json, value);
    rbhl_json_text(&names->json, NULL, name, length);
}

static void add_word(struct names *names, VALUE value, const char *name) {
    add(names, value, name, strlen(name));
}

__attribute__((format(printf, 3, 4))) static void add_format(struct names *names, VALUE value, const char *format,
                                                             ...) {
    char name[NAME_BYTES];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(name, sizeof(name), format, arguments);
    va_end(arguments);
    if (length > 0) add(names, value, name, (size_t)length < sizeof(name) ? (size_t)length : sizeof(name) - 1);
}

/* ---- instance variables and constants ---- */

static int variable(ID id, VALUE value, st_data_t data) {
    struct names *names = (struct names *)data;
    const char *name = RB_SPECIAL_CONST_P(value) ? NULL : rb_id2name(id);
    if (!name) return ST_CONTINUE;
    if (name[0] == '@')
        add_word(names, value, name);
    else if (strcmp(name, "locals") == 0 && rbhl_vm_is_thread(names->holder))
        add_word(names, value, "thread variables");
    return ST_CONTINUE;
}

static void constant(const struct rbhl_constant *constant, void *data) {
    const char *name = rb_id2name(constant->name);
    if (name) add_word(data, constant->value, name);
}

/* Is it by this constant that the class or module has its name? Others may refer to it, too. */
static int names_it(const struct rbhl_constant *constant, VALUE holder) {
    const VALUE whole = rb_mod_name(constant->value), space = holder == rb_cObject ? Qnil : rb_mod_name(holder);
    const char *name = rb_id2name(constant->name);
    if (!name || !RB_TYPE_P(whole, T_STRING) || (holder != rb_cObject && !RB_TYPE_P(space, T_STRING))) return 0;
    const size_t outer = RB_NIL_P(space) ? 0 : (size_t)RSTRING_LEN(space), all = (size_t)RSTRING_LEN(whole);
    const size_t begin = outer ? outer + 2 : 0, own = strlen(name);
    const char *text = RSTRING_PTR(whole);
    if (all != begin + own || memcmp(text + begin, name, own) != 0) return 0;
    return !outer || (memcmp(text, RSTRING_PTR(space), outer) == 0 && memcmp(text + outer, "::", 2) == 0);
}

/* Where a class was defined is where the constant that names it was given its value. */
static void definition(const struct rbhl_constant *constant, void *data) {
    struct names *names = data;
    const int is_module = RB_TYPE_P(constant->value, T_CLASS) || RB_TYPE_P(constant->value, T_MODULE);
    if (!is_module || !RB_TYPE_P(constant->file, T_STRING) || constant->line <= 0) return;
    if (!names_it(constant, names->holder)) return;
    rbhl_json_open(&names->json, NULL, '{');
    rbhl_json_text(&names->json, "type", "HEAPLINE_CLASS", 14);
    rbhl_json_address(&names->json, "address", constant->value);
    rbhl_json_text(&names->json, "path", RSTRING_PTR(constant->file), (size_t)RSTRING_LEN(constant->file));
    rbhl_json_number(&names->json, "lineno", (uint64_t)constant->line);
    rbhl_json_line_end(&names->json);
    names->lines++;
}

/* ---- collections ---- */

/* A key in a form that is short and needs no method of it. */
static void key_text(VALUE key, char *text) {
    const VALUE plain = RB_SYMBOL_P(key) ? rb_sym2str(key) : key;
    if (RB_FIXNUM_P(key)) {
        snprintf(text, KEY_BYTES + 16, "[%ld]", FIX2LONG(key));
    } else if (RB_TYPE_P(plain, T_STRING) && RSTRING_LEN(plain) <= KEY_BYTES) {
        const int quoted = plain == key;
        snprintf(text, KEY_BYTES + 16, quoted ? "[\"%.*s\"]" : "[:%.*s]", (int)RSTRING_LEN(plain), RSTRING_PTR(plain));
    } else {
        strcpy(text, "[]");
    }
}

static int element(VALUE key, VALUE value, VALUE data) {
    struct names *names = (struct names *)data;
    char text[KEY_BYTES + 16];
    add_word(names, key, "(key)");
    if (!RB_SPECIAL_CONST_P(value)) {
        key_text(key, text);
        add_word(names, value, text);
    }
    return --names->left > 0 ? ST_CONTINUE : ST_STOP;
}

static void array(struct names *names, VALUE object) {
    for (long i = 0; i < RARRAY_LEN(object) && i < MOST_ELEMENTS; i++)
        if (!RB_SPECIAL_CONST_P(RARRAY_AREF(object, i))) add_format(names, RARRAY_AREF(object, i), "[%ld]", i);
}

static VALUE members(VALUE object) {
    struct names *names = (struct names *)object;
    const VALUE symbols = rb_struct_members(names->holder);
    for (long i = 0; i < RARRAY_LEN(symbols); i++) {
        const VALUE value = rb_struct_aref(names->holder, LONG2FIX(i)), symbol = RARRAY_AREF(symbols, i);
        if (!RB_SPECIAL_CONST_P(value) && RB_SYMBOL_P(symbol))
            add_format(names, value, ".%s", rb_id2name(RB_SYM2ID(symbol)));
    }
    return Qnil;
}

/* ---- frames, threads, procs ---- */

static void local(const struct rbhl_scope *scope, ID id, VALUE value, void *data) {
    const char *name = id ? rb_id2name(id) : "self";
    const VALUE path = rb_profile_frame_path(scope->iseq);
    if (!name || !RB_TYPE_P(path, T_STRING)) return;
    const char *what = id ? "local " : "";
    const int length = (int)RSTRING_LEN(path);
    if (scope->line)
        add_format(data, value, "%s%s of %.*s:%u", what, name, length, RSTRING_PTR(path), scope->line);
    else
        add_format(data, value, "%s%s of %.*s", what, name, length, RSTRING_PTR(path));
}

struct running {
    VALUE fiber, thread;
};

static void find_thread(VALUE object, void *data) {
    struct running *running = data;
    if (rbhl_vm_is_thread(object) && rbhl_vm_runs_fiber(object, running->fiber)) running->thread = object;
}

/* The thread whose locals the holder has: a thread that began a fiber has them in the fiber that it is in. 0: none. */
static VALUE thread_of(VALUE holder) {
    struct running running = {holder, 0};
    if (rbhl_vm_is_thread(holder)) return holder;
    if (!rbhl_vm_is_fiber(holder) || !rbhl_vm_fiber_runs(holder)) return 0;
    if (rb_objspace_reachable_objects_from) rb_objspace_reachable_objects_from(holder, find_thread, &running);
    return running.thread;
}

static VALUE thread_locals(VALUE data) {
    struct names *names = (struct names *)data;
    const VALUE thread = thread_of(names->holder), keys = thread ? rbhl_vm_ask(thread, "keys") : Qnil;
    for (long i = 0; RB_TYPE_P(keys, T_ARRAY) && i < RARRAY_LEN(keys); i++) {
        const ID id = RB_SYM2ID(RARRAY_AREF(keys, i));
        add_format(names, rb_thread_local_aref(thread, id), "thread local %s", rb_id2name(id));
    }
    return Qnil;
}

static VALUE receiver(VALUE data) {
    struct names *names = (struct names *)data;
    add_word(names, rbhl_vm_ask(names->holder, "receiver"), "receiver");
    return Qnil;
}

static void data_object(struct names *names, VALUE object) {
    int raised;
    if (rbhl_vm_is_thread(object) || rbhl_vm_is_fiber(object)) {
        rb_protect(thread_locals, (VALUE)names, &raised);
        rbhl_vm_each_local(object, local, names);
    }
    if (rb_obj_is_proc(object)) add_word(names, rbhl_vm_self_of_proc(object), "self of the block");
    if (rb_obj_is_method(object)) rb_protect(receiver, (VALUE)names, &raised);
    rb_set_errinfo(Qnil);
}

/* ---- all objects ---- */

static void by_type(struct names *names, VALUE object) {
    int raised;
    switch (RB_BUILTIN_TYPE(object)) {
    case T_CLASS:
    case T_MODULE:
        rbhl_vm_each_constant(object, constant, names);
        break;
    case T_HASH:
        names->left = MOST_KEYS;
        if (RHASH_SIZE(object) > 0) rb_hash_foreach(object, element, (VALUE)names);
        break;
    case T_ARRAY:
        array(names, object);
        break;
    case T_STRUCT:
        rb_protect(members, (VALUE)names, &raised);
        rb_set_errinfo(Qnil);
        break;
    case T_DATA:
        data_object(names, object);
        break;
    default:
        break;
    }
}

static void names_of(struct names *names, VALUE object) {
    const enum ruby_value_type type = RB_BUILTIN_TYPE(object);
    if (type == T_NONE || type == T_ZOMBIE || type == T_MOVED || type == T_NODE || type == T_ICLASS) return;
    names->holder = object;
    if (type == T_IMEMO) {
        rbhl_vm_each_kept_local(object, local, names);
    } else if (RBASIC_CLASS(object) || type == T_HASH || type == T_ARRAY) {
        if (RBASIC_CLASS(object)) rb_ivar_foreach(object, variable, (st_data_t)names);
        by_type(names, object);
    }
    finish(names);
    if (type == T_CLASS || type == T_MODULE) rbhl_vm_each_constant(object, definition, names);
}

static int page(void *start, void *end, size_t stride, void *data) {
    for (char *slot = start; slot != end; slot += stride)
        if (RBASIC(slot)->flags) names_of(data, (VALUE)slot);
    return 0;
}

/* Asking for these opens the files that the command line names. */
static int is_plain(const char *name) {
    return strcmp(name, "$FILENAME") != 0 && strcmp(name, "$-i") != 0;
}

static void globals(struct names *names) {
    const VALUE all = rb_f_global_variables ? rb_f_global_variables() : Qnil;
    names->holder = 0;
    for (long i = 0; RB_TYPE_P(all, T_ARRAY) && i < RARRAY_LEN(all); i++) {
        const char *name = rb_id2name(RB_SYM2ID(RARRAY_AREF(all, i)));
        if (name && is_plain(name)) add_word(names, rb_gv_get(name), name);
    }
    finish(names);
}

unsigned long rbhl_names_write(FILE *out) {
    struct names names = {.json = {out, 0}, .given = st_init_numtable()};
    globals(&names);
    rb_objspace_each_objects(page, &names);
    return names.lines;
}
