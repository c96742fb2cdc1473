/* SPDX-License-Identifier: MIT */
/*
 * The own walk: path, line and label of a control frame, from the layouts in ruby_vm.h.
 *
 * With the GVL and outside GC, Ruby's memory is read directly. Without (a blocking region, another thread may be
 * compacting), each read is probed and the result must prove itself: the code that was found has to contain the pc.
 */
#include "vm/ruby_frame.h"

#include <errno.h>
#include <string.h>

#include "flight/elders.h"
#include "flight/flight.h"
#include "flight/site_table.h"
#include "platform/probe.h"
#include "state/block_map.h"
#include "state/options.h"
#include "state/trailer.h"
#include "vm/ruby_vm.h"

hl_line_provider *hl_location_provider = hl_ruby_line_of_frame;
void (*hl_ruby_ractor_comes)(void);
uint32_t hl_ruby_ractors_came;

enum { T_CLASS = 0x02, T_MODULE = 0x03, T_STRING = 0x05, T_ARRAY = 0x07, T_IMEMO = 0x1a };
enum { TYPE_MASK = 0x1f, NOEMBED = 1 << 13, ARRAY_EMBED = 1 << 13, HEAP_LENGTH = 16, HEAP_POINTER = 24 };
enum { IMEMO_SVAR = 2, IMEMO_METHOD = 6, HIGHEST_NIL = 8, EP_LOCAL = 2 };

static HL_THREAD_LOCAL int gc_begins;

void hl_ruby_gc_begins(int is) {
    gc_begins = is;
}

static int may_read_directly(void) {
    return hl_ruby.ruby_thread_has_gvl_p() && (gc_begins || !hl_ruby.rb_during_gc());
}

int hl_ruby_may_be_asked(void) {
    return hl_ruby.attached && hl_ruby.ruby_native_thread_p() && may_read_directly();
}

static int fetch(int direct, void *copy, const void *address, size_t size) {
    if (!direct) return hl_probe(copy, address, size);
    memcpy(copy, address, size);
    return 0;
}

static int is_object(hl_value value) {
    return value > HIGHEST_NIL && (value & 7) == 0;
}

/* ---- is this ec alive? ---- */

/* A block that is older than a late start: what runs with the GVL lives. */
HL_COLD static int is_living_elder(const void *block) {
    return hl_elder_is_watched(block) || (hl_ruby_may_be_asked() && hl_elder_watch(block));
}

/* A block of the VM's carries our trailer while it lives, erased before it is freed. Nothing is asked of the allocator:
 * the block may be gone. `usable` is that of the first of its kind: glibc may give 16 bytes more, and one that is older
 * than a late start had no room for a trailer. */
static int block_is_alive(const char *block, size_t usable) {
    if ((uintptr_t)block & 15) return 0;
    for (size_t more = 0; more <= 32; more += 16) {
        uint64_t word;
        if (hl_probe(&word, block + usable + more - HL_TRAILER_SIZE, sizeof(word))) break;
        if (!hl_trailer_valid(word, block) || !(word >> HL_SITE_SHIFT)) continue;
        if (hl_block_watch((void *)(uintptr_t)block, usable + more)) return 1;
    }
    return HL_UNLIKELY(hl_started_late) && is_living_elder(block);
}

/* The block that holds an ec begins at its fiber. */
static int is_in_living_fiber(const char *ec) {
    const char *fiber;
    if (hl_probe(&fiber, ec + hl_ruby.layout->ec_fiber, sizeof(fiber))) return 0;
    return ec > fiber && (size_t)(ec - fiber) < hl_ruby.fiber_usable && block_is_alive(fiber, hl_ruby.fiber_usable);
}

static const char *ec_of(const char *thread) {
    return (const char *)hl_load64((const uint64_t *)(thread + hl_ruby.layout->thread_ec));
}

/* The thread that a living ec belongs to, where its end will be seen, or it has none; else NULL. */
static char *thread_of(const char *ec) {
    char *thread = *(char *const *)(ec + hl_ruby.layout->ec_thread);
    if (thread != hl_ruby.lasting_thread) {
        if (!hl_ruby.thread_usable && hl_ruby.lasting_thread) hl_ruby.thread_usable = hl_block_usable(thread);
        if (!hl_ruby.thread_usable || !block_is_alive(thread, hl_ruby.thread_usable)) return NULL;
    }
    return ec_of(thread) == ec ? thread : NULL;
}

HL_COLD static int prove(struct hl_known_ecs *known, char *ec, uint32_t epoch) {
    /* Threads of a modular GC carry the mutator's ec. */
    if (!hl_ruby.ruby_native_thread_p() || !is_in_living_fiber(ec)) return 0;
    const uint32_t thread_epoch = hl_location_epoch(*(const uintptr_t *)(ec + hl_ruby.layout->ec_thread));
    known->slots[known->next++ % HL_EC_SLOTS] = (struct hl_ec_slot){ec, thread_of(ec), epoch, thread_epoch};
    return 1;
}

/* Has `ec` been proven, or the thread that runs it? As often as it likes a thread may switch among its fibers. */
static int answers(const struct hl_ec_slot *slot, const char *ec, int another) {
    if (slot->ec == ec) return slot->ec_epoch == hl_location_epoch((uintptr_t)ec);
    return another && slot->thread && slot->thread_epoch == hl_location_epoch((uintptr_t)slot->thread) &&
           ec_of(slot->thread) == ec;
}

int hl_ruby_prove(struct hl_known_ecs *known, char *ec) {
    const uint32_t epoch = hl_location_epoch((uintptr_t)ec); /* before the look (K1) */
    int is_known = 0;
    if (hl_thread.starting || hl_thread.exiting) return 0;
    for (uint32_t i = 1; i <= HL_EC_SLOTS && !is_known; i++)
        is_known = answers(&known->slots[(known->next - i) % HL_EC_SLOTS], ec, ec != hl_thread.ec);
    if (!is_known && !prove(known, ec, epoch)) return 0;
    hl_thread.ec = ec;
    hl_thread.ec_epoch = epoch;
    return 1;
}

/* A frame of ZJIT's names the word behind the address of what it keeps; 1: it is C code's. */
HL_COLD struct hl_frame_code hl_zjit_frame_code(const char *frame) {
    const struct hl_frame_code *kept = (const struct hl_frame_code *)(frame + HL_FRAME_PC), none = {0, NULL};
    const uintptr_t jit = *(const uintptr_t *)(frame + HL_FRAME_JIT);
    if (jit == 1 && *hl_ruby_zjit) return none;
    if (jit && *hl_ruby_zjit && !(**(const uint64_t *const *)(frame + HL_FRAME_EP) & HL_FRAME_OF_C)) {
        kept = *(const struct hl_frame_code *const *)(jit - sizeof(kept));
        return kept ? *kept : none;
    }
    return (struct hl_frame_code){kept->pc, *(const char *const *)(frame + HL_FRAME_ISEQ)};
}

struct hl_frame hl_ruby_caller(struct hl_frame frame) {
    const struct hl_frame none = {0, NULL};
    const char *end = hl_ruby_frames_end(hl_thread.ec);
    const struct hl_frame caller =
        hl_ruby_frame_below(frame.frame + hl_ruby_frame_size, end, HL_UNLIKELY(hl_ruby_zjit != NULL));
    return caller.pc && hl_ruby_kind(caller.frame) == HL_FRAME_DUMMY ? none : caller;
}

int hl_ruby_is_loading(struct hl_frame frame) {
    enum { FAR = 100 }; /* so that a miss of the caches costs the same however deep a stack is */
    const char *end = hl_ruby_frames_end(hl_thread.ec), *outer = frame.frame;
    const int zjit = HL_UNLIKELY(hl_ruby_zjit != NULL);
    uint64_t kind = hl_ruby_kind(outer);
    int in_body = 0;
    if (hl_ruby.public_only || kind == HL_FRAME_OF_CLASS || kind == HL_FRAME_OF_FILE) return 0;
    for (int i = 0; i < FAR && (outer += hl_ruby_frame_size) < end; i++) {
        if (zjit && !hl_frame_runs_ruby(outer)) continue; /* it has no kind */
        kind = hl_ruby_kind(outer);
        if (kind == HL_FRAME_OF_FILE) return in_body;
        in_body |= kind == HL_FRAME_OF_CLASS;
    }
    return 0;
}

/* ---- objects ---- */

static uint64_t flags_of(hl_value object) {
    return *(const uint64_t *)object;
}

/* The kind of one of the VM's own objects; -1 for all else. */
static int imemo_of(hl_value object) {
    return (flags_of(object) & TYPE_MASK) == T_IMEMO ? (int)(flags_of(object) >> 12 & 0xf) : -1;
}

static int is_method(hl_value frame) {
    return imemo_of(frame) == IMEMO_METHOD;
}

/* ---- strings ---- */

/* A string's bytes through public functions only; borrowed from the string. */
static const char *public_bytes(hl_value string, size_t *length) {
    volatile hl_value holder = string;
    *length = hl_ruby.rb_str_length(string) >> 1; /* a Fixnum */
    return hl_ruby.rb_string_value_ptr(&holder);  // cppcheck-suppress returnDanglingLifetime ; the string's bytes
}

/* A Ruby string's first bytes, `size` at most: where they lie, or a copy in `buffer`; none where it cannot be read.
 * Where the layout was refused Ruby is asked, as it is for all else: then this is called where that may be. */
static struct hl_text_view read_string(int direct, hl_value string, char *buffer, size_t size) {
    const struct hl_text_view none = {buffer, 0};
    struct {
        uint64_t flags, klass, length, pointer;
    } head;
    if (!is_object(string) || fetch(direct, &head, (const void *)string, sizeof(head))) return none;
    if ((head.flags & TYPE_MASK) != T_STRING) return none;
    struct hl_text_view text = {(const char *)head.pointer, head.length};
    if (!hl_ruby.layout) {
        text.bytes = public_bytes(string, &text.length);
    } else if (!(head.flags & NOEMBED)) {
        text.bytes = (const char *)string + hl_ruby.layout->string_embedded;
        if (hl_ruby.layout->string_embedded == HEAP_LENGTH) text.length = head.flags >> 14 & 0x1f;
    }
    if (text.length > size) text.length = size;
    if (direct) return text;
    return hl_probe(buffer, text.bytes, text.length) ? none : (struct hl_text_view){buffer, text.length};
}

/* pathobj is the path, or [path, real path]. */
static struct hl_text_view read_path(int direct, hl_value pathobj, char *buffer, size_t size) {
    const struct hl_text_view none = {buffer, 0};
    uint64_t head[5];
    if (!is_object(pathobj) || fetch(direct, head, (const void *)pathobj, sizeof(head))) return none;
    if ((head[0] & TYPE_MASK) != T_ARRAY) return read_string(direct, pathobj, buffer, size);
    hl_value path = head[2];
    if (!(head[0] & ARRAY_EMBED) && fetch(direct, &path, (const void *)head[4], sizeof(path))) return none;
    return read_string(direct, path, buffer, size);
}

/* ---- a frame's line ---- */

struct code {
    char *body;
    uint64_t encoded; /* where the instructions begin */
    uint32_t words;   /* and how many they have */
    hl_value pathobj, base_label, label;
};

/* While a hook runs at a method's last instruction the pc is a word behind it: there other code may begin. */
static int is_behind(const struct code *code, uint64_t pc) {
    return pc - code->encoded > code->words * sizeof(hl_value);
}

/* The code that a frame runs; -EAGAIN where what was read does not contain the frame's pc. */
static int read_code(int direct, const char *frame, uint64_t pc, struct code *code) {
    const char *iseq = hl_frame_code(frame).iseq;
    const struct hl_ruby_layout *layout = hl_ruby.layout;
    char copy[HL_RUBY_BODY_BYTES];
    const char *body = copy;
    if (fetch(direct, &code->body, iseq + layout->iseq_body, sizeof(code->body))) return -EAGAIN;
    if (!is_object((hl_value)code->body)) return -EAGAIN;
    if (direct)
        body = code->body;
    else if (hl_probe(copy, code->body, sizeof(copy)))
        return -EAGAIN;
    memcpy(&code->words, body + layout->body_encoded - sizeof(code->words), sizeof(code->words));
    memcpy(&code->encoded, body + layout->body_encoded, sizeof(code->encoded));
    memcpy(&code->pathobj, body + layout->body_pathobj, sizeof(hl_value));
    code->base_label = code->label = 0;
    if (layout->body_base_label) memcpy(&code->base_label, body + layout->body_base_label, sizeof(hl_value));
    if (layout->body_label) memcpy(&code->label, body + layout->body_label, sizeof(hl_value));
    return pc - code->encoded <= (code->words + 1ull) * sizeof(hl_value) ? 0 : -EAGAIN;
}

/* A line as Ruby tells it; 0: none, as before the first one of an eval that counts from below 1. */
static uint32_t line_told(int line) {
    return line > 0 ? (uint32_t)line : 0;
}

static uint32_t line_of(const void *iseq, size_t position) {
    return line_told((int)hl_ruby.rb_iseq_line_no(iseq, position));
}

/* The pc points behind the instruction that runs. Where that has no line, as the one of Ruby 3.1 that makes a regular
 * expression with `o`, it is the line that the code begins with, as in Ruby's own answers. */
static uint32_t line_at(const struct code *code, uint64_t pc) {
    const size_t position = is_behind(code, pc) ? code->words : (pc - code->encoded) / sizeof(hl_value);
    /* rb_iseq_line_no looks at the body only: the iseq object itself may be moving. */
    uint64_t iseq[8] = {0};
    memcpy((char *)iseq + hl_ruby.layout->iseq_body, &code->body, sizeof(code->body));
    const uint32_t line = line_of(iseq, position ? position - 1 : 0);
    return HL_LIKELY(line) ? line : line_of(iseq, 0);
}

static int is_internal(const struct hl_ruby_line *line) {
    static const char PREFIX[] = "<internal:";
    return line->path_length >= sizeof(PREFIX) - 1 && memcmp(line->path, PREFIX, sizeof(PREFIX) - 1) == 0;
}

static int is_ractors(const struct hl_ruby_line *line) {
    static const char PATH[] = "<internal:ractor>";
    return line->path_length == sizeof(PATH) - 1 && memcmp(line->path, PATH, sizeof(PATH) - 1) == 0;
}

static void tell_of_ractors(void) {
    hl_ruby_ractors_came = 1;
    if (hl_ruby_ractor_comes) hl_ruby_ractor_comes();
}

/* Ractor.new, not the rest of the file, of which every program runs something when it begins. */
HL_COLD static void see_ractors(int direct, hl_value label) {
    char name[3];
    const struct hl_text_view begins = read_string(direct, label, name, sizeof(name));
    if (!begins.length || (begins.length == sizeof(name) && memcmp(begins.bytes, "new", sizeof(name)) == 0))
        tell_of_ractors();
}

/* Have our free tell when the code goes (W2). */
static int watch(uint64_t encoded) {
    void *block = (void *)(uintptr_t)encoded;
    return hl_block_watch(block, hl_block_usable(block)) || (HL_UNLIKELY(hl_started_late) && is_living_elder(block));
}

int hl_ruby_line_of_frame(struct hl_frame frame, struct hl_ruby_line *line, char *buffer, size_t size) {
    struct code code;
    /* Without a frame: the layout was believed after the place was sought. */
    if (hl_ruby.public_only || !frame.frame) return hl_ruby_line_public(frame, line, buffer, size);
    const int direct = may_read_directly();
    if (read_code(direct, frame.frame, frame.pc, &code)) return -EAGAIN;
    const struct hl_text_view path = read_path(direct, code.pathobj, buffer, size);
    if (!path.length) return -EAGAIN;
    line->path = path.bytes;
    line->path_length = path.length;
    if (HL_UNLIKELY(is_ractors(line))) see_ractors(direct, code.label);
    line->internal = is_internal(line) && !hl_options.internal;
    line->line = line_at(&code, frame.pc);
    line->cacheable = !is_behind(&code, frame.pc) && watch(code.encoded);
    line->ownerless = !direct;
    line->frame = frame.frame;
    return 0;
}

/* ---- the public way ---- */

/* What the public API tells of a frame. */
struct profile {
    hl_value frame;
    struct hl_ruby_line line;
};

static int profile_at(hl_value frame, int number, struct profile *profile) {
    const hl_value path = hl_ruby.rb_profile_frame_path(frame);
    if (!is_object(path)) return 0; /* a method in C */
    const struct hl_ruby_line line = {.line = line_told(number)};
    *profile = (struct profile){.frame = frame, .line = line};
    profile->line.path = public_bytes(path, &profile->line.path_length);
    return 1;
}

/* For a frame inside a method the public API names the method's file, also where the frame is an eval of another. Of
 * the nearest frame Ruby tells its own. Since 3.3 it means the file that is just being loaded while none of its lines
 * run yet: then the line is 0. */
static void ask_own_path(struct profile *nearest) {
    if (!is_method(nearest->frame) || !hl_ruby.rb_sourcefile || !hl_ruby.rb_sourceline) return;
    const char *path = hl_ruby.rb_sourcefile();
    if (!path || (!hl_ruby.rb_sourceline() && nearest->line.line)) return;
    nearest->line.path = path;
    nearest->line.path_length = strlen(path);
}

/* The nearest frame with a Ruby path, and the one that is the place which is meant (location.h, W3); 0 or -EAGAIN.
 * Ruby looks up the line of each frame that it tells: it is asked for few first. */
static int profile_frame(struct profile *meant, struct profile *nearest) {
    enum { FEW = 3, DEPTH = 24 };
    hl_value frames[DEPTH];
    int lines[DEPTH];
    for (int most = FEW;; most = DEPTH) {
        const int count = hl_ruby.rb_profile_frames(0, most, frames, lines);
        int found = 0;
        for (int i = 0; i < count; i++) {
            if (!profile_at(frames[i], lines[i], meant)) continue;
            if (!found++) {
                ask_own_path(meant);
                *nearest = *meant;
            }
            if (hl_options.internal || !is_internal(&meant->line)) return 0;
        }
        if (count < most || most == DEPTH) return found ? 0 : -EAGAIN; /* the outermost */
    }
}

int hl_ruby_line_public(struct hl_frame none, struct hl_ruby_line *line, char *buffer, size_t size) {
    struct profile meant, nearest;
    (void)none, (void)buffer, (void)size;
    if (!hl_ruby_may_be_asked() || profile_frame(&meant, &nearest)) return -EAGAIN;
    if (is_ractors(&nearest.line)) tell_of_ractors();
    *line = meant.line;
    return 0;
}

/* ---- labels, and the check against the public API ---- */

/* A module's name where it has one; asking allocates nothing. */
size_t hl_ruby_module_name(hl_value module, char *buffer, size_t size) {
    if (!is_object(module)) return 0;
    uint64_t type = flags_of(module) & TYPE_MASK;
    if (type != T_CLASS && type != T_MODULE) return 0;
    const struct hl_text_view name = read_string(1, hl_ruby.rb_mod_name(module), buffer, size);
    memcpy(buffer, name.bytes, name.length);
    return name.length;
}

hl_value hl_ruby_attached_object(hl_value singleton) {
    if (hl_ruby.rb_class_attached_object) return hl_ruby.rb_class_attached_object(singleton);
    return hl_ruby.rb_attr_get ? hl_ruby.rb_attr_get(singleton, hl_ruby.attached_name) : 0;
}

/* "Cache#" or "Cache." in front of a method, for a method entry; 0 for all else. No proof comes to an owner in a
 * program that has no methods: the first ones are read through the kernel, two calls each. */
static size_t owner_prefix(hl_value method, char *buffer, size_t size) {
    enum { FIRST = 16 };
    static uint32_t read;
    const int direct = hl_load32(&read) >= FIRST;
    hl_value owner;
    uint64_t flags;
    if (!is_method(method)) return 0;
    if (fetch(direct, &owner, (const void *)(method + HL_METHOD_OWNER), sizeof(owner)) || !is_object(owner) ||
        fetch(direct, &flags, (const void *)owner, sizeof(flags)))
        return 0;
    if (!direct) __atomic_add_fetch(&read, 1, __ATOMIC_RELAXED);
    size_t length = hl_ruby_module_name(owner, buffer, size - 1);
    if (length) {
        buffer[length++] = '#';
    } else if (is_object(owner) && hl_ruby.rb_profile_frame_singleton_method_p(method) > HIGHEST_NIL) {
        length = hl_ruby_module_name(hl_ruby_attached_object(owner), buffer, size - 1);
        if (length) buffer[length++] = '.';
    }
    return length;
}

/* The first 64 labels of a process, then every 64th, are compared with rb_profile_frames. */
static int to_be_checked(void) {
    static uint32_t named;
    uint32_t number = __atomic_add_fetch(&named, 1, __ATOMIC_RELAXED);
    return number <= 64 || number % 64 == 0;
}

enum { MISMATCHES_ALLOWED = 3 };

/* Of a frame further out than the nearest only its method's file is known (ask_own_path). */
static int same_path(const struct hl_ruby_line *line, const struct profile *profile) {
    const struct hl_ruby_line *other = &profile->line;
    const size_t length = other->path_length > HL_PATH_MAX ? HL_PATH_MAX : other->path_length;
    return is_method(profile->frame) || (length == line->path_length && memcmp(other->path, line->path, length) == 0);
}

static void check(const struct hl_ruby_line *line, const struct profile *profile) {
    /* Under a JIT the public API may not know the top frame's line, and C frames have none: it then says 0. */
    if (!profile->line.line || (profile->line.line == line->line && same_path(line, profile))) return;
    hl_add_shared(&hl_flight.header->mismatches, 1);
    if (hl_load64(&hl_flight.header->mismatches) > MISMATCHES_ALLOWED)
        hl_ruby_distrust("the lines found differ from Ruby's own");
}

/* A label, and how much of its end is the name of a method; 0: it is no method's. */
struct label {
    struct hl_text_view text;
    size_t method;
    char copy[HL_LABEL_MAX];
};

/* Put the owner before the method's name, which the label ends with: "block in put" → "block in Cache#put". */
static size_t join(const struct label *label, const char *owner, size_t prefix, char *out) {
    const size_t length = label->text.length, at = length - label->method;
    if (length + prefix > HL_LABEL_MAX) prefix = 0;
    memcpy(out, label->text.bytes, at);
    memcpy(out + at, owner, prefix);
    memcpy(out + at + prefix, label->text.bytes + at, label->method);
    return length + prefix;
}

static int ends(struct hl_text_view text, struct hl_text_view end) {
    if (end.length > text.length) return 0;
    const char *at = text.bytes + text.length - end.length;
    return at == end.bytes || memcmp(at, end.bytes, end.length) == 0;
}

static int read_label(int direct, const char *frame, struct label *label) {
    char copy[HL_LABEL_MAX];
    struct code code;
    label->text.length = label->method = 0;
    if (!frame || read_code(direct, frame, hl_frame_pc(frame), &code)) return 0;
    label->text = read_string(direct, code.label, label->copy, sizeof(label->copy));
    const struct hl_text_view base =
        code.base_label == code.label ? label->text : read_string(direct, code.base_label, copy, sizeof(copy));
    if (base.length && base.bytes[0] != '<' && ends(label->text, base)) label->method = base.length;
    return 1;
}

/* The method entry that a frame's environment, or one around it, names; 0 where there is none. */
static hl_value method_of(const char *frame) {
    const hl_value *environment = *(const hl_value *const *)(frame + HL_FRAME_EP);
    for (;;) {
        hl_value entry = environment[HL_EP_METHOD];
        const int outermost = (environment[0] & EP_LOCAL) != 0;
        if (outermost && is_object(entry) && imemo_of(entry) == IMEMO_SVAR)
            entry = *(const hl_value *)(entry + sizeof(hl_value));
        if (is_object(entry) && is_method(entry)) return entry;
        if (outermost) return 0;
        environment = (const hl_value *)(environment[HL_EP_OUTER] & ~(hl_value)3);
    }
}

/* The method that a frame of C code runs; else 0. */
static hl_value method_in_c(const char *frame) {
    const uint64_t flags = **(const uint64_t *const *)(frame + HL_FRAME_EP);
    return flags & HL_FRAME_OF_C ? method_of(frame) : 0;
}

/* `require` or `require_relative`. */
static int is_require(hl_value method) {
    const char *definition = *(const char *const *)(method + HL_METHOD_DEFINITION);
    if (!definition) return 0;
    const uintptr_t name = *(const uintptr_t *)(definition + HL_DEFINITION_NAME);
    return name && (name == hl_ruby.require_name || name == hl_ruby.require_relative_name);
}

int hl_ruby_calls_some_require(struct hl_known_ecs *known, struct hl_frame frame) {
    const char *inner = *(char *const *)((const char *)hl_thread.ec + HL_EC_FRAME);
    while (known->other && inner < frame.frame && hl_frame_method(inner) == known->other) inner += hl_ruby_frame_size;
    if (inner >= frame.frame || hl_ruby.public_only || !hl_ruby.version_known || !may_read_directly()) return 0;
    for (; inner < frame.frame; inner += hl_ruby_frame_size) {
        const hl_value method = method_in_c(inner);
        if (method && is_require(method)) {
            known->require = method;
            return 1;
        }
        if (method && method == hl_frame_method(inner)) known->other = method;
    }
    return 0;
}

static size_t label_of(const char *frame, char *out) {
    char owner[HL_LABEL_MAX];
    struct label label;
    if (!frame) return 0;
    const int direct = may_read_directly();
    if (!read_label(direct, frame, &label)) return 0;
    const hl_value method = direct && label.method ? method_of(frame) : 0;
    const size_t prefix = method ? owner_prefix(method, owner, sizeof(owner)) : 0;
    return join(&label, owner, prefix, out);
}

size_t hl_ruby_frame_label(const struct hl_ruby_line *line, char *out) {
    return label_of(line->called ? line->called : line->frame, out);
}

size_t hl_ruby_label(const struct hl_ruby_line *line, char *out) {
    char owner[HL_LABEL_MAX];
    struct label label;
    struct profile meant, nearest;
    size_t prefix = 0;
    if (!line->frame) return 0;
    const int direct = !line->ownerless;
    if (!read_label(direct, line->frame, &label)) return 0;
    const int checked = to_be_checked();
    if (direct && (label.method || checked) && profile_frame(&meant, &nearest) == 0) {
        if (checked) check(line, &meant);
        if (label.method) prefix = owner_prefix(meant.frame, owner, sizeof(owner));
    }
    if (line->called) return label_of(line->called, out);
    return join(&label, owner, prefix, out);
}
