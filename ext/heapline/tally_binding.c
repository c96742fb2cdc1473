/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native::Tally and its orders: what tally.h adds up, as Top::Tally uses it. Readings are added by
 * Native.tally_flight (flight_binding.c). An order is of one reading: it raises once the next one has begun.
 */
#include "bindings.h"

#include <ruby/encoding.h>
#include <stdlib.h>
#include <string.h>

#include "site_figures.h"
#include "tally_binding.h"

static VALUE order_class;

/* ---- the tally ---- */

static void free_tally(void *data) {
    hl_tally_destroy(data);
    free(data);
}

static size_t size_of_tally(const void *data) {
    return sizeof(struct hl_tally) + hl_tally_size(data);
}

static const rb_data_type_t tally_type = {
    .wrap_struct_name = "Heapline::Native::Tally",
    .function = {.dfree = free_tally, .dsize = size_of_tally},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static VALUE allocate_tally(VALUE class) {
    struct hl_tally *tally = calloc(1, sizeof(*tally));
    if (tally && hl_tally_create(tally)) {
        free(tally);
        tally = NULL;
    }
    if (!tally) rb_raise(rb_eNoMemError, "no memory for a tally");
    return TypedData_Wrap_Struct(class, &tally_type, tally);
}

struct hl_tally *rbhl_tally_of(VALUE object) {
    struct hl_tally *tally;
    TypedData_Get_Struct(object, struct hl_tally, &tally_type, tally);
    return tally;
}

static void check(const struct hl_tally *tally) {
    if (tally->failed) rb_raise(rb_eNoMemError, "no memory for all lines");
}

/* begin(ids): a reading begins. ids: of processes (see Native.tally_flight) that did nothing since the last one. */
static VALUE rbhl_tally_begin(VALUE self, VALUE ids) {
    struct hl_tally *tally = rbhl_tally_of(self);
    VALUE memory;
    Check_Type(ids, T_ARRAY);
    const long count = RARRAY_LEN(ids);
    uint64_t *same = rb_alloc_tmp_buffer2(&memory, count + 1, sizeof(*same));
    for (long i = 0; i < count; i++) same[i] = NUM2ULL(RARRAY_AREF(ids, i));
    hl_tally_begin(tally, same, (size_t)count);
    rb_free_tmp_buffer(&memory);
    return self;
}

static VALUE text_of(const struct hl_tally *tally, uint32_t text) {
    size_t length;
    const char *bytes = hl_tally_bytes(tally, text, &length);
    return text ? rb_enc_interned_str(bytes, (long)length, rb_utf8_encoding()) : Qnil;
}

static uint32_t intern(struct hl_tally *tally, VALUE text) {
    if (NIL_P(text)) return 0;
    StringValue(text);
    const uint32_t number = hl_tally_intern(tally, RSTRING_PTR(text), (size_t)RSTRING_LEN(text));
    RB_GC_GUARD(text);
    return number;
}

static int is_ascii(const struct hl_tally *tally, uint32_t text) {
    size_t length;
    const char *bytes = hl_tally_bytes(tally, text, &length);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)bytes[i] >= 0x80) return 0;
    return 1;
}

/* What only Ruby knows of new places: their gems. */
static void name_gems(struct hl_tally *tally) {
    for (; tally->named_places < tally->place_count; tally->named_places++) {
        const struct hl_tally_place *place = &tally->places[tally->named_places];
        const uint32_t owner = hl_tally_owner(place);
        if (!owner || tally->texts[owner].has_gem) continue;
        VALUE gem = rb_yield_values(2, UINT2NUM(place->kind), owner == HL_TALLY_VM ? Qnil : text_of(tally, owner));
        const uint32_t number = intern(tally, gem);
        tally->texts[owner].gem = number & 0x7fffffffu;
        tally->texts[owner].has_gem = 1;
    }
}

/* And what a text that is not ASCII is in lower case. */
static void fold_texts(struct hl_tally *tally) {
    for (; tally->folded_texts < tally->text_count; tally->folded_texts++) {
        const uint32_t text = tally->folded_texts;
        if (is_ascii(tally, text)) continue;
        const uint32_t folded = intern(tally, rb_yield_values(2, Qnil, text_of(tally, text)));
        tally->texts[text].folded = folded;
    }
}

static VALUE figures_hash(const struct hl_tally_figures *figures, int told) {
    const struct hl_sum sum = {
        .count = figures->count, .growth_bytes = figures->growth_bytes, .retained_bytes = figures->retained_bytes};
    return rbhl_sum_hash(&sum, told);
}

/* end(baseline) { |kind, text| gem } -> Hash: the reading ends, and with baseline growth counts from here on; sums over
 * all places under the names of Accounting::Snapshot, and :base_live_bytes. The block is given each path (kind 1),
 * library (2; nil: the VM itself) and name (0) once and tells its gem; and with kind nil each text that is not ASCII,
 * and tells what it is in lower case. */
static VALUE rbhl_tally_end(VALUE self, VALUE baseline) {
    struct hl_tally *tally = rbhl_tally_of(self);
    rb_need_block();
    check(tally);
    hl_tally_end(tally, RTEST(baseline));
    name_gems(tally);
    fold_texts(tally);
    check(tally);
    const struct hl_tally_figures total = hl_tally_total(tally);
    VALUE hash = figures_hash(&total, RBHL_TALLIED_TOTALS);
    rbhl_put(hash, "base_live_bytes", LL2NUM(total.base_live));
    return hash;
}

/* before -> String: what rates of later readings are measured against. */
static VALUE rbhl_tally_before(VALUE self) {
    const struct hl_tally *tally = rbhl_tally_of(self);
    VALUE string = rb_str_new(NULL, (long)(tally->now_count * sizeof(struct hl_tally_before)));
    hl_tally_before(tally, (struct hl_tally_before *)RSTRING_PTR(string));
    return rb_str_freeze(string);
}

/* forget_baseline: nothing is measured against the watcher's baseline any more. */
static VALUE rbhl_tally_forget_baseline(VALUE self) {
    hl_tally_forget_baseline(rbhl_tally_of(self));
    return self;
}

/* ---- orders ---- */

/* Rows that a screen shows, and some pages more: as many are held at a time. */
enum { HELD = 500 };

struct order {
    VALUE tally, before, pattern;
    struct hl_tally_view view;
    struct hl_tally_group *groups; /* those from `first` on, in order */
    uint32_t count, first, held;
    uint32_t reading;
};

static void mark_order(void *data) {
    const struct order *order = data;
    rb_gc_mark(order->tally);
    rb_gc_mark(order->before);
    rb_gc_mark(order->pattern);
}

static void free_order(void *data) {
    free(((struct order *)data)->groups);
    free(data);
}

static size_t size_of_order(const void *data) {
    return sizeof(struct order) + ((const struct order *)data)->held * sizeof(struct hl_tally_group);
}

static const rb_data_type_t order_type = {
    .wrap_struct_name = "Heapline::Native::TallyOrder",
    .function = {.dmark = mark_order, .dfree = free_order, .dsize = size_of_order},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static enum hl_tally_by by_of(VALUE symbol) {
    static const char *const names[] = {"location", "gem", "file", "library", "tag", "overview"};
    return (enum hl_tally_by)rbhl_place_of(symbol, names, 6, "group");
}

static enum hl_tally_figure figure_of(VALUE symbol) {
    static const char *const names[] = {"growth", "baseline_growth", "live",      "change",
                                        "rate",   "blocks",          "temporary", "life"};
    return (enum hl_tally_figure)rbhl_place_of(symbol, names, 8, "figure");
}

/* [by, name], or nil */
static void look_within(struct hl_tally *tally, VALUE within, struct hl_tally_view *view) {
    if (NIL_P(within)) return;
    Check_Type(within, T_ARRAY);
    view->is_within = 1;
    view->within = by_of(rb_ary_entry(within, 0));
    if (hl_tally_has_lines(view->within)) rb_raise(rb_eArgError, "a line has no lines");
    view->within_text = intern(tally, rb_ary_entry(within, 1));
}

static void prepare(struct order *order, struct hl_tally *tally, VALUE self, VALUE before, VALUE pattern) {
    order->tally = self;
    order->before = order->pattern = Qnil;
    order->reading = tally->readings;
    if (!NIL_P(before)) {
        order->before = before = rb_str_new_frozen(StringValue(before));
        order->view.before = (const struct hl_tally_before *)RSTRING_PTR(before);
        order->view.before_count = (uint32_t)((size_t)RSTRING_LEN(before) / sizeof(struct hl_tally_before));
    }
    if (!NIL_P(pattern)) {
        order->pattern = pattern = rb_str_new_frozen(StringValue(pattern));
        order->view.pattern = RSTRING_PTR(pattern);
        order->view.pattern_length = (size_t)RSTRING_LEN(pattern);
    }
}

static struct hl_tally_group *groups_of(struct order *order, struct hl_tally *tally) {
    struct hl_tally_group *groups = hl_tally_groups(tally, &order->view, &order->count);
    if (!groups) rb_raise(rb_eNoMemError, "no memory for rows");
    return groups;
}

/* Hold the groups from place `from` up to `to`, and some more: most often those of the first screens. */
static void sort(struct order *order, struct hl_tally *tally, uint64_t from, uint64_t to) {
    if (order->groups && from >= order->first && to <= (uint64_t)order->first + order->held) return;
    struct hl_tally_group *groups = groups_of(order, tally);
    const uint32_t first = to <= HELD ? 0 : from < order->count ? (uint32_t)from : order->count;
    const uint32_t rest = order->count - first;
    const uint64_t wanted = to - first > HELD ? to - first : HELD;
    const uint32_t held = wanted < rest ? (uint32_t)wanted : rest;
    hl_tally_sort(tally, &order->view, groups, order->count, first + held);
    struct hl_tally_group *kept = realloc(order->groups, (held + 1) * sizeof(*kept));
    if (!kept) rb_raise(rb_eNoMemError, "no memory for rows");
    memcpy(kept, groups + first, held * sizeof(*kept));
    order->groups = kept;
    order->first = first;
    order->held = held;
}

/* order(by, within, figure, before, pattern, baseline) -> TallyOrder: groups by :location, :gem, :file, :library, :tag
 * or :overview, the largest figure first (:growth, :baseline_growth, :live, :change, :rate, :blocks, :temporary,
 * :life). within: [by, name] or nil; before: of an earlier reading, or nil; pattern: in lower case, or nil: what a
 * row's names contain; baseline: is growth counted from the watcher's? */
static VALUE rbhl_tally_order(VALUE self, VALUE by, VALUE within, VALUE figure, VALUE before, VALUE pattern,
                              VALUE baseline) {
    struct hl_tally *tally = rbhl_tally_of(self);
    struct order *order;
    struct hl_tally_view view = {.by = by_of(by), .figure = figure_of(figure), .has_baseline = RTEST(baseline)};
    look_within(tally, within, &view);
    VALUE object = TypedData_Make_Struct(order_class, struct order, &order_type, order);
    order->view = view;
    prepare(order, tally, self, before, pattern);
    sort(order, tally, 0, 0);
    return object;
}

/* The order, as long as its reading is the newest. */
static struct order *order_of(VALUE self, struct hl_tally **tally) {
    struct order *order;
    TypedData_Get_Struct(self, struct order, &order_type, order);
    *tally = rbhl_tally_of(order->tally);
    if ((*tally)->readings != order->reading) rb_raise(rb_eRuntimeError, "these rows are of an earlier reading");
    return order;
}

/* size -> how many rows there are. */
static VALUE rbhl_order_size(VALUE self) {
    struct order *order;
    TypedData_Get_Struct(self, struct order, &order_type, order);
    return UINT2NUM(order->count);
}

static void put_place(VALUE values, const struct hl_tally *tally, const struct hl_tally_group *group) {
    const struct hl_tally_place *place = &tally->places[group->largest];
    const int special = place->kind == HL_KIND_SPECIAL;
    rb_ary_push(values, UINT2NUM(place->kind));
    rb_ary_push(values, text_of(tally, place->path));
    rb_ary_push(values, UINT2NUM(special ? 0 : place->line));
    rb_ary_push(values, text_of(tally, place->label));
    rb_ary_push(values, group->no_library ? Qnil : text_of(tally, place->library));
    rb_ary_push(values, ULL2NUM(place->offset));
    rb_ary_push(values, UINT2NUM(place->symbol_offset));
    rb_ary_push(values, place->is_fixed ? UINT2NUM(place->line) : Qnil);
}

/* Those that rates are told of. */
static VALUE figures_before(const struct hl_tally_before *before) {
    VALUE hash = rb_hash_new();
    rbhl_put(hash, "live_bytes", ULL2NUM(before->live_bytes));
    rbhl_put(hash, "allocations", ULL2NUM(before->allocations));
    rbhl_put(hash, "bytes_allocated", ULL2NUM(before->bytes_allocated));
    rbhl_put(hash, "frees", ULL2NUM(before->frees));
    rbhl_put(hash, "temporary", ULL2NUM(before->temporary));
    return hash;
}

static VALUE row_values(const struct hl_tally *tally, const struct order *order, const struct hl_tally_row *row) {
    const struct hl_tally_group *group = row->group;
    VALUE values = rb_ary_new();
    rb_ary_push(values, hl_tally_has_lines(order->view.by) ? Qnil : text_of(tally, group->number));
    rb_ary_push(values, group->mixed_tags ? Qnil : text_of(tally, group->tag));
    put_place(values, tally, group);
    rb_ary_push(values, figures_hash(&row->figures, RBHL_TALLIED));
    rb_ary_push(values, figures_before(&row->before));
    rb_ary_push(values, LL2NUM(row->figures.base_live));
    return values;
}

/* rows(from, count) -> Array of Array: name (nil of a line), tag, kind, path, line, label, library, offset,
 * symbol_offset, number of a site with a fixed one; figures (Hash), those of before, live bytes at the watcher's
 * baseline. */
static VALUE rbhl_order_rows(VALUE self, VALUE first, VALUE number) {
    struct hl_tally *tally;
    VALUE memory, result = rb_ary_new();
    struct order *order = order_of(self, &tally);
    const uint64_t from = NUM2UINT(first), wanted = NUM2UINT(number);
    if (from >= order->count || !wanted) return result;
    sort(order, tally, from, wanted < order->count - from ? from + wanted : order->count);
    const uint64_t end = (uint64_t)order->first + order->held;
    if (from >= end) return result;
    const uint32_t count = (uint32_t)(wanted < end - from ? wanted : end - from);
    struct hl_tally_row *rows = rb_alloc_tmp_buffer2(&memory, count, sizeof(*rows));
    memset(rows, 0, count * sizeof(*rows));
    for (uint32_t i = 0; i < count; i++) rows[i].group = &order->groups[from - order->first + i];
    if (hl_tally_rows(tally, &order->view, rows, count)) rb_raise(rb_eNoMemError, "no memory for rows");
    for (uint32_t i = 0; i < count; i++) rb_ary_push(result, row_values(tally, order, &rows[i]));
    rb_free_tmp_buffer(&memory);
    return result;
}

/* place(name) -> where the row of that name (nil: of what has none) stands, or nil. */
static VALUE rbhl_order_place(VALUE self, VALUE name) {
    struct hl_tally *tally;
    struct order *order = order_of(self, &tally);
    if (NIL_P(name)) name = rb_str_new(NULL, 0);
    StringValue(name);
    const struct hl_tally_group *groups = groups_of(order, tally);
    const int64_t place =
        hl_tally_find(tally, &order->view, groups, order->count, RSTRING_PTR(name), (size_t)RSTRING_LEN(name));
    RB_GC_GUARD(name);
    return place < 0 ? Qnil : LL2NUM(place);
}

void rbhl_define_tally(VALUE native) {
    VALUE class = rb_define_class_under(native, "Tally", rb_cObject);
    rb_define_alloc_func(class, allocate_tally);
    rb_define_method(class, "begin", rbhl_tally_begin, 1);
    rb_define_method(class, "end", rbhl_tally_end, 1);
    rb_define_method(class, "before", rbhl_tally_before, 0);
    rb_define_method(class, "forget_baseline", rbhl_tally_forget_baseline, 0);
    rb_define_method(class, "order", rbhl_tally_order, 6);
    order_class = rb_define_class_under(native, "TallyOrder", rb_cObject);
    rb_gc_register_mark_object(order_class);
    rb_undef_alloc_func(order_class);
    rb_define_method(order_class, "size", rbhl_order_size, 0);
    rb_define_method(order_class, "rows", rbhl_order_rows, 2);
    rb_define_method(order_class, "place", rbhl_order_place, 1);
}
