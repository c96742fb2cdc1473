/* SPDX-License-Identifier: MIT */
#include "ruby_vm.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "block_map.h"
#include "flight.h"
#include "gc_counter.h"
#include "lane.h"
#include "library.h"
#include "options.h"
#include "text.h"

static const struct hl_ruby_layout layouts[] = {
    {3, 1, 64, 40, 16}, {3, 2, 64, 48, 24}, {3, 3, 56, 48, 24}, {3, 4, 56, 48, 24}, {4, 0, 56, 48, 24},
};

struct hl_ruby hl_ruby;
intptr_t hl_ruby_ec_offset;
size_t hl_ruby_frame_size;
static HL_THREAD_LOCAL char *no_ec; /* what hl_ruby_ec reads while detached */
static const hl_value *thread_class, *standard_output;
static void (*on_end)(void);

static void detached(void) {
    hl_ruby_ec_offset = (char *)&no_ec - hl_thread_pointer();
}

static const struct hl_ruby_layout *layout_for(const char *version) {
    const char *cursor = version;
    uint64_t major = hl_parse_number(&cursor);
    if (*cursor == '.') cursor++;
    uint64_t minor = hl_parse_number(&cursor);
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (layouts[i].major == major && layouts[i].minor == minor) return &layouts[i];
    return NULL;
}

int hl_ruby_present(void) {
    const char *version = dlsym(RTLD_DEFAULT, "ruby_version");
    void *symbol;
    detached();
    if (!version) return 0;
#define HL_FIND(type, name, parameters)                                                                                \
    if (!(symbol = dlsym(RTLD_DEFAULT, #name))) return 0;                                                              \
    memcpy(&hl_ruby.name, &symbol, sizeof(symbol));
    HL_RUBY_FUNCTIONS(HL_FIND)
#undef HL_FIND
#define HL_FIND(type, name, parameters)                                                                                \
    symbol = dlsym(RTLD_DEFAULT, #name);                                                                               \
    memcpy(&hl_ruby.name, &symbol, sizeof(symbol));
    HL_RUBY_OPTIONAL_FUNCTIONS(HL_FIND)
#undef HL_FIND
    thread_class = dlsym(RTLD_DEFAULT, "rb_cThread");
    standard_output = dlsym(RTLD_DEFAULT, "rb_stdout");
    hl_ruby.version = version;
    hl_ruby.description = dlsym(RTLD_DEFAULT, "ruby_description");
    hl_ruby.layout = layout_for(version);
    if (hl_ruby.layout) hl_ruby_frame_size = hl_ruby.layout->frame_size;
    return thread_class != NULL;
}

/* ---- where the ec lies ---- */

struct tls_search {
    uintptr_t function; /* an address in the object that is looked for */
    char *block;
    size_t size;
};

static int find_tls_block(struct dl_phdr_info *object, size_t size, void *context) {
    struct tls_search *search = context;
    int inside = 0;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && search->function - (object->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            inside = 1;
        if (segment->p_type == PT_TLS) search->size = segment->p_memsz;
    }
    if (!inside) {
        search->size = 0;
        return 0;
    }
    search->block = object->dlpi_tls_data;
    return 1;
}

/* The word that holds `ec` in the thread-local block of the object that defines rb_thread_current. That object was
 * loaded at start-up, so the word's distance from the thread pointer is the same in every thread. */
static int locate_ec_word(const char *ec) {
    struct tls_search search = {(uintptr_t)hl_ruby.rb_thread_current, NULL, 0};
    char *exported = dlsym(RTLD_DEFAULT, "ruby_current_ec"); /* up to Ruby 3.2 */
    if (!exported) dl_iterate_phdr(find_tls_block, &search);
    for (size_t at = 0; search.block && at + sizeof(ec) <= search.size && !exported; at += sizeof(ec))
        if (*(const char **)(search.block + at) == ec) exported = search.block + at;
    if (!exported || *(const char **)exported != ec) return 0;
    hl_ruby_ec_offset = exported - hl_thread_pointer();
    return 1;
}

/* The main thread's ec, proven by its pointer back to the thread; NULL where the layout does not hold. */
static char *main_ec(hl_value thread_object) {
    char *thread = *(char **)(thread_object + HL_TYPED_DATA);
    char *ec = thread ? *(char **)(thread + hl_ruby.layout->thread_ec) : NULL;
    return ec && *(char **)(ec + HL_EC_THREAD) == thread ? ec : NULL;
}

/* ---- Ractors ---- */

static const void *main_ractor; /* NULL: not known */

static const void *ractor_of(const char *ec) {
    return *(const void *const *)(*(char *const *)(ec + HL_EC_THREAD) + HL_THREAD_RACTOR);
}

int hl_ruby_in_main_ractor(void) {
    const char *ec = hl_ruby_ec();
    return !main_ractor || !ec || ractor_of(ec) == main_ractor;
}

/* Up to Ruby 3.3 a job runs in the Ractor that registers it; one that no thread of Ruby's registers, in the main one.
 */
void hl_ruby_ask_main_ractor(void (*job)(void *)) {
    sigset_t all, before;
    if (hl_ruby_in_main_ractor()) {
        hl_ruby.rb_postponed_job_register_one(0, job, NULL);
        return;
    }
    char **word = (char **)(hl_thread_pointer() + hl_ruby_ec_offset), *const ec = *word;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* a handler may ask for the ec */
    *word = NULL;
    hl_ruby.rb_postponed_job_register_one(0, job, NULL);
    *word = ec;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- the layout ---- */

static const char *adopt_layout(hl_value thread_object) {
    if (!hl_ruby.layout) return "this Ruby version is not known to heapline";
    char *ec = main_ec(thread_object);
    if (!ec || !locate_ec_word(ec)) return "the frames of this Ruby are laid out in an unknown way";
    main_ractor = ractor_of(ec);
    char *fiber = *(char **)(ec + HL_EC_FIBER);
    hl_ruby.fiber_usable = hl_block_usable(fiber);
    struct hl_trailer trailer;
    if (!hl_trailer_read(fiber, hl_ruby.fiber_usable, &trailer)) return "the main fiber was allocated before heapline";
    return NULL;
}

/* ---- attach and detach ---- */

static size_t last_gc_count;

static uint64_t final_gc_count(void) {
    return last_gc_count;
}

/* The VM is about to free its heap: from here on nothing of it may be asked. */
static void vm_ends(void *vm) {
    (void)vm;
    last_gc_count = hl_ruby.rb_gc_count();
    hl_gc_counter = NULL;
    hl_gc_count = final_gc_count;
    hl_ruby.attached = 0;
    thread_class = NULL; /* never again */
    detached();
}

static void find_gc_count(void) {
    hl_gc_count = hl_ruby.rb_gc_count;
    const size_t *counter = hl_gc_counter_find(hl_ruby.rb_gc_count, hl_ruby.rb_gc_get_objspace);
    if (counter && *counter == hl_ruby.rb_gc_count()) hl_gc_counter = counter;
}

static hl_value start_gc(hl_value module) {
    return hl_ruby.rb_funcallv(module, hl_ruby.rb_intern("start"), 0, NULL);
}

/* rb_gc_start leaves objects whose free functions are deferred to the next safe point, GC.start does not. Where the
 * program has turned GC off, it is on for the moment. */
void hl_ruby_collect(void) {
    const hl_value *module = dlsym(RTLD_DEFAULT, "rb_mGC");
    int raised = 0;
    if (!module || !hl_ruby.rb_funcallv || !hl_ruby.rb_intern || !hl_ruby.rb_gc_enable || !hl_ruby.rb_gc_disable ||
        !hl_ruby.rb_errinfo || !hl_ruby.rb_set_errinfo) {
        hl_ruby.rb_gc_start();
        return;
    }
    const hl_value error = hl_ruby.rb_errinfo(), was_off = hl_ruby.rb_gc_enable();
    hl_ruby.rb_protect(start_gc, *module, &raised);
    if (raised) hl_ruby.rb_set_errinfo(error);
    if (was_off) hl_ruby.rb_gc_disable();
}

/* Ruby itself would flush after the last at_exit handler: the report would come before the program's last words. */
void hl_ruby_flush_output(void) {
    int state; /* what fails here fails again, and is handled, when Ruby flushes */
    if (standard_output) hl_ruby.rb_protect(hl_ruby.rb_io_flush, *standard_output, &state);
}

static void ruby_ends(hl_value data) {
    (void)data;
    on_end();
}

void hl_ruby_distrust(const char *reason) {
    if (__atomic_exchange_n(&hl_ruby.public_only, 1, __ATOMIC_RELAXED)) return;
    hl_flight.header->attribution = HL_ATTRIBUTION_PUBLIC;
    __atomic_fetch_add(&hl_location_epochs[0], 1, __ATOMIC_RELEASE); /* what was cached without a pc */
    if (!hl_options.quiet) hl_say("%s: slower attribution through rb_profile_frames (see heapline doctor)", reason);
}

int hl_ruby_attach(void (*ended)(void)) {
    if (hl_ruby.attached) return 1;
    if (!thread_class || !*thread_class || getpid() != (pid_t)syscall(SYS_gettid)) return 0;
    if (!hl_ruby.ruby_native_thread_p()) return 0;
    hl_value thread = hl_ruby.rb_thread_current();
    if (!thread || thread & 7 || (*(uintptr_t *)thread & 0x1f) != 0x0c /* T_DATA */) return 0;
    hl_ruby.attached = 1;
    if (hl_ruby.rb_intern) hl_ruby.attached_name = hl_ruby.rb_intern("__attached__");
    on_end = ended;
    hl_flight.header->attribution = HL_ATTRIBUTION_FRAMES;
    const char *problem = adopt_layout(thread);
    if (problem) hl_ruby_distrust(problem);
    if (hl_options.public_api) hl_ruby_distrust("asked for by HEAPLINE=public");
    hl_ruby.library = hl_library_at((uintptr_t)hl_ruby.rb_thread_current).map;
    find_gc_count();
    /* Both only append to a list of the VM's; registered this early, they run after all of the program's own. */
    hl_ruby.ruby_vm_at_exit(vm_ends);
    hl_ruby.rb_set_end_proc(ruby_ends, 0);
    return 1;
}
