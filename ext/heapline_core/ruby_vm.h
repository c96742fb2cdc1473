/* SPDX-License-Identifier: MIT */
/*
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

#include "platform.h"

typedef uintptr_t hl_value; /* a Ruby VALUE */

/* Bytes; measured against each version's own headers (test/integration/vm_layout_test.rb proves them). */
struct hl_ruby_layout {
    uint16_t major, minor;
    uint8_t frame_size;      /* of one control frame */
    uint8_t thread_ec;       /* rb_thread_t.ec */
    uint8_t string_embedded; /* where an embedded string's bytes begin; 16: its length lies in the flags */
};

/* The same in every version from 3.1 to 4.0. */
enum {
    HL_EC_STACK = 0,
    HL_EC_STACK_SIZE = 8, /* in words */
    HL_EC_FRAME = 16,
    HL_EC_TAG = 24,
    HL_TAG_JUMP = 16,
    HL_TAG_OUTER = 56,
    HL_EC_FIBER = 40,
    HL_EC_THREAD = 48,
    HL_THREAD_RACTOR = 24,
    HL_FRAME_PC = 0,
    HL_FRAME_ISEQ = 16,
    HL_FRAME_EP = 32,
    HL_EP_METHOD = -2, /* words from the environment's flags */
    HL_EP_OUTER = -1,
    /* in the environment's flags */
    HL_FRAME_FINISH = 0x20,
    HL_FRAME_OF_C = 0x80,
    HL_FRAME_KIND = 0x7fff0001,
    HL_FRAME_DUMMY = 0x79990001,
    HL_ISEQ_BODY = 16,
    HL_BODY_SIZE = 4,
    HL_BODY_ENCODED = 8,
    HL_BODY_PATHOBJ = 64,
    HL_BODY_BASE_LABEL = 72,
    HL_BODY_LABEL = 80,
    HL_METHOD_OWNER = 32,
    HL_TYPED_DATA = 32,
};

/* The public functions that the core calls; all exported by Ruby 3.1 to 4.0. */
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
    X(hl_value, rb_attr_get, (hl_value object, uintptr_t name))                                                        \
    X(uintptr_t, rb_intern, (const char *name))                                                                        \
    X(void *, rb_gc_get_objspace, (void)) /* >= 3.4 */                                                                 \
    X(hl_value, rb_id2sym, (uintptr_t name))                                                                           \
    X(size_t, rb_gc_stat, (hl_value symbol))                                                                           \
    X(hl_value, rb_funcallv, (hl_value object, uintptr_t name, int count, const hl_value *arguments))                  \
    X(hl_value, rb_errinfo, (void))                                                                                    \
    X(void, rb_set_errinfo, (hl_value error))                                                                          \
    X(int, rb_postponed_job_register_one, (unsigned flags, void (*function)(void *), void *data))                      \
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

struct hl_ruby {
    const struct hl_ruby_layout *layout; /* NULL: unknown version */
    uint32_t attached;
    uint32_t public_only; /* attribution through rb_profile_frames */
    const void *library;  /* the link map of the object that holds the VM */
    const char *version;  /* "3.4.1" */
    const char *description;
    uintptr_t attached_name; /* the name under which Ruby 3.1 keeps a singleton class's object */
    size_t fiber_usable;     /* hl_block_usable of a fiber's block, which holds its ec */
#define HL_MEMBER(type, name, parameters) type(*name) parameters;
    HL_RUBY_FUNCTIONS(HL_MEMBER)
    HL_RUBY_OPTIONAL_FUNCTIONS(HL_MEMBER)
#undef HL_MEMBER
};
extern struct hl_ruby hl_ruby HL_HIDDEN;

/* Where the current ec lies, relative to the thread pointer; a word that is always NULL while detached. */
extern intptr_t hl_ruby_ec_offset HL_HIDDEN;
/* Bytes of one control frame. */
extern size_t hl_ruby_frame_size HL_HIDDEN;

HL_INLINE char *hl_ruby_ec(void) {
    return *(char **)(hl_thread_pointer() + hl_ruby_ec_offset);
}

/* Look for a Ruby VM among the loaded objects: 1 if this is a Ruby process. */
int hl_ruby_present(void);

/* Attach if the VM is ready and this is the main thread; 1 once attached. `ended` is called in the last at_exit. */
int hl_ruby_attach(void (*ended)(void));

/* In the last at_exit handler, with the GVL: a full GC; and what the program printed so far, out to where it goes. */
void hl_ruby_collect(void);
void hl_ruby_flush_output(void);

/* Is this thread, one of Ruby's, in the main Ractor? 1 too where the layout is not known. */
int hl_ruby_in_main_ractor(void);

/* Register a postponed job that runs in the main Ractor. With the GVL; async-signal-safe, may be inside malloc. */
void hl_ruby_ask_main_ractor(void (*job)(void *));

/* Use rb_profile_frames from now on, and say why. */
void hl_ruby_distrust(const char *reason);

#endif
