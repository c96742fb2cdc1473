/* SPDX-License-Identifier: MIT */
/*
 * Where am I: from the running thread and the caller's return address to a site.
 *
 * hl_locate answers from the lane's cache: the pc of the nearest Ruby frame and the return address are the key. What it
 * does not know goes to hl_locate_slow, which asks a provider: a function pointer, so that tests put a fake behind it.
 *
 * W1  No pointer of Ruby's is followed unless the ec was proven alive under the current ec epoch (hl_ruby_prove), and
 *     the frames lie inside its VM stack.
 * W2  A pc names its line for as long as the compiled code lives. The block that holds the code is marked as watched;
 *     our own free sees it go and moves the epochs on (hl_location_forget).
 * Callable from any thread inside malloc.
 */
#ifndef HL_LOCATION_H
#define HL_LOCATION_H

#include <stddef.h>
#include <stdint.h>

#include "lane.h"
#include "platform.h"
#include "ruby_vm.h"

/* A Ruby frame: its pc and where it lies; pc 0: none. */
struct hl_frame {
    uint64_t pc;
    const char *frame;
};

/* What a provider found out about a frame; the text stays valid until the guard is left. */
struct hl_ruby_line {
    const char *path;
    size_t path_length;
    uint32_t line;
    int cacheable; /* the pc may stand for the line (W2) */
    const char *frame;
};

/* Describe the frame; 0, or -errno where it cannot be told. */
typedef int hl_line_provider(struct hl_frame frame, struct hl_ruby_line *line, char *buffer, size_t size);
extern hl_line_provider *hl_location_provider;

enum { HL_PATH_MAX = 4096 };

extern uint64_t hl_location_ec_epoch HL_HIDDEN;
/* How often some epoch moved on. */
extern uint64_t hl_location_forgets HL_HIDDEN;

/* Prove that `ec` is this thread's living execution context; 1 or 0. */
int hl_ruby_prove(struct hl_lane *lane, char *ec);

/* Own walk of the control frames: the provider for known Rubies. */
int hl_ruby_line_of_frame(struct hl_frame frame, struct hl_ruby_line *line, char *buffer, size_t size);
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

/* The site of an allocation by `caller`; `with_ruby` 0: do not look at Ruby. */
uint32_t hl_locate_slow(struct hl_lane *lane, uint64_t pc, uintptr_t caller, int with_ruby);

/* A watched block is freed. */
void hl_location_forget(const void *block, size_t usable);

int hl_location_create(void);

HL_INLINE uint64_t hl_frame_pc(const char *frame) {
    return *(const uint64_t *)(frame + HL_FRAME_PC);
}

/* A frame of C code has neither; one that a JIT is about to fill has no pc yet. */
HL_INLINE int hl_frame_runs_ruby(const char *frame) {
    return *(void *const *)(frame + HL_FRAME_ISEQ) != NULL && hl_frame_pc(frame) != 0;
}

/* The nearest one from `frame` on. */
struct hl_frame hl_ruby_frame_below(const char *frame, const char *end);

/* The nearest frame that runs Ruby code, from the top of the stack: mostly the first (an instruction that allocates) or
 * the second (a method in C that does). */
HL_INLINE struct hl_frame hl_ruby_frame(struct hl_lane *lane) {
    struct hl_frame none = {0, NULL};
    char *ec = hl_ruby_ec();
    if (!ec) return none;
    if (HL_UNLIKELY(ec != hl_thread.ec || hl_thread.ec_epoch != hl_load64(&hl_location_ec_epoch)) &&
        !hl_ruby_prove(lane, ec))
        return none;
    const char *frame = *(char **)(ec + HL_EC_FRAME);
    if (HL_UNLIKELY(!frame)) return none; /* a thread's start */
    if (hl_frame_runs_ruby(frame)) return (struct hl_frame){hl_frame_pc(frame), frame};
    const char *end = *(char **)(ec + HL_EC_STACK) + *(size_t *)(ec + HL_EC_STACK_SIZE) * sizeof(void *);
    frame += hl_ruby_frame_size;
    if (HL_LIKELY(frame < end && hl_frame_runs_ruby(frame))) return (struct hl_frame){hl_frame_pc(frame), frame};
    return hl_ruby_frame_below(frame, end);
}

HL_INLINE struct hl_place hl_locate(struct hl_lane *lane, uintptr_t caller) {
    const uint64_t pc = hl_ruby_frame(lane).pc;
    const uint64_t key = caller | (uint64_t)hl_thread.tag << 48;
    const struct hl_location_slot *slot = &lane->locations[hl_location_hash(pc, key)];
    if (HL_LIKELY(slot->pc == pc && slot->caller == key && slot->epoch == hl_location_epoch(pc)))
        return (struct hl_place){slot->site, slot->count};
    return hl_lane_place(lane, hl_locate_slow(lane, pc, caller, 1));
}

#endif
