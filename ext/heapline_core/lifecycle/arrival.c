/* SPDX-License-Identifier: MIT */
#include "lifecycle/arrival.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "flight/library.h"
#include "heapline_core.h"
#include "lifecycle/lifecycle.h"
#include "platform/platform.h"
#include "platform/probe.h"
#include "platform/system_call.h"
#include "vm/ruby_vm.h"

enum {
    TEXT_BYTES = 4096,
    NEAR_WORDS = 64,    /* of the stack, that the C library may take up in a wait */
    WAIT_BYTES = 0x800, /* of pthread_cond_wait, at most */
    SYSCALL_BYTES = 2   /* of the instruction */
};

static struct {
    char options[TEXT_BYTES];
    const char *frames;
    uint64_t what;
    pid_t pid;
} wish;

/* ---- at the safe point ---- */

/* Of Ruby, to show frames with. */
#define SHOWING(X)                                                                                                     \
    X(hl_value, rb_module_new, (void))                                                                                 \
    X(void, rb_define_singleton_method,                                                                                \
      (hl_value object, const char *name, hl_value (*method)(hl_value self), int count))                               \
    X(void, rb_const_set, (hl_value module, uintptr_t name, hl_value value))                                           \
    X(hl_value, rb_str_new_cstr, (const char *text))

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

/* In a module that nothing names, and that is garbage afterwards. */
static hl_value show_frames(hl_value unused) {
    (void)unused;
    const hl_value module = ruby.rb_module_new();
    const hl_value code[] = {ruby.rb_str_new_cstr(wish.frames), ruby.rb_str_new_cstr("heapline")};
    ruby.rb_define_singleton_method(module, "look", look, 0);
    ruby.rb_const_set(module, hl_ruby.rb_intern("Native"), module);
    hl_ruby.rb_funcallv(module, hl_ruby.rb_intern("module_eval"), 2, code);
    return hl_ruby.rb_funcallv(module, hl_ruby.rb_intern("show_frames"), 0, NULL);
}

static int start(void) {
    int state = 0;
    const int failed = hl_lifecycle_start(wish.options);
    if (failed || !find_ruby()) return failed;
    const hl_value error = hl_ruby.rb_errinfo();
    hl_ruby.rb_protect(show_frames, 0, &state);
    if (state) hl_ruby.rb_set_errinfo(error); /* what was not shown stays unproven: lines by Ruby's own functions */
    return 0;
}

static void job(void *unused) {
    const int error = errno;
    const uint64_t before = hl_clock_ns(CLOCK_MONOTONIC);
    (void)unused;
    if (wish.pid != getpid()) return; /* a forked child, with its parent's job */
    heapline_arrival.result = wish.what == HL_ARRIVAL_START ? start() : hl_lifecycle_stop();
    heapline_arrival.pause_ns = hl_clock_ns(CLOCK_MONOTONIC) - before;
    __atomic_store_n(&heapline_arrival.answered, heapline_arrival.asked, __ATOMIC_RELEASE);
    errno = error;
}

/* ---- the way there ---- */

/* What stands behind a call, and so may be a return address. */
static int follows_call(uintptr_t address) {
    static const int lengths[] = {2, 3, 6, 7}; /* of calls through registers and memory */
    uint8_t code[8];
    if (hl_probe(code, (const void *)(address - 7), 7)) return 0;
    if (code[2] == 0xe8) return 1;
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
        if (code[7 - lengths[i]] == 0xff && (code[8 - lengths[i]] >> 3 & 7) == 2) return 1;
    return 0;
}

/* The part of the stack that belongs to the C library, while its first caller is Ruby's VM; its number of words, -1:
 * it waits for somebody else. */
static int waits_in_ruby(const greg_t *registers, uintptr_t words[NEAR_WORDS]) {
    const void *library = hl_library_map((uintptr_t)registers[REG_RIP]),
               *vm = hl_library_map((uintptr_t)hl_ruby.rb_thread_current);
    for (int i = 0; i < NEAR_WORDS; i++) {
        if (hl_probe(&words[i], (const uintptr_t *)registers[REG_RSP] + i, sizeof(words[i]))) return -1;
        const void *found = follows_call(words[i]) ? hl_library_map(words[i]) : NULL;
        if (found && found != library) return found == vm ? i : -1;
    }
    return -1;
}

static int is_among(uintptr_t value, const greg_t *registers, const uintptr_t *words, int count) {
    static const int kept[] = {REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15};
    for (unsigned i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        if ((uintptr_t)registers[kept[i]] == value) return 1;
    for (int i = 0; i < count; i++)
        if (words[i] == value) return 1;
    return 0;
}

static int is_in(uintptr_t address, const void *function) {
    return address - (uintptr_t)function < WAIT_BYTES;
}

/* The condition variable that it waits on, or NULL. It waits on one of two words in it, whose place differs by the C
 * library; the variable itself must be what the library's frames have at hand. */
static pthread_cond_t *condition_of(const greg_t *registers, const uintptr_t *words, int count) {
    static const uintptr_t places[] = {40, 32};
    const uintptr_t word = (uintptr_t)registers[REG_RDI] & ~(uintptr_t)7;
    int waits = 0;
    for (int i = 0; i < count; i++)
        waits |= is_in(words[i], (const void *)pthread_cond_wait) ||
                 is_in(words[i], (const void *)pthread_cond_timedwait) ||
                 is_in(words[i], (const void *)pthread_cond_clockwait);
    for (unsigned i = 0; waits && i < sizeof(places) / sizeof(*places); i++)
        if (is_among(word - places[i], registers, words, count)) return (pthread_cond_t *)(word - places[i]);
    return NULL;
}

/* A2. The thread stands before a system call that it made already. */
static void bring_to_safe_point(greg_t *registers) {
    uintptr_t words[NEAR_WORDS];
    const int count = waits_in_ruby(registers, words);
    const long number = registers[REG_RAX];
    heapline_arrival.waits_elsewhere = count < 0;
    if (count < 0) return;
    pthread_cond_t *condition = number == SYS_futex ? condition_of(registers, words, count) : NULL;
    if (condition) pthread_cond_broadcast(condition);
    if (!hl_ruby_begins_again(number)) return;
    registers[REG_RAX] = -EINTR;
    registers[REG_RIP] += SYSCALL_BYTES;
}

void hl_arrival_come(const char *text, uint64_t what, void *frame, int interrupted) {
    const int error = errno;
    if (!hl_ruby.rb_postponed_job_register_one || !hl_ruby.ruby_native_thread_p()) {
        heapline_arrival.result = -ESRCH;
        heapline_arrival.answered = ++heapline_arrival.asked;
        return;
    }
    const char *newline = strchr(text, '\n');
    const size_t length = strlen(text);
    if (newline && length < TEXT_BYTES) {
        memcpy(wish.options, text, length + 1);
        wish.options[newline - text] = 0;
        wish.frames = wish.options + (newline - text) + 1;
        wish.what = what;
        wish.pid = getpid();
        heapline_arrival.asked++;
        hl_ruby.rb_postponed_job_register_one(0, job, NULL);
        if (interrupted) bring_to_safe_point(((ucontext_t *)frame)->uc_mcontext.gregs);
    }
    errno = error;
}
