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
#include <unistd.h>

#include "flight_copy.h"
#include "flight_file.h"
#include "rows.h"
#include "site_figures.h"
#include "site_groups.h"
#include "tally_binding.h"
#include "visitor.h"

static VALUE flight_error;

/* Which sites are wanted: groups of them, and only the largest. */
struct choice {
    int given;
    enum hl_group_by by;
    enum hl_figure figure;
    uint32_t top;
    uint64_t min;
    int written; /* they are to be text, and no Ruby objects */
};

/* One reading. `path` is NULL where the caller gave a descriptor, which stays open. */
struct reading {
    const char *path;
    int fd;
    int live;
    enum { HEADER, HASHES, YIELDED, CHOSEN, OBJECTS, FILE_BYTES, TALLIED } whole; /* more than the header, and what */
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
    struct hl_problem problem;
    VALUE name; /* for messages */
};

static VALUE text(const char *bytes, size_t length) {
    return rb_enc_str_new(bytes, (long)length, rb_utf8_encoding());
}

static void put(VALUE hash, const char *key, VALUE value) {
    rb_hash_aset(hash, ID2SYM(rb_intern(key)), value);
}

static void put_number(VALUE hash, const char *key, uint64_t value) {
    put(hash, key, ULL2NUM(value));
}

static void put_text(VALUE hash, const char *key, const char *bytes, size_t limit) {
    put(hash, key, text(bytes, strnlen(bytes, limit)));
}

static VALUE layout_found(const struct hl_layout_figures *layout) {
    VALUE hash = rb_hash_new();
    put_number(hash, "outcome", layout->outcome);
    put_number(hash, "looks", layout->looks);
    put_number(hash, "lines", layout->lines);
    put_number(hash, "disagreed", layout->disagreed);
    put_number(hash, "ns", layout->ns);
    put_text(hash, "found", layout->found, sizeof(layout->found));
    put_text(hash, "missing", layout->missing, sizeof(layout->missing));
    return hash;
}

static void put_process(VALUE hash, const struct hl_flight_header *header) {
    put_number(hash, "state", header->state);
    put_number(hash, "request", header->request);
    put_number(hash, "answered", header->answered);
    put_number(hash, "record_problem", (uint64_t)(-(int64_t)header->record_problem));
    put_number(hash, "pid", header->pid);
    put_number(hash, "parent", header->parent);
    put_number(hash, "forked_from", header->forked_from);
    put_number(hash, "forked_from_ticks", header->forked_from_ticks);
    put_number(hash, "top", header->top);
    put_number(hash, "top_ticks", header->top_ticks);
    put_number(hash, "exit_status", header->exit_status);
    put_number(hash, "start_ticks", header->start_ticks);
    put_number(hash, "pid_namespace", header->pid_namespace);
    put_number(hash, "started_ns", header->started_ns);
    put_number(hash, "ended_ns", header->ended_ns);
    put_number(hash, "attribution", header->attribution);
    put(hash, "layout", layout_found(&header->layout));
    put_text(hash, "ruby", header->ruby, sizeof(header->ruby));
    put_text(hash, "allocator", header->allocator, sizeof(header->allocator));
    put_text(hash, "options", header->options, sizeof(header->options));
    put(hash, "command", text(header->command, header->command_length));
}

static void put_figures(VALUE hash, const struct hl_flight_header *header) {
    put_number(hash, "page_count", header->page_count);
    put_number(hash, "page_limit", header->page_limit);
    put_number(hash, "site_count", header->site_count);
    put_number(hash, "site_limit", header->site_limit);
    put_number(hash, "generation", header->generation);
    put_number(hash, "gc_count", header->gc_count);
    put_number(hash, "baseline", header->baseline);
    put_number(hash, "baseline_ns", header->baseline_ns);
    put_number(hash, "baseline_generation", header->baseline_generation);
    put_number(hash, "baseline_kind", header->baseline_kind);
    put(hash, "live_bytes", LL2NUM(header->live_bytes));
    put(hash, "peak_bytes", LL2NUM(header->peak_bytes));
    put_number(hash, "peak_ns", header->peak_ns);
    put_number(hash, "own_bytes", header->own_bytes);
    put_number(hash, "sites_refused", header->sites_refused);
    put_number(hash, "pages_refused", header->pages_refused);
    put_number(hash, "counts_lost", header->counts_lost);
    put_number(hash, "bytes_lost", header->bytes_lost);
    put_number(hash, "mismatches", header->mismatches);
    put_number(hash, "late_children", header->late_children);
}

static void put_objects(VALUE hash, const struct hl_flight_header *header) {
    put(hash, "objects_on", header->objects_on ? Qtrue : Qfalse);
    put_number(hash, "objects_ns", header->objects_ns);
    put_number(hash, "objects_allocated", header->objects_allocated);
    put_number(hash, "objects_freed", header->objects_freed);
    put_number(hash, "objects_refused", header->objects_refused);
    put_number(hash, "objects_untracked", header->objects_untracked);
    put_number(hash, "objects_mismatches", header->objects_mismatches);
    put_number(hash, "objects_ractors", header->objects_ractors);
}

/* nil: the allocator does not tell. */
static void put_told(VALUE hash, const char *key, uint64_t value) {
    put(hash, key, value == HL_UNTOLD ? Qnil : ULL2NUM(value));
}

/* Pairs of system and free bytes. */
static VALUE arenas_array(const struct hl_figures *figures) {
    VALUE arenas = rb_ary_new();
    for (uint32_t i = 0; i < figures->arena_count && i < HL_ARENAS; i++)
        rb_ary_push(arenas,
                    rb_assoc_new(ULL2NUM(figures->arenas[i].system_bytes), ULL2NUM(figures->arenas[i].free_bytes)));
    return arenas;
}

/* What the process said of itself: see struct hl_figures. */
static VALUE asked_hash(const struct hl_figures *figures) {
    VALUE hash = rb_hash_new();
    put_number(hash, "objects_ns", figures->objects_ns);
    put_number(hash, "heap_pages", figures->heap_pages);
    put_number(hash, "heap_page_bytes", figures->heap_page_bytes);
    put_number(hash, "live_slots", figures->live_slots);
    put_number(hash, "free_slots", figures->free_slots);
    put_number(hash, "live_slot_bytes", figures->live_slot_bytes);
    put_number(hash, "allocator_ns", figures->allocator_ns);
    put_told(hash, "resident_bytes", figures->resident_bytes);
    put_told(hash, "free_bytes", figures->free_bytes);
    put_told(hash, "metadata_bytes", figures->metadata_bytes);
    put_told(hash, "returnable_bytes", figures->returnable_bytes);
    put(hash, "arenas", arenas_array(figures));
    put_number(hash, "trim_ns", figures->trim_ns);
    put_number(hash, "trim_before_bytes", figures->trim_before_bytes);
    put_number(hash, "trim_after_bytes", figures->trim_after_bytes);
    return hash;
}

/* See struct hl_twin. */
static VALUE twin_hash(const struct hl_twin *twin) {
    VALUE hash = rb_hash_new();
    put_number(hash, "asked", twin->asked);
    put_number(hash, "answered_ns", twin->answered_ns);
    put_number(hash, "pause_ns", twin->pause_ns);
    put_number(hash, "pid", twin->pid);
    put(hash, "status", INT2NUM(twin->status));
    put_text(hash, "problem", twin->problem, sizeof(twin->problem));
    return hash;
}

/* See struct hl_visit_door. */
static VALUE visit_hash(const struct hl_visit_door *door) {
    VALUE hash = rb_hash_new();
    put_number(hash, "visits", door->visits);
    put_number(hash, "found", door->found);
    put_text(hash, "where", door->where, sizeof(door->where));
    return hash;
}

static VALUE spans_hash(const struct hl_spans *spans) {
    VALUE hash = rb_hash_new();
    put_number(hash, "count", spans->count);
    put_number(hash, "sum", spans->sum);
    put_number(hash, "squares", spans->squares);
    put_number(hash, "least", spans->least);
    put_number(hash, "most", spans->most);
    return hash;
}

static VALUE header_hash(const struct hl_flight_header *header) {
    VALUE hash = rb_hash_new();
    put_process(hash, header);
    put_figures(hash, header);
    put_objects(hash, header);
    put(hash, "mapped_bytes", LL2NUM(header->mapped_bytes));
    put(hash, "figures", asked_hash(&header->figures));
    put(hash, "twin", twin_hash(&header->twin));
    put(hash, "visit", visit_hash(&header->visit));
    put(hash, "page_lifespans", spans_hash(&header->heap_page_figures.lifespans));
    put(hash, "page_deathspans", spans_hash(&header->heap_page_figures.deathspans));
    return hash;
}

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
    for (int i = 0; i < SITE_FIELDS; i++) put(hash, site_fields[i], values[i]);
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

/* Totals of all sites but quiet, under the names of Accounting::Snapshot; and live bytes by who holds them. */
static void put_totals(VALUE hash, const struct hl_totals *totals, int tallied) {
    VALUE sums = rb_hash_new();
    const struct hl_count *count = &totals->count;
    put_number(sums, "allocations", count->allocations);
    put_number(sums, "frees", count->frees);
    put_number(sums, "bytes_allocated", count->bytes_allocated);
    put_number(sums, "bytes_freed", count->bytes_freed);
    put(sums, "live_bytes", LL2NUM((int64_t)(count->bytes_allocated - count->bytes_freed)));
    put(sums, "live_blocks", LL2NUM((int64_t)(count->allocations - count->frees)));
    put(sums, "growth_bytes", LL2NUM(totals->growth_bytes));
    put(sums, "retained_bytes", LL2NUM(totals->retained_bytes));
    if (!tallied) put(sums, "growth_blocks", LL2NUM(totals->growth_blocks)); /* a tally has no blocks of a baseline */
    if (!tallied) put(sums, "retained_blocks", LL2NUM(totals->retained_blocks));
    put_number(sums, "temporary", count->temporary);
    put(hash, "totals", sums);
    put(hash, "live_ruby_bytes", LL2NUM(totals->live_ruby_bytes));
    put(hash, "live_native_bytes", LL2NUM(totals->live_native_bytes));
    put(hash, "live_jit_bytes", LL2NUM(totals->live_jit_bytes));
    put(hash, "live_quiet_bytes", LL2NUM(totals->live_quiet_bytes));
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
    VALUE hash = header_hash(&reading->header);
    if (!reading->whole) return hash;
    put(hash, "peak_bytes", LL2NUM(reading->sums.peak_bytes));
    put(hash, "lanes_live_bytes", LL2NUM(reading->sums.lanes_live_bytes));
    put(hash, "published_bytes", LL2NUM(reading->sums.published_bytes));
    put_number(hash, "moved_bytes", reading->sums.moved_bytes);
    put_number(hash, "impossible_sites", reading->sums.impossible);
    put_number(hash, "threads", reading->sums.threads);
    put_totals(hash, &reading->totals, reading->whole == TALLIED);
    put(hash, "object_rows", object_rows(&reading->sums));
    put(hash, "rows", reading->order ? UINT2NUM(reading->rows) : Qnil);
    if (reading->order && reading->choice.written) {
        put(hash, "written", rbhl_rows(&reading->copy, &reading->sums, &reading->order, reading->ordered));
    } else if (reading->whole == YIELDED) {
        VALUE marks = reading->marks == Qfalse ? Qnil : marks_of(reading);
        put(hash, "marks", marks);
        yield_sites(reading, marks);
    } else if (reading->whole != TALLIED) {
        put(hash, "sites", reading->whole == CHOSEN ? chosen_sites(&reading->sums) : sites_array(&reading->sums));
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
    int failed = hl_sites_group(&reading->sums, choice->by, &reading->problem);
    if (!failed)
        failed = hl_sites_choose(&reading->sums, choice->figure, choice->top, choice->min, &reading->rows,
                                 &reading->problem);
    if (failed) return failed;
    return hl_sites_order(&reading->sums, choice->figure, choice->top, &reading->order, &reading->ordered,
                          &reading->problem);
}

static int read_into_tally(struct reading *reading) {
    const int failed = hl_tally_read(reading->into.tally, reading->into.process, reading->fd, reading->into.own,
                                     &reading->sums, &reading->header, &reading->problem);
    reading->totals = reading->into.process->totals;
    return failed;
}

static int read_all(struct reading *reading) {
    int failed = hl_flight_read_header(reading->fd, &reading->header, &reading->problem);
    if (failed || !reading->whole) return failed;
    if (reading->whole == OBJECTS && !reading->header.object_directory) return 0;
    if (reading->whole == TALLIED) return read_into_tally(reading);
    failed = hl_flight_copy(reading->fd, reading->live, &reading->copy, &reading->problem);
    if (!failed) failed = hl_flight_sum(&reading->copy, &reading->sums, &reading->problem);
    if (failed) return failed;
    reading->header = *reading->sums.header;
    hl_sites_total(&reading->sums, &reading->totals);
    return choose(reading);
}

static void *read_without_gvl(void *argument) {
    struct reading *reading = argument;
    if (reading->path) reading->fd = hl_flight_open(reading->path, O_RDONLY, &reading->problem);
    reading->failed = reading->fd < 0 ? reading->fd : read_all(reading);
    if (reading->path && reading->fd >= 0) close(reading->fd);
    return NULL;
}

/* A descriptor's name is made here and not before: checks read theirs at each point and count objects, and the GC takes
 * what an old word of the stack points to for one that lives. */
static void raise_problem(const struct reading *reading) {
    VALUE name = reading->path ? reading->name : rb_sprintf("descriptor %d", reading->fd);
    rb_raise(flight_error, "flight file %" PRIsVALUE ": %s", name, reading->problem.text);
}

static VALUE run_reading(VALUE argument) {
    struct reading *reading = (struct reading *)argument;
    rb_thread_call_without_gvl(read_without_gvl, reading, NULL, NULL);
    if (reading->failed) raise_problem(reading);
    return convert(argument);
}

/* `path_or_fd`: a descriptor (Integer) or a path. The path's String must outlive the reading: see the guards. */
static void take_source(struct reading *reading, VALUE *path_or_fd) {
    memset(reading, 0, sizeof(*reading));
    reading->fd = -1;
    if (RB_INTEGER_TYPE_P(*path_or_fd)) {
        reading->fd = NUM2INT(*path_or_fd);
        if (reading->fd < 0) rb_raise(rb_eArgError, "a descriptor is not negative");
    } else {
        FilePathValue(*path_or_fd);
        *path_or_fd = rb_str_new_frozen(*path_or_fd);
        reading->path = StringValueCStr(*path_or_fd);
        reading->name = *path_or_fd;
    }
}

static VALUE read_taken(struct reading *reading, VALUE path_or_fd) {
    VALUE result = rb_ensure(run_reading, (VALUE)reading, release, (VALUE)reading);
    RB_GC_GUARD(path_or_fd);
    RB_GC_GUARD(reading->name);
    return result;
}

static const char *const group_names[] = {"site", "key", "location", "file", "library", "tag"};
static const char *const figure_names[] = {"growth_bytes", "retained_bytes", "live_bytes",    "bytes_allocated",
                                           "live_blocks",  "allocations",    "frees",         "temporary",
                                           "mean_age",     "bytes_freed",    "growth_blocks", "retained_blocks",
                                           "age_sum",      "age_max",        "age_ms_sum",    "age_ms_max"};

static int place_of(VALUE symbol, const char *const *names, size_t count, const char *what) {
    for (size_t i = 0; i < count; i++)
        if (symbol == ID2SYM(rb_intern(names[i]))) return (int)i;
    rb_raise(rb_eArgError, "no such %s: %+" PRIsVALUE, what, symbol);
}

int rbhl_figure(VALUE symbol) {
    return place_of(symbol, figure_names, HL_AGE_MS_MAX + 1, "figure");
}

/* nil, or an Array: by, figure, top, min, written. */
static struct choice choice_of(VALUE wanted) {
    struct choice choice = {0};
    if (NIL_P(wanted)) return choice;
    Check_Type(wanted, T_ARRAY);
    if (RARRAY_LEN(wanted) != 5) rb_raise(rb_eArgError, "a choice is [by, figure, top, min, written]");
    choice.given = 1;
    choice.by = (enum hl_group_by)place_of(RARRAY_AREF(wanted, 0), group_names, HL_BY_TAG + 1, "group");
    choice.figure = (enum hl_figure)place_of(RARRAY_AREF(wanted, 1), figure_names, HL_MEAN_AGE + 1, "figure");
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
 * [by, figure, top, least, written]: groups (:site, :key, :location, :file, :library, :tag), and those alone with
 * `least` bytes live or grown and the `top` (0: all) largest figure, in order; where no objects are accounted. :rows is
 * how many have `least` bytes. written: none is yielded, :written is a Rows of them (of groups: of the site that has
 * the sum). marks: :marks of an earlier reading of the file: only sites that changed since are yielded; nil: of none,
 * all are; false: there are to be no :marks. */
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

/* Native.read_header(path_or_fd) -> Hash: the header's fields alone; one page is read. */
static VALUE rbhl_read_header(VALUE self, VALUE path_or_fd) {
    (void)self;
    return read_source(path_or_fd, HEADER, 0);
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

/* What another process is asked: bits of `request`, or no more; or, where those are none, `asked` in place of `former`.
 */
struct asking {
    uint32_t bits, withdrawn;
    uint64_t former, asked;
};

static int ask(int fd, const struct asking *asking, struct reading *reading) {
    if (asking->bits) return hl_flight_request(fd, asking->bits, &reading->header, &reading->problem);
    if (asking->withdrawn) return hl_flight_withdraw(fd, asking->withdrawn, &reading->header, &reading->problem);
    return hl_flight_request_twin(fd, asking->former, asking->asked, &reading->header, &reading->problem);
}

/* The header's Hash as it was before. */
static VALUE request_of(VALUE path, const struct asking *asking) {
    struct reading reading;
    take_source(&reading, &path);
    int fd = reading.path ? hl_flight_open(reading.path, O_RDWR, &reading.problem) : reading.fd;
    int failed = fd < 0 ? fd : ask(fd, asking, &reading);
    if (reading.path && fd >= 0) close(fd);
    if (failed) rb_raise(flight_error, "flight file %" PRIsVALUE ": %s", reading.name, reading.problem.text);
    RB_GC_GUARD(path);
    return header_hash(&reading.header);
}

static VALUE request(VALUE path, uint32_t bits) {
    const struct asking asking = {.bits = bits};
    return request_of(path, &asking);
}

/* Native.request_twin(path, former, asked) -> Hash: the same. `asked` (reader's pid, and the task from bit 32 on) takes
 * the place of `former`, if that is what is there (:twin, :asked tells), and the process looks at it. */
static VALUE rbhl_request_twin(VALUE self, VALUE path, VALUE former, VALUE asked) {
    const struct asking asking = {.former = NUM2ULL(former), .asked = NUM2ULL(asked)};
    (void)self;
    return request_of(path, &asking);
}

/* Native.request_baseline(path) -> Hash: the header as it was before the request was set. */
static VALUE rbhl_request_baseline(VALUE self, VALUE path) {
    (void)self;
    return request(path, HL_REQUEST_BASELINE);
}

/* Native.request_figures(path, survey, trim) -> Hash: the same. survey: the allocator goes through its free blocks;
 * trim: it gives back what it can. */
static VALUE rbhl_request_figures(VALUE self, VALUE path, VALUE survey, VALUE trim) {
    (void)self;
    return request(path, HL_REQUEST_FIGURES | (RTEST(survey) ? HL_REQUEST_SURVEY : 0u) |
                             (RTEST(trim) ? HL_REQUEST_TRIM : 0u));
}

/* Native.request_record(path, what) -> Hash: the same. what: true, false or :native. */
static VALUE rbhl_request_record(VALUE self, VALUE path, VALUE what) {
    const int with_c = what == ID2SYM(rb_intern("native"));
    (void)self;
    return request(path, with_c ? HL_REQUEST_RECORD_NATIVE : RTEST(what) ? HL_REQUEST_RECORD : HL_REQUEST_RECORD_END);
}

/* Native.withdraw_record(path) -> Hash: the same; a request to record that was not seen yet is none any more. */
static VALUE rbhl_withdraw_record(VALUE self, VALUE path) {
    const struct asking asking = {.withdrawn = HL_REQUEST_RECORD | HL_REQUEST_RECORD_NATIVE};
    (void)self;
    return request_of(path, &asking);
}

/* Native.request_leaks(path, since_baseline, reachable) -> Hash: the same. */
static VALUE rbhl_request_leaks(VALUE self, VALUE path, VALUE since, VALUE reachable) {
    (void)self;
    return request(path, HL_REQUEST_LEAKS | (RTEST(since) ? HL_REQUEST_LEAKS_SINCE : 0u) |
                             (RTEST(reachable) ? HL_REQUEST_LEAKS_REACHABLE : 0u));
}

/* Native.visit(path, pid) -> Symbol: have the process `pid`, whose flight file that is, look at what it is asked while
 * it waits (visitor.h). :visited, or why not; what it found is in :visit of its header, with :visits one more. */
static VALUE rbhl_visit_process(VALUE self, VALUE path, VALUE pid) {
    static const char *const results[] = {"visited", "runs", "stopped", "forbidden", "no_door", "gone"};
    struct reading reading;
    const pid_t process = NUM2PIDT(pid);
    (void)self;
    take_source(&reading, &path);
    const int fd = reading.path ? hl_flight_open(reading.path, O_RDONLY, &reading.problem) : reading.fd;
    const int failed = fd < 0 ? fd : hl_flight_read_header(fd, &reading.header, &reading.problem);
    if (reading.path && fd >= 0) close(fd);
    if (failed) rb_raise(flight_error, "flight file %" PRIsVALUE ": %s", reading.name, reading.problem.text);
    RB_GC_GUARD(path);
    return ID2SYM(rb_intern(results[rbhl_visit(process, &reading.header.visit)]));
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

void rbhl_define_flight(VALUE native, VALUE error) {
    rb_gc_register_mark_object(error);
    flight_error = error;
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
    rb_define_singleton_method(native, "read_header", rbhl_read_header, 1);
    rb_define_singleton_method(native, "request_baseline", rbhl_request_baseline, 1);
    rb_define_singleton_method(native, "request_figures", rbhl_request_figures, 3);
    rb_define_singleton_method(native, "request_twin", rbhl_request_twin, 3);
    rb_define_singleton_method(native, "request_record", rbhl_request_record, 2);
    rb_define_singleton_method(native, "withdraw_record", rbhl_withdraw_record, 1);
    rb_define_singleton_method(native, "request_leaks", rbhl_request_leaks, 3);
    rb_define_singleton_method(native, "visit", rbhl_visit_process, 2);
}
