/* SPDX-License-Identifier: MIT */
#include <ruby.h>

#include "twin_tasks.h"

#include <errno.h>
#include <ruby/version.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bindings.h"
#include "code.h"
#include "json_writer.h"
#include "names.h"
#include "objspace_library.h"
#include "page_census.h"
#include "sites.h"
#include "stacks.h"
#include "vm_access.h"

enum { BUFFER_BYTES = 1 << 18, FORMAT_VERSION = 1, PATH_BYTES = 4096 };

struct work {
    enum rbhl_task task;
    pid_t program;
    FILE *out;
    unsigned long lines; /* beside those of the objects */
    int whole;
    char flight[PATH_BYTES]; /* the program's flight file; empty: none */
};

static void first_line(const struct work *work) {
    struct rbhl_json json = {work->out, 0};
    char text[32];
    struct tm parts;
    const time_t now = time(NULL);
    const size_t length = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    rbhl_json_open(&json, NULL, '{');
    rbhl_json_text(&json, "type", "HEAPLINE", 8);
    rbhl_json_number(&json, "version", FORMAT_VERSION);
    rbhl_json_number(&json, "pid", (uint64_t)work->program);
    rbhl_json_text(&json, "ruby", ruby_description, strlen(ruby_description));
    rbhl_json_text(&json, "time", text, length);
    rbhl_json_number(&json, "generation", rb_gc_count());
    rbhl_json_line_end(&json);
}

static void last_line(const struct work *work) {
    struct rbhl_json json = {work->out, 0};
    rbhl_json_open(&json, NULL, '{');
    rbhl_json_text(&json, "type", "HEAPLINE_END", 12);
    rbhl_json_number(&json, "lines", work->lines);
    rbhl_json_line_end(&json);
}

static unsigned long write_code(const struct work *work, const struct rbhl_sites *sites) {
    return rbhl_code_write(work->out) + rbhl_sites_write(sites, work->out);
}

static void write_dump(struct work *work) {
    struct rbhl_sites *sites = rbhl_sites_open(work->flight);
    work->whole = rbhl_objspace_dump_all(work->out, sites);
    work->lines = rbhl_names_write(work->out) + write_code(work, sites);
}

static VALUE carry_out(VALUE argument) {
    struct work *work = (struct work *)argument;
    work->whole = 1;
    switch (work->task) {
    case RBHL_TASK_DUMP:
        write_dump(work);
        break;
    case RBHL_TASK_STACKS:
        work->lines = rbhl_stacks_write(work->out);
        break;
    case RBHL_TASK_PAGES:
        work->lines = rbhl_page_census_write(work->out);
        break;
    case RBHL_TASK_CODE:
        work->lines = write_code(work, rbhl_sites_open(work->flight));
        break;
    }
    return Qnil;
}

/* In the twin. Its exit status says whether all is there: 0, or 1 where Ruby raised or nobody read on. */
static void run(void *argument, int fd) {
    struct work *work = argument;
    int raised = 0;
    work->out = fdopen(fd, "w");
    if (!work->out) _exit(1);
    setvbuf(work->out, NULL, _IOFBF, BUFFER_BYTES);
    first_line(work);
    rb_protect(carry_out, (VALUE)work, &raised);
    if (!raised && work->whole) last_line(work);
    _exit(fflush(work->out) || raised || !work->whole);
}

static const char *words_for(int error) {
    if (error == EBUSY) return RBHL_ANOTHER_TWIN;
    if (error == ENOMEM) return "there is not enough memory for a copy of the process (fork: ENOMEM)";
    if (error == EAGAIN) return "no more processes may be made (fork: EAGAIN)";
    if (error == ENOTSUP)
        return "it runs other Ractors, and this Ruby does not let them be stopped for the moment of a copy";
    if (error == ENOSYS) return "this Ruby does not let its objects be listed";
    return error ? strerror(error) : NULL;
}

#define UNKNOWN_CODE "this Ruby's structs are not those that heapline knows: its code is not read (see heapline doctor)"

static void find_flight(struct work *work) {
    size_t (*path)(char *, size_t);
    *(void **)&path = rbhl_core_symbol("heapline_flight_path");
    if (path && path(work->flight, sizeof(work->flight)) >= sizeof(work->flight)) work->flight[0] = 0;
}

struct rbhl_twin rbhl_twin_start(enum rbhl_task task, int fd, int gc, int32_t *status, const char **problem) {
    struct work work = {.task = task, .program = getpid()};
    struct rbhl_twin made = {0, ENOENT, 0};
    const int known = rbhl_vm_is_known();
    *problem = NULL;
    if (task == RBHL_TASK_DUMP) *problem = rbhl_objspace_open();
    if (task == RBHL_TASK_CODE && !known) *problem = UNKNOWN_CODE;
    if (*problem) return made;
    find_flight(&work);
    if (task == RBHL_TASK_PAGES && !rbhl_vm_gc_in_twin())
        made.error = ENOTSUP;
    else
        made = rbhl_twin_make(run, &work, fd, gc, status);
    rbhl_objspace_close();
    *problem = words_for(made.error);
    return made;
}
