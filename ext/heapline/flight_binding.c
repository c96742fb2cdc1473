/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native's readers of flight files. Arguments are converted first; the file is opened, copied and summed
 * without the GVL; then Ruby objects are made under rb_ensure, which gives all C memory back.
 */
#include "bindings.h"

#include <fcntl.h>
#include <ruby/encoding.h>
#include <ruby/thread.h>
#include <string.h>

#include "flight_copy.h"
#include "header_binding.h"
#include "rows.h"
#include "site_figures.h"
#include "site_groups.h"
#include "site_stages.h"
#include "tally_binding.h"

/* Which sites are wanted: groups of them, and only the largest; or none, and no objects either. */
struct choice {
    int given, none;
    enum hl_group_by by;
    enum hl_figure figure;
    uint32_t top;
    uint64_t min;
    int written; /* they are to be text, and no Ruby objects */
};

/* One reading. */
struct reading {
    struct rbhl_source source;
    int live;
    enum { HASHES, YIELDED, CHOSEN, OBJECTS, FILE_BYTES, TALLIED } whole; /* what becomes of it */
    uint64_t copied_ns;
    struct choice choice;
    struct {
        struct hl_tally *tally;
        struct hl_tally_process *process;
        int own;
    } into;
    VALUE marks;   /* of an earlier reading: only what changed is told; or nil, or false: marks are not wanted */
    uint32_t rows; /* of which some were chosen: these, in order */
    uint32_t *order, ordered;
    struct hl_totals totals;
    int failed;
    struct hl_flight_header header;
    struct hl_flight_copy copy;
    struct hl_flight_sums sums;
};

/* What is told of a site, in the order in which site_values has it. */
static const char *const site_fields[] = {
    "number",
    "kind",
    "path",
    "line",
    "label",
    "library",
    "tag",
    "offset",
    "symbol_offset",
    "allocations",
    "frees",
    "bytes_allocated",
    "bytes_freed",
    "age_sum",
    "age_max",
    "age_ms_sum",
    "age_ms_max",
    "temporary",
    "base_allocations",
    "base_frees",
    "base_bytes_allocated",
    "base_bytes_freed",
    "new_frees",
    "new_bytes_freed",
    "base_age_sum",
    "base_age_ms_sum",
    "base_temporary",
    "new_age_max",
    "has_objects",
};
enum { SITE_FIELDS = sizeof(site_fields) / sizeof(site_fields[0]) };

/* Many sites have the same path, library and tag: one String of each. */
static VALUE shared_text(struct hl_span span) {
    return span.bytes ? rb_enc_interned_str(span.bytes, (long)span.length, rb_utf8_encoding()) : Qnil;
}

static void site_values(const struct hl_flight_sums *sums, uint32_t number, VALUE values[SITE_FIELDS]) {
    const struct hl_site_sums *site = &sums->sites[number];
    const struct hl_site_place place = hl_site_place(sums, number);
    const struct hl_site_base base = hl_site_base(sums, number);
    const struct hl_count *count = &site->count;
    const VALUE all[SITE_FIELDS] = {
        UINT2NUM(number),
        UINT2NUM(site->kind),
        shared_text(place.path),
        UINT2NUM(place.line),
        shared_text(place.label),
        site->mixed_callers ? Qnil : shared_text(place.library),
        site->mixed_tags ? Qnil : shared_text(place.tag),
        ULL2NUM(place.offset),
        UINT2NUM(place.symbol_offset),
        ULL2NUM(count->allocations),
        ULL2NUM(count->frees),
        ULL2NUM(count->bytes_allocated),
        ULL2NUM(count->bytes_freed),
        ULL2NUM(count->age_sum),
        UINT2NUM(count->age_max),
        ULL2NUM(count->age_ms_sum),
        UINT2NUM(count->age_ms_max),
        ULL2NUM(count->temporary),
        ULL2NUM(base.before.allocations),
        ULL2NUM(base.before.frees),
        ULL2NUM(base.before.bytes_allocated),
        ULL2NUM(base.before.bytes_freed),
        ULL2NUM(base.new_frees),
        ULL2NUM(base.new_bytes_freed),
        ULL2NUM(base.before.age_sum),
        ULL2NUM(base.before.age_ms_sum),
        ULL2NUM(base.before.temporary),
        ULL2NUM(base.new_age_max),
        site->has_objects ? Qtrue : Qfalse,
    };
    memcpy(values, all, sizeof(all));
}

static VALUE site_hash(const struct hl_flight_sums *sums, uint32_t number) {
    VALUE values[SITE_FIELDS], hash = rb_hash_new();
    site_values(sums, number, values);
    for (int i = 0; i < SITE_FIELDS; i++) rbhl_put(hash, site_fields[i], values[i]);
    return hash;
}

static VALUE sites_array(const struct hl_flight_sums *sums) {
    VALUE sites = rb_ary_new();
    for (uint32_t number = 0; number < sums->site_count; number++)
        if (hl_site_counted(&sums->sites[number])) rb_ary_push(sites, site_hash(sums, number));
    return sites;
}

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

/* A number that is another one where anything that is told of the site is. A string that changes lies elsewhere in the
 * file; what nobody tells is 0. */
static uint64_t mark_of(const struct reading *reading, uint32_t number) {
    const unsigned char *file = reading->copy.bytes;
    const struct hl_site_sums *site = &reading->sums.sites[number];
    if (!hl_site_counted(site)) return 0;
    const struct hl_site_place place = hl_site_place(&reading->sums, number);
    const struct hl_span spans[] = {place.path, place.label, place.library, place.tag};
    struct {
        struct hl_count count;
        struct hl_site_base base;
    } figures;
    figures.count = site->count;
    figures.base = hl_site_base(&reading->sums, number);
    uint64_t words[sizeof(figures) / sizeof(uint64_t)], hash = 1;
    memcpy(words, &figures, sizeof(words));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) hash = mix(hash, words[i]);
    hash = mix(hash, site->has_objects);
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
        hash = mix(hash, spans[i].bytes ? (uint64_t)((const unsigned char *)spans[i].bytes - file) : 0);
    return hash ? hash : 1;
}

/* The marks of all sites, by number */
static VALUE marks_of(const struct reading *reading) {
    const uint32_t count = reading->sums.site_count;
    VALUE marks = rb_str_new(NULL, (long)(count * sizeof(uint64_t)));
    uint64_t *mark = (uint64_t *)RSTRING_PTR(marks);
    for (uint32_t number = 0; number < count; number++) mark[number] = mark_of(reading, number);
    return marks;
}

static int is_known(VALUE former, VALUE marks, uint32_t number) {
    const size_t place = number * sizeof(uint64_t);
    return !NIL_P(former) && RTEST(marks) && (size_t)RSTRING_LEN(former) >= place + sizeof(uint64_t) &&
           memcmp(RSTRING_PTR(former) + place, RSTRING_PTR(marks) + place, sizeof(uint64_t)) == 0;
}

/* In order, where some were chosen. marks: of this reading, or nil. */
static void yield_sites(const struct reading *reading, VALUE marks) {
    const struct hl_flight_sums *sums = &reading->sums;
    const uint32_t count = reading->order ? reading->ordered : sums->site_count;
    VALUE values[SITE_FIELDS];
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = reading->order ? reading->order[i] : i;
        if (!hl_site_counted(&sums->sites[number]) || is_known(reading->marks, marks, number)) continue;
        site_values(sums, number, values);
        rb_yield_values2(SITE_FIELDS, values);
    }
}

/* Totals of all sites but quiet, and live bytes by who holds them. */
static void put_totals(VALUE hash, const struct hl_totals *totals, int tallied) {
    rbhl_put(hash, "totals", rbhl_sum_hash(&totals->all, tallied ? RBHL_TALLIED_TOTALS : RBHL_TOTALS));
    rbhl_put(hash, "live_ruby_bytes", LL2NUM(totals->live_ruby_bytes));
    rbhl_put(hash, "live_native_bytes", LL2NUM(totals->live_native_bytes));
    rbhl_put(hash, "live_jit_bytes", LL2NUM(totals->live_jit_bytes));
    rbhl_put(hash, "live_quiet_bytes", LL2NUM(totals->live_quiet_bytes));
}

/* The sites that the block chooses after it has seen the figures of all. */
static VALUE chosen_sites(const struct hl_flight_sums *sums) {
    VALUE numbers = rb_check_array_type(rb_yield(rbhl_site_figures(sums))), sites = rb_ary_new();
    if (NIL_P(numbers)) rb_raise(rb_eTypeError, "the block is to return the numbers of sites in an Array");
    for (long i = 0; i < RARRAY_LEN(numbers); i++) {
        const uint32_t number = NUM2UINT(RARRAY_AREF(numbers, i));
        if (number < sums->site_count && hl_site_counted(&sums->sites[number]))
            rb_ary_push(sites, site_hash(sums, number));
    }
    return sites;
}

/* ---- Ruby objects ---- */

/* One row; its values are in the order of docs/flight-file.md. */
static VALUE object_row(const struct hl_object_sums *row) {
    const VALUE values[] = {
        UINT2NUM(row->site),
        shared_text(row->class_name),
        UINT2NUM(row->type),
        UINT2NUM(row->flags),
        ULL2NUM(row->allocated),
        ULL2NUM(row->freed),
        ULL2NUM(row->bytes_allocated),
        ULL2NUM(row->bytes_freed),
        ULL2NUM(row->allocated_since),
        ULL2NUM(row->old_freed),
        ULL2NUM(row->bytes_allocated_since),
        ULL2NUM(row->old_bytes_freed),
        ULL2NUM(row->age_sum),
        ULL2NUM(row->age_max),
        ULL2NUM(row->temporary),
        ULL2NUM(row->freed_since),
        ULL2NUM(row->bytes_freed_since),
    };
    return rb_ary_new_from_values(sizeof(values) / sizeof(values[0]), values);
}

static VALUE object_rows(const struct hl_flight_sums *sums) {
    if (!sums->objects) return Qnil;
    VALUE rows = rb_ary_new_capa(sums->object_count);
    for (uint32_t i = 0; i < sums->object_count; i++) rb_ary_push(rows, object_row(&sums->objects[i]));
    return rows;
}

/* The copy, marked with when it was made, and how exact it is, if its process ran then. */
static VALUE file_bytes(struct reading *reading) {
    struct hl_flight_copy *copy = &reading->copy;
    struct hl_flight_header *header = (struct hl_flight_header *)copy->bytes;
    if (reading->copied_ns) {
        header->state = HL_STATE_COPIED;
        header->ended_ns = reading->copied_ns;
        header->moved_bytes = reading->sums.moved_bytes;
    }
    header->page_count = copy->pages;
    header->request = 0;
    return rb_str_new((const char *)copy->bytes, (long)(copy->pages * HL_PAGE_SIZE));
}

static VALUE convert(VALUE argument) {
    struct reading *reading = (struct reading *)argument;
    if (reading->whole == FILE_BYTES) return file_bytes(reading);
    if (reading->whole == OBJECTS) return object_rows(&reading->sums);
    VALUE hash = rbhl_header_hash(&reading->header);
    rbhl_put(hash, "peak_bytes", LL2NUM(reading->sums.peak_bytes));
    rbhl_put(hash, "lanes_live_bytes", LL2NUM(reading->sums.lanes_live_bytes));
    rbhl_put(hash, "published_bytes", LL2NUM(reading->sums.published_bytes));
    rbhl_put_number(hash, "moved_bytes", reading->sums.moved_bytes);
    rbhl_put_number(hash, "impossible_sites", reading->sums.impossible);
    rbhl_put_number(hash, "threads", reading->sums.threads);
    put_totals(hash, &reading->totals, reading->whole == TALLIED);
    rbhl_put(hash, "object_rows", object_rows(&reading->sums));
    rbhl_put(hash, "rows", reading->order ? UINT2NUM(reading->rows) : Qnil);
    rbhl_put_number(hash, "counted", reading->totals.sites);
    if (reading->order && reading->choice.written) {
        rbhl_put(hash, "written", rbhl_rows(&reading->copy, &reading->sums, &reading->order, reading->ordered));
    } else if (reading->whole == YIELDED) {
        VALUE marks = reading->marks == Qfalse ? Qnil : marks_of(reading);
        rbhl_put(hash, "marks", marks);
        if (!reading->choice.none) yield_sites(reading, marks);
    } else if (reading->whole != TALLIED) {
        rbhl_put(hash, "sites", reading->whole == CHOSEN ? chosen_sites(&reading->sums) : sites_array(&reading->sums));
    }
    return hash;
}

static VALUE release(VALUE argument) {
    struct reading *reading = (struct reading *)argument;
    free(reading->order);
    hl_flight_sums_release(&reading->sums);
    hl_flight_copy_release(&reading->copy);
    return Qnil;
}

/* Rows of objects refer to sites: where there are any, all sites are told. */
static int choose(struct reading *reading) {
    const struct choice *choice = &reading->choice;
    if (!choice->given || reading->sums.objects) return 0;
    int failed = hl_sites_group(&reading->sums, choice->by, &reading->source.problem);
    if (!failed)
        failed = hl_sites_choose(&reading->sums, choice->figure, choice->top, choice->min, &reading->rows,
                                 &reading->source.problem);
    if (failed) return failed;
    return hl_sites_order(&reading->sums, choice->figure, choice->top, &reading->order, &reading->ordered,
                          &reading->source.problem);
}

static int read_into_tally(struct reading *reading) {
    const int failed = hl_tally_read(reading->into.tally, reading->into.process, reading->source.fd, reading->into.own,
                                     &reading->sums, &reading->header, &reading->source.problem);
    reading->totals = reading->into.process->totals;
    return failed;
}

static int read_all(struct reading *reading) {
    int failed = hl_flight_read_header(reading->source.fd, &reading->header, &reading->source.problem);
    if (!failed) failed = hl_flight_check_whole(&reading->header, &reading->source.problem);
    if (failed) return failed;
    if (reading->whole == OBJECTS && !reading->header.object_directory) return 0;
    if (reading->whole == TALLIED) return read_into_tally(reading);
    failed = hl_flight_copy(reading->source.fd, reading->live, &reading->copy, &reading->source.problem);
    if (!failed)
        failed = (reading->choice.none ? hl_flight_sum_kinds : hl_flight_sum)(&reading->copy, &reading->sums,
                                                                              &reading->source.problem);
    if (failed) return failed;
    reading->header = *reading->sums.header;
    hl_sites_total(&reading->sums, &reading->totals);
    return choose(reading);
}

static void *read_without_gvl(void *argument) {
    struct reading *reading = argument;
    reading->failed = rbhl_open_source(&reading->source, O_RDONLY);
    if (!reading->failed) reading->failed = read_all(reading);
    rbhl_close_source(&reading->source);
    return NULL;
}

static VALUE run_reading(VALUE argument) {
    struct reading *reading = (struct reading *)argument;
    rb_thread_call_without_gvl(read_without_gvl, reading, NULL, NULL);
    if (reading->failed) rbhl_raise_problem(&reading->source);
    return convert(argument);
}

static void take_source(struct reading *reading, VALUE *path_or_fd) {
    memset(reading, 0, sizeof(*reading));
    rbhl_take_source(&reading->source, path_or_fd);
}

static VALUE read_taken(struct reading *reading, VALUE path_or_fd) {
    VALUE result = rb_ensure(run_reading, (VALUE)reading, release, (VALUE)reading);
    RB_GC_GUARD(path_or_fd);
    RB_GC_GUARD(reading->source.name);
    return result;
}

static const char *const group_names[] = {"site", "key", "location", "file", "library", "tag", "overview"};
/* nil, or an Array: by, figure, top, min, written; or an empty one. */
static struct choice choice_of(VALUE wanted) {
    struct choice choice = {0};
    if (NIL_P(wanted)) return choice;
    Check_Type(wanted, T_ARRAY);
    choice.none = RARRAY_LEN(wanted) == 0;
    if (choice.none) return choice;
    if (RARRAY_LEN(wanted) != 5) rb_raise(rb_eArgError, "a choice is [by, figure, top, min, written]");
    choice.given = 1;
    choice.by = (enum hl_group_by)rbhl_place_of(RARRAY_AREF(wanted, 0), group_names, HL_BY_OVERVIEW + 1, "group");
    choice.figure = (enum hl_figure)rbhl_figure(RARRAY_AREF(wanted, 1));
    choice.top = NUM2UINT(RARRAY_AREF(wanted, 2));
    choice.min = NUM2ULL(RARRAY_AREF(wanted, 3));
    choice.written = RTEST(RARRAY_AREF(wanted, 4));
    return choice;
}

static VALUE read_chosen(VALUE path_or_fd, int whole, int live, struct choice choice, VALUE marks) {
    struct reading reading;
    take_source(&reading, &path_or_fd);
    reading.whole = whole;
    reading.live = live;
    reading.choice = choice;
    reading.marks = marks;
    return read_taken(&reading, path_or_fd);
}

static VALUE read_source(VALUE path_or_fd, int whole, int live) {
    return read_chosen(path_or_fd, whole, live, (struct choice){0}, Qfalse);
}

/* Native.read_flight(path_or_fd, live) -> Hash: the header's fields and :sites, an Array of Hashes (see
 * docs/flight-file.md). live: true reads it as a running process's whatever the header says; nil or false
 * leaves it to the header. */
static VALUE rbhl_read_flight(VALUE self, VALUE path_or_fd, VALUE live) {
    (void)self;
    return read_source(path_or_fd, HASHES, RTEST(live));
}

/* Native.each_site(path_or_fd, live, choice, marks) { |number, kind, …| } -> the same Hash without :sites: each site's
 * values are yielded in the order of Native::SITE_FIELDS. Several times as fast where there are many. choice: nil, or
 * [by, figure, top, least, written]: groups (:site, :key, :location, :file, :library, :tag, :overview), and those alone
 * with `least` bytes live or grown and the `top` (0: all) largest figure, in order; where no objects are accounted.
 * :rows is how many have `least` bytes. []: none is yielded, and no rows of objects are told: totals are enough.
 * written: none is yielded, :written is a Rows of them (of groups: of the site that has the sum). marks: :marks of an
 * earlier reading of the file: only sites that changed since are yielded; nil: of none, all are; false: there are to be
 * no :marks. */
static VALUE rbhl_each_site(VALUE self, VALUE path_or_fd, VALUE live, VALUE choice, VALUE marks) {
    (void)self;
    rb_need_block();
    if (RTEST(marks)) Check_Type(marks, T_STRING);
    const struct choice chosen = choice_of(choice);
    rbhl_settle_objects(path_or_fd);
    VALUE result = read_chosen(path_or_fd, YIELDED, RTEST(live), chosen, marks);
    RB_GC_GUARD(marks);
    return result;
}

/* Native.tally_flight(tally, path_or_fd, id, own) -> Hash: the same without :sites, which are added to `tally` (Tally)
 * under the process's `id` (Integer); nil where nothing need be read, since it does nothing. own: only what it did
 * since its fork; of that are its totals too. */
static VALUE rbhl_tally_flight(VALUE self, VALUE tally, VALUE path_or_fd, VALUE id, VALUE own) {
    struct reading reading;
    struct hl_tally *into = rbhl_tally_of(tally);
    const uint64_t number = NUM2ULL(id);
    (void)self;
    take_source(&reading, &path_or_fd);
    reading.whole = TALLIED;
    reading.into.tally = into;
    reading.into.own = RTEST(own);
    reading.into.process = hl_tally_process(into, number);
    if (!reading.into.process) rb_raise(rb_eNoMemError, "no memory for another process");
    VALUE result = hl_tally_is_due(reading.into.process) ? read_taken(&reading, path_or_fd) : Qnil;
    RB_GC_GUARD(tally);
    return result;
}

/* Native.choose_sites(path_or_fd, live) { |figures| numbers } -> the same Hash with those sites alone that the block
 * chooses. figures: a String of five native 64-bit numbers for each site, by its number: allocations, frees, bytes
 * allocated, bytes freed, live bytes at the baseline. */
static VALUE rbhl_choose_sites(VALUE self, VALUE path_or_fd, VALUE live) {
    (void)self;
    rb_need_block();
    return read_source(path_or_fd, CHOSEN, RTEST(live));
}

/* Native.object_rows(path_or_fd, live) -> Array of Array, one for each site, class name and type of Ruby objects that
 * were counted; nil where objects were never accounted. Their values are described in docs/flight-file.md. */
static VALUE rbhl_object_rows(VALUE self, VALUE path_or_fd, VALUE live) {
    (void)self;
    rbhl_settle_objects(path_or_fd);
    return read_source(path_or_fd, OBJECTS, RTEST(live));
}

/* Native.copy_flight(path_or_fd, copied_ns) -> String: the bytes of a flight file that tells what this one told at that
 * moment, however its process went on. copied_ns marks it as the copy of a process that ran then (nanoseconds since
 * 1970); nil leaves the state as it is. */
static VALUE rbhl_copy_flight(VALUE self, VALUE path_or_fd, VALUE copied_ns) {
    struct reading reading;
    const uint64_t time = NIL_P(copied_ns) ? 0 : NUM2ULL(copied_ns);
    (void)self;
    take_source(&reading, &path_or_fd);
    reading.whole = FILE_BYTES;
    reading.copied_ns = time;
    return read_taken(&reading, path_or_fd);
}

static VALUE yield_once(VALUE unused) {
    (void)unused;
    return rb_yield_values(0);
}

static VALUE end_keeping(VALUE unused) {
    hl_spare_keep(-1);
    return unused;
}

/* Native.keep_memory { … } -> what the block returns: memory that is read into is kept from one reading to the next. */
static VALUE rbhl_keep_memory(VALUE self) {
    (void)self;
    rb_need_block();
    hl_spare_keep(1);
    return rb_ensure(yield_once, Qnil, end_keeping, Qnil);
}

static struct hl_span span_of(VALUE *text) {
    if (NIL_P(*text)) return (struct hl_span){0};
    StringValue(*text);
    return (struct hl_span){RSTRING_PTR(*text), (uint32_t)RSTRING_LEN(*text)};
}

/* Native.stage(path, line, label, library, loading) -> "(start-up)", "(loading)" or nil, as hl_stage_of has it. path:
 * nil of native code, of which the library alone tells. loading: did the core count the line as what `require` took? */
static VALUE rbhl_stage(VALUE self, VALUE path, VALUE line, VALUE label, VALUE library, VALUE loading) {
    struct hl_site_place place = {.kind = NIL_P(path) ? HL_KIND_NATIVE : HL_KIND_RUBY};
    (void)self;
    place.line = NIL_P(line) ? 0 : NUM2UINT(line);
    place.offset = RTEST(loading) ? HL_RUBY_LOADING : 0;
    place.path = span_of(&path);
    place.label = span_of(&label);
    place.library = span_of(&library);
    const enum hl_stage stage = hl_stage_of(&place);
    RB_GC_GUARD(path);
    RB_GC_GUARD(label);
    RB_GC_GUARD(library);
    return stage == HL_STAGE_RUN ? Qnil : rb_str_new(hl_stage_names[stage].bytes, hl_stage_names[stage].length);
}

void rbhl_define_flight(VALUE native) {
    VALUE fields = rb_ary_new();
    for (int i = 0; i < SITE_FIELDS; i++) rb_ary_push(fields, ID2SYM(rb_intern(site_fields[i])));
    rb_define_const(native, "SITE_FIELDS", rb_ary_freeze(fields));
    rbhl_define_rows(native);
    rbhl_define_profile(native);
    rbhl_define_site_figures(native);
    rbhl_define_tally(native);
    rb_define_singleton_method(native, "read_flight", rbhl_read_flight, 2);
    rb_define_singleton_method(native, "keep_memory", rbhl_keep_memory, 0);
    rb_define_singleton_method(native, "each_site", rbhl_each_site, 4);
    rb_define_singleton_method(native, "tally_flight", rbhl_tally_flight, 4);
    rb_define_singleton_method(native, "choose_sites", rbhl_choose_sites, 2);
    rb_define_singleton_method(native, "object_rows", rbhl_object_rows, 2);
    rb_define_singleton_method(native, "copy_flight", rbhl_copy_flight, 2);
    rb_define_singleton_method(native, "stage", rbhl_stage, 5);
}
