/* SPDX-License-Identifier: MIT */
#include "vm/ruby_walk.h"

#include "flight/flight.h"
#include "platform/own_memory.h"
#include "state/guard.h"

struct look {
    const char *called; /* the frame that gives the label (struct hl_ruby_line), or NULL */
    int as_it_is;       /* one of the VM's own is told too */
    uint64_t key;       /* under which it is kept … */
    uint32_t epoch;     /* … and since when (K1) */
};

/* Code from a string may begin at line 0. */
static int runs_a_line(const struct hl_ruby_line *line) {
    return line->line || (line->frame && hl_ruby_kind(line->frame) != HL_FRAME_DUMMY);
}

static uint32_t name(const struct hl_ruby_sink *sink, struct hl_frame frame, const struct look *look, int *cacheable) {
    char buffer[HL_PATH_MAX];
    struct hl_ruby_line line = {0};
    const int saved = hl_guard_enter(&hl_thread);
    const int found = hl_location_provider(frame, &line, buffer, sizeof(buffer)) == 0;
    line.called = look->called;
    uint32_t number = HL_WALK_NO_LINE;
    if (line.internal && !look->as_it_is)
        number = HL_WALK_INTERNAL;
    else if (!found || runs_a_line(&line))
        number = sink->frame(found ? &line : NULL, 0);
    /* A thread without the GVL may meet it often; GC does so once. */
    *cacheable = found && number && line.cacheable && !(line.ownerless && hl_ruby.rb_during_gc());
    if (*cacheable) hl_lossy_keep(sink->frames, look->key, look->epoch, number);
    hl_guard_leave(&hl_thread, saved);
    return number;
}

HL_COLD uint32_t hl_walk_name(const struct hl_ruby_sink *sink, struct hl_frame frame, uint32_t epoch, int *cacheable) {
    const struct look look = {NULL, 0, frame.pc, epoch};
    return name(sink, frame, &look, cacheable);
}

static int is_internal(const struct hl_ruby_sink *sink, struct hl_frame frame) {
    const uint32_t epoch = hl_location_epoch(frame.pc);
    uint32_t number = hl_lossy_find(sink->frames, frame.pc, epoch);
    int cacheable;
    if (!number) number = hl_walk_name(sink, frame, epoch, &cacheable);
    return number == HL_WALK_INTERNAL;
}

HL_COLD uint32_t hl_walk_internal(const struct hl_ruby_sink *sink, struct hl_frame frame, int *cacheable) {
    const struct hl_frame caller = hl_ruby_caller(frame);
    if (caller.pc && is_internal(sink, caller)) return 0;
    /* Each of the two epochs only grows: their sum tells of both. */
    struct look look = {frame.frame, 0, hl_lossy_key(frame.pc, caller.pc),
                        hl_location_epoch(frame.pc) + hl_location_epoch(caller.pc)};
    if (!caller.pc) look = (struct look){NULL, 1, frame.pc | HL_LOCATION_OUTERMOST, hl_location_epoch(frame.pc)};
    const uint32_t known = hl_lossy_find(sink->frames, look.key, look.epoch);
    return known ? known : name(sink, caller.pc ? caller : frame, &look, cacheable);
}

HL_COLD uint32_t hl_walk_fresh(const uint64_t *pcs, const uint32_t *epochs, uint32_t depth) {
    uint32_t i = 0;
    while (i < depth && epochs[i] == hl_location_epoch(pcs[i])) i++;
    return i;
}

HL_COLD void hl_walk_skip(struct hl_ruby_walk *walk, const struct hl_ruby_sink *sink, uint32_t skipped) {
    const int saved = hl_guard_enter(&hl_thread);
    const uint32_t frame = skipped ? sink->frame(NULL, skipped) : 0;
    walk->depth = 0;
    walk->skipped = skipped;
    walk->root = frame ? sink->node(0, frame) : 0;
    hl_guard_leave(&hl_thread, saved);
}

struct hl_ruby_walk *hl_walk_odd(struct hl_ruby_walks *walks) {
    if (walks->odd) return walks->odd;
    const int saved = hl_guard_enter(&hl_thread);
    walks->odd = hl_own_memory(sizeof(*walks->odd));
    if (walks->odd) hl_add_shared(&hl_flight.header->own_bytes, sizeof(*walks->odd));
    hl_guard_leave(&hl_thread, saved);
    return walks->odd ? walks->odd : &walks->even;
}

static void reset(struct hl_ruby_walk *walk) {
    walk->depth = walk->skipped = walk->root = walk->marked = 0;
}

void hl_walk_reset(struct hl_ruby_walks *walks) {
    reset(&walks->even);
    if (walks->odd) reset(walks->odd);
}

/* The frame's mark, its first; 0: all numbers have been given, or something else stands there. */
static uint32_t mark_frame(uint32_t *place) {
    static uint64_t given;
    const uint32_t mark = hl_load32(place);
    if (mark) return mark <= hl_load64(&given) ? mark : 0;
    if (hl_load64(&given) >= UINT32_MAX) return 0;
    const uint64_t next = __atomic_add_fetch(&given, 1, __ATOMIC_RELAXED);
    if (next > UINT32_MAX) return 0;
    __atomic_store_n(place, (uint32_t)next, __ATOMIC_RELAXED);
    return (uint32_t)next;
}

HL_COLD void hl_walk_mark(struct hl_ruby_walk *walk, const char *outermost, uint32_t mark, uint32_t count) {
    const size_t span = hl_ruby_frame_size * HL_WALK_SPAN;
    walk->marked = mark;
    while ((++mark + 1) * HL_WALK_SPAN <= count) {
        walk->marks[mark] = mark_frame(hl_walk_mark_of(outermost - span * mark));
        if (!walk->marks[mark]) break;
        walk->marked = mark;
    }
}
