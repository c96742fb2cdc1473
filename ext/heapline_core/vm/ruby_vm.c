/* SPDX-License-Identifier: MIT */
#include "vm/ruby_vm.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "flight/flight.h"
#include "flight/library.h"
#include "platform/text.h"
#include "state/block_map.h"
#include "state/guard.h"
#include "state/location_epochs.h"
#include "state/options.h"
#include "state/trailer.h"
#include "vm/gc_counter.h"

/* In the order of the struct: frame_size, thread_ec, string_embedded, typed_data | ec_fiber, ec_thread | iseq_body,
 * body_encoded, body_pathobj, body_base_label, body_label | thread_ractor, ec_machine, ec_tag, ec_interrupts. */
static const struct hl_ruby_layout layouts[] = {
    {3, 1, 64, 40, 16, 32, 40, 48, 16, 8, 64, 72, 80, 24, 144, 24, 32},
    {3, 2, 64, 48, 24, 32, 40, 48, 16, 8, 64, 72, 80, 24, 152, 24, 32},
    {3, 3, 56, 48, 24, 32, 40, 48, 16, 8, 64, 72, 80, 24, 152, 24, 32},
    {3, 4, 56, 48, 24, 32, 40, 48, 16, 8, 64, 72, 80, 24, 144, 24, 32},
    {4, 0, 56, 48, 24, 32, 40, 48, 16, 8, 64, 72, 80, 24, 176, 24, 32},
    {4, 1, 56, 48, 24, 32, 40, 48, 16, 8, 64, 72, 80, 24, 176, 24, 32},
};
enum { ROWS = sizeof(layouts) / sizeof(layouts[0]) };

struct hl_ruby hl_ruby;
HL_HOT intptr_t hl_ruby_ec_offset;
HL_HOT size_t hl_ruby_frame_size;
HL_HOT const void *const *hl_ruby_zjit;
static HL_THREAD_LOCAL char *no_ec; /* what hl_ruby_ec reads while detached */
static const hl_value *thread_class, *standard_output;
static void (*on_end)(void);

static void detached(void) {
    hl_ruby_ec_offset = (char *)&no_ec - hl_thread_pointer();
}

/* A version that is not known begins with the row of the newest. */
static void find_row(const char *version) {
    const char *cursor = version;
    hl_ruby.major = (unsigned)hl_parse_number(&cursor);
    if (*cursor == '.') cursor++;
    hl_ruby.minor = (unsigned)hl_parse_number(&cursor);
    hl_ruby.layout = &layouts[ROWS - 1];
    for (size_t i = 0; i < ROWS && !hl_ruby.version_known; i++) {
        if (layouts[i].major != hl_ruby.major || layouts[i].minor != hl_ruby.minor) continue;
        hl_ruby.layout = &layouts[i];
        hl_ruby.version_known = 1;
    }
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

/* The thread-local block of the object that defines rb_thread_current, or the word in it that Ruby up to 3.2 exports.
 * That object was loaded at start-up, so their distance from the thread pointer is the same in every thread. Found at
 * the start: later, inside malloc, nobody may wait for the linker's lock. */
static void find_thread_locals(void) {
    struct tls_search search = {(uintptr_t)hl_ruby.rb_thread_current, NULL, 0};
    char *word = dlsym(RTLD_DEFAULT, "ruby_current_ec");
    if (word)
        search = (struct tls_search){0, word, sizeof(word)};
    else
        dl_iterate_phdr(find_tls_block, &search);
    hl_ruby.locals = search.block - hl_thread_pointer();
    hl_ruby.locals_size = search.block ? (intptr_t)search.size : 0;
}

/* What Ruby 4.1 has in place of rb_postponed_job_register_one: each job has one of 32 places, for ever. */
static int trigger_job(unsigned flags, void (*job)(void *), void *data) {
    hl_ruby.rb_postponed_job_trigger(hl_ruby.rb_postponed_job_preregister(flags, job, data));
    return 1;
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
    if (!hl_ruby.rb_postponed_job_register_one && hl_ruby.rb_postponed_job_preregister &&
        hl_ruby.rb_postponed_job_trigger)
        hl_ruby.rb_postponed_job_register_one = trigger_job;
    thread_class = dlsym(RTLD_DEFAULT, "rb_cThread");
    standard_output = dlsym(RTLD_DEFAULT, "rb_stdout");
    hl_ruby.version = version;
    hl_ruby.description = dlsym(RTLD_DEFAULT, "ruby_description");
    find_row(version);
    if (!hl_ruby_before(4, 1)) hl_ruby_zjit = dlsym(RTLD_DEFAULT, "rb_zjit_entry");
    hl_ruby.moves_names = !hl_ruby_before(3, 2) && hl_ruby_before(3, 3);
    find_thread_locals();
    return thread_class != NULL;
}

/* ---- Ractors ---- */

static const void *main_ractor; /* NULL: not known */

static const void *ractor_of(const char *ec) {
    return *(const void *const *)(*(char *const *)(ec + hl_ruby.layout->ec_thread) + hl_ruby.layout->thread_ractor);
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

void hl_ruby_believe(const struct hl_ruby_layout *layout, intptr_t ec_offset) {
    const char *ec = *(char *const *)(hl_thread_pointer() + ec_offset),
               *fiber = *(char *const *)(ec + layout->ec_fiber);
    char *thread = *(char *const *)(ec + layout->ec_thread);
    struct hl_trailer trailer;
    hl_ruby.layout = layout;
    hl_ruby_frame_size = layout->frame_size;
    hl_ruby.fiber_usable = hl_block_usable((void *)(uintptr_t)fiber);
    if (hl_library_map((uintptr_t)thread)) {
        hl_ruby.lasting_thread = thread;
    } else {
        const size_t usable = hl_block_usable(thread);
        hl_ruby.thread_usable = hl_started_late || hl_trailer_read(thread, usable, &trailer) ? usable : 0;
    }
    if (hl_ruby.rb_intern) { /* the VM, which runs Ruby code by now, has both: nothing is made */
        hl_ruby.require_name = hl_ruby.rb_intern("require");
        hl_ruby.require_relative_name = hl_ruby.rb_intern("require_relative");
    }
    main_ractor = layout->thread_ractor ? ractor_of(ec) : NULL;
    __atomic_store_n(&hl_ruby_ec_offset, ec_offset, __ATOMIC_RELEASE); /* who finds an ec finds the rest */
    hl_flight.header->attribution = HL_ATTRIBUTION_FRAMES;
    __atomic_store_n(&hl_ruby.public_only, HL_OWN_WALK, __ATOMIC_RELEASE);
    hl_location_epochs_move(NULL, 0); /* what was cached without a pc */
}

void hl_ruby_refuse(void) {
    hl_ruby.layout = NULL;
    hl_ruby_zjit = NULL;
    hl_ruby_distrust(hl_options.public_api ? "as asked for (--public-api or HEAPLINE=api)"
                                           : "the frames of this Ruby are laid out in an unknown way");
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
    hl_gc_counter = &hl_gc_counter_unknown;
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
    if (__atomic_exchange_n(&hl_ruby.public_only, HL_PUBLIC, __ATOMIC_RELAXED) == HL_PUBLIC) return;
    hl_flight.header->attribution = HL_ATTRIBUTION_PUBLIC;
    hl_location_epochs_move(NULL, 0); /* what was cached without a pc */
    if (!hl_options.quiet)
        hl_say("%s: lines come through rb_profile_frames, which is slower (see heapline doctor)", reason);
}

int hl_ruby_begins_again(long number) {
    static const short calls[] = {
        HL_OLDER_WAITS SYS_read, SYS_write, SYS_writev, SYS_ppoll, SYS_pselect6, SYS_wait4, SYS_waitid};
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (calls[i] == number) return 1;
    return 0;
}

int hl_ruby_attach(void (*ended)(void)) {
    if (hl_ruby.attached) return 1;
    if (!thread_class || !*thread_class) return 0;
    if (!hl_started_late && getpid() != (pid_t)syscall(SYS_gettid)) return 0; /* the VM boots */
    if (!hl_ruby.ruby_native_thread_p()) return 0;
    hl_value thread = hl_ruby.rb_thread_current();
    if (!thread || thread & 7 || (*(uintptr_t *)thread & 0x1f) != 0x0c /* T_DATA */) return 0;
    hl_ruby.attached = 1;
    hl_ruby.main_thread = &hl_thread;
    if (hl_ruby.rb_intern) hl_ruby.attached_name = hl_ruby.rb_intern("__attached__");
    on_end = ended;
    hl_flight.header->attribution = HL_ATTRIBUTION_PUBLIC;
    hl_ruby.public_only = HL_UNTIL_PROVEN;
    hl_location_epochs_move(NULL, 0); /* what was cached without a pc */
    if (hl_options.public_api) hl_ruby_refuse();
    hl_flight.header->layout.outcome = hl_options.public_api ? HL_LAYOUT_UNASKED : HL_LAYOUT_OPEN;
    hl_ruby.library = hl_library_at((uintptr_t)hl_ruby.rb_thread_current).map;
    find_gc_count();
    /* Both only append to a list of the VM's; registered this early, they run after all of the program's own. */
    hl_ruby.ruby_vm_at_exit(vm_ends);
    hl_ruby.rb_set_end_proc(ruby_ends, 0);
    return 1;
}
