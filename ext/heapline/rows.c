/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native::Rows: the sites of a flight file as text, a row each, for formats that tell of a million. What a
 * row is made of, Ruby says: the columns, and what stands before each. Here is written what is plain: numbers, and
 * texts that a format has as they are. All other texts Ruby writes, once each. With the GVL; Ruby gets to run at each
 * yield.
 */
#include "rows.h"

#include <math.h>
#include <ruby/encoding.h>
#include <stdlib.h>
#include <string.h>

#include "bindings.h"
#include "flight_copy.h"
#include "site_groups.h"

/* As much is written before it is yielded. */
enum { CHUNK = 1 << 17 };

struct buffer {
    char *bytes;
    size_t length, room;
};

/* What Ruby wrote of a text. By where that lies in the copy, and what was asked of it. */
struct cell {
    const char *text;
    enum { AS_TEXT, AS_PATH_OF_GEM, AS_LIBRARY_OF_GEM } as;
    uint32_t length;
    size_t at; /* in `cells` */
};

enum column { LOCATION, PATH, LINE, LABEL, LIBRARY, GEM, SYMBOL, FUNCTION, KIND, TAG, PLACES, FIGURE = PLACES, MEAN };
static const char *const column_names[] = {"location", "path",   "lineno",   "label", "library",
                                           "gem",      "symbol", "function", "kind",  "tag"};

/* What stands before a column, and which it is. of, per: figures. */
struct part {
    VALUE before;
    enum column column;
    enum hl_figure of, per;
};

/* What a row looks like. */
struct shape {
    VALUE list; /* of parts */
    struct part *parts;
    long count;
    VALUE end, between, quote, none;
    unsigned char plain[256]; /* by byte: may it stand in a text, and at its ends? */
    VALUE names;              /* who writes what is not plain */
};
enum { INSIDE = 1, AT_END = 2 };

struct rows {
    struct hl_flight_copy copy;
    struct hl_flight_sums sums;
    uint32_t *numbers;
    uint32_t count;
    struct buffer out, cells;
    struct cell *table; /* open addressing; text NULL: free */
    size_t mask, known;
    struct shape shape;
    int in_use;
};

/* Of the file. */
static size_t memory_of(const struct rows *rows) {
    return rows->copy.bytes ? rows->copy.pages * HL_PAGE_SIZE + rows->sums.site_count * sizeof(*rows->sums.sites) : 0;
}

static void release(struct rows *rows) {
    rb_gc_adjust_memory_usage(-(ssize_t)memory_of(rows));
    hl_flight_sums_release(&rows->sums);
    hl_flight_copy_release(&rows->copy);
    free(rows->numbers);
    rows->numbers = NULL;
}

static void free_rows(void *data) {
    struct rows *rows = data;
    release(rows);
    xfree(rows->out.bytes);
    xfree(rows->cells.bytes);
    xfree(rows->table);
    xfree(rows->shape.parts);
    xfree(rows);
}

/* What Ruby gave stays where it is while rows are written. */
static void mark_rows(void *data) {
    const struct rows *rows = data;
    const struct shape *shape = &rows->shape;
    const VALUE given[] = {shape->end, shape->between, shape->quote, shape->none, shape->names};
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) rb_gc_mark(given[i]);
    for (long i = 0; i < shape->count; i++) rb_gc_mark(shape->parts[i].before);
}

static size_t size_of_rows(const void *data) {
    const struct rows *rows = data;
    return sizeof(*rows) + memory_of(rows);
}

static const rb_data_type_t rows_type = {
    .wrap_struct_name = "Heapline::Native::Rows",
    .function = {.dmark = mark_rows, .dfree = free_rows, .dsize = size_of_rows},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};
static VALUE rows_class;

VALUE rbhl_rows(struct hl_flight_copy *copy, struct hl_flight_sums *sums, uint32_t **numbers, uint32_t count) {
    struct rows *rows;
    VALUE object = TypedData_Make_Struct(rows_class, struct rows, &rows_type, rows);
    rows->copy = *copy;
    rows->sums = *sums;
    rows->sums.copy = &rows->copy;
    rows->numbers = *numbers;
    rows->count = count;
    memset(copy, 0, sizeof(*copy));
    memset(sums, 0, sizeof(*sums));
    *numbers = NULL;
    rb_gc_adjust_memory_usage((ssize_t)memory_of(rows));
    return object;
}

static struct rows *whole_rows(VALUE object) {
    struct rows *rows;
    TypedData_Get_Struct(object, struct rows, &rows_type, rows);
    if (!rows->copy.bytes) rb_raise(rb_eRuntimeError, "they have been released");
    return rows;
}

static struct rows *take_rows(VALUE object) {
    struct rows *rows = whole_rows(object);
    if (rows->in_use) rb_raise(rb_eRuntimeError, "they are being written");
    rows->in_use = 1;
    return rows;
}

const struct hl_flight_sums *rbhl_rows_take(VALUE object, const uint32_t **numbers, uint32_t *count) {
    const struct rows *rows = take_rows(object);
    *numbers = rows->numbers;
    *count = rows->count;
    return &rows->sums;
}

VALUE rbhl_rows_give(VALUE object) {
    whole_rows(object)->in_use = 0;
    return Qnil;
}

/* ---- text ---- */

static char *room_for(struct buffer *buffer, size_t more) {
    if (buffer->room - buffer->length < more) {
        const size_t room = 2 * buffer->room + more;
        buffer->bytes = xrealloc(buffer->bytes, room);
        buffer->room = room;
    }
    return buffer->bytes + buffer->length;
}

static void put(struct buffer *buffer, const char *bytes, size_t length) {
    memcpy(room_for(buffer, length), bytes, length);
    buffer->length += length;
}

/* Room may take a GC. */
static void put_string(struct buffer *buffer, VALUE string) {
    put(buffer, RSTRING_PTR(string), (size_t)RSTRING_LEN(string));
    RB_GC_GUARD(string);
}

static void put_digits(struct buffer *buffer, uint64_t value, unsigned base) {
    char digits[24], *first = digits + sizeof(digits);
    do *--first = "0123456789abcdef"[value % base];
    while (value /= base);
    put(buffer, first, (size_t)(digits + sizeof(digits) - first));
}

static int is_plain(const struct shape *shape, const char *bytes, size_t length) {
    if (length && !(shape->plain[(unsigned char)bytes[0]] & AT_END)) return 0;
    if (length && !(shape->plain[(unsigned char)bytes[length - 1]] & AT_END)) return 0;
    for (size_t i = 0; i < length; i++)
        if (!(shape->plain[(unsigned char)bytes[i]] & INSIDE)) return 0;
    return 1;
}

static VALUE string_of(struct hl_span text) {
    return text.bytes ? rb_enc_str_new(text.bytes, (long)text.length, rb_utf8_encoding()) : Qnil;
}

/* What Ruby writes of a value. */
static VALUE asked(const struct rows *rows, const char *method, int count, const VALUE *values) {
    VALUE cell = rb_funcallv(rows->shape.names, rb_intern(method), count, values);
    StringValue(cell);
    return cell;
}

static void put_cell(struct rows *rows, VALUE value) {
    VALUE cell = asked(rows, "cell", 1, &value);
    put_string(&rows->out, cell);
    RB_GC_GUARD(cell);
}

/* ---- cells that Ruby wrote ---- */

static size_t slot_of(const struct rows *rows, const char *text, int as) {
    size_t slot = (size_t)(((uintptr_t)text + (uintptr_t)as) * 0x9e3779b97f4a7c15u >> 20) & rows->mask;
    while (rows->table[slot].text && (rows->table[slot].text != text || (int)rows->table[slot].as != as))
        slot = (slot + 1) & rows->mask;
    return slot;
}

static void grow_table(struct rows *rows) {
    struct cell *former = rows->table;
    const size_t size = former ? rows->mask + 1 : 0;
    rows->table = xcalloc(former ? 2 * size : 1024, sizeof(*rows->table));
    rows->mask = (former ? 2 * size : 1024) - 1;
    for (size_t i = 0; i < size; i++)
        if (former[i].text) rows->table[slot_of(rows, former[i].text, (int)former[i].as)] = former[i];
    xfree(former);
}

static VALUE written(const struct rows *rows, struct hl_span text, int as) {
    const VALUE values[] = {INT2FIX(as == AS_PATH_OF_GEM ? HL_KIND_RUBY : HL_KIND_NATIVE), string_of(text)};
    return as == AS_TEXT ? asked(rows, "cell", 1, values + 1) : asked(rows, "gem", 2, values);
}

static void put_known(struct rows *rows, struct hl_span text, int as) {
    static const char nothing;
    const char *key = text.bytes ? text.bytes : &nothing;
    if (!rows->table || 2 * rows->known > rows->mask) grow_table(rows);
    struct cell *cell = &rows->table[slot_of(rows, key, as)];
    if (!cell->text) {
        VALUE fresh = written(rows, text, as);
        const size_t at = rows->cells.length;
        put_string(&rows->cells, fresh);
        *cell = (struct cell){.text = key, .as = as, .length = (uint32_t)RSTRING_LEN(fresh), .at = at};
        rows->known++;
        RB_GC_GUARD(fresh);
    }
    put(&rows->out, rows->cells.bytes + cell->at, cell->length);
}

/* ---- places ---- */

static void put_text(struct rows *rows, struct hl_span text) {
    if (!text.bytes) {
        put_string(&rows->out, rows->shape.none);
    } else if (is_plain(&rows->shape, text.bytes, text.length)) {
        put_string(&rows->out, rows->shape.quote);
        put(&rows->out, text.bytes, text.length);
        put_string(&rows->out, rows->shape.quote);
    } else {
        put_known(rows, text, AS_TEXT);
    }
}

/* A text that is made here. It ends in digits, which are plain. */
static void put_joined(struct rows *rows, struct hl_span text, const char *sign, uint64_t value, unsigned base) {
    struct buffer *out = &rows->out;
    const size_t begin = out->length;
    const size_t quote = (size_t)RSTRING_LEN(rows->shape.quote);
    put_string(out, rows->shape.quote);
    put(out, text.bytes, text.length);
    put(out, sign, strlen(sign));
    put_digits(out, value, base);
    if (is_plain(&rows->shape, out->bytes + begin + quote, out->length - begin - quote)) {
        put_string(out, rows->shape.quote);
    } else {
        VALUE whole =
            rb_enc_str_new(out->bytes + begin + quote, (long)(out->length - begin - quote), rb_utf8_encoding());
        out->length = begin;
        put_cell(rows, whole);
    }
}

static struct hl_span base_of(struct hl_span path) {
    for (uint32_t i = path.length; i > 0; i--)
        if (path.bytes[i - 1] == '/') return (struct hl_span){path.bytes + i, path.length - i};
    return path;
}

static struct hl_span literal(const char *text) {
    return (struct hl_span){text, (uint32_t)strlen(text)};
}

static void put_special(struct rows *rows, uint32_t number, struct hl_span label) {
    const VALUE values[] = {UINT2NUM(number), string_of(label)};
    VALUE cell = asked(rows, "special", 2, values);
    put_string(&rows->out, cell);
    RB_GC_GUARD(cell);
}

static void put_location(struct rows *rows, uint32_t number, const struct hl_site_place *place) {
    const struct hl_span path = place->path.bytes ? place->path : literal("(unknown)");
    const struct hl_span library = place->library.bytes ? base_of(place->library) : literal("ruby");
    if (place->kind == HL_KIND_SPECIAL)
        put_special(rows, number, place->label);
    else if (place->kind == HL_KIND_RUBY)
        put_joined(rows, path, ":", place->line, 10);
    else
        put_joined(rows, library, "+0x", place->offset, 16);
}

static void put_gem(struct rows *rows, const struct hl_site_place *place) {
    const VALUE special[] = {INT2FIX(HL_KIND_SPECIAL), string_of(place->label)};
    if (place->kind == HL_KIND_RUBY)
        put_known(rows, place->path, AS_PATH_OF_GEM);
    else if (place->kind == HL_KIND_NATIVE)
        put_known(rows, place->library, AS_LIBRARY_OF_GEM);
    else
        put_string(&rows->out, asked(rows, "gem", 2, special));
}

static void put_function(struct rows *rows, const struct hl_site_place *place) {
    const VALUE values[] = {string_of(place->library), ULL2NUM(place->offset)};
    VALUE cell = asked(rows, "function", 2, values);
    put_string(&rows->out, cell);
    RB_GC_GUARD(cell);
}

static void put_place(struct rows *rows, enum column column, uint32_t number, const struct hl_site_place *place) {
    static const char *const kinds[] = {"special", "ruby", "native"};
    const int is_ruby = place->kind == HL_KIND_RUBY, is_native = place->kind == HL_KIND_NATIVE;
    const struct hl_span none = {0};
    switch (column) {
    case LOCATION:
        put_location(rows, number, place);
        break;
    case PATH:
        put_text(rows, is_ruby ? place->path.bytes ? place->path : literal("(unknown)") : none);
        break;
    case LINE:
        if (is_ruby)
            put_digits(&rows->out, place->line, 10);
        else
            put_string(&rows->out, rows->shape.none);
        break;
    case LABEL:
        if (is_native && place->label.bytes)
            put_joined(rows, place->label, "+0x", place->symbol_offset, 16);
        else
            put_text(rows, is_ruby ? place->label : none);
        break;
    case LIBRARY:
        put_text(rows, is_ruby || is_native ? base_of(place->library) : none);
        break;
    case GEM:
        put_gem(rows, place);
        break;
    case SYMBOL:
        put_text(rows, is_native ? place->label : none);
        break;
    case FUNCTION:
        if (is_native)
            put_function(rows, place);
        else
            put_string(&rows->out, rows->shape.none);
        break;
    case KIND:
        put_text(rows, literal(kinds[place->kind]));
        break;
    case TAG:
        put_text(rows, place->tag);
        break;
    default:
        break;
    }
}

/* ---- figures ---- */

static void put_figure(struct rows *rows, uint32_t number, enum hl_figure figure) {
    const int64_t value = hl_site_figure(&rows->sums, number, figure);
    const int negative = value < 0 && hl_figure_is_signed(figure);
    if (negative) put(&rows->out, "-", 1);
    put_digits(&rows->out, negative ? 0 - (uint64_t)value : (uint64_t)value, 10);
}

/* Beyond this a Float is not printed as its digits. */
static const uint64_t exact = 1ull << 53;

/* As Ruby rounds to three places. */
static double thousandths(double value) {
    const double rounded = round(value * 1000);
    return (rounded + 0.5) / 1000 <= value ? rounded + 1 : rounded;
}

/* A mean, rounded to three places, with one at least; 0.0 of nothing. */
static void put_mean(struct rows *rows, uint32_t number, const struct part *part) {
    const uint64_t of = (uint64_t)hl_site_figure(&rows->sums, number, part->of);
    const uint64_t per = (uint64_t)hl_site_figure(&rows->sums, number, part->per);
    if (!per) {
        put(&rows->out, "0.0", 3);
        return;
    }
    const double rounded = thousandths((double)of / (double)per);
    if (of >= exact || per >= exact || rounded >= 1e15) {
        VALUE mean =
            rb_funcall(rb_funcall(ULL2NUM(of), rb_intern("fdiv"), 1, ULL2NUM(per)), rb_intern("round"), 1, INT2FIX(3));
        put_cell(rows, mean);
        return;
    }
    const uint64_t whole = (uint64_t)rounded;
    char places[] = {'.', (char)('0' + whole / 100 % 10), (char)('0' + whole / 10 % 10), (char)('0' + whole % 10)};
    size_t length = sizeof(places);
    while (length > 2 && places[length - 1] == '0') length--;
    put_digits(&rows->out, whole / 1000, 10);
    put(&rows->out, places, length);
}

/* ---- rows ---- */

static void put_row(struct rows *rows, uint32_t number) {
    const struct shape *shape = &rows->shape;
    const struct hl_site_place place = hl_site_place(&rows->sums, number);
    for (long i = 0; i < shape->count; i++) {
        const struct part *part = &shape->parts[i];
        put_string(&rows->out, part->before);
        if (part->column == FIGURE)
            put_figure(rows, number, part->of);
        else if (part->column == MEAN)
            put_mean(rows, number, part);
        else
            put_place(rows, part->column, number, &place);
    }
    put_string(&rows->out, shape->end);
}

static void yield_out(struct rows *rows) {
    VALUE text = rb_utf8_str_new(rows->out.bytes, (long)rows->out.length);
    rows->out.length = 0;
    rb_yield(text);
}

/* [before, name], or of a mean [before, name, name]. */
static struct part part_of(VALUE array) {
    Check_Type(array, T_ARRAY);
    const VALUE before = RARRAY_LEN(array) > 1 ? rb_ary_entry(array, 0) : Qnil, name = rb_ary_entry(array, 1);
    struct part part = {.before = before, .column = FIGURE};
    Check_Type(before, T_STRING);
    for (int i = 0; i < PLACES; i++)
        if (name == ID2SYM(rb_intern(column_names[i]))) part.column = (enum column)i;
    if (part.column != FIGURE) return part;
    part.of = rbhl_figure(name);
    if (RARRAY_LEN(array) < 3) return part;
    part.column = MEAN;
    part.per = rbhl_figure(rb_ary_entry(array, 2));
    return part;
}

static void take_parts(struct rows *rows) {
    VALUE list = rows->shape.list;
    rows->shape.parts = xcalloc((size_t)RARRAY_LEN(list) + 1, sizeof(*rows->shape.parts));
    while (rows->shape.count < RARRAY_LEN(list)) {
        const struct part part = part_of(RARRAY_AREF(list, rows->shape.count));
        rows->shape.parts[rows->shape.count++] = part;
    }
}

static VALUE write_rows(VALUE argument) {
    struct rows *rows = (struct rows *)argument;
    take_parts(rows);
    for (uint32_t i = 0; i < rows->count; i++) {
        if (i) put_string(&rows->out, rows->shape.between);
        put_row(rows, rows->numbers[i]);
        if (rows->out.length >= CHUNK) yield_out(rows);
    }
    if (rows->out.length) yield_out(rows);
    return Qnil;
}

static VALUE end_writing(VALUE argument) {
    struct rows *rows = (struct rows *)argument;
    xfree(rows->shape.parts);
    xfree(rows->table);
    rows->table = NULL;
    rows->known = rows->cells.length = rows->out.length = 0;
    memset(&rows->shape, 0, sizeof(rows->shape));
    rows->in_use = 0;
    return Qnil;
}

/* Printable ASCII is plain but for these; `ends`: where a text begins or ends with one of these it is not either. */
static void set_plain(struct shape *shape, VALUE special, VALUE ends) {
    Check_Type(special, T_STRING);
    Check_Type(ends, T_STRING);
    for (int byte = 0; byte < 256; byte++) shape->plain[byte] = byte >= ' ' && byte <= '~' ? INSIDE | AT_END : 0;
    for (long i = 0; i < RSTRING_LEN(special); i++) shape->plain[(unsigned char)RSTRING_PTR(special)[i]] = 0;
    for (long i = 0; i < RSTRING_LEN(ends); i++) shape->plain[(unsigned char)RSTRING_PTR(ends)[i]] &= INSIDE;
}

static VALUE string_at(VALUE shape, const char *key) {
    VALUE value = rb_hash_aref(shape, ID2SYM(rb_intern(key)));
    Check_Type(value, T_STRING);
    return value;
}

/* write(parts, shape, names) { |text| }: all rows, in pieces of UTF-8. parts: Array of [what stands before, column],
 * where a column is of a place (location, path, lineno, label, library, gem, symbol, function, kind, tag) or a figure,
 * and of [what stands before, figure, figure] for the one by the other. shape: a Hash of Strings: end: what ends a row;
 * between: what stands between two; quote: what stands around texts; none: what stands for nil; special, ends:
 * characters that are not written as they are, anywhere and where a text begins or ends with them. names: who writes
 * all other texts: cell(value), gem(kind, text), function(library, offset) and special(number, label) return Strings.
 */
static VALUE rbhl_rows_write(VALUE self, VALUE parts, VALUE hash, VALUE names) {
    rb_need_block();
    Check_Type(parts, T_ARRAY);
    Check_Type(hash, T_HASH);
    struct shape shape = {.end = string_at(hash, "end"),
                          .between = string_at(hash, "between"),
                          .quote = string_at(hash, "quote"),
                          .none = string_at(hash, "none"),
                          .names = names,
                          .list = parts};
    set_plain(&shape, string_at(hash, "special"), string_at(hash, "ends"));
    struct rows *rows = take_rows(self);
    rows->shape = shape;
    rb_ensure(write_rows, (VALUE)rows, end_writing, (VALUE)rows);
    RB_GC_GUARD(parts);
    RB_GC_GUARD(hash);
    RB_GC_GUARD(names);
    return self;
}

/* natives -> of the rows of native code an Array each: library, offset, symbol. */
static VALUE rbhl_rows_natives(VALUE self) {
    const struct rows *rows = whole_rows(self);
    VALUE natives = rb_ary_new();
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct hl_site_place place = hl_site_place(&rows->sums, rows->numbers[i]);
        if (place.kind != HL_KIND_NATIVE) continue;
        rb_ary_push(natives,
                    rb_ary_new_from_args(3, string_of(place.library), ULL2NUM(place.offset), string_of(place.label)));
    }
    return natives;
}

/* empty? -> are there none? */
static VALUE rbhl_rows_empty(VALUE self) {
    return whole_rows(self)->count ? Qfalse : Qtrue;
}

/* release -> self: the memory of the file, which may be large, is given back before the GC comes. Once is enough. */
static VALUE rbhl_rows_release(VALUE self) {
    struct rows *rows;
    TypedData_Get_Struct(self, struct rows, &rows_type, rows);
    if (rows->in_use) rb_raise(rb_eRuntimeError, "they are being written");
    release(rows);
    return self;
}

void rbhl_define_rows(VALUE native) {
    rows_class = rb_define_class_under(native, "Rows", rb_cObject);
    rb_gc_register_mark_object(rows_class);
    rb_undef_alloc_func(rows_class);
    rb_define_method(rows_class, "write", rbhl_rows_write, 3);
    rb_define_method(rows_class, "natives", rbhl_rows_natives, 0);
    rb_define_method(rows_class, "empty?", rbhl_rows_empty, 0);
    rb_define_method(rows_class, "release", rbhl_rows_release, 0);
}
