/* SPDX-License-Identifier: MIT */
/*
 * The Ruby frames of the running thread: where they lie, and the path, line and label of each.
 *
 * W1  No pointer of Ruby's is followed unless the ec is known to be alive, and the frames lie inside its VM stack. What
 *     runs is alive; but up to Ruby 3.2 a native thread that waits to be used again has the ec of a thread that is
 *     gone. So an ec counts as alive under its memory's epoch, after its fiber's block was found with our trailer and
 *     marked as watched; or where it is another than before and a living thread of the VM, itself watched, says that it
 *     runs it. A thread ends in its first fiber, in which it first allocated: that one is watched.
 * W2  A pc names its line for as long as the compiled code lives. The block that holds the code is marked as watched;
 *     our own free sees it go and moves the epochs on (hl_location_forget).
 * Callable from any thread inside malloc.
 */
#ifndef HL_RUBY_FRAME_H
#define HL_RUBY_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "platform/platform.h"
#include "state/guard.h"
#include "state/location_epochs.h"
#include "vm/ruby_vm.h"

/* A Ruby frame: its pc and where it lies; pc 0: none. */
struct hl_frame {
    uint64_t pc;
    const char *frame;
};

/* Beside a pc in a cache, which is a multiple of 8 and an address; see location.h, W3 and W4. The frame's caller is the
 * place: there is no site. The site is of loading. The frame called a method of the VM's own, which gives the label. It
 * is one, and has no caller: the site is its own. In place of any pc: a JIT compiler allocates, whatever runs. */
static const uint64_t HL_LOCATION_INTERNAL = 1, HL_LOCATION_LOADING = 2, HL_LOCATION_JIT = 1ull << 60,
                      HL_LOCATION_CALLED = 1ull << 61, HL_LOCATION_OUTERMOST = 1ull << 62;

/* What a provider found out about a frame; the text stays valid until the guard is left. */
struct hl_ruby_line {
    const char *path;
    size_t path_length;
    uint32_t line;
    int cacheable; /* the pc may stand for the line (W2) */
    int internal;  /* of a method of the VM's own: not the place that is meant (location.h, W3) */
    int ownerless; /* its label is told without the owner of its method: nobody may ask for that now (GC, no GVL) */
    const char *frame;
    const char *called; /* the frame of such a method that this line called, which gives the label; or NULL */
    int loading;        /* its label says that it ran while code was loaded */
};

/* Describe the frame: a pointer, so that tests put a fake behind it. 0, or -errno where it cannot be told. */
typedef int hl_line_provider(struct hl_frame frame, struct hl_ruby_line *line, char *buffer, size_t size);
extern hl_line_provider *hl_location_provider HL_HIDDEN;

enum { HL_PATH_MAX = 4096 };

/* Code of the VM's that makes Ractors allocates for the first time: perhaps one is about to be made. Called with or
 * without the GVL; NULL: nobody wants to know. And whether that has ever happened. */
extern void (*hl_ruby_ractor_comes)(void);
extern uint32_t hl_ruby_ractors_came;

/* An execution context that was proven to be alive, and the VM's thread that runs it (W1). */
struct hl_ec_slot {
    char *ec;
    char *thread; /* NULL: not known */
    uint32_t ec_epoch, thread_epoch;
};

/* The last ones that a thread proved, and what it knows of their frames: the last method in C that was found to be
 * `require` since the last GC, so that it is still there, and the last one that was found to be none (0: none was). */
enum { HL_EC_SLOTS = 8 };
struct hl_known_ecs {
    uint64_t next;
    struct hl_ec_slot slots[HL_EC_SLOTS];
    hl_value require, other;
};

/* This thread is where a GC begins, or is no longer: nothing has moved or gone yet, and is read as outside of GC. */
void hl_ruby_gc_begins(int is);

/* Prove that `ec` is this thread's living execution context; 1 or 0. */
int hl_ruby_prove(struct hl_known_ecs *known, char *ec);

HL_INLINE int hl_ruby_is_proven(const char *ec) {
    return ec == hl_thread.ec && hl_thread.ec_epoch == hl_location_epoch((uintptr_t)ec);
}

/* Own walk of the control frames: the provider for known Rubies. */
int hl_ruby_line_of_frame(struct hl_frame frame, struct hl_ruby_line *line, char *buffer, size_t size);
/* May the public API be called here: has this thread the GVL, outside GC? */
int hl_ruby_may_be_asked(void);
/* Through rb_profile_frames: the provider for all others. */
int hl_ruby_line_public(struct hl_frame frame, struct hl_ruby_line *line, char *buffer, size_t size);
/* The method label of a frame into `label` of HL_LABEL_MAX bytes; its length. */
size_t hl_ruby_label(const struct hl_ruby_line *line, char *label);
/* The same for a frame anywhere in this thread's stack, where hl_ruby_label is for the innermost that runs Ruby. */
size_t hl_ruby_frame_label(const struct hl_ruby_line *line, char *label);

/* A class's or module's name into `buffer`; its length, 0 where it has none or is none. With the GVL, outside GC. */
size_t hl_ruby_module_name(hl_value module, char *buffer, size_t size);
/* The object that a singleton class belongs to. With the GVL. */
hl_value hl_ruby_attached_object(hl_value singleton);

/* What a frame runs: its pc, its iseq. In the VM's order. */
struct hl_frame_code {
    uint64_t pc;
    const char *iseq;
};
struct hl_frame_code hl_zjit_frame_code(const char *frame);

HL_INLINE struct hl_frame_code hl_frame_code_as(const char *frame, int zjit) {
    if (zjit) return hl_zjit_frame_code(frame);
    return (struct hl_frame_code){*(const uint64_t *)(frame + HL_FRAME_PC),
                                  *(const char *const *)(frame + HL_FRAME_ISEQ)};
}

HL_INLINE struct hl_frame_code hl_frame_code(const char *frame) {
    return hl_frame_code_as(frame, HL_UNLIKELY(hl_ruby_zjit != NULL));
}

HL_INLINE uint64_t hl_frame_pc(const char *frame) {
    return hl_frame_code(frame).pc;
}

/* A frame of C code has neither; one that a JIT is about to fill has no pc yet. */
HL_INLINE int hl_code_is_ruby(struct hl_frame_code code) {
    return code.iseq != NULL && code.pc != 0;
}
HL_INLINE int hl_frame_runs_ruby(const char *frame) {
    return hl_code_is_ruby(hl_frame_code(frame));
}

/* HL_FRAME_DUMMY … of a frame that runs Ruby. */
HL_INLINE uint64_t hl_ruby_kind(const char *frame) {
    return **(const uint64_t *const *)(frame + HL_FRAME_EP) & HL_FRAME_KIND;
}

/* The nearest one outwards of a frame of this thread's, whose ec is proven; not the one that the VM began with. */
struct hl_frame hl_ruby_caller(struct hl_frame frame);
/* Was a frame (not none) called, some frames further out, by the body of a class or module in a file that is being
 * loaded? */
int hl_ruby_is_loading(struct hl_frame frame);
/* Where the method that is known to be `require` is none of those called, or none is known. */
int hl_ruby_calls_some_require(struct hl_known_ecs *known, struct hl_frame frame);

/* What stands where a frame of C code has its method. */
HL_INLINE hl_value hl_frame_method(const char *frame) {
    return (*(const hl_value *const *)(frame + HL_FRAME_EP))[HL_EP_METHOD];
}

/* Does a frame (not none), the nearest that runs Ruby, call `require` or `require_relative` where these are C code? */
HL_INLINE int hl_ruby_calls_require(struct hl_known_ecs *known, struct hl_frame frame) {
    const char *inner = *(char *const *)((const char *)hl_thread.ec + HL_EC_FRAME);
    for (; HL_LIKELY(known->require) && inner < frame.frame; inner += hl_ruby_frame_size)
        if (hl_frame_method(inner) == known->require) return 1;
    return hl_ruby_calls_some_require(known, frame);
}

/* Does the nearest frame that runs Ruby call the method that is known as such? There is one, and none is ZJIT's. */
HL_INLINE int hl_ruby_calls_known_require(const struct hl_known_ecs *known) {
    const char *inner = *(char *const *)((const char *)hl_thread.ec + HL_EC_FRAME);
    if (HL_UNLIKELY(!known->require)) return 0;
    for (; !hl_code_is_ruby(hl_frame_code_as(inner, 0)); inner += hl_ruby_frame_size)
        if (hl_frame_method(inner) == known->require) return 1;
    return 0;
}

/* The nearest one that runs Ruby code from `frame` on; pc 0: there is none. `zjit`: whether frames may be ZJIT's. */
HL_INLINE struct hl_frame hl_ruby_frame_below(const char *frame, const char *end, int zjit) {
    for (; HL_LIKELY(frame < end); frame += hl_ruby_frame_size) {
        const struct hl_frame_code code = hl_frame_code_as(frame, zjit);
        if (HL_LIKELY(hl_code_is_ruby(code))) return (struct hl_frame){code.pc, frame};
    }
    return (struct hl_frame){0, NULL};
}

/* Where the frames of an ec end that is proven. */
HL_INLINE const char *hl_ruby_frames_end(const char *ec) {
    return *(char *const *)(ec + HL_EC_STACK) + *(const size_t *)(ec + HL_EC_STACK_SIZE) * sizeof(void *);
}

/* The same from the top of the stack of an ec that is proven: mostly the first (an instruction that allocates) or the
 * second (a method in C that does), while a file is parsed the third. */
HL_INLINE struct hl_frame hl_ruby_frame_of(const char *ec, int zjit) {
    const char *frame = *(char *const *)(ec + HL_EC_FRAME);
    struct hl_frame_code code;
    if (HL_UNLIKELY(!frame)) return (struct hl_frame){0, NULL}; /* a thread's start */
    code = hl_frame_code_as(frame, zjit);
    if (hl_code_is_ruby(code)) return (struct hl_frame){code.pc, frame};
    return hl_ruby_frame_below(frame + hl_ruby_frame_size, hl_ruby_frames_end(ec), zjit);
}

/* The same of whatever runs; none where there is no Ruby. */
HL_INLINE struct hl_frame hl_ruby_frame(struct hl_known_ecs *known) {
    char *ec = hl_ruby_ec();
    if (HL_UNLIKELY(!ec || (!hl_ruby_is_proven(ec) && !hl_ruby_prove(known, ec)))) return (struct hl_frame){0, NULL};
    return hl_ruby_frame_of(ec, HL_UNLIKELY(hl_ruby_zjit != NULL));
}

#endif
