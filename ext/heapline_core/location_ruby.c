/* SPDX-License-Identifier: MIT */
/*
 * The own walk: path, line and label of a control frame, from the layouts in ruby_vm.h.
 *
 * With the GVL and outside GC, Ruby's memory is read directly. Without (a blocking region, another thread may be
 * compacting), each read is probed and the result must prove itself: the code that was found has to contain the pc.
 */
#include <errno.h>
#include <string.h>

#include "block_map.h"
#include "gc_events.h"
#include "location.h"
#include "probe.h"
#include "ruby_vm.h"
#include "site_table.h"

enum { T_CLASS = 0x02, T_MODULE = 0x03, T_STRING = 0x05, T_ARRAY = 0x07, T_IMEMO = 0x1a };
enum { TYPE_MASK = 0x1f, NOEMBED = 1 << 13, ARRAY_EMBED = 1 << 13, HEAP_LENGTH = 16, HEAP_POINTER = 24 };
enum { IMEMO_SVAR = 2, IMEMO_METHOD = 6, HIGHEST_NIL = 8, EP_LOCAL = 2 };

static int may_read_directly(void) {
    return hl_ruby.ruby_thread_has_gvl_p() && !hl_ruby.rb_during_gc();
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

/* The block that holds an ec begins at its fiber and carries our trailer while it lives; it is erased before the block
 * is freed. Nothing is asked of the allocator: the block may be gone. */
static int fiber_is_alive(const char *ec, const char *fiber) {
    if (ec <= fiber || (size_t)(ec - fiber) >= hl_ruby.fiber_usable || (uintptr_t)fiber & 15) return 0;
    for (size_t more = 0; more <= 16; more += 16) {
        uint64_t word;
        const size_t usable = hl_ruby.fiber_usable + more;
        if (hl_probe(&word, fiber + usable - HL_TRAILER_SIZE, sizeof(word))) return 0;
        if (!hl_trailer_valid(word, fiber) || !(word >> HL_SITE_SHIFT)) continue;
        return hl_trailer_watch((void *)(uintptr_t)fiber, usable);
    }
    return 0;
}

HL_COLD int hl_ruby_prove(struct hl_lane *lane, char *ec) {
    const uint64_t epoch = hl_load64(&hl_location_ec_epoch);
    struct hl_ec_slot *slot = NULL;
    if (hl_thread.starting || hl_thread.exiting) return 0;
    for (unsigned i = 0; i < HL_EC_SLOTS && !slot; i++)
        if (lane->ecs[i].ec == ec && lane->ecs[i].epoch == epoch) slot = &lane->ecs[i];
    if (!slot) {
        char *fiber;
        /* Threads of a modular GC carry the mutator's ec. */
        if (!hl_ruby.ruby_native_thread_p()) return 0;
        if (hl_probe(&fiber, ec + HL_EC_FIBER, sizeof(fiber)) || !fiber_is_alive(ec, fiber)) return 0;
        lane->ecs[lane->ec_next++ % HL_EC_SLOTS] = (struct hl_ec_slot){ec, epoch};
    }
    hl_thread.ec = ec;
    hl_thread.ec_epoch = epoch;
    return 1;
}

struct hl_frame hl_ruby_frame_below(const char *frame, const char *end) {
    for (; frame < end; frame += hl_ruby_frame_size)
        if (hl_frame_runs_ruby(frame)) return (struct hl_frame){hl_frame_pc(frame), frame};
    return (struct hl_frame){0, NULL};
}

/* ---- strings ---- */

/* A Ruby string's bytes into `buffer`; its length, 0 where it cannot be read. */
static size_t read_string(int direct, hl_value string, char *buffer, size_t size) {
    struct {
        uint64_t flags, klass, length, pointer;
    } head;
    if (!is_object(string) || fetch(direct, &head, (const void *)string, sizeof(head))) return 0;
    if ((head.flags & TYPE_MASK) != T_STRING) return 0;
    const char *bytes = (const char *)head.pointer;
    if (!(head.flags & NOEMBED)) {
        bytes = (const char *)string + hl_ruby.layout->string_embedded;
        if (hl_ruby.layout->string_embedded == HEAP_LENGTH) head.length = head.flags >> 14 & 0x1f;
    }
    if (head.length > size) head.length = size;
    return fetch(direct, buffer, bytes, head.length) ? 0 : head.length;
}

/* pathobj is the path, or [path, real path]. */
static size_t read_path(int direct, hl_value pathobj, char *buffer, size_t size) {
    uint64_t head[5];
    if (!is_object(pathobj) || fetch(direct, head, (const void *)pathobj, sizeof(head))) return 0;
    if ((head[0] & TYPE_MASK) != T_ARRAY) return read_string(direct, pathobj, buffer, size);
    hl_value path = head[2];
    if (!(head[0] & ARRAY_EMBED) && fetch(direct, &path, (const void *)head[4], sizeof(path))) return 0;
    return read_string(direct, path, buffer, size);
}

/* ---- a frame's line ---- */

struct code {
    char *body;
    uint64_t encoded; /* where the instructions begin */
    hl_value pathobj, base_label, label;
};

/* The code that a frame runs; -EAGAIN where what was read does not contain the frame's pc. */
static int read_code(int direct, const char *frame, uint64_t pc, struct code *code) {
    const char *iseq = *(const char *const *)(frame + HL_FRAME_ISEQ);
    char body[HL_BODY_LABEL + sizeof(hl_value)];
    uint32_t size;
    if (fetch(direct, &code->body, iseq + HL_ISEQ_BODY, sizeof(code->body))) return -EAGAIN;
    if (!is_object((hl_value)code->body) || fetch(direct, body, code->body, sizeof(body))) return -EAGAIN;
    memcpy(&size, body + HL_BODY_SIZE, sizeof(size));
    memcpy(&code->encoded, body + HL_BODY_ENCODED, sizeof(code->encoded));
    memcpy(&code->pathobj, body + HL_BODY_PATHOBJ, sizeof(hl_value));
    memcpy(&code->base_label, body + HL_BODY_BASE_LABEL, sizeof(hl_value));
    memcpy(&code->label, body + HL_BODY_LABEL, sizeof(hl_value));
    return pc - code->encoded <= (uint64_t)size * sizeof(hl_value) ? 0 : -EAGAIN;
}

/* The pc points behind the instruction that runs. */
static uint32_t line_at(const struct code *code, uint64_t pc) {
    size_t position = (pc - code->encoded) / sizeof(hl_value);
    /* rb_iseq_line_no looks at the body only: the iseq object itself may be moving. */
    uint64_t iseq[8] = {0};
    memcpy((char *)iseq + HL_ISEQ_BODY, &code->body, sizeof(code->body));
    return hl_ruby.rb_iseq_line_no(iseq, position ? position - 1 : 0);
}

static int is_ractors(const struct hl_ruby_line *line) {
    static const char PATH[] = "<internal:ractor>";
    return line->path_length == sizeof(PATH) - 1 && memcmp(line->path, PATH, sizeof(PATH) - 1) == 0;
}

/* Ractor.new, not the rest of the file, of which every program runs something when it begins. */
HL_COLD static void see_ractors(int direct, hl_value label) {
    char name[3];
    const size_t length = read_string(direct, label, name, sizeof(name));
    if (!length || memcmp(name, "new", sizeof(name)) == 0) hl_gc_events_ractor_comes();
}

/* Have our free tell when the code goes (W2). */
static int watch(uint64_t encoded) {
    void *block = (void *)(uintptr_t)encoded;
    return hl_trailer_watch(block, hl_block_usable(block));
}

int hl_ruby_line_of_frame(struct hl_frame frame, struct hl_ruby_line *line, char *buffer, size_t size) {
    struct code code;
    const int direct = may_read_directly();
    if (hl_ruby.public_only) return hl_ruby_line_public(frame, line, buffer, size);
    if (read_code(direct, frame.frame, frame.pc, &code)) return -EAGAIN;
    line->path = buffer;
    line->path_length = read_path(direct, code.pathobj, buffer, size);
    if (!line->path_length) return -EAGAIN;
    if (HL_UNLIKELY(is_ractors(line))) see_ractors(direct, code.label);
    line->line = line_at(&code, frame.pc);
    line->cacheable = watch(code.encoded);
    line->frame = frame.frame;
    return 0;
}

/* ---- the public way ---- */

/* The nearest frame with a Ruby path; 0 or -EAGAIN. */
static int profile_frame(hl_value *frame, hl_value *path, int *line) {
    enum { DEPTH = 24 };
    hl_value frames[DEPTH];
    int lines[DEPTH];
    int count = hl_ruby.rb_profile_frames(0, DEPTH, frames, lines);
    for (int i = 0; i < count; i++) {
        *frame = frames[i];
        *path = hl_ruby.rb_profile_frame_path(frames[i]);
        *line = lines[i];
        if (is_object(*path)) return 0;
    }
    return -EAGAIN;
}

/* A string's bytes through public functions only; borrowed from the string. */
static const char *public_bytes(hl_value string, size_t *length) {
    volatile hl_value holder = string;
    *length = hl_ruby.rb_str_length(string) >> 1; /* a Fixnum */
    return hl_ruby.rb_string_value_ptr(&holder);  // cppcheck-suppress returnDanglingLifetime ; the string's bytes
}

int hl_ruby_line_public(struct hl_frame none, struct hl_ruby_line *line, char *buffer, size_t size) {
    hl_value frame, path;
    int number;
    (void)none, (void)buffer, (void)size;
    if (!hl_ruby.attached || !hl_ruby.ruby_native_thread_p() || !may_read_directly()) return -EAGAIN;
    if (profile_frame(&frame, &path, &number)) return -EAGAIN;
    line->path = public_bytes(path, &line->path_length);
    if (is_ractors(line)) hl_gc_events_ractor_comes();
    line->line = number > 0 ? (uint32_t)number : 0;
    line->cacheable = 0;
    line->frame = NULL;
    return 0;
}

/* ---- labels, and the check against the public API ---- */

static uint64_t flags_of(hl_value object) {
    return *(const uint64_t *)object;
}

/* A module's name where it has one; asking allocates nothing. */
size_t hl_ruby_module_name(hl_value module, char *buffer, size_t size) {
    if (!is_object(module)) return 0;
    uint64_t type = flags_of(module) & TYPE_MASK;
    if (type != T_CLASS && type != T_MODULE) return 0;
    return read_string(1, hl_ruby.rb_mod_name(module), buffer, size);
}

hl_value hl_ruby_attached_object(hl_value singleton) {
    if (hl_ruby.rb_class_attached_object) return hl_ruby.rb_class_attached_object(singleton);
    return hl_ruby.rb_attr_get ? hl_ruby.rb_attr_get(singleton, hl_ruby.attached_name) : 0;
}

/* The kind of one of the VM's own objects; -1 for all else. */
static int imemo_of(hl_value object) {
    return (flags_of(object) & TYPE_MASK) == T_IMEMO ? (int)(flags_of(object) >> 12 & 0xf) : -1;
}

static int is_method(hl_value frame) {
    return imemo_of(frame) == IMEMO_METHOD;
}

/* "Cache#" or "Cache." in front of a method, for a method entry; 0 for all else. */
static size_t owner_prefix(hl_value method, char *buffer, size_t size) {
    if (!is_method(method)) return 0;
    hl_value owner = *(const hl_value *)(method + HL_METHOD_OWNER);
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

/* For a frame inside a method the public API names the method's file, also where the frame is an eval of another. */
static int same_path(const struct hl_ruby_line *line, hl_value frame, hl_value path) {
    size_t length;
    const char *bytes = public_bytes(path, &length);
    if (length > HL_PATH_MAX) length = HL_PATH_MAX;
    return is_method(frame) || (length == line->path_length && memcmp(bytes, line->path, length) == 0);
}

static void check(const struct hl_ruby_line *line, hl_value frame, hl_value path, int number) {
    /* Under a JIT the public API may not know the top frame's line, and C frames have none: it then says 0. */
    if (number <= 0 || ((uint32_t)number == line->line && same_path(line, frame, path))) return;
    hl_add_shared(&hl_flight.header->mismatches, 1);
    if (hl_load64(&hl_flight.header->mismatches) > MISMATCHES_ALLOWED)
        hl_ruby_distrust("the lines found differ from Ruby's own");
}

/* Put the owner before the method's name, which the label ends with: "block in put" → "block in Cache#put". */
static size_t join(const char *label, size_t length, size_t base, const char *owner, size_t prefix, char *out) {
    size_t at = length - base;
    if (length + prefix > HL_LABEL_MAX) prefix = 0;
    memcpy(out, label, at);
    memcpy(out + at, owner, prefix);
    memcpy(out + at + prefix, label + at, base);
    return length + prefix;
}

/* A label, and how much of its end is the name of a method; 0: it is no method's. */
struct label {
    char bytes[HL_LABEL_MAX];
    size_t length, method;
};

static int read_label(int direct, const char *frame, struct label *label) {
    char base[HL_LABEL_MAX];
    struct code code;
    label->length = label->method = 0;
    if (!frame || read_code(direct, frame, hl_frame_pc(frame), &code)) return 0;
    label->length = read_string(direct, code.label, label->bytes, sizeof(label->bytes));
    const size_t length = read_string(direct, code.base_label, base, sizeof(base));
    if (length && length <= label->length && base[0] != '<' &&
        memcmp(label->bytes + label->length - length, base, length) == 0)
        label->method = length;
    return 1;
}

size_t hl_ruby_label(const struct hl_ruby_line *line, char *out) {
    char owner[HL_LABEL_MAX];
    struct label label;
    const int direct = may_read_directly();
    hl_value frame = 0, path;
    size_t prefix = 0;
    int number;
    if (!read_label(direct, line->frame, &label)) return 0;
    const int checked = to_be_checked();
    if (direct && (label.method || checked) && profile_frame(&frame, &path, &number) == 0) {
        if (checked) check(line, frame, path, number);
        if (label.method) prefix = owner_prefix(frame, owner, sizeof(owner));
    }
    return join(label.bytes, label.length, label.method, owner, prefix, out);
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

size_t hl_ruby_frame_label(const struct hl_ruby_line *line, char *out) {
    char owner[HL_LABEL_MAX];
    struct label label;
    const int direct = may_read_directly();
    if (!read_label(direct, line->frame, &label)) return 0;
    const hl_value method = direct && label.method ? method_of(line->frame) : 0;
    const size_t prefix = method ? owner_prefix(method, owner, sizeof(owner)) : 0;
    return join(label.bytes, label.length, label.method, owner, prefix, out);
}
