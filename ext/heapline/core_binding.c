/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native's way to the core: each function of heapline_core.h, looked up with dlsym when the extension is
 * loaded, or when the core is, by this process (load_core) or by another (heapline attach). Without one `enabled?` is
 * false and all others raise Heapline::NotEnabled.
 *
 * The table is written once. All functions are called with the GVL; none waits.
 */
#include "bindings.h" /* first: ruby/config.h defines _GNU_SOURCE, which RTLD_DEFAULT needs */

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "../heapline_core/flight/flight_layout.h"
#include "../heapline_core/heapline_core.h"
#include "thread_state.h"

static VALUE not_enabled_error;
static void *library; /* of a core that was loaded late, for good */

static struct {
    uint32_t (*abi_version)(void);
    int (*enabled)(void);
    int (*flight_fd)(void);
    size_t (*flight_path)(char *, size_t);
    uint32_t (*quiet_enter)(void);
    uint32_t (*quiet_leave)(void);
    uint32_t (*quiet_set)(uint32_t);
    uint32_t (*tag_intern)(const char *, size_t);
    uint32_t (*tag_set)(uint32_t);
    uint64_t (*baseline)(void);
    void (*totals)(uint64_t *, uint64_t *);
    int64_t (*peak_restart)(int64_t *);
    uint64_t (*generation)(void);
    int (*record)(int);
    int (*companion)(const char *, int, int);
} core;

void *rbhl_core_symbol(const char *name) {
    return dlsym(library ? library : RTLD_DEFAULT, name);
}

/* dlsym returns an object pointer; POSIX makes storing it in a function pointer valid through this detour. */
static int find_function(const char *name, void *slot) {
    void *found = rbhl_core_symbol(name);
    *(void **)slot = found;
    return found != NULL;
}

static int find_core(void) {
    return find_function("heapline_abi_version", &core.abi_version) && core.abi_version() == HEAPLINE_ABI_VERSION &&
           find_function("heapline_flight_fd", &core.flight_fd) &&
           find_function("heapline_flight_path", &core.flight_path) &&
           find_function("heapline_quiet_enter", &core.quiet_enter) &&
           find_function("heapline_quiet_leave", &core.quiet_leave) &&
           find_function("heapline_quiet_set", &core.quiet_set) &&
           find_function("heapline_tag_intern", &core.tag_intern) && find_function("heapline_tag_set", &core.tag_set) &&
           find_function("heapline_baseline", &core.baseline) && find_function("heapline_totals", &core.totals) &&
           find_function("heapline_peak_restart", &core.peak_restart) &&
           find_function("heapline_generation", &core.generation) && find_function("heapline_record", &core.record) &&
           find_function("heapline_companion", &core.companion) && find_function("heapline_enabled", &core.enabled);
}

int rbhl_core_function(const char *name, void *slot) {
    return core.enabled && find_function(name, slot);
}

static void use_core(void) {
    if (!find_core()) core.enabled = NULL;
    if (core.enabled) rbhl_thread_state_define(core.quiet_set, core.tag_set);
}

/* ---- a core that another process has loaded here (heapline attach) ---- */

struct search {
    uint64_t additions; /* objects loaded so far, when it was searched */
    int goes_on;
    char path[4096];
};

/* By its path, or handed over as memory. */
static int find_late(struct dl_phdr_info *info, size_t size, void *context) {
    static const char NAME[] = "/libheapline.so", MEMORY[] = "/proc/self/fd/";
    struct search *search = context;
    const size_t length = strlen(info->dlpi_name);
    (void)size;
    if (!search->goes_on && info->dlpi_adds == search->additions) return 1;
    search->additions = info->dlpi_adds;
    search->goes_on = 1;
    if ((length < sizeof(NAME) || strcmp(info->dlpi_name + length - (sizeof(NAME) - 1), NAME) != 0) &&
        strncmp(info->dlpi_name, MEMORY, sizeof(MEMORY) - 1) != 0)
        return 0;
    if (length < sizeof(search->path)) memcpy(search->path, info->dlpi_name, length + 1);
    return 0;
}

static void look_for_core(void) {
    static struct search search;
    search.goes_on = search.path[0] = 0;
    dl_iterate_phdr(find_late, &search);
    if (!search.goes_on) return;
    void *found = search.path[0] ? dlopen(search.path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) : NULL;
    if (!found) return;
    library = found;
    use_core();
    if (core.enabled) return;
    library = NULL;
    dlclose(found);
}

static int is_enabled(void) {
    if (!core.enabled) look_for_core();
    return core.enabled && core.enabled();
}

void rbhl_check_enabled(void) {
    if (is_enabled()) return;
    if (core.abi_version && core.abi_version() != HEAPLINE_ABI_VERSION)
        rb_raise(not_enabled_error,
                 "the preloaded libheapline.so is of another version of heapline (ABI %u, wanted %u): start the "
                 "process with this version's heapline command",
                 core.abi_version(), HEAPLINE_ABI_VERSION);
    if (core.enabled)
        rb_raise(not_enabled_error, "nothing is counted in this process: counting has ended, or has not begun (--off); "
                                    "Heapline.start begins it");
    rb_raise(not_enabled_error, "heapline is not preloaded in this process: run it with `heapline ruby …`");
}

int rbhl_own_flight_p(VALUE path_or_fd) {
    return is_enabled() && RB_INTEGER_TYPE_P(path_or_fd) && NUM2INT(path_or_fd) == core.flight_fd();
}

static VALUE rbhl_enabled_p(VALUE self) {
    (void)self;
    return is_enabled() ? Qtrue : Qfalse;
}

static VALUE rbhl_flight_fd(VALUE self) {
    (void)self;
    rbhl_check_enabled();
    int fd = core.flight_fd();
    return fd < 0 ? Qnil : INT2NUM(fd);
}

static VALUE rbhl_flight_path(VALUE self) {
    char path[4096];
    (void)self;
    rbhl_check_enabled();
    size_t length = core.flight_path(path, sizeof(path));
    return length == 0 || length >= sizeof(path) ? Qnil : rb_external_str_new(path, (long)length);
}

static VALUE quiet_is(uint32_t depth) {
    rbhl_thread_state_quiet(depth);
    return UINT2NUM(depth);
}

static VALUE rbhl_quiet_enter(VALUE self) {
    (void)self;
    rbhl_check_enabled();
    return quiet_is(core.quiet_enter());
}

static VALUE rbhl_quiet_leave(VALUE self) {
    (void)self;
    rbhl_check_enabled();
    return quiet_is(core.quiet_leave());
}

static VALUE rbhl_quiet_set(VALUE self, VALUE depth) {
    (void)self;
    unsigned int number = NUM2UINT(depth);
    rbhl_check_enabled();
    const uint32_t former = core.quiet_set(number);
    rbhl_thread_state_quiet(number);
    return UINT2NUM(former);
}

static VALUE rbhl_tag_intern(VALUE self, VALUE name) {
    (void)self;
    StringValue(name);
    rbhl_check_enabled();
    return UINT2NUM(core.tag_intern(RSTRING_PTR(name), (size_t)RSTRING_LEN(name)));
}

static VALUE rbhl_tag_set(VALUE self, VALUE tag) {
    (void)self;
    unsigned int number = NUM2UINT(tag);
    if (number >= HL_TAGS_MAX) rb_raise(rb_eArgError, "a tag is a number that tag_intern returned, not %u", number);
    rbhl_check_enabled();
    const uint32_t former = core.tag_set(number);
    rbhl_thread_state_tag(number);
    return UINT2NUM(former);
}

static VALUE rbhl_baseline(VALUE self) {
    (void)self;
    rbhl_check_enabled();
    return ULL2NUM(core.baseline());
}

static VALUE rbhl_totals(VALUE self) {
    uint64_t allocated = 0, freed = 0;
    (void)self;
    rbhl_check_enabled();
    core.totals(&allocated, &freed);
    return rb_assoc_new(ULL2NUM(allocated), ULL2NUM(freed));
}

/* Native.peak_restart -> [bytes live at most since the last call, bytes live now]: see heapline_peak_restart. */
static VALUE rbhl_peak_restart(VALUE self) {
    int64_t live = 0;
    (void)self;
    rbhl_check_enabled();
    const int64_t peak = core.peak_restart(&live);
    return rb_assoc_new(LL2NUM(peak), LL2NUM(live));
}

static VALUE rbhl_generation(VALUE self) {
    (void)self;
    rbhl_check_enabled();
    return ULL2NUM(core.generation());
}

/* Native.record(what) -> nil: true, false or :native; see heapline_record. Raises SystemCallError. */
static VALUE rbhl_record(VALUE self, VALUE what) {
    (void)self;
    rbhl_check_enabled();
    const int with_c = what == ID2SYM(rb_intern("native"));
    const int failed = core.record(with_c        ? HEAPLINE_RECORD_NATIVE
                                   : RTEST(what) ? HEAPLINE_RECORD_BEGIN
                                                 : HEAPLINE_RECORD_END);
    if (failed) rb_syserr_fail(-failed, "heapline's recording");
    return Qnil;
}

/* Native.companion(command, third, fourth) -> nil: see heapline_companion. The descriptors may be nil. Raises
 * SystemCallError. */
static VALUE rbhl_companion(VALUE self, VALUE command, VALUE third, VALUE fourth) {
    const char *words = StringValueCStr(command);
    const int fds[] = {NIL_P(third) ? -1 : NUM2INT(third), NIL_P(fourth) ? -1 : NUM2INT(fourth)};
    (void)self;
    rbhl_check_enabled();
    const int failed = core.companion(words, fds[0], fds[1]);
    if (failed) rb_syserr_fail(-failed, "heapline's companion");
    return Qnil;
}

/* heapline_start, heapline_look or heapline_stop; they are there whether or not something is counted. */
static void find_or_raise(const char *name, void *slot) {
    is_enabled();
    if (!rbhl_core_function(name, slot)) rbhl_check_enabled();
}

/* Native.start(options) -> true; false: it is counted already. Raises SystemCallError. */
static VALUE rbhl_start(VALUE self, VALUE options) {
    int (*start)(const char *);
    const char *text = StringValueCStr(options);
    (void)self;
    find_or_raise("heapline_start", &start);
    const int failed = start(text);
    if (failed && failed != -EALREADY) rb_syserr_fail(-failed, "heapline's start");
    return failed ? Qfalse : Qtrue;
}

/* Native.look -> whether nothing more has to be looked at: see heapline_look. */
static VALUE rbhl_look(VALUE self) {
    int (*look)(void);
    (void)self;
    find_or_raise("heapline_look", &look);
    return look() ? Qtrue : Qfalse;
}

/* Native.stop -> true; false: nothing is counted. Raises SystemCallError. */
static VALUE rbhl_stop(VALUE self) {
    int (*stop)(void);
    (void)self;
    find_or_raise("heapline_stop", &stop);
    const int failed = stop();
    if (failed && failed != -ESRCH) rb_syserr_fail(-failed, "heapline's stop");
    return failed ? Qfalse : Qtrue;
}

/* Native.load_core(path) -> true; false: there is one already, preloaded or loaded late. It counts nothing yet. Raises
 * NotEnabled: the loader's words. */
static VALUE rbhl_load_core(VALUE self, VALUE path) {
    const char *file = StringValueCStr(path);
    (void)self;
    if (is_enabled() || core.abi_version) return Qfalse;
    if (!(library = dlopen(file, RTLD_NOW | RTLD_LOCAL)))
        rb_raise(not_enabled_error, "heapline's library cannot be loaded: %s", dlerror());
    use_core();
    return Qtrue;
}

void rbhl_define_core(VALUE native, VALUE not_enabled) {
    rb_gc_register_mark_object(not_enabled);
    not_enabled_error = not_enabled;
    use_core();
    rb_define_singleton_method(native, "load_core", rbhl_load_core, 1);
    rb_define_singleton_method(native, "enabled?", rbhl_enabled_p, 0);
    rb_define_singleton_method(native, "start", rbhl_start, 1);
    rb_define_singleton_method(native, "look", rbhl_look, 0);
    rb_define_singleton_method(native, "stop", rbhl_stop, 0);
    rb_define_singleton_method(native, "flight_fd", rbhl_flight_fd, 0);
    rb_define_singleton_method(native, "flight_path", rbhl_flight_path, 0);
    rb_define_singleton_method(native, "quiet_enter", rbhl_quiet_enter, 0);
    rb_define_singleton_method(native, "quiet_leave", rbhl_quiet_leave, 0);
    rb_define_singleton_method(native, "quiet_set", rbhl_quiet_set, 1);
    rb_define_singleton_method(native, "tag_intern", rbhl_tag_intern, 1);
    rb_define_singleton_method(native, "tag_set", rbhl_tag_set, 1);
    rb_define_singleton_method(native, "baseline", rbhl_baseline, 0);
    rb_define_singleton_method(native, "totals", rbhl_totals, 0);
    rb_define_singleton_method(native, "peak_restart", rbhl_peak_restart, 0);
    rb_define_singleton_method(native, "generation", rbhl_generation, 0);
    rb_define_singleton_method(native, "record", rbhl_record, 1);
    rb_define_singleton_method(native, "companion", rbhl_companion, 3);
}
