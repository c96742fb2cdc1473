/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native::GrowthStore: what growth_store.h keeps of a growth log, for Ruby. The store belongs to its object;
 * the GVL is held throughout, so no two threads are in it.
 */
#include "bindings.h"

#include <math.h>
#include <ruby/encoding.h>

#include "growth_store.h"

struct owner {
    struct hl_growth_store store;
    int64_t *pids;
    int ready;
};

static void owner_free(void *argument) {
    struct owner *owner = argument;
    if (owner->ready) hl_growth_store_release(&owner->store);
    xfree(owner->pids);
    xfree(owner);
}

static size_t owner_size(const void *argument) {
    const struct owner *owner = argument;
    return sizeof(*owner) + owner->store.names.bytes + owner->store.series_count * sizeof(struct hl_series) +
           owner->store.window_rooms * sizeof(struct hl_window);
}

static const rb_data_type_t owner_type = {
    .wrap_struct_name = "Heapline::Native::GrowthStore",
    .function = {.dfree = owner_free, .dsize = owner_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static VALUE allocate(VALUE self) {
    struct owner *owner;
    return TypedData_Make_Struct(self, struct owner, &owner_type, owner);
}

static struct owner *owner_of(VALUE self) {
    struct owner *owner = rb_check_typeddata(self, &owner_type);
    if (!owner->ready) rb_raise(rb_eArgError, "the store was never set up");
    return owner;
}

static void choose_key(struct hl_growth_store *store, ID by) {
    if (by == rb_intern("gem"))
        store->by = HL_GEM;
    else if (by == rb_intern("library"))
        store->by = HL_LIBRARY;
    else if (by == rb_intern("tag"))
        store->by = HL_TAG;
    else if (by == rb_intern("file"))
        store->by_file = 1;
    else if (by != rb_intern("site"))
        rb_raise(rb_eArgError, "by :site, :file, :gem, :library or :tag");
}

static void choose_pids(struct owner *owner, VALUE pids) {
    long count = RARRAY_LEN(pids);
    owner->pids = ALLOC_N(int64_t, count ? count : 1);
    for (long i = 0; i < count; i++) owner->pids[i] = NUM2LL(rb_ary_entry(pids, i));
    owner->store.pids = owner->pids;
    owner->store.pid_count = (uint32_t)count;
}

/* GrowthStore.new(by, limit, since_ms, pids): by is :site, :file, :gem, :library or :tag; limit: the most series that
 * are kept; since_ms: lines before it are passed over, or nil; pids: only these, where the Array is not empty. */
static VALUE initialize(VALUE self, VALUE by, VALUE limit, VALUE since_ms, VALUE pids) {
    struct owner *owner = rb_check_typeddata(self, &owner_type);
    Check_Type(by, T_SYMBOL);
    Check_Type(pids, T_ARRAY);
    uint32_t series = NUM2UINT(limit);
    double since = NIL_P(since_ms) ? -INFINITY : NUM2DBL(since_ms);
    if (owner->ready) rb_raise(rb_eArgError, "the store is set up already");
    if (series < 4) rb_raise(rb_eArgError, "at least 4 series");
    if (hl_growth_store_init(&owner->store, series)) rb_memerror();
    owner->ready = 1;
    owner->store.since_ms = since;
    choose_key(&owner->store, SYM2ID(by));
    choose_pids(owner, pids);
    return self;
}

/* feed(lines) -> self: whole lines; the last needs no line end. */
static VALUE feed(VALUE self, VALUE lines) {
    struct owner *owner = owner_of(self);
    StringValue(lines);
    if (hl_growth_store_feed(&owner->store, RSTRING_PTR(lines), (size_t)RSTRING_LEN(lines))) rb_memerror();
    RB_GC_GUARD(lines);
    return self;
}

/* Bytes that are no UTF-8 become \xHH, as in what heapline prints. (rb_str_scrub would ask the block that series are
 * given to.) */
static VALUE valid(const struct hl_string *string) {
    rb_encoding *utf8 = rb_utf8_encoding();
    const VALUE text = rb_enc_str_new("", 0, utf8);
    for (const char *at = string->bytes, *end = at + string->length; at < end;) {
        const int length = rb_enc_precise_mbclen(at, end, utf8);
        if (MBCLEN_CHARFOUND_P(length)) {
            rb_str_cat(text, at, MBCLEN_CHARFOUND_LEN(length));
            at += MBCLEN_CHARFOUND_LEN(length);
        } else {
            rb_str_catf(text, "\\x%02X", (unsigned)(unsigned char)*at++);
        }
    }
    return text;
}

/* nil for number 0: the log does not say. */
static VALUE name(const struct hl_growth_store *store, uint32_t number) {
    const struct hl_string *string = &store->names.strings[number];
    if (!number) return Qnil;
    const VALUE text = rb_enc_str_new(string->bytes, string->length, rb_utf8_encoding());
    return rb_enc_str_coderange(text) == ENC_CODERANGE_BROKEN ? valid(string) : text;
}

static VALUE real(double value) {
    return isnan(value) ? Qnil : DBL2NUM(value);
}

/* counts -> Hash of what became of the lines. */
static VALUE counts(VALUE self) {
    const struct hl_growth_counts *counts = &owner_of(self)->store.counts;
    VALUE hash = rb_hash_new();
    rbhl_put(hash, "lines", ULL2NUM(counts->lines));
    rbhl_put(hash, "taken", ULL2NUM(counts->taken));
    rbhl_put(hash, "damaged", ULL2NUM(counts->damaged));
    rbhl_put(hash, "foreign", ULL2NUM(counts->foreign));
    rbhl_put(hash, "other_version", ULL2NUM(counts->other_version));
    rbhl_put(hash, "repeated", ULL2NUM(counts->repeated));
    rbhl_put(hash, "filtered", ULL2NUM(counts->filtered));
    rbhl_put(hash, "clock_jumps", ULL2NUM(counts->clock_jumps));
    rbhl_put(hash, "processes_refused", ULL2NUM(counts->processes_refused));
    rbhl_put(hash, "series_given_up", ULL2NUM(counts->series_given_up));
    rbhl_put(hash, "strings_refused", ULL2NUM(counts->strings_refused));
    return hash;
}

static VALUE process_hash(const struct hl_growth_store *store, const struct hl_growth_process *process) {
    VALUE hash = rb_hash_new();
    rbhl_put(hash, "host", name(store, process->host));
    rbhl_put(hash, "pid", LL2NUM(process->pid));
    rbhl_put(hash, "parent_pid", LL2NUM(process->parent_pid));
    rbhl_put(hash, "started_at", name(store, process->started_at));
    rbhl_put(hash, "command", name(store, process->command));
    rbhl_put(hash, "ruby", name(store, process->ruby));
    rbhl_put(hash, "state", name(store, process->state));
    rbhl_put(hash, "first_ms", DBL2NUM(process->first_ms));
    rbhl_put(hash, "last_ms", DBL2NUM(process->last_ms));
    rbhl_put(hash, "every_s", real(process->every_s));
    rbhl_put(hash, "dropped_lines", DBL2NUM(process->dropped_lines));
    rbhl_put(hash, "lines", ULL2NUM(process->lines));
    rbhl_put(hash, "gaps", ULL2NUM(process->gaps));
    return hash;
}

/* processes -> Array of Hashes, in the order in which they were first seen. */
static VALUE processes(VALUE self) {
    const struct hl_growth_store *store = &owner_of(self)->store;
    VALUE all = rb_ary_new();
    for (uint32_t i = 0; i < store->process_count; i++) rb_ary_push(all, process_hash(store, &store->processes[i]));
    return all;
}

static VALUE window_array(const struct hl_window *window) {
    return rb_ary_new_from_args(6, DBL2NUM(window->low_ms), DBL2NUM(window->low), DBL2NUM(window->last_ms),
                                DBL2NUM(window->last), DBL2NUM(window->allocated), ULL2NUM(window->generation));
}

static void put_names(VALUE hash, const struct hl_growth_store *store, const struct hl_series *series) {
    static const char *const keys[HL_NAMES] = {"location", "label", "gem", "library", "tag", "kind"};
    for (int i = 0; i < HL_NAMES; i++) rbhl_put(hash, keys[i], name(store, series->names[i]));
}

/* sites -> Array of [Hash of names, Array of numbers]: of each site (or group) its series, one a process. */
static VALUE sites(VALUE self) {
    const struct hl_growth_store *store = &owner_of(self)->store;
    VALUE all = rb_ary_new(), known = rb_hash_new();
    for (uint32_t i = 0; i < store->series_count; i++) {
        const struct hl_series *series = &store->series[i];
        VALUE key = rb_str_new((const char *)series->names, sizeof(series->names));
        VALUE numbers = rb_hash_lookup2(known, key, Qnil);
        if (NIL_P(numbers)) {
            VALUE names = rb_hash_new();
            put_names(names, store, series);
            rb_hash_aset(known, key, numbers = rb_ary_new());
            rb_ary_push(all, rb_assoc_new(names, numbers));
        }
        rb_ary_push(numbers, UINT2NUM(i));
    }
    return all;
}

/* series(number) -> Hash. :windows holds, oldest first, [ms of the lowest live bytes, those bytes, ms of the last line,
 * live bytes then, bytes allocated until then, generation then]. */
static VALUE series(VALUE self, VALUE number) {
    const struct hl_growth_store *store = &owner_of(self)->store;
    const uint32_t index = NUM2UINT(number);
    if (index >= store->series_count) rb_raise(rb_eIndexError, "there is no such series");
    const struct hl_series *series = &store->series[index];
    VALUE hash = rb_hash_new(), windows = rb_ary_new_capa(series->count);
    rbhl_put(hash, "process", UINT2NUM(series->process));
    put_names(hash, store, series);
    if (store->by == HL_LOCATION && !store->by_file && !series->names[HL_LIBRARY])
        rbhl_put(hash, "library", name(store, series->caller));
    rbhl_put(hash, "temporary_share", real(series->temporary_share));
    rbhl_put(hash, "age_mean_generations", real(series->age_mean_generations));
    rbhl_put(hash, "alloc_bytes_per_s", DBL2NUM(series->alloc_bytes_per_s));
    for (uint32_t i = 0; i < series->count; i++) rb_ary_push(windows, window_array(&series->windows[i]));
    rbhl_put(hash, "windows", windows);
    return hash;
}

void rbhl_define_growth(VALUE native) {
    VALUE store = rb_define_class_under(native, "GrowthStore", rb_cObject);
    rb_define_alloc_func(store, allocate);
    rb_define_method(store, "initialize", initialize, 4);
    rb_define_method(store, "feed", feed, 1);
    rb_define_method(store, "counts", counts, 0);
    rb_define_method(store, "processes", processes, 0);
    rb_define_method(store, "sites", sites, 0);
    rb_define_method(store, "series", series, 1);
}
