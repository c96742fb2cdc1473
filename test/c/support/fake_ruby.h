/* SPDX-License-Identifier: MIT */
/*
 * A Ruby VM as the core sees one: symbols for dlsym, and in memory threads, fibers, control frames and compiled code in
 * the layout of a version (ruby_vm.h). What the core finds out about a frame can so be tested exactly, and what must
 * never happen (a freed fiber, code that moved) can be made to happen.
 *
 * There is none until fake_ruby_load. Contexts and frames belong to the calling thread.
 */
#ifndef HL_TEST_FAKE_RUBY_H
#define HL_TEST_FAKE_RUBY_H

#include <stddef.h>
#include <stdint.h>

/* Compiled code: `count` instructions; instruction i stands on line `first_line` + i. */
struct fake_code;

struct fake_ruby {
    int gc_runs; /* what rb_during_gc says */
    size_t gc_count;
    int lines_off_by;        /* added to the lines that rb_profile_frames tells */
    unsigned lines_asked;    /* calls of rb_iseq_line_no */
    unsigned threads_asked;  /* calls of ruby_native_thread_p */
    void (*at_exit)(void *); /* what was registered with ruby_vm_at_exit */
    void (*end_proc)(uintptr_t);
    void (*job)(void *); /* what was registered with rb_postponed_job_register_one */
    const void *job_ec;  /* the ec at that moment */
    int raises;          /* what runs under rb_protect raises */
    uintptr_t error;     /* $! */
};
extern struct fake_ruby fake_ruby;

/* The library is loaded, as "3.4.1" or another version; its VM does not exist yet. Before the core starts. */
void fake_ruby_load(const char *version);

/* A VM of another build: in this struct words come in from an offset on. Before fake_ruby_load. */
enum fake_struct { FAKE_NONE, FAKE_THREAD, FAKE_EC, FAKE_FRAME, FAKE_ISEQ, FAKE_BODY, FAKE_STRUCTS };
void fake_ruby_shift(enum fake_struct in, unsigned from, unsigned bytes);
/* Where it has this field, that is elsewhere at first. */
unsigned fake_ruby_offset(enum fake_struct in, unsigned offset);

/* The VM's main thread exists from now on; its fiber is allocated with the family's malloc, as Ruby does. */
void fake_ruby_boot(void);

/* The symbol that the library exports, or NULL. */
void *fake_ruby_symbol(const char *name);

/* The thread-local word that holds the current ec. */
void **fake_ruby_ec_word(void);

/* A new thread's first fiber becomes the one that runs on this native thread; returns it. */
void *fake_ruby_fiber(void);
/* The same for a further fiber of the thread that runs. */
void *fake_ruby_fiber_of_thread(void);
/* Switch this thread to a fiber that fake_ruby_fiber returned. */
void fake_ruby_switch(void *fiber);
/* Free a fiber; the thread's ec word stays as it is, as in Ruby up to 3.2 where a native thread is used again. */
void fake_ruby_free_fiber(void *fiber);
/* The same with its thread. */
void fake_ruby_free_thread(void *fiber);

/* What the thread is: one of Ruby's (1 at first), with the GVL (1 at first). */
void fake_ruby_thread_is(int native_thread, int has_gvl);

/* The Ractor of the current fiber's thread; at first all are in one. */
void fake_ruby_ractor_is(const void *ractor);

enum fake_path { FAKE_PATH_STRING, FAKE_PATH_PAIR, FAKE_PATH_HEAP_PAIR };
struct fake_code *fake_ruby_compile(const char *path, const char *label, unsigned first_line, unsigned count);
struct fake_code *fake_ruby_compile_as(enum fake_path kind, const char *path, const char *label, unsigned first_line,
                                       unsigned count);
/* From now on a method of the class `owner`, or of that object's singleton class. */
void fake_ruby_define(struct fake_code *code, const char *owner, int singleton);
/* Free the block that holds the instructions. */
void fake_ruby_discard(struct fake_code *code);
/* Compile again into a block at the very place of the former; 0 where the allocator gave another. */
int fake_ruby_recompile(struct fake_code *code, const char *path, unsigned first_line);

/* A frame that runs instruction `position`; one of C code; one that a JIT has not filled yet; the top one, of Ruby
 * code, goes on to another instruction; away with it. */
void fake_ruby_push(const struct fake_code *code, unsigned position);
void fake_ruby_push_c(void);
void fake_ruby_push_empty(const struct fake_code *code);
void fake_ruby_go_on(unsigned position);
void fake_ruby_pop(void);

/* A block of `size` bytes, allocated where the top frame stands. */
void *fake_ruby_allocate(size_t size);

/* The address of the code's first instruction. */
uint64_t fake_ruby_encoded(const struct fake_code *code);

#endif
