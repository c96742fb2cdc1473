/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native's readers of flight files. Arguments are converted first; the file is opened, copied and summed
 * without the GVL; then Ruby objects are made under rb_ensure, which gives all C memory back.
 */
#include "native.h"

#include <fcntl.h>
#include <ruby/encoding.h>
#include <ruby/thread.h>
#include <string.h>
#include <unistd.h>

#include "flight_file.h"

static VALUE flight_error;

/* One reading. `path` is NULL where the caller gave a descriptor, which stays open. */
struct reading {
    const char *path;
    int fd;
    int live;
    enum { HEADER, HASHES, YIELDED } whole; /* sites too, and how, not the header alone */
    int failed;
    struct hl_flight_header header;
    struct hl_flight_copies copies;
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

static void put_process(VALUE hash, const struct hl_flight_header *header) {
    put_number(hash, "state", header->state);
    put_number(hash, "request", header->request);
    put_number(hash, "answered", header->answered);
    put_number(hash, "pid", header->pid);
    put_number(hash, "parent", header->parent);
    put_number(hash, "forked_from", header->forked_from);
    put_number(hash, "top", header->top);
    put_number(hash, "exit_status", header->exit_status);
    put_number(hash, "start_ticks", header->start_ticks);
    put_number(hash, "started_ns", header->started_ns);
    put_number(hash, "ended_ns", header->ended_ns);
    put_number(hash, "attribution", header->attribution);
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
    put_number(hash, "mismatches", header->mismatches);
}

static VALUE header_hash(const struct hl_flight_header *header) {
    VALUE hash = rb_hash_new();
    put_process(hash, header);
    put_figures(hash, header);
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
};
enum { SITE_FIELDS = sizeof(site_fields) / sizeof(site_fields[0]) };

/* Many sites have the same path, library and tag: one String of each. */
static VALUE shared_text(struct hl_span span) {
    return span.bytes ? rb_enc_interned_str(span.bytes, (long)span.length, rb_utf8_encoding()) : Qnil;
}

static void site_values(uint32_t number, const struct hl_site_sums *site, VALUE values[SITE_FIELDS]) {
    const struct hl_count *count = &site->count;
    const VALUE all[SITE_FIELDS] = {
        UINT2NUM(number),
        UINT2NUM(site->kind),
        shared_text(site->path),
        UINT2NUM(site->line),
        shared_text(site->label),
        shared_text(site->library),
        shared_text(site->tag),
        ULL2NUM(site->offset),
        UINT2NUM(site->symbol_offset),
        ULL2NUM(count->allocations),
        ULL2NUM(count->frees),
        ULL2NUM(count->bytes_allocated),
        ULL2NUM(count->bytes_freed),
        ULL2NUM(count->age_sum),
        UINT2NUM(count->age_max),
        ULL2NUM(count->age_ms_sum),
        UINT2NUM(count->age_ms_max),
        ULL2NUM(count->temporary),
        ULL2NUM(site->base_allocations),
        ULL2NUM(site->base_frees),
        ULL2NUM(site->base_bytes_allocated),
        ULL2NUM(site->base_bytes_freed),
        ULL2NUM(site->new_frees),
        ULL2NUM(site->new_bytes_freed),
    };
    memcpy(values, all, sizeof(all));
}

static VALUE site_hash(uint32_t number, const struct hl_site_sums *site) {
    VALUE values[SITE_FIELDS], hash = rb_hash_new();
    site_values(number, site, values);
    for (int i = 0; i < SITE_FIELDS; i++) put(hash, site_fields[i], values[i]);
    return hash;
}

/* A site that counted nothing tells nothing. */
static int has_counted(const struct hl_site_sums *site) {
    return site->known && (site->count.allocations || site->count.frees);
}

static VALUE sites_array(const struct hl_flight_sums *sums) {
    VALUE sites = rb_ary_new();
    for (uint32_t number = 0; number < sums->site_count; number++)
        if (has_counted(&sums->sites[number])) rb_ary_push(sites, site_hash(number, &sums->sites[number]));
    return sites;
}

static void yield_sites(const struct hl_flight_sums *sums) {
    VALUE values[SITE_FIELDS];
    for (uint32_t number = 0; number < sums->site_count; number++) {
        if (!has_counted(&sums->sites[number])) continue;
        site_values(number, &sums->sites[number], values);
        rb_yield_values2(SITE_FIELDS, values);
    }
}

static VALUE convert(VALUE argument) {
    struct reading *reading = (struct reading *)argument;
    VALUE hash = header_hash(&reading->header);
    if (!reading->whole) return hash;
    put(hash, "peak_bytes", LL2NUM(reading->sums.peak_bytes));
    put_number(hash, "impossible_sites", reading->sums.impossible);
    put_number(hash, "threads", reading->sums.threads);
    if (reading->whole == YIELDED)
        yield_sites(&reading->sums);
    else
        put(hash, "sites", sites_array(&reading->sums));
    return hash;
}

static VALUE release(VALUE argument) {
    struct reading *reading = (struct reading *)argument;
    hl_flight_sums_release(&reading->sums);
    hl_flight_copies_release(&reading->copies);
    return Qnil;
}

static int read_all(struct reading *reading) {
    if (!reading->whole) return hl_flight_read_header(reading->fd, &reading->header, &reading->problem);
    int failed = hl_flight_copy(reading->fd, reading->live, &reading->copies, &reading->problem);
    if (!failed)
        failed = hl_flight_sum(&reading->copies.first, &reading->copies.second, &reading->sums, &reading->problem);
    if (!failed) reading->header = *reading->sums.header;
    return failed;
}

static void *read_without_gvl(void *argument) {
    struct reading *reading = argument;
    if (reading->path) reading->fd = hl_flight_open(reading->path, O_RDONLY, &reading->problem);
    reading->failed = reading->fd < 0 ? reading->fd : read_all(reading);
    if (reading->path && reading->fd >= 0) close(reading->fd);
    return NULL;
}

static VALUE run_reading(VALUE argument) {
    struct reading *reading = (struct reading *)argument;
    rb_thread_call_without_gvl(read_without_gvl, reading, NULL, NULL);
    if (reading->failed) rb_raise(flight_error, "flight file %" PRIsVALUE ": %s", reading->name, reading->problem.text);
    return convert(argument);
}

/* `path_or_fd`: a descriptor (Integer) or a path. The path's String must outlive the reading: see the guards. */
static void take_source(struct reading *reading, VALUE *path_or_fd) {
    memset(reading, 0, sizeof(*reading));
    reading->fd = -1;
    if (RB_INTEGER_TYPE_P(*path_or_fd)) {
        reading->fd = NUM2INT(*path_or_fd);
        if (reading->fd < 0) rb_raise(rb_eArgError, "a descriptor is not negative");
        reading->name = rb_sprintf("descriptor %d", reading->fd);
    } else {
        FilePathValue(*path_or_fd);
        *path_or_fd = rb_str_new_frozen(*path_or_fd);
        reading->path = StringValueCStr(*path_or_fd);
        reading->name = *path_or_fd;
    }
}

static VALUE read_source(VALUE path_or_fd, int whole, int live) {
    struct reading reading;
    take_source(&reading, &path_or_fd);
    reading.whole = whole;
    reading.live = live;
    VALUE hash = rb_ensure(run_reading, (VALUE)&reading, release, (VALUE)&reading);
    RB_GC_GUARD(path_or_fd);
    RB_GC_GUARD(reading.name);
    return hash;
}

/* Native.read_flight(path_or_fd, live) -> Hash: the header's fields and :sites, an Array of Hashes (see
 * docs/flight-file.md). live: true copies twice whatever the header says; nil or false leaves it to the header. */
static VALUE rbhl_read_flight(VALUE self, VALUE path_or_fd, VALUE live) {
    (void)self;
    return read_source(path_or_fd, HASHES, RTEST(live));
}

/* Native.each_site(path_or_fd, live) { |number, kind, …| } -> the same Hash without :sites: each site's values are
 * yielded in the order of Native::SITE_FIELDS. Several times as fast where there are many. */
static VALUE rbhl_each_site(VALUE self, VALUE path_or_fd, VALUE live) {
    (void)self;
    rb_need_block();
    return read_source(path_or_fd, YIELDED, RTEST(live));
}

/* Native.read_header(path_or_fd) -> Hash: the header's fields alone; one page is read. */
static VALUE rbhl_read_header(VALUE self, VALUE path_or_fd) {
    (void)self;
    return read_source(path_or_fd, HEADER, 0);
}

/* Native.request_baseline(path) -> Hash: the header as it was before the request was set. */
static VALUE rbhl_request_baseline(VALUE self, VALUE path) {
    struct reading reading;
    (void)self;
    take_source(&reading, &path);
    int fd = reading.path ? hl_flight_open(reading.path, O_RDWR, &reading.problem) : reading.fd;
    int failed = fd < 0 ? fd : hl_flight_request(fd, HL_REQUEST_BASELINE, &reading.header, &reading.problem);
    if (reading.path && fd >= 0) close(fd);
    if (failed) rb_raise(flight_error, "flight file %" PRIsVALUE ": %s", reading.name, reading.problem.text);
    RB_GC_GUARD(path);
    return header_hash(&reading.header);
}

void rbhl_define_flight(VALUE native, VALUE error) {
    rb_gc_register_mark_object(error);
    flight_error = error;
    VALUE fields = rb_ary_new();
    for (int i = 0; i < SITE_FIELDS; i++) rb_ary_push(fields, ID2SYM(rb_intern(site_fields[i])));
    rb_define_const(native, "SITE_FIELDS", rb_ary_freeze(fields));
    rb_define_singleton_method(native, "read_flight", rbhl_read_flight, 2);
    rb_define_singleton_method(native, "each_site", rbhl_each_site, 2);
    rb_define_singleton_method(native, "read_header", rbhl_read_header, 1);
    rb_define_singleton_method(native, "request_baseline", rbhl_request_baseline, 1);
}
