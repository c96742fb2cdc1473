/* SPDX-License-Identifier: MIT */
/*
 * The room vm.
 *   owns: what is known of Ruby's VM and of the machine's stack: layouts, frames, names, GCs, heap pages, JITs
 *   invariant: no pointer of Ruby's is followed that is not known to be alive (W1, W2)
 *   uses: platform, allocator, state, flight
 *
 * The Ruby VM in this process, seen from outside: found with dlsym, never linked. The one place that knows how a
 * version lays out its frames.
 *
 * Detached until the VM's main thread exists; attached until the VM is destroyed. Attaching happens on the main thread,
 * inside one of its own allocations, with the guard entered.
 */
#ifndef HL_RUBY_VM_H
#define HL_RUBY_VM_H

#include <stddef.h>
#include <stdint.h>

#include "platform/platform.h"

typedef uintptr_t hl_value; /* a Ruby VALUE */

/* Where fields lie, in bytes. A version's row is measured against its own headers (test/integration/vm_layout_test.rb);
 * what the running VM has is found out, and may be elsewhere (ruby_proof.h). */
struct hl_ruby_layout {
    uint8_t major, minor;
    uint8_t frame_size;      /* of one control frame */
    uint8_t thread_ec;       /* rb_thread_t.ec */
    uint8_t string_embedded; /* where an embedded string's bytes begin; 16: its length lies in the flags */
    uint8_t typed_data;      /* RTypedData.data */
    uint8_t ec_fiber, ec_thread;
    uint8_t iseq_body;
    uint8_t body_encoded; /* the half word before it is their number */
    uint8_t body_pathobj;
    /* Those may be unknown: 0. */
    uint8_t body_base_label, body_label;
    uint8_t thread_ractor;
    uint8_t ec_machine;    /* rb_execution_context_t.machine: its stack in C */
    uint8_t ec_tag;        /* see HL_TAG_OUTER */
    uint8_t ec_interrupts; /* 32 bits; see HL_INTERRUPT_JOB */
};

/* The same in every version from 3.1 to 4.1; those that frames are followed by are proven too. */
enum {
    HL_EC_STACK = 0,
    HL_EC_STACK_SIZE = 8, /* in words */
    HL_EC_FRAME = 16,
    HL_TAG_JUMP = 16,
    HL_TAG_OUTER = 56,
    HL_MACHINE_TOP = 0,
    HL_MACHINE_BYTES = 16,
    HL_FRAME_PC = 0,
    HL_FRAME_ISEQ = 16,
    HL_FRAME_EP = 32,
    HL_FRAME_JIT = 48,
    HL_EP_METHOD = -2, /* words from the environment's flags */
    HL_EP_OUTER = -1,
    /* in the environment's flags */
    HL_FRAME_FINISH = 0x20,
    HL_FRAME_OF_C = 0x80,
    HL_FRAME_KIND = 0x7fff0001,
    HL_FRAME_DUMMY = 0x79990001,
    HL_FRAME_OF_CLASS = 0x33330001, /* the body of a class or module */
    HL_FRAME_OF_FILE = 0x44440001,  /* a file that is loaded, its own level; the program's is another */
    HL_METHOD_DEFINITION = 16,
    HL_METHOD_OWNER = 32,
    HL_DEFINITION_NAME = 32, /* the first one, also of an alias */
    HL_INTERRUPT_JOB = 4,    /* in an ec's interrupts: jobs wait */
};

/* The public functions that the core calls; all exported by Ruby 3.1 to 4.1. */
#define HL_RUBY_FUNCTIONS(X)                                                                                           \
    X(hl_value, rb_thread_current, (void))                                                                             \
    X(int, ruby_native_thread_p, (void))                                                                               \
    X(int, ruby_thread_has_gvl_p, (void))                                                                              \
    X(int, rb_during_gc, (void))                                                                                       \
    X(size_t, rb_gc_count, (void))                                                                                     \
    X(hl_value, rb_gc_start, (void))                                                                                   \
    X(int, rb_profile_frames, (int start, int limit, hl_value *frames, int *lines))                                    \
    X(hl_value, rb_profile_frame_path, (hl_value frame))                                                               \
    X(hl_value, rb_profile_frame_singleton_method_p, (hl_value frame))                                                 \
    X(unsigned, rb_iseq_line_no, (const void *iseq, size_t position))                                                  \
    X(hl_value, rb_mod_name, (hl_value module))                                                                        \
    X(hl_value, rb_str_length, (hl_value string))                                                                      \
    X(char *, rb_string_value_ptr, (volatile hl_value * string))                                                       \
    X(void, ruby_vm_at_exit, (void (*function)(void *)))                                                               \
    X(void, rb_set_end_proc, (void (*function)(hl_value), hl_value data))                                              \
    X(hl_value, rb_io_flush, (hl_value io))                                                                            \
    X(hl_value, rb_protect, (hl_value(*function)(hl_value), hl_value data, int *state))

/* Exported by some, or needed for figures that are asked for only: the object that a singleton class belongs to; names
 * of what the GC counts; a call at the next safe point. */
#define HL_RUBY_OPTIONAL_FUNCTIONS(X)                                                                                  \
    X(hl_value, rb_class_attached_object, (hl_value singleton)) /* >= 3.2 */                                           \
    X(hl_value, rb_profile_frame_label, (hl_value frame))                                                              \
    X(hl_value, rb_profile_frame_base_label, (hl_value frame))                                                         \
    X(const char *, rb_sourcefile, (void))                                                                             \
    X(int, rb_sourceline, (void))                                                                                      \
    X(hl_value, rb_attr_get, (hl_value object, uintptr_t name))                                                        \
    X(uintptr_t, rb_intern, (const char *name))                                                                        \
    X(void *, rb_gc_get_objspace, (void)) /* >= 3.4 */                                                                 \
    X(hl_value, rb_id2sym, (uintptr_t name))                                                                           \
    X(size_t, rb_gc_stat, (hl_value symbol))                                                                           \
    X(hl_value, rb_funcallv, (hl_value object, uintptr_t name, int count, const hl_value *arguments))                  \
    X(hl_value, rb_errinfo, (void))                                                                                    \
    X(void, rb_set_errinfo, (hl_value error))                                                                          \
    X(int, rb_postponed_job_register_one, (unsigned flags, void (*function)(void *), void *data))     /* < 4.1 */      \
    X(unsigned, rb_postponed_job_preregister, (unsigned flags, void (*function)(void *), void *data)) /* >= 3.3 */     \
    X(void, rb_postponed_job_trigger, (unsigned job))                                                 /* >= 3.3 */     \
    /* for objects (objects.h) */                                                                                      \
    X(void, rb_add_event_hook2, (void (*function)(hl_value, const void *), uint32_t events, hl_value data, int flags)) \
    X(int, rb_remove_event_hook, (void (*function)(hl_value, const void *)))                                           \
    X(hl_value, rb_tracearg_object, (const void *event))                                                               \
    X(uint32_t, rb_tracearg_event_flag, (const void *event))                                                           \
    X(hl_value, rb_gc_location, (hl_value object))                                                                     \
    X(hl_value, rb_data_typed_object_wrap, (hl_value klass, void *data, const void *type))                             \
    X(void, rb_gc_register_address, (hl_value * place))                                                                \
    X(hl_value, rb_gc_disable, (void))                                                                                 \
    X(hl_value, rb_gc_enable, (void))                                                                                  \
    X(hl_value, rb_gc_latest_gc_info, (hl_value symbol))                                                               \
    X(hl_value, rb_class_real, (hl_value klass))                                                                       \
    X(hl_value, rb_class_get_superclass, (hl_value klass))                                                             \
    X(hl_value, rb_obj_alloc, (hl_value klass))                                                                        \
    X(const char *, rb_imemo_name, (int type))                                                                         \
    X(size_t, rb_gc_obj_slot_size, (hl_value object)) /* >= 3.3 */                                                     \
    X(void, rb_objspace_each_objects, (int (*each)(void *, void *, size_t, void *), void *data))

enum { HL_RUBY_BODY_BYTES = 128 }; /* of an iseq's body that are read */

/* How lines are found: `public_only`. */
enum hl_public {
    HL_OWN_WALK = 0,
    HL_PUBLIC = 1,      /* through rb_profile_frames */
    HL_UNTIL_PROVEN = 2 /* likewise, until the layout is proven or refused */
};

struct hl_ruby {
    const struct hl_ruby_layout *layout; /* believed once `public_only` is HL_OWN_WALK; NULL: unknown, or refused */
    unsigned major, minor;
    uint32_t version_known; /* there is a row for it: what is no field of the layout is as in it */
    uint32_t attached;
    const void *main_thread;      /* its hl_thread: the one that attached */
    uint32_t public_only;         /* enum hl_public; not 0: attribution through rb_profile_frames */
    intptr_t locals, locals_size; /* where the ec is sought, relative to the thread pointer */
    uint32_t moves_names;         /* 3.2: names of classes lie in blocks that the VM reallocates */
    const void *library;          /* the link map of the object that holds the VM */
    const char *version;          /* "3.4.1" */
    const char *description;
    uintptr_t attached_name; /* the name under which Ruby 3.1 keeps a singleton class's object */
    uintptr_t require_name, require_relative_name;
    size_t fiber_usable;  /* hl_block_usable of a fiber's block, which holds its ec */
    size_t thread_usable; /* … of a thread's; 0: not known */
    char *lasting_thread; /* the main thread, where it is no block: since Ruby 4.1 it lies in the VM's data */
#define HL_MEMBER(type, name, parameters) type(*name) parameters;
    HL_RUBY_FUNCTIONS(HL_MEMBER)
    HL_RUBY_OPTIONAL_FUNCTIONS(HL_MEMBER)
#undef HL_MEMBER
};
extern struct hl_ruby hl_ruby HL_HIDDEN;

/* Where the current ec lies, relative to the thread pointer; a word that is always NULL while detached. */
extern intptr_t hl_ruby_ec_offset HL_HIDDEN;
/* Since Ruby 4.1 a frame of ZJIT's keeps pc and code beside its code in the machine's stack: the VM's own word that
 * says whether ZJIT runs. NULL in all other Rubies. */
extern const void *const *hl_ruby_zjit HL_HIDDEN;
/* Bytes of one control frame. */
extern size_t hl_ruby_frame_size HL_HIDDEN;

/* Is this Ruby older than that version? */
HL_INLINE int hl_ruby_before(unsigned major, unsigned minor) {
    return hl_ruby.major < major || (hl_ruby.major == major && hl_ruby.minor < minor);
}

/* May its object heap be read, of which no more is known than its version? */
HL_INLINE int hl_ruby_knows_heap(void) {
    return hl_ruby.layout && hl_ruby.version_known;
}

HL_INLINE char *hl_ruby_ec(void) {
    return hl_thread_word((intptr_t)hl_look64((const uint64_t *)&hl_ruby_ec_offset));
}

/* Look for a Ruby VM among the loaded objects: 1 if this is a Ruby process. */
int hl_ruby_present(void);

/* Attach if the VM is ready and this is the main thread; 1 once attached. `ended` is called in the last at_exit. */
int hl_ruby_attach(void (*ended)(void));

/* Is this a system call that Ruby waits in, and begins again after it has looked for interrupts? */
int hl_ruby_begins_again(long number);

/* In the last at_exit handler, with the GVL: a full GC; and what the program printed so far, out to where it goes. */
void hl_ruby_collect(void);
void hl_ruby_flush_output(void);

/* Is this thread, one of Ruby's, in the main Ractor? 1 too where the layout is not known. */
int hl_ruby_in_main_ractor(void);

/* Register a postponed job that runs in the main Ractor. With the GVL; async-signal-safe, may be inside malloc. */
void hl_ruby_ask_main_ractor(void (*job)(void *));

/* Use rb_profile_frames from now on, and say why. */
void hl_ruby_distrust(const char *reason);

/* What ruby_proof.h comes to. The layout that was proven, and where the ec lies relative to the thread pointer; or
 * there is none: nothing is read that a version lays out. */
void hl_ruby_believe(const struct hl_ruby_layout *layout, intptr_t ec_offset);
void hl_ruby_refuse(void);

#endif
