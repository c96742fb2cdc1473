/* SPDX-License-Identifier: MIT */
#include "vm_access.h"

#include <errno.h>
#include <ruby/ractor.h>
#include <ruby/st.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "../heapline_core/flight/flight_layout.h"
#include "bindings.h"
#include "vm_offsets.h"

enum { EP_WORDS = 3, FRAME_IS_C = 0x80, MOST_LOCALS = 4096, GC_FLAGS = 16 };

extern const void *const rb_zjit_entry __attribute__((weak));

#define AT(type, address, offset) (*(type *)((char *)(address) + (offset)))

static int known; /* what rbhl_vm_is_known told last */

/* What came of the core's comparison of the running VM with the table of its version; open without the core. */
static uint32_t compared(void) {
    const off_t place = offsetof(struct hl_flight_header, layout.outcome);
    uint32_t outcome = HL_LAYOUT_OPEN;
    int (*flight)(void);
    *(void **)&flight = rbhl_core_symbol("heapline_flight_fd");
    const int fd = flight ? flight() : -1;
    return fd < 0 || pread(fd, &outcome, sizeof(outcome), place) == sizeof(outcome) ? outcome : HL_LAYOUT_REFUSED;
}

int rbhl_vm_is_known(void) {
    const uint32_t outcome = KNOWN_VERSION ? compared() : HL_LAYOUT_REFUSED;
    known = outcome == HL_LAYOUT_KNOWN || outcome == HL_LAYOUT_OPEN;
    return known;
}

/* The execution context of this thread, proven by its pointer back; NULL where the layout does not hold. */
static char *own_ec(void) {
    char *thread = known ? RTYPEDDATA_DATA(rb_thread_current()) : NULL;
    char *ec = thread ? AT(char *, thread, THREAD_EC) : NULL;
    return ec && AT(char *, ec, EC_THREAD) == thread ? ec : NULL;
}

void rbhl_vm_stand_still(void) {
    char *ec = own_ec();
    if (ec) {
        AT(uint32_t, ec, EC_INTERRUPT_MASK) = ~0u;
        AT(uint32_t, ec, EC_INTERRUPT_FLAG) = 0;
    }
    *rb_ruby_verbose_ptr() = Qnil;
    rb_gc_disable();
}

/* ---- other Ractors ---- */

/* One of Ruby's methods that are written in Ruby. */
static VALUE ask_ractors(VALUE unused) {
    return rb_funcallv(rb_cRactor, rb_intern("count"), 0, NULL);
}

/* How many run, this one included. */
static long ractors(void) {
    const VALUE error = rb_errinfo();
    int raised = 0;
    const VALUE count = rb_protect(ask_ractors, Qnil, &raised);
    if (raised) rb_set_errinfo(error);
    return !raised && RB_FIXNUM_P(count) ? FIX2LONG(count) : 1;
}

struct pause {
    void (*run)(void *);
    void *argument;
    int begun; /* the callback may come more than once */
};

static VALUE run_in_pause(void *data) {
    struct pause *pause = data;
    pause->run(pause->argument);
    return Qnil;
}

/* With the VM's lock. A GC stops the other Ractors; those that ran until then need the lock to go on. */
static void stop_others(VALUE unused, void *data) {
    struct pause *pause = data;
    (void)unused;
    if (pause->begun++) return;
    rb_gc_start();
    run_in_pause(pause);
}

int rbhl_vm_pause(void (*run)(void *argument), void *argument) {
    struct pause pause = {run, argument, 0};
    if (rb_vm_lock_with_barrier) {
        rb_vm_lock_with_barrier(run_in_pause, &pause);
    } else if (ractors() == 1) {
        run(argument);
    } else {
        if (!RACTORS_STOP || !rb_objspace_reachable_objects_from) return ENOTSUP;
        rb_objspace_reachable_objects_from(rb_cObject, stop_others, &pause);
    }
    return 0;
}

int rbhl_vm_gc_in_twin(void) {
    return rb_vm_lock_with_barrier || ractors() == 1;
}

/* ---- what an object is ---- */

static int is_data(VALUE object, const char *name) {
    return RB_TYPE_P(object, T_DATA) && RTYPEDDATA_P(object) && RTYPEDDATA_DATA(object) &&
           strcmp(RTYPEDDATA_TYPE(object)->wrap_struct_name, name) == 0;
}

int rbhl_vm_is_thread(VALUE object) {
    return is_data(object, "VM/thread");
}

int rbhl_vm_is_fiber(VALUE object) {
    return is_data(object, "fiber");
}

int rbhl_vm_imemo_kind(VALUE object) {
    return RBASIC(object)->flags >> FL_USHIFT & IMEMO_KIND;
}

/* As Ruby itself says; what its version has where it says nothing, or the program has changed that. */
uintptr_t rbhl_vm_page_bytes(void) {
    const ID constants = rb_intern("INTERNAL_CONSTANTS");
    const VALUE told = rb_const_defined_at(rb_mGC, constants) ? rb_const_get_at(rb_mGC, constants) : Qnil;
    const VALUE bytes = RB_TYPE_P(told, T_HASH) ? rb_hash_lookup(told, ID2SYM(rb_intern("HEAP_PAGE_SIZE"))) : Qnil;
    return RB_FIXNUM_P(bytes) ? FIX2ULONG(bytes) : HEAP_PAGE_BYTES;
}

/* 1 for an internal object of this kind. */
static int is_internal(VALUE object, int kind) {
    return known && RB_TYPE_P(object, T_IMEMO) && rbhl_vm_imemo_kind(object) == kind;
}

int rbhl_vm_is_code(VALUE object) {
    const char *body = is_internal(object, IMEMO_CODE) ? AT(char *, object, ISEQ_BODY) : NULL;
    return body && AT(VALUE, body, BODY_PATHOBJ);
}

int rbhl_vm_is_method_entry(VALUE object) {
    return is_internal(object, IMEMO_METHOD);
}

VALUE rbhl_vm_ask(VALUE object, const char *method) {
    const ID id = rb_intern(method);
    return rb_method_basic_definition_p(CLASS_OF(object), id) ? rb_funcallv(object, id, 0, NULL) : Qnil;
}

/* ---- what the GC knows of it ---- */

static ID marked, pinned;

int rbhl_vm_marks_told(void) {
    marked = rb_intern("marked");
    pinned = rb_intern("pinned");
    return (rb_obj_gc_flags || rb_gc_object_metadata) && rbhl_vm_marks(rb_cObject) >= 0;
}

static int mark_of(ID name) {
    return (name == marked ? RBHL_MARKED : 0) | (name == pinned ? RBHL_PINNED : 0);
}

int rbhl_vm_marks(VALUE object) {
    ID flags[GC_FLAGS];
    int marks = 0;
    if (rb_obj_gc_flags) {
        const size_t count = rb_obj_gc_flags(object, flags, GC_FLAGS);
        for (size_t i = 0; i < count; i++) marks |= mark_of(flags[i]);
    } else {
        const struct rbhl_metadata *entry = rb_gc_object_metadata(object);
        for (; entry->name; entry++)
            if (RB_TEST(entry->value)) marks |= mark_of(entry->name);
    }
    return marks;
}

/* Up to 3.1 it is written in Ruby. */
static int is_rubys_own(VALUE object, ID method) {
    if (rb_method_basic_definition_p(CLASS_OF(object), method)) return 1;
    const VALUE place = rbhl_vm_ask(rb_obj_method(object, ID2SYM(method)), "source_location");
    const VALUE file = RB_TYPE_P(place, T_ARRAY) && RARRAY_LEN(place) ? RARRAY_AREF(place, 0) : Qnil;
    return RB_TYPE_P(file, T_STRING) && RSTRING_LEN(file) > 10 && memcmp(RSTRING_PTR(file), "<internal:", 10) == 0;
}

VALUE rbhl_vm_compact(void) {
    const ID compact = rb_intern("compact");
    return is_rubys_own(rb_mGC, compact) ? rb_funcallv(rb_mGC, compact, 0, NULL) : Qnil;
}

/* ---- local variables ---- */

static void each_of_environment(const struct rbhl_scope *scope, const VALUE *ep, rbhl_local_fn *found, void *data) {
    const char *body = AT(char *, scope->iseq, ISEQ_BODY);
    const ID *names = AT(ID *, body, BODY_LOCALS);
    const unsigned count = AT(unsigned, body, BODY_LOCAL_COUNT);
    if (!names || count > MOST_LOCALS) return;
    for (unsigned i = 0; i < count; i++) {
        const VALUE value = ep[(long)i - (long)count - (EP_WORDS - 1)];
        if (names[i] && !RB_SPECIAL_CONST_P(value)) found(scope, names[i], value, data);
    }
}

/* The line that the frame is at: its pc is behind the instruction that it waits in. */
static unsigned line_of(VALUE iseq, const VALUE *pc) {
    const char *body = AT(char *, iseq, ISEQ_BODY);
    const size_t position = (size_t)(pc - AT(VALUE *, body, BODY_ENCODED));
    if (!rb_iseq_line_no || position > AT(unsigned, body, BODY_SIZE)) return 0;
    const int line = (int)rb_iseq_line_no((void *)iseq, position ? position - 1 : 0);
    return line > 0 ? (unsigned)line : 0; /* an eval may count from below 1 */
}

/* Where pc and iseq of a frame of Ruby's lie: since Ruby 4.1 a frame of ZJIT's has them in memory of its own, whose
 * address lies in front of the word that it names. */
static const char *code_of(const char *frame, int *iseq) {
    const uintptr_t jit = VERSION < 401 || !&rb_zjit_entry || !rb_zjit_entry ? 0 : AT(uintptr_t, frame, FRAME_JIT);
    *iseq = jit > 1 ? (int)sizeof(VALUE) : FRAME_ISEQ;
    return jit > 1 ? AT(const char *, jit, -(long)sizeof(VALUE)) : jit ? NULL : frame;
}

static void each_of_frame(const char *frame, rbhl_local_fn *found, void *data) {
    int at;
    const VALUE self = AT(VALUE, frame, FRAME_SELF), *ep = AT(VALUE *, frame, FRAME_EP);
    const char *code = !ep || ep[0] & FRAME_IS_C ? NULL : code_of(frame, &at);
    if (!code) return;
    const VALUE iseq = AT(VALUE, code, at), *pc = AT(VALUE *, code, FRAME_PC);
    if (!iseq || !pc || !RB_TYPE_P(iseq, T_IMEMO)) return;
    const struct rbhl_scope scope = {iseq, line_of(iseq, pc)};
    each_of_environment(&scope, ep, found, data);
    if (!RB_SPECIAL_CONST_P(self)) found(&scope, 0, self, data);
}

static char *ec_of(VALUE object) {
    char *own = own_ec(), *data = RTYPEDDATA_DATA(object);
    if (!own) return NULL;
    if (rbhl_vm_is_thread(object)) return AT(char *, data, THREAD_EC);
    /* A fiber's context lies in it, at the same place in each. */
    return data + (own - AT(char *, own, EC_FIBER));
}

void rbhl_vm_each_local(VALUE object, rbhl_local_fn *found, void *data) {
    char *ec = ec_of(object);
    if (!ec || (rbhl_vm_is_fiber(object) && AT(void *, ec, EC_FIBER) != RTYPEDDATA_DATA(object))) return;
    char *stack = AT(char *, ec, EC_STACK), *frame = AT(char *, ec, EC_FRAME);
    if (!stack || frame < stack) return;
    char *end = stack + AT(size_t, ec, EC_STACK_SIZE) * sizeof(VALUE);
    for (; frame + FRAME_SIZE <= end; frame += FRAME_SIZE) each_of_frame(frame, found, data);
}

int rbhl_vm_fiber_runs(VALUE fiber) {
    char *ec = ec_of(fiber), *thread = ec ? AT(char *, ec, EC_THREAD) : NULL;
    return thread && AT(char *, thread, THREAD_EC) == ec;
}

int rbhl_vm_runs_fiber(VALUE thread, VALUE fiber) {
    const char *ec = ec_of(thread);
    return ec && ec == ec_of(fiber);
}

void rbhl_vm_each_kept_local(VALUE object, rbhl_local_fn *found, void *data) {
    if (!is_internal(object, IMEMO_ENV)) return;
    const struct rbhl_scope scope = {AT(VALUE, object, ENV_ISEQ), 0};
    const VALUE *ep = AT(VALUE *, object, ENV_EP);
    if (scope.iseq && ep && RB_TYPE_P(scope.iseq, T_IMEMO)) each_of_environment(&scope, ep, found, data);
}

VALUE rbhl_vm_self_of_proc(VALUE proc) {
    char *data = known && is_data(proc, "proc") ? RTYPEDDATA_DATA(proc) : NULL;
    return data && AT(unsigned, data, PROC_TYPE) <= 1 ? AT(VALUE, data, PROC_SELF) : Qnil;
}

/* ---- compiled code ---- */

ID rbhl_vm_method_id(VALUE entry) {
    return AT(ID, entry, METHOD_ID);
}

void *rbhl_vm_code_body(VALUE code) {
    return AT(char *, code, ISEQ_BODY);
}

VALUE rbhl_vm_code_parent(VALUE code) {
    const VALUE parent = AT(VALUE, AT(char *, code, ISEQ_BODY), BODY_PARENT);
    return parent && rbhl_vm_is_code(parent) ? parent : 0;
}

unsigned rbhl_vm_code_column(VALUE code) {
    return AT(unsigned, AT(char *, code, ISEQ_BODY), BODY_COLUMN);
}

/* ---- constants ---- */

struct constants {
    void (*found)(const struct rbhl_constant *, void *);
    void *data;
};

static int each_constant(st_data_t name, st_data_t entry, st_data_t argument) {
    const struct constants *constants = (const struct constants *)argument;
    const struct rbhl_constant constant = {(ID)name, AT(VALUE, entry, CONSTANT_VALUE), AT(VALUE, entry, CONSTANT_FILE),
                                           AT(int, entry, CONSTANT_LINE)};
    if (!RB_SPECIAL_CONST_P(constant.value)) constants->found(&constant, constants->data);
    return ST_CONTINUE;
}

void rbhl_vm_each_constant(VALUE module, void (*found)(const struct rbhl_constant *, void *), void *data) {
    struct constants constants = {found, data};
    st_table *table = known && rb_mod_const_at ? rb_mod_const_at(module, NULL) : NULL;
    if (!table) return;
    st_foreach(table, each_constant, (st_data_t)&constants);
    st_free_table(table);
}
