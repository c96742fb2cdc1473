/* SPDX-License-Identifier: MIT */
#include "lifecycle/arrival.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "flight/library.h"
#include "heapline_core.h"
#include "lifecycle/errand.h"
#include "lifecycle/lifecycle.h"
#include "platform/own_process.h"
#include "platform/platform.h"
#include "platform/system_call.h"
#include "state/guard.h"
#include "vm/native_walk.h"
#include "vm/ruby_sleep.h"
#include "vm/ruby_vm.h"

enum {
    TEXT_BYTES = 4096,
    NEAR_FRAMES = 16 /* of the C library's, in a wait */
};

static struct {
    char options[TEXT_BYTES];
    const char *frames;
    uint64_t what; /* 0: it was withdrawn */
    pid_t pid;
    int begun; /* it is carried out at this moment */
} wish HL_PAGE_ALIGNED;

/* ---- at the safe point ---- */

/* Of Ruby, to show frames with. */
#define SHOWING(X)                                                                                                     \
    X(hl_value, rb_module_new, (void))                                                                                 \
    X(void, rb_define_singleton_method,                                                                                \
      (hl_value object, const char *name, hl_value (*method)(hl_value self), int count))                               \
    X(void, rb_const_set, (hl_value module, uintptr_t name, hl_value value))                                           \
    X(hl_value, rb_str_new_cstr, (const char *text))                                                                   \
    X(hl_value, rb_block_call,                                                                                         \
      (hl_value object, uintptr_t method, int count, const hl_value *arguments,                                        \
       hl_value (*block)(hl_value given, hl_value data, int count, const hl_value *all, hl_value its_block),           \
       hl_value data))

#define DECLARE(type, name, parameters) type(*name) parameters;
static struct { SHOWING(DECLARE) } ruby;

static int find_ruby(void) {
    void *symbol;
#define FIND(type, name, parameters)                                                                                   \
    if (!(symbol = dlsym(RTLD_DEFAULT, #name))) return 0;                                                              \
    memcpy(&ruby.name, &symbol, sizeof(symbol));
    SHOWING(FIND)
    return hl_ruby.rb_funcallv && hl_ruby.rb_intern && hl_ruby.rb_errinfo && hl_ruby.rb_set_errinfo;
}

static hl_value look(hl_value self) {
    enum { RUBY_FALSE = 0, RUBY_TRUE = 0x14 };
    (void)self;
    return hl_lifecycle_look() ? RUBY_TRUE : RUBY_FALSE;
}

static hl_value evaluate(hl_value module, hl_value data, int count, const hl_value *all, hl_value block) {
    (void)data, (void)count, (void)all, (void)block;
    const hl_value code[] = {ruby.rb_str_new_cstr(wish.frames), ruby.rb_str_new_cstr("heapline")};
    return hl_ruby.rb_funcallv(module, hl_ruby.rb_intern("module_eval"), 2, code);
}

/*
 * In a module that nothing names, and that is garbage afterwards. Evaluated in a block of Kernel#then, which is written
 * in Ruby: since 3.3 the uppermost frame of a file that is being loaded has code without a body, and to compile
 * something as a part of that is the process's end.
 */
static hl_value show_frames(hl_value unused) {
    (void)unused;
    const hl_value module = ruby.rb_module_new();
    ruby.rb_define_singleton_method(module, "look", look, 0);
    ruby.rb_const_set(module, hl_ruby.rb_intern("Native"), module);
    ruby.rb_block_call(module, hl_ruby.rb_intern("then"), 0, NULL, evaluate, 0);
    return hl_ruby.rb_funcallv(module, hl_ruby.rb_intern("show_frames"), 0, NULL);
}

static int start(void) {
    int state = 0;
    const int failed = hl_lifecycle_start(wish.options);
    if (failed || !find_ruby()) return failed;
    const hl_value error = hl_ruby.rb_errinfo();
    hl_guard_be_quiet(&hl_thread, 1);
    hl_ruby.rb_protect(show_frames, 0, &state);
    hl_guard_be_quiet(&hl_thread, -1);
    if (state) hl_ruby.rb_set_errinfo(error); /* what was not shown stays unproven: lines by Ruby's own functions */
    return 0;
}

static void carry_out(void) {
    const uint64_t before = hl_clock_ns(CLOCK_MONOTONIC);
    __atomic_store_n(&wish.begun, 1, __ATOMIC_SEQ_CST);
    heapline_arrival.result = wish.what == HL_ARRIVAL_START ? start() : hl_lifecycle_stop();
    heapline_arrival.pause_ns = hl_clock_ns(CLOCK_MONOTONIC) - before;
    __atomic_store_n(&wish.begun, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&heapline_arrival.answered, heapline_arrival.asked, __ATOMIC_RELEASE);
}

static void job(void *unused) {
    const int error = errno;
    (void)unused;
    if (wish.pid == getpid() && wish.what) carry_out(); /* else: a forked child, with its parent's job */
    errno = error;
}

/* ---- where no Ruby runs ---- */

static void *work_alone(void *unused) {
    (void)unused;
    hl_guard_enter(&hl_thread);
    carry_out();
    heapline_arrival.pause_ns = 0; /* nobody waited */
    return NULL;
}

/* ---- the way there ---- */

/* Is Ruby's VM the first caller of the C library, on whose frames the stack begins? Else it waits for somebody else. */
static int waits_in_ruby(const ucontext_t *context) {
    struct hl_registers at = hl_registers_of_context(context);
    at.pc++; /* it stands at the instruction, not behind a call */
    const void *library = hl_library_map(at.pc), *vm = hl_library_map((uintptr_t)hl_ruby.rb_thread_current);
    if (hl_unwind_create()) return 0;
    hl_native_begin(&hl_thread, at.sp);
    for (int i = 0; i < NEAR_FRAMES && hl_native_step(&hl_thread, &at) == HL_NATIVE_CALLER; i++) {
        const void *found = hl_library_map(at.pc);
        if (found != library) return found == vm;
    }
    return 0;
}

/* A2. The thread stands before a system call that it made already. */
static void bring_to_safe_point(ucontext_t *context) {
    const long number = hl_context_call_number(context);
    heapline_arrival.waits_elsewhere = !waits_in_ruby(context);
    if (heapline_arrival.waits_elsewhere) return;
    if (number == SYS_futex) hl_ruby_wake_self();
    if (!hl_ruby_begins_again(number)) return;
    hl_context_call_return(context, -EINTR);
}

/* Up to 3.2 the VM says so: it has taken itself apart, at the end of the process. */
static int vm_is_gone(void) {
    void *const *vm = dlsym(RTLD_DEFAULT, "ruby_current_vm_ptr"), *const *here = dlsym(RTLD_DEFAULT, "ruby_current_ec");
    return (vm && !*vm) || (here && !*here);
}

/* A second one would change what the first is to do. */
static int is_at_work(void) {
    return wish.pid == getpid() &&
           heapline_arrival.asked != __atomic_load_n(&heapline_arrival.answered, __ATOMIC_ACQUIRE);
}

static void answer_at_once(int result) {
    heapline_arrival.pause_ns = 0;
    heapline_arrival.result = result;
    __atomic_store_n(&heapline_arrival.answered, ++heapline_arrival.asked, __ATOMIC_RELEASE);
}

/* A4. A job runs in the thread that came, which is here now: it has not begun, or has, but cannot begin meanwhile. Who
 * waits for the answer gets that of this. */
static void withdraw(void) {
    if (wish.begun) return;
    const int waits = is_at_work() && wish.what == HL_ARRIVAL_START;
    if (waits) wish.what = 0;
    answer_at_once(waits ? -ECANCELED : -ESRCH);
}

static int note(const char *text, uint64_t what) {
    const char *newline = strchr(text, '\n');
    const size_t length = strlen(text);
    if (!newline || length >= TEXT_BYTES) return -E2BIG;
    memcpy(wish.options, text, length + 1);
    wish.options[newline - text] = 0;
    wish.frames = wish.options + (newline - text) + 1;
    wish.what = what;
    wish.pid = getpid();
    heapline_arrival.asked++;
    return 0;
}

static int see_to_errand(uint32_t request) {
    return hl_life_is() == HL_LIFE_ACTIVE ? hl_errand_see_to(request) : -ESRCH;
}

/* With the guard entered. */
static void come_alone(const char *text, uint64_t what) {
    if (is_at_work()) return; /* who asks waits for an answer, and gets the first one's */
    if (what == HL_ARRIVAL_WITHDRAW) return answer_at_once(-ESRCH);
    if ((what & ((1u << HL_ARRIVAL_BITS) - 1)) == HL_ARRIVAL_ERRAND)
        return answer_at_once(see_to_errand((uint32_t)(what >> HL_ARRIVAL_BITS)));
    int failed = note(text, what);
    if (failed) return answer_at_once(failed);
    failed = hl_own_thread_start(work_alone);
    if (!failed) return;
    heapline_arrival.asked--;
    answer_at_once(failed);
}

void hl_arrival_come(const char *text, uint64_t what, void *frame, int interrupted) {
    const int error = errno;
    if (!hl_ruby.version) {
        const int saved = hl_guard_enter(&hl_thread);
        come_alone(text, what);
        hl_guard_leave(&hl_thread, saved);
    } else if (!hl_ruby.rb_postponed_job_register_one || !hl_ruby.ruby_native_thread_p() || vm_is_gone()) {
        answer_at_once(-ESRCH);
    } else if (what == HL_ARRIVAL_WITHDRAW) {
        withdraw();
    } else if (!(is_at_work() && wish.begun) && note(text, what) == 0) {
        hl_ruby.rb_postponed_job_register_one(0, job, NULL);
        if (interrupted) bring_to_safe_point(frame);
    }
    errno = error;
}
