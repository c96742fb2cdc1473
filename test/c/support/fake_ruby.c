/* SPDX-License-Identifier: MIT */
#include "fake_ruby.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm/ruby_vm.h"

typedef uintptr_t value;

enum {
    T_CLASS = 0x02,
    T_STRING = 0x05,
    T_ARRAY = 0x07,
    T_DATA = 0x0c,
    T_IMEMO = 0x1a,
    IMEMO_METHOD = 6 << 12,
    IMEMO_ISEQ = 7 << 12,
    NOEMBED = 1 << 13,
    EMBEDDED_ARRAY = 1 << 13,
    SINGLETON = 1 << 20,
    ARENA_BYTES = 1 << 24,
    STACK_WORDS = 1 << 14,
    FIBER_BYTES = 712,
    EC_IN_FIBER = 96,
    THREAD_BYTES = 376,
    EMBEDDED_LENGTH = 20, /* longer strings have their bytes elsewhere */
};

struct object {
    uint64_t flags, klass, words[8];
};

/* Flags of a method's frame; of the body of a class; of a file that is loaded; of C code. */
enum {
    ENVIRONMENT_LOCAL = 0x11110003,
    ENVIRONMENT_OF_CLASS = 0x33330003,
    ENVIRONMENT_OF_FILE = 0x44440003,
    ENVIRONMENT_OF_C = 0x55550083,
    ENVIRONMENT_WORDS = 3
};

/* As in Ruby 3.1 to 4.1, where no word came in. */
enum {
    THREAD_RACTOR = 24,
    EC_FIBER = 40,
    EC_THREAD = 48,
    ISEQ_BODY = 16,
    BODY_SIZE = 4,
    BODY_ENCODED = 8,
    BODY_PATHOBJ = 64,
};
static unsigned shift_from[FAKE_STRUCTS], shift_bytes[FAKE_STRUCTS];

/* An instruction is an address in the VM's code, here the program's: so many bytes behind its begin as is its line. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
#define INSTRUCTIONS ((uintptr_t)__ehdr_start)

struct fake_code {
    uint64_t object[8]; /* the iseq: flags, class, ... */
    char *body;
    struct object *method; /* NULL: a frame of no method */
    uint64_t *encoded;
    unsigned count;
    uintptr_t environment[ENVIRONMENT_WORDS]; /* of its frames, at first: the method, nothing outer, flags */
};

struct fiber {
    char *ec, *stack, *thread;
};

struct fake_ruby fake_ruby;
static char version[16];
static char description[64];
static unsigned minor;
static int loaded;
static value thread_class;
static struct object main_thread, ractor_object;
static struct { const struct object *self; } main_ractor = {&ractor_object};
static _Thread_local void *current_ec;
static _Thread_local int not_native, without_gvl;

/* ---- memory of its own: objects are no malloc memory ---- */

static void *allot(size_t size) {
    static char arena[ARENA_BYTES] __attribute__((aligned(16)));
    static size_t used;
    size_t at = __atomic_fetch_add(&used, (size + 15) & ~(size_t)15, __ATOMIC_RELAXED);
    if (at + size > sizeof(arena)) abort();
    return arena + at;
}

void fake_ruby_shift(enum fake_struct in, unsigned from, unsigned bytes) {
    shift_from[in] = from;
    shift_bytes[in] = bytes;
}

unsigned fake_ruby_offset(enum fake_struct in, unsigned offset) {
    return offset + (offset >= shift_from[in] ? shift_bytes[in] : 0);
}

static unsigned frame_bytes(void) {
    return fake_ruby_offset(FAKE_FRAME, minor < 3 ? 64 : 56); /* 4.0 is told as minor 5 */
}

static void put(void *at, const void *word) {
    memcpy(at, &word, sizeof(word));
}

static void *get(const void *at) {
    void *word;
    memcpy(&word, at, sizeof(word));
    return word;
}

/* ---- strings ---- */

static value string(const char *bytes) {
    struct object *object = allot(sizeof(*object));
    size_t length = strlen(bytes);
    object->flags = T_STRING;
    if (length > EMBEDDED_LENGTH) {
        object->flags |= NOEMBED;
        object->words[0] = length;
        put(&object->words[1], memcpy(allot(length + 1), bytes, length));
    } else if (minor == 1) {
        object->flags |= (uint64_t)length << 14;
        memcpy(&object->words[0], bytes, length);
    } else {
        object->words[0] = length;
        memcpy(&object->words[1], bytes, length);
    }
    return (value)object;
}

static const char *bytes_of(value text) {
    const struct object *object = (const struct object *)text;
    if (object->flags & NOEMBED) return get(&object->words[1]);
    return (const char *)&object->words[minor == 1 ? 0 : 1];
}

static size_t length_of(value text) {
    const struct object *object = (const struct object *)text;
    return object->flags & NOEMBED || minor != 1 ? object->words[0] : object->flags >> 14 & 0x1f;
}

static value path_object(enum fake_path kind, const char *path) {
    if (kind == FAKE_PATH_STRING) return string(path);
    struct object *pair = allot(sizeof(*pair));
    pair->flags = T_ARRAY | (kind == FAKE_PATH_PAIR ? EMBEDDED_ARRAY : 0);
    uint64_t *items = kind == FAKE_PATH_PAIR ? &pair->words[0] : allot(2 * sizeof(uint64_t));
    if (kind == FAKE_PATH_HEAP_PAIR) {
        pair->words[0] = 2;
        put(&pair->words[2], items);
    }
    items[0] = string(path);
    items[1] = string("/the/real/path/of/it.rb");
    return (value)pair;
}

/* ---- the public functions ---- */

static value rb_thread_current(void) {
    return (value)&main_thread;
}

static int ruby_native_thread_p(void) {
    __atomic_fetch_add(&fake_ruby.threads_asked, 1, __ATOMIC_RELAXED);
    return !not_native;
}

static int ruby_thread_has_gvl_p(void) {
    return !without_gvl;
}

static int rb_during_gc(void) {
    return fake_ruby.gc_runs;
}

static size_t rb_gc_count(void) {
    return __atomic_load_n(&fake_ruby.gc_count, __ATOMIC_RELAXED);
}

static value rb_gc_start(void) {
    __atomic_fetch_add(&fake_ruby.gc_count, 1, __ATOMIC_RELAXED);
    return 0;
}

static unsigned rb_iseq_line_no(const void *iseq, size_t position) {
    const char *body = get((const char *)iseq + fake_ruby_offset(FAKE_ISEQ, ISEQ_BODY));
    const uint64_t *encoded = get(body + fake_ruby_offset(FAKE_BODY, BODY_ENCODED));
    __atomic_fetch_add(&fake_ruby.lines_asked, 1, __ATOMIC_RELAXED);
    return (unsigned)(encoded[position] - INSTRUCTIONS);
}

static int rb_profile_frames(int start, int limit, value *frames, int *lines) {
    const char *ec = current_ec, *frame = get(ec + fake_ruby_offset(FAKE_EC, HL_EC_FRAME));
    const char *end = (char *)get(ec + fake_ruby_offset(FAKE_EC, HL_EC_STACK)) + STACK_WORDS * sizeof(value);
    int count = 0;
    for (; frame && frame < end && count < limit; frame += frame_bytes()) {
        const struct fake_code *code = get(frame + fake_ruby_offset(FAKE_FRAME, HL_FRAME_ISEQ));
        const uint64_t *pc = get(frame + fake_ruby_offset(FAKE_FRAME, HL_FRAME_PC));
        if (!code || !pc || start-- > 0) continue;
        frames[count] = code->method ? (value)code->method : (value)code;
        lines[count++] = (int)(pc[-1] - INSTRUCTIONS) + fake_ruby.lines_off_by;
    }
    return count;
}

static const struct fake_code *code_of(value frame) {
    const struct object *object = (const struct object *)frame;
    return (object->flags & 0xf000) == IMEMO_METHOD ? get(&object->words[4]) : (const void *)object;
}

static value rb_profile_frame_path(value frame) {
    const struct object *path = get(code_of(frame)->body + fake_ruby_offset(FAKE_BODY, BODY_PATHOBJ));
    if ((path->flags & 0x1f) == T_STRING) return (value)path;
    return path->flags & EMBEDDED_ARRAY ? path->words[0] : *(const uint64_t *)get(&path->words[2]);
}

/* The method's class, and behind it the class that it is a singleton of. */
static const struct object *owner_of(value method) {
    return get((const char *)method + HL_METHOD_OWNER);
}

static value rb_profile_frame_singleton_method_p(value method) {
    enum { QFALSE = 0, QTRUE = 20 };
    return owner_of(method)->flags & SINGLETON ? QTRUE : QFALSE;
}

static value rb_mod_name(value module) {
    const struct object *object = (const struct object *)module;
    enum { QNIL = 8 };
    return object->flags & SINGLETON ? QNIL : object->words[0];
}

static value rb_class_attached_object(value singleton) {
    return ((const struct object *)singleton)->words[1];
}

static value rb_str_length(value text) {
    return length_of(text) << 1 | 1;
}

static char *rb_string_value_ptr(volatile value *text) {
    return (char *)(uintptr_t)bytes_of(*text);
}

static void ruby_vm_at_exit(void (*function)(void *)) {
    fake_ruby.at_exit = function;
}

static void rb_set_end_proc(void (*function)(value), value data) {
    (void)data;
    fake_ruby.end_proc = function;
}

/* ---- what the GC counts ---- */

static value gc_module = 1, gc_constants = 16;
static const char *const names[] = {"",
                                    "__attached__",
                                    "heap_allocated_pages",
                                    "heap_live_slots",
                                    "stat_heap",
                                    "slot_size",
                                    "heap_free_slots",
                                    "total_allocated_objects",
                                    "total_freed_objects",
                                    "INTERNAL_CONSTANTS",
                                    "const_get",
                                    "[]",
                                    "HEAP_PAGE_SIZE",
                                    "HEAP_COUNT",
                                    "SIZE_POOL_COUNT",
                                    "RVALUE_SIZE",
                                    "require",
                                    "require_relative"};

static value rb_intern(const char *name) {
    for (value i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0) return i;
    abort();
}

static value rb_id2sym(value name) {
    return name << 8 | 0x0c;
}

static size_t rb_gc_stat(value symbol) {
    const char *name = names[symbol >> 8];
    return strcmp(name, "heap_allocated_pages") == 0 ? 10 : strcmp(name, "heap_live_slots") == 0 ? 300 : 100;
}

/* GC::INTERNAL_CONSTANTS: pages of 3.1 are smaller, and have slots of one size. */
static value constant(const char *name) {
    enum { QNIL = 8 };
    const int is_3_1 = strncmp(version, "3.1", 3) == 0;
    if (strcmp(name, "HEAP_PAGE_SIZE") == 0) return (is_3_1 ? 16384 : 65536) << 1 | 1;
    if (strcmp(name, is_3_1 ? "RVALUE_SIZE" : "HEAP_COUNT") == 0) return (is_3_1 ? 40 : 5) << 1 | 1;
    return QNIL;
}

/* GC.stat_heap(pool, name): slots of 40, 80, 160 ... bytes; 1, 2, 3 ... of them are live. */
static value rb_funcallv(value object, value name, int count, const value *arguments) {
    if (object == gc_module && strcmp(names[name], "const_get") == 0) return gc_constants;
    if (object == gc_constants && strcmp(names[name], "[]") == 0) return constant(names[arguments[0] >> 8]);
    if (object != gc_module || strcmp(names[name], "stat_heap") != 0 || count != 2) abort();
    const value pool = arguments[0] >> 1;
    const char *asked = names[arguments[1] >> 8];
    const value answer = strcmp(asked, "slot_size") == 0             ? (value)40 << pool
                         : strcmp(asked, "total_freed_objects") == 0 ? 7
                                                                     : pool + 8;
    return answer << 1 | 1;
}

static value rb_errinfo(void) {
    return fake_ruby.error;
}

static void rb_set_errinfo(value error) {
    fake_ruby.error = error;
}

static value rb_protect(value (*function)(value), value data, int *state) {
    *state = fake_ruby.raises ? 6 : 0;
    if (fake_ruby.raises) fake_ruby.error = 4711;
    return fake_ruby.raises ? 0 : function(data);
}

static int rb_postponed_job_register_one(unsigned flags, void (*function)(void *), void *data) {
    (void)flags, (void)data;
    fake_ruby.job = function;
    fake_ruby.job_ec = current_ec;
    return 1;
}

/* ---- symbols ---- */

struct symbol {
    const char *name;
    void *symbol;
};

#define FUNCTION(name)                                                                                                 \
    { #name, (void *)(uintptr_t)(name) }
static const struct symbol symbols[] = {
    FUNCTION(rb_thread_current),
    FUNCTION(ruby_native_thread_p),
    FUNCTION(ruby_thread_has_gvl_p),
    FUNCTION(rb_during_gc),
    FUNCTION(rb_gc_count),
    FUNCTION(rb_gc_start),
    FUNCTION(rb_iseq_line_no),
    FUNCTION(rb_profile_frames),
    FUNCTION(rb_profile_frame_path),
    FUNCTION(rb_profile_frame_singleton_method_p),
    FUNCTION(rb_mod_name),
    FUNCTION(rb_class_attached_object),
    FUNCTION(rb_str_length),
    FUNCTION(rb_string_value_ptr),
    FUNCTION(ruby_vm_at_exit),
    FUNCTION(rb_set_end_proc),
    FUNCTION(rb_intern),
    FUNCTION(rb_id2sym),
    FUNCTION(rb_gc_stat),
    FUNCTION(rb_funcallv),
    FUNCTION(rb_errinfo),
    FUNCTION(rb_set_errinfo),
    FUNCTION(rb_protect),
    FUNCTION(rb_postponed_job_register_one),
    {"rb_mGC", &gc_module},
    {"rb_cThread", &thread_class},
    {"ruby_version", version},
    {"ruby_description", description},
};

/* The core may need functions that no test lets it call. */
static const char *const functions_needed[] = {
#define NAME(type, function, parameters) #function,
    HL_RUBY_FUNCTIONS(NAME)
#undef NAME
};

static void not_to_be_called(void) {
    abort();
}

void *fake_ruby_symbol(const char *name) {
    if (!loaded) return NULL;
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
        if (strcmp(symbols[i].name, name) == 0) return symbols[i].symbol;
    for (size_t i = 0; i < sizeof(functions_needed) / sizeof(functions_needed[0]); i++)
        if (strcmp(functions_needed[i], name) == 0) return (void *)(uintptr_t)not_to_be_called;
    return NULL;
}

void **fake_ruby_ec_word(void) {
    return &current_ec;
}

void fake_ruby_load(const char *of) {
    strncpy(version, of, sizeof(version) - 1);
    strcpy(description, "ruby of the tests ");
    strcat(description, version);
    minor = of[0] == '3' ? (unsigned)(of[2] - '0') : 5;
    loaded = 1;
}

/* ---- threads and fibers ---- */

static void run_on(char *thread, char *ec) {
    char **place = (char **)(thread + fake_ruby_offset(FAKE_THREAD, minor == 1 ? 40 : 48));
    __atomic_store_n(place, ec, __ATOMIC_RELAXED);
    current_ec = ec;
}

/* Not by mmap, which the core sees. With a page more: the core looks at the word where frames end. */
static char *stack_of_a_fiber(void) {
    const long at = syscall(SYS_mmap, NULL, STACK_WORDS * sizeof(value) + 4096, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == -1) abort();
    return (char *)at;
}

static void *fiber_of(char *thread) {
    char *fiber = malloc(FIBER_BYTES), *ec = fiber + EC_IN_FIBER;
    memset(fiber, 0, FIBER_BYTES);
    char *stack = stack_of_a_fiber();
    const size_t words = STACK_WORDS;
    put(ec + fake_ruby_offset(FAKE_EC, HL_EC_STACK), stack);
    memcpy(ec + fake_ruby_offset(FAKE_EC, HL_EC_STACK_SIZE), &words, sizeof(words));
    put(ec + fake_ruby_offset(FAKE_EC, HL_EC_FRAME), stack + STACK_WORDS * sizeof(value));
    put(ec + fake_ruby_offset(FAKE_EC, EC_FIBER), fiber);
    put(ec + fake_ruby_offset(FAKE_EC, EC_THREAD), thread);
    run_on(thread, ec);
    return fiber;
}

static char *thread_of(const void *fiber) {
    return get((const char *)fiber + EC_IN_FIBER + fake_ruby_offset(FAKE_EC, EC_THREAD));
}

void *fake_ruby_fiber(void) {
    char *thread = malloc(THREAD_BYTES);
    memset(thread, 0, THREAD_BYTES);
    put(thread + fake_ruby_offset(FAKE_THREAD, THREAD_RACTOR), &main_ractor);
    if (!main_thread.words[2]) put(&main_thread.words[2], thread);
    return fiber_of(thread);
}

void *fake_ruby_fiber_of_thread(void) {
    return fiber_of(thread_of((char *)current_ec - EC_IN_FIBER));
}

void fake_ruby_ractor_is(const void *ractor) {
    char *thread;
    memcpy(&thread, (char *)current_ec + fake_ruby_offset(FAKE_EC, EC_THREAD), sizeof(thread));
    put(thread + fake_ruby_offset(FAKE_THREAD, THREAD_RACTOR), ractor);
}

void fake_ruby_switch(void *fiber) {
    run_on(thread_of(fiber), (char *)fiber + EC_IN_FIBER);
}

void fake_ruby_free_fiber(void *fiber) {
    free(fiber);
}

void fake_ruby_free_thread(void *fiber) {
    free(thread_of(fiber));
    free(fiber);
}

/* The running stack: its top, and how large it may be. */
static void describe_machine(char *ec) {
    enum { BYTES = 1 << 22, ABOVE = 1 << 16 };
    const size_t bytes = BYTES;
    char *words = ec + fake_ruby_offset(FAKE_EC, minor == 1 || minor == 4 ? 144 : minor == 5 ? 176 : 152);
    put(words, (char *)__builtin_frame_address(0) + ABOVE);
    memcpy(words + 16, &bytes, sizeof(bytes));
}

/* A VM runs code of its own before the program's: classes within a file. */
static void begin_as_rubies_do(void) {
    enum { LINES = 4 };
    struct fake_code *file = fake_ruby_compile("<internal:vm>", "<internal:vm>", 1, 100),
                     *outer = fake_ruby_compile("<internal:vm>", "<module:Outer>", 101, 100),
                     *inner = fake_ruby_compile("<internal:vm>", "<class:Inner>", 201, 100);
    for (unsigned line = 0; line < LINES; line++) {
        fake_ruby_push(file, line);
        free(fake_ruby_allocate(1));
        fake_ruby_push(outer, line);
        fake_ruby_push(inner, line);
        free(fake_ruby_allocate(1));
        for (int frames = 0; frames < 3; frames++) fake_ruby_pop();
    }
}

void fake_ruby_boot(void) {
    main_thread.flags = ractor_object.flags = T_DATA;
    put(&ractor_object.words[2], &main_ractor);
    describe_machine((char *)fake_ruby_fiber() + EC_IN_FIBER);
    thread_class = (value)&main_thread; /* any word but 0 */
    free(fake_ruby_allocate(1));        /* the core attaches in this very call */
    begin_as_rubies_do();
}

void fake_ruby_thread_is(int native_thread, int has_gvl) {
    not_native = !native_thread;
    without_gvl = !has_gvl;
}

/* ---- code ---- */

static void fill(struct fake_code *code, unsigned first_line) {
    uint32_t size = code->count;
    for (unsigned i = 0; i < code->count; i++) code->encoded[i] = INSTRUCTIONS + first_line + i;
    memcpy(code->body + fake_ruby_offset(FAKE_BODY, BODY_SIZE), &size, sizeof(size));
    put(code->body + fake_ruby_offset(FAKE_BODY, BODY_ENCODED), code->encoded);
}

/* "block in put" has the base label "put". */
static const char *base_of(const char *label) {
    const char *last = strrchr(label, ' ');
    return last ? last + 1 : label;
}

static uintptr_t environment_of(const char *label) {
    if (strncmp(label, "<class:", 7) == 0) return ENVIRONMENT_OF_CLASS;
    return strcmp(label, "<top (required)>") == 0 ? ENVIRONMENT_OF_FILE : ENVIRONMENT_LOCAL;
}

struct fake_code *fake_ruby_compile_as(enum fake_path kind, const char *path, const char *label, unsigned first_line,
                                       unsigned count) {
    struct fake_code *code = allot(sizeof(*code));
    code->object[0] = T_IMEMO | IMEMO_ISEQ;
    code->body = allot(256);
    put((char *)code->object + fake_ruby_offset(FAKE_ISEQ, ISEQ_BODY), code->body);
    code->count = count;
    code->encoded = malloc(count * sizeof(uint64_t));
    code->environment[2] = environment_of(label);
    fill(code, first_line);
    value words[] = {path_object(kind, path), string(base_of(label)), string(label)};
    memcpy(code->body + fake_ruby_offset(FAKE_BODY, BODY_PATHOBJ), words, sizeof(words));
    return code;
}

struct fake_code *fake_ruby_compile(const char *path, const char *label, unsigned first_line, unsigned count) {
    return fake_ruby_compile_as(FAKE_PATH_STRING, path, label, first_line, count);
}

void fake_ruby_define(struct fake_code *code, const char *owner, int singleton) {
    struct object *class = allot(sizeof(*class)), *method = allot(sizeof(*method));
    class->flags = T_CLASS;
    class->words[0] = string(owner);
    if (singleton) {
        struct object *own = allot(sizeof(*own));
        own->flags = T_CLASS | SINGLETON;
        own->words[1] = (value) class;
        class = own;
    }
    method->flags = T_IMEMO | IMEMO_METHOD;
    put((char *)method + HL_METHOD_OWNER, class);
    put(&method->words[4], code);
    code->method = method;
    code->environment[0] = (uintptr_t)method;
}

void fake_ruby_discard(struct fake_code *code) {
    free(code->encoded);
}

int fake_ruby_recompile(struct fake_code *code, const char *path, unsigned first_line) {
    uint64_t *fresh = malloc(code->count * sizeof(uint64_t));
    const int same = fresh == code->encoded;
    value object = string(path);
    code->encoded = fresh;
    fill(code, first_line);
    memcpy(code->body + fake_ruby_offset(FAKE_BODY, BODY_PATHOBJ), &object, sizeof(object));
    return same;
}

uint64_t fake_ruby_encoded(const struct fake_code *code) {
    return (uint64_t)code->encoded;
}

/* ---- frames ---- */

/* Each frame has an environment of its own, written anew when it is pushed, at the other end of the stack. */
static void push(const struct fake_code *code, const uint64_t *pc) {
    static const uintptr_t none[ENVIRONMENT_WORDS] = {0, 0, ENVIRONMENT_OF_C};
    char *ec = current_ec, *frame = (char *)get(ec + fake_ruby_offset(FAKE_EC, HL_EC_FRAME)) - frame_bytes(),
         *stack = get(ec + fake_ruby_offset(FAKE_EC, HL_EC_STACK));
    const size_t outer = (size_t)(stack + STACK_WORDS * sizeof(value) - frame) / frame_bytes() - 1;
    uintptr_t *environment = (uintptr_t *)(void *)stack + outer * ENVIRONMENT_WORDS;
    if ((char *)(environment + ENVIRONMENT_WORDS) > frame) abort();
    memcpy(environment, code ? code->environment : none, sizeof(none));
    put(frame + fake_ruby_offset(FAKE_FRAME, HL_FRAME_PC), pc);
    put(frame + fake_ruby_offset(FAKE_FRAME, HL_FRAME_ISEQ), code);
    put(frame + fake_ruby_offset(FAKE_FRAME, HL_FRAME_EP), environment + 2);
    put(ec + fake_ruby_offset(FAKE_EC, HL_EC_FRAME), frame);
}

void fake_ruby_push(const struct fake_code *code, unsigned position) {
    push(code, code->encoded + position + 1); /* the pc points behind the instruction that runs */
}

void fake_ruby_push_c(void) {
    push(NULL, NULL);
}

void fake_ruby_push_empty(const struct fake_code *code) {
    push(code, NULL);
}

void fake_ruby_go_on(unsigned position) {
    char *frame = get((char *)current_ec + fake_ruby_offset(FAKE_EC, HL_EC_FRAME));
    const struct fake_code *code = get(frame + fake_ruby_offset(FAKE_FRAME, HL_FRAME_ISEQ));
    put(frame + fake_ruby_offset(FAKE_FRAME, HL_FRAME_PC), code->encoded + position + 1);
}

void fake_ruby_pop(void) {
    char *ec = current_ec;
    put(ec + fake_ruby_offset(FAKE_EC, HL_EC_FRAME),
        (char *)get(ec + fake_ruby_offset(FAKE_EC, HL_EC_FRAME)) + frame_bytes());
}

void *fake_ruby_allocate(size_t size) {
    void *block = malloc(size);
    __asm__ volatile("" : : "r"(block) : "memory"); /* not to be optimised away with its free */
    return block;
}
