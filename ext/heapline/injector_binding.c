/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native's ways into another process: one call of a function there (injector.h), a copy of it
 * (process_copy.h).
 */
#include <ruby.h>
#include <ruby/io.h>
#include <ruby/thread.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bindings.h"
#include "injector.h"
#include "process_copy.h"
#include "tracer.h"

struct injecting {
    struct rbhl_injection asked;
    enum rbhl_injected done;
};

static void *inject_without_gvl(void *argument) {
    struct injecting *injecting = argument;
    injecting->done = rbhl_inject(&injecting->asked);
    return NULL;
}

/* Pairs of addresses, one behind the other: a String of 64-bit words, which the call keeps. */
static void take_ranges(struct rbhl_injection *asked, VALUE words) {
    asked->avoided = (const struct rbhl_range *)(const void *)RSTRING_PTR(words);
    asked->avoided_count = (size_t)RSTRING_LEN(words) / sizeof(*asked->avoided);
}

/* Native.inject(thread, memory, code, function, text, number, avoided) -> [Symbol, Integer]: have a thread of another
 * process (its kernel's number) call function(text, number, frame). `memory`: IO of that process's /proc/PID/mem,
 * opened before these addresses were looked for; code: addresses there of what calls rt_sigreturn, and of exit;
 * avoided: ranges of code, [begin, end] packed as "Q*", where it must not be. :injected, or why not; and for how many
 * nanoseconds it was stopped. */
static VALUE rbhl_inject_call(VALUE self, VALUE thread, VALUE memory, VALUE code, VALUE function, VALUE text,
                              VALUE number, VALUE avoided) {
    static const char *const results[] = {"injected", "unsafe", "no_room", "forbidden", "gone", "replaced", "lost"};
    struct injecting injecting = {.asked = {.thread = NUM2PIDT(thread),
                                            .memory = rb_io_descriptor(memory),
                                            .function = (uintptr_t)NUM2ULL(function),
                                            .returning = (uintptr_t)NUM2ULL(rb_ary_entry(code, 0)),
                                            .ending = (uintptr_t)NUM2ULL(rb_ary_entry(code, 1)),
                                            .number = NUM2ULL(number)}};
    StringValue(text);
    StringValue(avoided);
    text = rb_str_new_frozen(text);
    avoided = rb_str_new_frozen(avoided);
    injecting.asked.text = StringValueCStr(text);
    injecting.asked.text_bytes = (size_t)RSTRING_LEN(text) + 1;
    take_ranges(&injecting.asked, avoided);
    rb_thread_call_without_gvl(inject_without_gvl, &injecting, NULL, NULL);
    RB_GC_GUARD(text);
    RB_GC_GUARD(avoided);
    RB_GC_GUARD(memory);
    (void)self;
    return rb_assoc_new(ID2SYM(rb_intern(results[injecting.done])), ULL2NUM(injecting.asked.stopped_ns));
}

/* Native.same_memory?(pid, other) -> do two processes run in the same memory, as after vfork? false where the kernel
 * does not tell. */
static VALUE rbhl_same_memory(VALUE self, VALUE pid, VALUE other) {
    (void)self;
    return syscall(SYS_kcmp, NUM2PIDT(pid), NUM2PIDT(other), KCMP_VM, 0, 0) == 0 ? Qtrue : Qfalse;
}

/* ---- a copy ---- */

enum { THREADS_MOST = 1 << 16 };
static const size_t COPY_BYTES =
    sizeof(struct rbhl_process_copy) + THREADS_MOST * sizeof(((struct rbhl_process_copy *)0)->threads[0]);

struct copying {
    struct rbhl_process_copy *copy;
    pid_t tracer;
    int told, wanted, not_wanted, made; /* -1: closed */
};

static void close_end(int *end) {
    if (*end >= 0) close(*end);
    *end = -1;
}

static void *await_copy(void *argument) {
    const struct copying *copying = argument;
    char byte;
    return (void *)(intptr_t)(read(copying->told, &byte, 1) < 0 && errno == EINTR);
}

static VALUE threads_of(const struct rbhl_process_copy *copy) {
    VALUE threads = rb_ary_new_capa((long)copy->thread_count);
    for (uint32_t i = 0; i < copy->thread_count; i++) {
        const struct rbhl_stopped_thread *one = &copy->threads[i];
        if (!one->thread) continue;
        rb_ary_push(threads, rb_assoc_new(INT2NUM(one->thread),
                                          rb_str_new((const char *)&one->registers, sizeof(one->registers))));
    }
    return threads;
}

static VALUE yield_copy(VALUE argument) {
    struct copying *copying = (struct copying *)argument;
    const struct rbhl_process_copy *copy = copying->copy;
    while (rb_thread_call_without_gvl(await_copy, copying, RUBY_UBF_IO, NULL)) rb_thread_check_ints();
    if (copy->unsafe) return ID2SYM(rb_intern("unsafe"));
    if (copy->error == EBUSY && copy->busy) return INT2NUM(copy->busy);
    if (copy->error || !copy->copy) rb_syserr_fail(copy->error ? copy->error : ECHILD, NULL);
    return rb_yield_values(4, INT2NUM(copy->copy), threads_of(copy), ULL2NUM(copy->stopped_ns),
                           ULL2NUM(copy->flight_bytes));
}

static void *end_tracer(void *argument) {
    rbhl_trace_end(((struct copying *)argument)->tracer);
    return NULL;
}

static VALUE end_copy(VALUE argument) {
    struct copying *copying = (struct copying *)argument;
    close_end(&copying->not_wanted);
    if (copying->tracer > 0) rb_thread_call_without_gvl(end_tracer, copying, NULL, NULL);
    close_end(&copying->told);
    munmap(copying->copy, COPY_BYTES);
    return Qnil;
}

static int open_pipes(struct copying *copying) {
    int wanted[2], told[2];
    if (pipe2(wanted, O_CLOEXEC)) return 0;
    copying->wanted = wanted[0];
    copying->not_wanted = wanted[1];
    if (pipe2(told, O_CLOEXEC)) return 0;
    copying->told = told[0];
    copying->made = told[1];
    return 1;
}

/* Native.copy_process(pid, memory, code, flight, flight_copy) { |copy, threads, stopped_ns, flight_bytes| } -> what the
 * block returns, :unsafe: no thread was at a place where it could make one, or the number of a thread that waits in the
 * kernel, where it cannot be stopped. memory: as of inject; code: addresses there of a system call with a return behind
 * it, of what calls rt_sigreturn, of _exit; flight: IO of its flight file, nil: it has none, and where to copy that.
 * threads: of each its number and user_regs_struct. The copy is there during the block. Raises SystemCallError. */
static VALUE rbhl_copy_process(VALUE self, VALUE pid, VALUE memory, VALUE code, VALUE flight, VALUE flight_copy) {
    struct copying copying = {NULL, -1, -1, -1, -1, -1};
    (void)self;
    Check_Type(code, T_ARRAY);
    const struct rbhl_process_copy asked = {.pid = NUM2PIDT(pid),
                                            .memory = rb_io_descriptor(memory),
                                            .system_call = (uintptr_t)NUM2ULL(rb_ary_entry(code, 0)),
                                            .returning = (uintptr_t)NUM2ULL(rb_ary_entry(code, 1)),
                                            .exits = (uintptr_t)NUM2ULL(rb_ary_entry(code, 2)),
                                            .flight = NIL_P(flight) ? -1 : rb_io_descriptor(flight),
                                            .flight_copy = NIL_P(flight) ? -1 : rb_io_descriptor(flight_copy),
                                            .room = THREADS_MOST};
    copying.copy = mmap(NULL, COPY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copying.copy == MAP_FAILED) rb_sys_fail("no memory for the threads' registers");
    *copying.copy = asked;
    const int failed = open_pipes(&copying) ? 0 : errno;
    copying.copy->wanted = copying.wanted;
    copying.copy->not_wanted = copying.not_wanted;
    copying.copy->made = copying.made;
    if (!failed) copying.tracer = rbhl_process_copy_begin(copying.copy);
    close_end(&copying.wanted);
    close_end(&copying.made);
    if (failed || copying.tracer < 0) copying.copy->error = failed ? failed : EAGAIN;
    return rb_ensure(yield_copy, (VALUE)&copying, end_copy, (VALUE)&copying);
}

void rbhl_define_injector(VALUE native) {
    rb_define_singleton_method(native, "copy_process", rbhl_copy_process, 5);
    rb_define_singleton_method(native, "inject", rbhl_inject_call, 7);
    rb_define_singleton_method(native, "same_memory?", rbhl_same_memory, 2);
}
