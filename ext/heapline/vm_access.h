/* SPDX-License-Identifier: MIT */
/*
 * What a twin asks the VM: all that no public header declares, in one place. Weak functions are NULL where this Ruby
 * does not export them. Offsets are proven by test/integration/vm_layout_test.rb; where a pointer does not prove
 * itself, or the VM is not known, there are no locals, and the rest goes on without.
 *
 * With the GVL; nothing here runs code of the program.
 */
#ifndef RBHL_VM_ACCESS_H
#define RBHL_VM_ACCESS_H

#include <ruby.h>

#define RBHL_WEAK __attribute__((weak))

RBHL_WEAK int rb_objspace_each_objects(int (*callback)(void *start, void *end, size_t stride, void *data), void *data);
RBHL_WEAK void rb_objspace_reachable_objects_from(VALUE object, void (*found)(VALUE, void *), void *data);
RBHL_WEAK int rb_objspace_internal_object_p(VALUE object);
RBHL_WEAK void *rb_mod_const_at(VALUE module, void *table);
RBHL_WEAK VALUE rb_f_global_variables(void);
RBHL_WEAK VALUE rb_vm_lock_with_barrier(VALUE (*function)(void *argument), void *argument); /* >= 4.0 */
RBHL_WEAK unsigned rb_iseq_line_no(const void *iseq, size_t position);
RBHL_WEAK const char *rb_imemo_name(int kind);
/* What the GC knows of an object: up to 3.4, and later. */
RBHL_WEAK size_t rb_obj_gc_flags(VALUE object, ID *flags, size_t room);
struct rbhl_metadata {
    ID name; /* 0: the last one */
    VALUE value;
};
RBHL_WEAK struct rbhl_metadata *rb_gc_object_metadata(VALUE object);
RBHL_WEAK size_t rb_obj_memsize_of(VALUE object);

/* Do its structs lie as the table of its version says? Not where the core, in this process, found them elsewhere or was
 * not to read them (HEAPLINE=api); where it saw too little, or is not there, the version decides. To be asked before
 * each twin: all below goes by the answer. */
int rbhl_vm_is_known(void);

/* Call `run` while no other Ractor runs, and none holds a lock of the VM's. 0, or ENOTSUP where they cannot be stopped.
 * On Ruby 3.3 and 3.4 a full GC stops them, there is no other way from here. On 3.1 it does not stop all. */
int rbhl_vm_pause(void (*run)(void *argument), void *argument);

/* Can a GC run in a twin? Up to Ruby 3.4 it would wait for other Ractors to stop, and in a twin there are none. */
int rbhl_vm_gc_in_twin(void);

/* From here on this thread runs no interrupts and no GC, and warns of nothing. For a twin: there is no way back. */
void rbhl_vm_stand_still(void);

/* Where a variable lives: the code of a frame and the line that it is at (0: not known). */
struct rbhl_scope {
    VALUE iseq;
    unsigned line;
};
/* name: 0 for the frame's self. */
typedef void rbhl_local_fn(const struct rbhl_scope *scope, ID name, VALUE value, void *data);

/* Each local variable of each frame of a Thread or a Fiber, the innermost frame first. */
void rbhl_vm_each_local(VALUE thread_or_fiber, rbhl_local_fn *found, void *data);

/* … and of an environment that a proc or a binding keeps; `object` is of T_IMEMO. */
void rbhl_vm_each_kept_local(VALUE object, rbhl_local_fn *found, void *data);

/* The self of a proc, or Qnil. */
VALUE rbhl_vm_self_of_proc(VALUE proc);

/* 1 for compiled code (an instruction sequence) that is complete enough to be asked, 1 for a method's entry. */
int rbhl_vm_is_code(VALUE object);
int rbhl_vm_is_method_entry(VALUE object);
/* The name by which a method's entry is called. */
ID rbhl_vm_method_id(VALUE entry);
/* Of code: its own block of malloc's; the code that it is a block of (0: none); the column in which it begins. */
void *rbhl_vm_code_body(VALUE code);
VALUE rbhl_vm_code_parent(VALUE code);
unsigned rbhl_vm_code_column(VALUE code);

/* A constant, and where it was given its value; file: a String, or something else where Ruby does not know. */
struct rbhl_constant {
    ID name;
    VALUE value, file;
    int line;
};

/* The constants that a module itself has, without loading any. */
void rbhl_vm_each_constant(VALUE module, void (*found)(const struct rbhl_constant *constant, void *data), void *data);

/* 1 for a Thread, a Fiber; by what they are, not by what their classes say. */
int rbhl_vm_is_thread(VALUE object);
int rbhl_vm_is_fiber(VALUE object);
/* 1 for a fiber that its thread is in now. */
int rbhl_vm_fiber_runs(VALUE fiber);
/* 1 if it is this thread. */
int rbhl_vm_runs_fiber(VALUE thread, VALUE fiber);

/* The kind of an object of T_IMEMO. */
int rbhl_vm_imemo_kind(VALUE object);

/* Bytes of a page of the object heap. */
uintptr_t rbhl_vm_page_bytes(void);

/* What the last GC left in its bitmaps: was the object reached; and, where that GC was to compact: was it reached in a
 * way that forbids to move it. */
enum rbhl_mark { RBHL_MARKED = 1, RBHL_PINNED = 2 };
/* Does this Ruby tell? To be asked once before rbhl_vm_marks, where Ruby may be called: there it makes symbols. */
int rbhl_vm_marks_told(void);
int rbhl_vm_marks(VALUE object);

/* GC.compact, if it is Ruby's own. May raise where Ruby cannot. */
VALUE rbhl_vm_compact(void);

/* The result of one of Ruby's own methods; Qnil where the program has another one in its place. */
VALUE rbhl_vm_ask(VALUE object, const char *method);

#endif
