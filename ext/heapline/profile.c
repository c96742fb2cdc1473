/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native::Profile: the tables of a profile for pprof, and the samples of a flight file's sites: there may be
 * a million. Its numbers of fields are those of https://github.com/google/pprof/blob/main/proto/profile.proto; all else
 * Ruby writes (Accounting::Pprof). Texts that come from Ruby are inert; of the file's own those that are printable
 * ASCII are, the others Ruby makes so, once each. With the GVL; Ruby gets to run at each yield.
 */
#include "bindings.h"

#include <ruby/encoding.h>
#include <string.h>

#include "rows.h"
#include "site_groups.h"

/* As much is written before it is yielded; a sample takes less than MESSAGE bytes. */
enum { CHUNK = 1 << 17, MESSAGE = 512, FIGURES = 16 };

/* Keys, each once, by the order in which they came. */
struct table {
    char *bytes;
    size_t room;
    uint32_t *ends; /* of each key in `bytes` */
    uint32_t count, end_room;
    uint32_t *slots; /* number + 1; 0: free */
    uint32_t mask;
};

struct message {
    unsigned char bytes[MESSAGE];
    size_t length;
};

/* What a location is: a line of a function, or an address. Function and location are counted from 1. */
struct function {
    uint32_t name, file;
};
struct location {
    uint32_t function, line;
    uint64_t address;
};

/* What Ruby was asked of a text of the file. */
struct question {
    const char *text;
    uint64_t what;
};
enum { INERT, GEM_OF_PATH, GEM_OF_LIBRARY };

struct profile {
    struct table strings, functions, locations, questions;
    uint32_t *answers; /* numbers of strings, by question */
    uint32_t answer_room;
};

static void free_table(struct table *table) {
    xfree(table->bytes);
    xfree(table->ends);
    xfree(table->slots);
}

static void free_profile(void *data) {
    struct profile *profile = data;
    free_table(&profile->strings);
    free_table(&profile->functions);
    free_table(&profile->locations);
    free_table(&profile->questions);
    xfree(profile->answers);
    xfree(profile);
}

static size_t size_of_table(const struct table *table) {
    return table->room + (table->end_room + (size_t)table->mask) * sizeof(uint32_t);
}

static size_t size_of_profile(const void *data) {
    const struct profile *profile = data;
    return sizeof(*profile) + size_of_table(&profile->strings) + size_of_table(&profile->functions) +
           size_of_table(&profile->locations) + size_of_table(&profile->questions);
}

static const rb_data_type_t profile_type = {
    .wrap_struct_name = "Heapline::Native::Profile",
    .function = {.dfree = free_profile, .dsize = size_of_profile},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static struct profile *profile_of(VALUE self) {
    struct profile *profile;
    TypedData_Get_Struct(self, struct profile, &profile_type, profile);
    return profile;
}

/* ---- tables ---- */

static const char *key_of(const struct table *table, uint32_t number, uint32_t *length) {
    const uint32_t begin = number ? table->ends[number - 1] : 0;
    *length = table->ends[number] - begin;
    return table->bytes + begin;
}

static uint64_t hash_of(const char *bytes, size_t length) {
    uint64_t hash = length * 0x9e3779b97f4a7c15u, word;
    for (; length >= sizeof(word); bytes += sizeof(word), length -= sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, bytes, length);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

/* The slot of a key, or the free one where it belongs. */
static uint32_t slot_of(const struct table *table, const char *bytes, size_t length) {
    uint32_t slot = (uint32_t)hash_of(bytes, length) & table->mask;
    for (; table->slots[slot]; slot = (slot + 1) & table->mask) {
        uint32_t known;
        const char *key = key_of(table, table->slots[slot] - 1, &known);
        if (known == length && memcmp(key, bytes, length) == 0) break;
    }
    return slot;
}

static void grow_slots(struct table *table) {
    const uint32_t size = table->slots ? 2 * (table->mask + 1) : 1024;
    uint32_t *fresh = xcalloc(size, sizeof(*fresh));
    xfree(table->slots);
    table->slots = fresh;
    table->mask = size - 1;
    for (uint32_t number = 0; number < table->count; number++) {
        uint32_t length;
        const char *key = key_of(table, number, &length);
        table->slots[slot_of(table, key, length)] = number + 1;
    }
}

static void make_room(struct table *table, size_t length) {
    const size_t used = table->count ? table->ends[table->count - 1] : 0;
    if (used + length > UINT32_MAX) rb_raise(rb_eNoMemError, "a profile has 4 GB of texts at most");
    if (used + length > table->room) {
        const size_t room = used + length + table->room;
        table->bytes = xrealloc(table->bytes, room);
        table->room = room;
    }
    if (table->count < table->end_room) return;
    const uint32_t room = 2 * table->end_room + 512;
    table->ends = xrealloc2(table->ends, room, sizeof(*table->ends));
    table->end_room = room;
}

/* The number of a key, from 0, and a new one where it is not known. */
static uint32_t number_of(struct table *table, const void *key, size_t length) {
    if (!table->slots || (uint64_t)table->count * 2 >= (uint64_t)table->mask) grow_slots(table);
    const uint32_t slot = slot_of(table, key, length);
    if (table->slots[slot]) return table->slots[slot] - 1;
    make_room(table, length);
    const uint32_t used = table->count ? table->ends[table->count - 1] : 0;
    memcpy(table->bytes + used, key, length);
    table->ends[table->count] = used + (uint32_t)length;
    table->slots[slot] = ++table->count;
    return table->count - 1;
}

static uint32_t location_of(struct profile *profile, uint32_t name, uint32_t file, uint32_t line, uint64_t address) {
    const struct function function = {name, file};
    const struct location location = {number_of(&profile->functions, &function, sizeof(function)) + 1, line, address};
    return number_of(&profile->locations, &location, sizeof(location)) + 1;
}

/* ---- messages ---- */

/* What fits by the limits above. */
static void put_number(struct message *message, uint64_t number) {
    for (; number > 0x7f; number >>= 7) message->bytes[message->length++] = (unsigned char)(number | 0x80);
    message->bytes[message->length++] = (unsigned char)number;
}

/* 0, the default, is left out. */
static void put_field(struct message *message, unsigned field, uint64_t number) {
    if (!number) return;
    put_number(message, field << 3);
    put_number(message, number);
}

static void put_message(struct message *message, unsigned field, const struct message *inner) {
    put_number(message, field << 3 | 2);
    put_number(message, inner->length);
    memcpy(message->bytes + message->length, inner->bytes, inner->length);
    message->length += inner->length;
}

/* ---- places ---- */

/* What Ruby says of a text. */
static uint32_t ask(struct profile *profile, VALUE names, const char *method, int count, const VALUE *values) {
    VALUE text = rb_funcallv(names, rb_intern(method), count, values);
    StringValue(text);
    const uint32_t number = number_of(&profile->strings, RSTRING_PTR(text), (size_t)RSTRING_LEN(text));
    RB_GC_GUARD(text);
    return number;
}

static VALUE string_of(struct hl_span text) {
    return text.bytes ? rb_enc_str_new(text.bytes, (long)text.length, rb_utf8_encoding()) : Qnil;
}

static uint32_t answer(struct profile *profile, VALUE names, struct hl_span text, int what) {
    const struct question question = {text.bytes, (uint64_t)what};
    const uint32_t known = profile->questions.count;
    if (known == profile->answer_room) {
        profile->answers = xrealloc2(profile->answers, 2 * (size_t)known + 64, sizeof(*profile->answers));
        profile->answer_room = 2 * known + 64;
    }
    const uint32_t number = number_of(&profile->questions, &question, sizeof(question));
    if (number < known) return profile->answers[number];
    const VALUE values[] = {INT2FIX(what == GEM_OF_PATH ? HL_KIND_RUBY : HL_KIND_NATIVE), string_of(text)};
    profile->answers[number] = 0; /* should Ruby raise */
    const uint32_t fresh =
        what == INERT ? ask(profile, names, "cell", 1, values + 1) : ask(profile, names, "gem", 2, values);
    return profile->answers[number] = fresh;
}

static int is_inert(struct hl_span text) {
    for (uint32_t i = 0; i < text.length; i++)
        if (text.bytes[i] < ' ' || text.bytes[i] > '~') return 0;
    return 1;
}

static uint32_t number_of_text(struct profile *profile, VALUE names, struct hl_span text) {
    return is_inert(text) ? number_of(&profile->strings, text.bytes, text.length) : answer(profile, names, text, INERT);
}

/* "libz.so.1+0x1f30": of a text that is made here nothing is kept. */
static uint32_t number_of_offset(struct profile *profile, VALUE names, struct hl_span text, uint64_t offset) {
    VALUE joined = rb_str_catf(rb_str_new(text.bytes, text.length), "+0x%llx", (unsigned long long)offset);
    const struct hl_span span = {RSTRING_PTR(joined), (uint32_t)RSTRING_LEN(joined)};
    const VALUE whole = rb_enc_associate(joined, rb_utf8_encoding());
    const uint32_t number =
        is_inert(span) ? number_of(&profile->strings, span.bytes, span.length) : ask(profile, names, "cell", 1, &whole);
    RB_GC_GUARD(joined);
    return number;
}

static struct hl_span literal(const char *text) {
    return (struct hl_span){text, (uint32_t)strlen(text)};
}

static struct hl_span base_of(struct hl_span path) {
    for (uint32_t i = path.length; i > 0; i--)
        if (path.bytes[i - 1] == '/') return (struct hl_span){path.bytes + i, path.length - i};
    return path;
}

static uint32_t special_location(struct profile *profile, VALUE names, uint32_t number, struct hl_span label) {
    const VALUE values[] = {UINT2NUM(number), string_of(label)};
    return location_of(profile, ask(profile, names, "special", 2, values), 0, 0, 0);
}

static uint32_t native_location(struct profile *profile, VALUE names, const struct hl_site_place *place) {
    const struct hl_span library = place->library.bytes ? base_of(place->library) : literal("ruby");
    const uint32_t name = place->label.bytes ? number_of_offset(profile, names, place->label, place->symbol_offset)
                                             : number_of_offset(profile, names, library, place->offset);
    return location_of(profile, name, number_of_text(profile, names, library), 0, place->offset);
}

static uint32_t ruby_location(struct profile *profile, VALUE names, const struct hl_site_place *place) {
    const struct hl_span path = place->path.bytes ? place->path : literal("(unknown)");
    const uint32_t name = number_of_text(profile, names, place->label.bytes ? place->label : base_of(path));
    return location_of(profile, name, number_of_text(profile, names, path), place->line, 0);
}

static uint32_t library_location(struct profile *profile, VALUE names, struct hl_span library) {
    const uint32_t name = number_of_text(profile, names, base_of(library));
    return location_of(profile, name, number_of_text(profile, names, library), 0, 0);
}

/* The leaf first. */
static void put_locations(struct profile *profile, VALUE names, uint32_t number, const struct hl_site_place *place,
                          struct message *message) {
    struct message inner = {.length = 0};
    uint32_t first;
    if (place->kind == HL_KIND_SPECIAL)
        first = special_location(profile, names, number, place->label);
    else if (place->kind == HL_KIND_NATIVE)
        first = native_location(profile, names, place);
    else
        first = ruby_location(profile, names, place);
    if (place->kind == HL_KIND_RUBY && place->library.bytes)
        put_number(&inner, library_location(profile, names, place->library));
    put_number(&inner, first);
    put_message(message, 1, &inner);
}

/* ---- samples ---- */

static void put_label(struct profile *profile, struct message *message, const char *key, uint32_t value) {
    struct message inner = {.length = 0};
    put_field(&inner, 1, number_of(&profile->strings, key, strlen(key)));
    put_field(&inner, 2, value);
    put_message(message, 3, &inner);
}

static uint32_t gem_of(struct profile *profile, VALUE names, const struct hl_site_place *place) {
    if (place->kind == HL_KIND_RUBY) return answer(profile, names, place->path, GEM_OF_PATH);
    if (place->kind == HL_KIND_NATIVE) return answer(profile, names, place->library, GEM_OF_LIBRARY);
    const VALUE special[] = {INT2FIX(HL_KIND_SPECIAL), string_of(place->label)};
    return ask(profile, names, "gem", 2, special);
}

static void put_labels(struct profile *profile, VALUE names, const struct hl_site_place *place,
                       struct message *message) {
    static const char *const kinds[] = {"special", "ruby", "native"};
    if (place->tag.bytes) put_label(profile, message, "tag", number_of_text(profile, names, place->tag));
    const uint32_t gem = gem_of(profile, names, place);
    if (gem) put_label(profile, message, "gem", gem);
    put_label(profile, message, "kind", number_of_text(profile, names, literal(kinds[place->kind])));
}

struct sampling {
    struct profile *profile;
    const struct hl_flight_sums *sums;
    const uint32_t *numbers;
    uint32_t count;
    VALUE names;
    enum hl_figure figures[FIGURES];
    long figure_count;
};

static void put_sample(const struct sampling *sampling, uint32_t number, struct message *message) {
    const struct hl_site_place place = hl_site_place(sampling->sums, number);
    struct message values = {.length = 0};
    put_locations(sampling->profile, sampling->names, number, &place, message);
    for (long i = 0; i < sampling->figure_count; i++)
        put_number(&values, (uint64_t)hl_site_figure(sampling->sums, number, sampling->figures[i]));
    put_message(message, 2, &values);
    put_labels(sampling->profile, sampling->names, &place, message);
}

/* Pieces of a profile, yielded when they are large. */
static void write_field(VALUE *out, unsigned field, const void *bytes, size_t length) {
    struct message head = {.length = 0};
    put_number(&head, field << 3 | 2);
    put_number(&head, length);
    rb_str_cat(*out, (const char *)head.bytes, (long)head.length);
    rb_str_cat(*out, bytes, (long)length);
    if (RSTRING_LEN(*out) < CHUNK) return;
    rb_yield(*out);
    *out = rb_str_buf_new(CHUNK + MESSAGE);
}

static VALUE write_end(VALUE out) {
    if (RSTRING_LEN(out)) rb_yield(out);
    return Qnil;
}

static VALUE write_samples(VALUE argument) {
    const struct sampling *sampling = (const struct sampling *)argument;
    VALUE out = rb_str_buf_new(CHUNK + MESSAGE);
    for (uint32_t i = 0; i < sampling->count; i++) {
        struct message message = {.length = 0};
        put_sample(sampling, sampling->numbers[i], &message);
        write_field(&out, 2, message.bytes, message.length);
    }
    return write_end(out);
}

/* samples(rows, figures, names) { |bytes| }: a sample of each site of the Rows, with these figures (Array of Symbol).
 * names: as for Rows#write; a gem that is "" is none. */
static VALUE rbhl_profile_samples(VALUE self, VALUE rows, VALUE figures, VALUE names) {
    struct sampling sampling = {.profile = profile_of(self), .names = names};
    rb_need_block();
    Check_Type(figures, T_ARRAY);
    if (RARRAY_LEN(figures) > FIGURES) rb_raise(rb_eArgError, "a sample has %d figures at most", FIGURES);
    for (; sampling.figure_count < RARRAY_LEN(figures); sampling.figure_count++)
        sampling.figures[sampling.figure_count] = rbhl_figure(RARRAY_AREF(figures, sampling.figure_count));
    sampling.sums = rbhl_rows_take(rows, &sampling.numbers, &sampling.count);
    rb_ensure(write_samples, (VALUE)&sampling, rbhl_rows_give, rows);
    RB_GC_GUARD(rows);
    return Qnil;
}

/* ---- for Ruby ---- */

static VALUE allocate(VALUE class) {
    struct profile *profile;
    VALUE self = TypedData_Make_Struct(class, struct profile, &profile_type, profile);
    number_of(&profile->strings, "", 0);
    return self;
}

static uint32_t number_of_string(struct profile *profile, VALUE text) {
    StringValue(text);
    const uint32_t number = number_of(&profile->strings, RSTRING_PTR(text), (size_t)RSTRING_LEN(text));
    RB_GC_GUARD(text);
    return number;
}

/* string(text) -> its number in the table of strings; "" has 0. */
static VALUE rbhl_profile_string(VALUE self, VALUE text) {
    return UINT2NUM(number_of_string(profile_of(self), text));
}

/* location(name, file, line, address) -> its number, from 1: a line of the function of that name in that file. */
static VALUE rbhl_profile_location(VALUE self, VALUE name, VALUE file, VALUE line, VALUE address) {
    struct profile *profile = profile_of(self);
    const uint32_t number = NUM2UINT(line);
    const uint64_t at = NUM2ULL(address);
    const uint32_t first = number_of_string(profile, name);
    return UINT2NUM(location_of(profile, first, number_of_string(profile, file), number, at));
}

/* tables(mapping) { |bytes| }: all locations, which are of this mapping, and functions. */
static VALUE rbhl_profile_tables(VALUE self, VALUE mapping) {
    const struct profile *profile = profile_of(self);
    VALUE out = rb_str_buf_new(CHUNK + MESSAGE);
    const uint32_t of = NUM2UINT(mapping);
    rb_need_block();
    for (uint32_t number = 0; number < profile->locations.count; number++) {
        struct location location;
        struct message message = {.length = 0}, line = {.length = 0};
        memcpy(&location, profile->locations.bytes + number * sizeof(location), sizeof(location));
        put_field(&line, 1, location.function);
        put_field(&line, 2, location.line);
        put_field(&message, 1, number + 1);
        put_field(&message, 2, of);
        put_field(&message, 3, location.address);
        put_message(&message, 4, &line);
        write_field(&out, 4, message.bytes, message.length);
    }
    /* Without a system name: pprof takes what has one for C++ and cuts "<class:Cache>" and "Array#each(2)" short. */
    for (uint32_t number = 0; number < profile->functions.count; number++) {
        struct function function;
        struct message message = {.length = 0};
        memcpy(&function, profile->functions.bytes + number * sizeof(function), sizeof(function));
        put_field(&message, 1, number + 1);
        put_field(&message, 2, function.name);
        put_field(&message, 4, function.file);
        write_field(&out, 5, message.bytes, message.length);
    }
    return write_end(out);
}

/* strings { |bytes| }: all strings. */
static VALUE rbhl_profile_strings(VALUE self) {
    const struct profile *profile = profile_of(self);
    VALUE out = rb_str_buf_new(CHUNK + MESSAGE);
    rb_need_block();
    for (uint32_t number = 0; number < profile->strings.count; number++) {
        uint32_t length;
        const char *text = key_of(&profile->strings, number, &length);
        write_field(&out, 6, text, length);
    }
    return write_end(out);
}

void rbhl_define_profile(VALUE native) {
    VALUE class = rb_define_class_under(native, "Profile", rb_cObject);
    rb_define_alloc_func(class, allocate);
    rb_define_method(class, "string", rbhl_profile_string, 1);
    rb_define_method(class, "location", rbhl_profile_location, 4);
    rb_define_method(class, "samples", rbhl_profile_samples, 3);
    rb_define_method(class, "tables", rbhl_profile_tables, 1);
    rb_define_method(class, "strings", rbhl_profile_strings, 0);
}
