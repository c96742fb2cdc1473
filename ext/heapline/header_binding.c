/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native's view of a flight file's header: what it says as a Hash, and what other processes ask for in it.
 */
#include "header_binding.h"

#include <fcntl.h>
#include <ruby/encoding.h>
#include <ruby/thread.h>
#include <string.h>
#include <unistd.h>

#include "bindings.h"
#include "visitor.h"

static VALUE flight_error;

static VALUE text(const char *bytes, size_t length) {
    return rb_enc_str_new(bytes, (long)length, rb_utf8_encoding());
}

static void put_text(VALUE hash, const char *key, const char *bytes, size_t limit) {
    rbhl_put(hash, key, text(bytes, strnlen(bytes, limit)));
}

static VALUE layout_found(const struct hl_layout_figures *layout) {
    VALUE hash = rb_hash_new();
    rbhl_put_number(hash, "outcome", layout->outcome);
    rbhl_put_number(hash, "looks", layout->looks);
    rbhl_put_number(hash, "lines", layout->lines);
    rbhl_put_number(hash, "disagreed", layout->disagreed);
    rbhl_put_number(hash, "ns", layout->ns);
    put_text(hash, "found", layout->found, sizeof(layout->found));
    put_text(hash, "missing", layout->missing, sizeof(layout->missing));
    return hash;
}

static void put_process(VALUE hash, const struct hl_flight_header *header) {
    rbhl_put_number(hash, "state", header->state);
    rbhl_put_number(hash, "request", header->request);
    rbhl_put_number(hash, "answered", header->answered);
    rbhl_put_number(hash, "record_problem", (uint64_t)(-(int64_t)header->record_problem));
    rbhl_put_number(hash, "pid", header->pid);
    rbhl_put_number(hash, "parent", header->parent);
    rbhl_put_number(hash, "forked_from", header->forked_from);
    rbhl_put_number(hash, "forked_from_ticks", header->forked_from_ticks);
    rbhl_put_number(hash, "top", header->top);
    rbhl_put_number(hash, "top_ticks", header->top_ticks);
    rbhl_put_number(hash, "exit_status", header->exit_status);
    rbhl_put_number(hash, "start_ticks", header->start_ticks);
    rbhl_put_number(hash, "pid_namespace", header->pid_namespace);
    rbhl_put_number(hash, "started_ns", header->started_ns);
    rbhl_put_number(hash, "ended_ns", header->ended_ns);
    rbhl_put_number(hash, "attribution", header->attribution);
    rbhl_put(hash, "layout", layout_found(&header->layout));
    put_text(hash, "ruby", header->ruby, sizeof(header->ruby));
    put_text(hash, "allocator", header->allocator, sizeof(header->allocator));
    put_text(hash, "options", header->options, sizeof(header->options));
    rbhl_put(hash, "command", text(header->command, header->command_length));
}

/* nil: the allocator does not tell. */
static void put_told(VALUE hash, const char *key, uint64_t value) {
    rbhl_put(hash, key, value == HL_UNTOLD ? Qnil : ULL2NUM(value));
}

static void put_late_start(VALUE hash, const struct hl_flight_header *header) {
    rbhl_put_number(hash, "late_ns", header->late_ns);
    put_told(hash, "older_bytes", header->older_bytes);
    rbhl_put_number(hash, "older_frees", header->older_frees);
    rbhl_put_number(hash, "older_bytes_freed", header->older_bytes_freed);
    rbhl_put_number(hash, "stopped_ns", header->stopped_ns);
    put_text(hash, "uncovered", header->uncovered, sizeof(header->uncovered));
}

static void put_figures(VALUE hash, const struct hl_flight_header *header) {
    rbhl_put_number(hash, "page_count", header->page_count);
    rbhl_put_number(hash, "page_limit", header->page_limit);
    rbhl_put_number(hash, "site_count", header->site_count);
    rbhl_put_number(hash, "site_limit", header->site_limit);
    rbhl_put_number(hash, "generation", header->generation);
    rbhl_put_number(hash, "gc_count", header->gc_count);
    rbhl_put_number(hash, "baseline", header->baseline);
    rbhl_put_number(hash, "baseline_ns", header->baseline_ns);
    rbhl_put_number(hash, "baseline_generation", header->baseline_generation);
    rbhl_put_number(hash, "baseline_kind", header->baseline_kind);
    rbhl_put(hash, "live_bytes", LL2NUM(header->live_bytes));
    rbhl_put(hash, "peak_bytes", LL2NUM(header->peak_bytes));
    rbhl_put_number(hash, "peak_ns", header->peak_ns);
    rbhl_put_number(hash, "own_bytes", header->own_bytes);
    rbhl_put_number(hash, "sites_refused", header->sites_refused);
    rbhl_put_number(hash, "pages_refused", header->pages_refused);
    rbhl_put_number(hash, "counts_lost", header->counts_lost);
    rbhl_put_number(hash, "bytes_lost", header->bytes_lost);
    rbhl_put_number(hash, "mismatches", header->mismatches);
    rbhl_put_number(hash, "late_children", header->late_children);
    put_late_start(hash, header);
}

static void put_objects(VALUE hash, const struct hl_flight_header *header) {
    rbhl_put(hash, "objects_on", header->objects_on ? Qtrue : Qfalse);
    rbhl_put_number(hash, "objects_ns", header->objects_ns);
    rbhl_put_number(hash, "objects_allocated", header->objects_allocated);
    rbhl_put_number(hash, "objects_freed", header->objects_freed);
    rbhl_put_number(hash, "objects_refused", header->objects_refused);
    rbhl_put_number(hash, "objects_untracked", header->objects_untracked);
    rbhl_put_number(hash, "objects_mismatches", header->objects_mismatches);
    rbhl_put_number(hash, "objects_ractors", header->objects_ractors);
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
    rbhl_put_number(hash, "objects_ns", figures->objects_ns);
    rbhl_put_number(hash, "heap_pages", figures->heap_pages);
    rbhl_put_number(hash, "heap_page_bytes", figures->heap_page_bytes);
    rbhl_put_number(hash, "live_slots", figures->live_slots);
    rbhl_put_number(hash, "free_slots", figures->free_slots);
    rbhl_put_number(hash, "live_slot_bytes", figures->live_slot_bytes);
    rbhl_put_number(hash, "allocator_ns", figures->allocator_ns);
    put_told(hash, "resident_bytes", figures->resident_bytes);
    put_told(hash, "free_bytes", figures->free_bytes);
    put_told(hash, "metadata_bytes", figures->metadata_bytes);
    put_told(hash, "returnable_bytes", figures->returnable_bytes);
    rbhl_put(hash, "arenas", arenas_array(figures));
    rbhl_put_number(hash, "trim_ns", figures->trim_ns);
    rbhl_put_number(hash, "trim_before_bytes", figures->trim_before_bytes);
    rbhl_put_number(hash, "trim_after_bytes", figures->trim_after_bytes);
    return hash;
}

/* See struct hl_twin. */
static VALUE twin_hash(const struct hl_twin *twin) {
    VALUE hash = rb_hash_new();
    rbhl_put_number(hash, "asked", twin->asked);
    rbhl_put_number(hash, "answered_ns", twin->answered_ns);
    rbhl_put_number(hash, "pause_ns", twin->pause_ns);
    rbhl_put_number(hash, "pid", twin->pid);
    rbhl_put(hash, "status", INT2NUM(twin->status));
    put_text(hash, "problem", twin->problem, sizeof(twin->problem));
    return hash;
}

/* See struct hl_visit_door. */
static VALUE visit_hash(const struct hl_visit_door *door) {
    VALUE hash = rb_hash_new();
    rbhl_put_number(hash, "visits", door->visits);
    rbhl_put_number(hash, "found", door->found);
    put_text(hash, "where", door->where, sizeof(door->where));
    return hash;
}

static VALUE spans_hash(const struct hl_spans *spans) {
    VALUE hash = rb_hash_new();
    rbhl_put_number(hash, "count", spans->count);
    rbhl_put_number(hash, "sum", spans->sum);
    rbhl_put_number(hash, "squares", spans->squares);
    rbhl_put_number(hash, "least", spans->least);
    rbhl_put_number(hash, "most", spans->most);
    return hash;
}

VALUE rbhl_header_hash(const struct hl_flight_header *header) {
    VALUE hash = rb_hash_new();
    put_process(hash, header);
    put_figures(hash, header);
    put_objects(hash, header);
    rbhl_put(hash, "large_bytes", LL2NUM(header->large_bytes));
    rbhl_put(hash, "large_ruby_bytes", LL2NUM(header->large_ruby_bytes));
    rbhl_put_number(hash, "space_bytes", header->space_bytes);
    rbhl_put(hash, "figures", asked_hash(&header->figures));
    rbhl_put(hash, "twin", twin_hash(&header->twin));
    rbhl_put(hash, "visit", visit_hash(&header->visit));
    rbhl_put(hash, "page_lifespans", spans_hash(&header->heap_page_figures.lifespans));
    rbhl_put(hash, "page_deathspans", spans_hash(&header->heap_page_figures.deathspans));
    return hash;
}

/* ---- where a flight file is ---- */

void rbhl_take_source(struct rbhl_source *source, VALUE *path_or_fd) {
    memset(source, 0, sizeof(*source));
    source->fd = -1;
    if (RB_INTEGER_TYPE_P(*path_or_fd)) {
        source->fd = NUM2INT(*path_or_fd);
        if (source->fd < 0) rb_raise(rb_eArgError, "a descriptor is not negative");
    } else {
        FilePathValue(*path_or_fd);
        *path_or_fd = rb_str_new_frozen(*path_or_fd);
        source->path = StringValueCStr(*path_or_fd);
        source->name = *path_or_fd;
    }
}

int rbhl_open_source(struct rbhl_source *source, int flags) {
    if (source->path) source->fd = hl_flight_open(source->path, flags, &source->problem);
    return source->fd < 0 ? source->fd : 0;
}

void rbhl_close_source(struct rbhl_source *source) {
    if (source->path && source->fd >= 0) close(source->fd);
}

/* A descriptor's name is made here and not before: checks read theirs at each point and count objects, and the GC takes
 * what an old word of the stack points to for one that lives. */
void rbhl_raise_problem(const struct rbhl_source *source) {
    VALUE name = source->path ? source->name : rb_sprintf("descriptor %d", source->fd);
    rb_raise(flight_error, "flight file %" PRIsVALUE ": %s", name, source->problem.text);
}

/* ---- what is read of it alone, and what is asked in it ---- */

/* One opening of the file: what is asked (bits of `request`, or no more; or, where those are none, `asked` in place of
 * `former`), or nothing; then `header` is what it said before. */
struct asking {
    struct rbhl_source source;
    int reads_only;
    uint32_t bits, withdrawn;
    uint64_t former, asked;
    struct hl_flight_header header;
    int failed;
};

static int ask(struct asking *asking) {
    struct hl_flight_header *header = &asking->header;
    struct hl_problem *problem = &asking->source.problem;
    const int fd = asking->source.fd;
    if (asking->reads_only) return hl_flight_read_header(fd, header, problem);
    if (asking->bits) return hl_flight_request(fd, asking->bits, header, problem);
    if (asking->withdrawn) return hl_flight_withdraw(fd, asking->withdrawn, header, problem);
    return hl_flight_request_twin(fd, asking->former, asking->asked, header, problem);
}

static void *ask_without_gvl(void *argument) {
    struct asking *asking = argument;
    asking->failed = rbhl_open_source(&asking->source, asking->reads_only ? O_RDONLY : O_RDWR);
    if (!asking->failed) asking->failed = ask(asking);
    rbhl_close_source(&asking->source);
    return NULL;
}

static void carry_out(struct asking *asking, VALUE path_or_fd) {
    rbhl_take_source(&asking->source, &path_or_fd);
    rb_thread_call_without_gvl(ask_without_gvl, asking, NULL, NULL);
    if (asking->failed) rbhl_raise_problem(&asking->source);
    RB_GC_GUARD(path_or_fd);
}

static VALUE request_of(VALUE path, struct asking asking) {
    carry_out(&asking, path);
    return rbhl_header_hash(&asking.header);
}

static VALUE request(VALUE path, uint32_t bits) {
    return request_of(path, (struct asking){.bits = bits});
}

/* Native.read_header(path_or_fd) -> Hash: the header's fields alone; one page is read. */
static VALUE rbhl_read_header(VALUE self, VALUE path_or_fd) {
    (void)self;
    return request_of(path_or_fd, (struct asking){.reads_only = 1});
}

/* Native.request_twin(path, former, asked) -> Hash: the same. `asked` (reader's pid, and the task from bit 32 on) takes
 * the place of `former`, if that is what is there (:twin, :asked tells), and the process looks at it. */
static VALUE rbhl_request_twin(VALUE self, VALUE path, VALUE former, VALUE asked) {
    (void)self;
    return request_of(path, (struct asking){.former = NUM2ULL(former), .asked = NUM2ULL(asked)});
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
    (void)self;
    return request_of(path, (struct asking){.withdrawn = HL_REQUEST_RECORD | HL_REQUEST_RECORD_NATIVE});
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
    struct asking asking = {.reads_only = 1};
    const pid_t process = NUM2PIDT(pid);
    (void)self;
    carry_out(&asking, path);
    return ID2SYM(rb_intern(results[rbhl_visit(process, &asking.header.visit)]));
}

void rbhl_define_header(VALUE native, VALUE error) {
    rb_gc_register_mark_object(error);
    flight_error = error;
    rb_define_singleton_method(native, "read_header", rbhl_read_header, 1);
    rb_define_singleton_method(native, "request_baseline", rbhl_request_baseline, 1);
    rb_define_singleton_method(native, "request_figures", rbhl_request_figures, 3);
    rb_define_singleton_method(native, "request_twin", rbhl_request_twin, 3);
    rb_define_singleton_method(native, "request_record", rbhl_request_record, 2);
    rb_define_singleton_method(native, "withdraw_record", rbhl_withdraw_record, 1);
    rb_define_singleton_method(native, "request_leaks", rbhl_request_leaks, 3);
    rb_define_singleton_method(native, "visit", rbhl_visit_process, 2);
}
