/* SPDX-License-Identifier: MIT */
/*
 * The walk of a thread's Ruby stack, for those who keep stacks as trees: of blocks (ruby_stack.h) and of a recording's
 * events (call_stack.h). What a frame and a node are is the sink's affair; both are numbers here.
 *
 * Each lane keeps the pcs of the last stack that it looked at, from the outermost frame on, with the node of each. They
 * are compared with those of now, a load each; only from the first that differs on, frames are looked up. Comparing
 * begins at the innermost frame with a mark that shows it to be the very one of then (R3): an event costs what changed
 * in the stack and not how deep it is.
 *
 * R1  No pc can stand for another line: code that is freed moves its epoch on (location_epochs.h, K1), and what is kept
 *     under an older one is looked up again. Where the end of a frame's code would not be seen, its pc is not kept.
 * R2  Of a stack of more than HL_WALK_DEPTH frames the innermost are told; how many are left out changes by
 *     HL_WALK_STEP at a time. Stacks on either side of such a step are kept apart, so that crossing it is no change.
 * R3  No pc tells a frame from one that was pushed at its place later. So one of HL_WALK_SPAN frames gets a mark, which
 *     no other ever has, in the upper half of its environment's flags: the VM writes them whole when it pushes a frame,
 *     changes single bits of the lower half from then on, and has no use for the upper one (vm_layout_test.rb). While a
 *     frame lives, no frame further out runs: their pcs stay. Where a mark is gone, only more is compared. The half is
 *     written with one store of its own, so that a bit which another thread sets meanwhile is never lost.
 * Callable from any thread inside malloc, by the lane's owner, who sees to it that no walk begins within a walk.
 */
#ifndef HL_RUBY_WALK_H
#define HL_RUBY_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "platform/lossy_cache.h"
#include "vm/ruby_frame.h"

enum { HL_WALK_DEPTH = 1024, HL_WALK_STEP = 256, HL_WALK_SPAN = 32 };

struct hl_ruby_walk {
    uint32_t depth;   /* frames that are known */
    uint32_t skipped; /* outermost frames that are not told */
    uint32_t root;    /* the node that stands for them */
    uint64_t forgets; /* hl_location_forgets as it was then */
    uint32_t marked;  /* the innermost mark: frame number marked * HL_WALK_SPAN has marks[marked] */
    uint32_t marks[HL_WALK_DEPTH / HL_WALK_SPAN];
    uint64_t pcs[HL_WALK_DEPTH];
    uint32_t nodes[HL_WALK_DEPTH];
    uint32_t epochs[HL_WALK_DEPTH];
};

/* A lane's: for an even and an odd number of steps (R2). */
struct hl_ruby_walks {
    struct hl_ruby_walk *odd; /* NULL: no stack was that deep yet */
    struct hl_ruby_walk even;
};

/* Where stacks go. Numbers are not 0; 0 says that there is no room. */
struct hl_ruby_sink {
    struct hl_lossy_cache *frames; /* by pc */
    /* The number of a frame that was found; of one that could not be told (NULL), or that stands for `skipped`
     * outermost ones. With the guard entered. */
    uint32_t (*frame)(const struct hl_ruby_line *line, uint32_t skipped);
    uint32_t (*node)(uint32_t parent, uint32_t frame);
};

/* In the place of a frame's number: it is a method's of the VM's own (location.h, W3); it is the VM's own, below the
 * first line of a program, a thread or an extension: it is not told. */
static const uint32_t HL_WALK_INTERNAL = UINT32_MAX, HL_WALK_NO_LINE = UINT32_MAX - 1;

/* Look at a frame; its number. *cacheable 0: its pc must not be kept. */
uint32_t hl_walk_name(const struct hl_ruby_sink *sink, struct hl_frame frame, uint32_t epoch, int *cacheable);

/* The number of such a frame: it stands for the line that called it, with its own label. 0: it stands for nothing,
 * since one further out does. */
uint32_t hl_walk_internal(const struct hl_ruby_sink *sink, struct hl_frame frame, int *cacheable);

/* Of `depth` frames that are kept, the outermost that do not rest on code which is gone: how many. */
uint32_t hl_walk_fresh(const uint64_t *pcs, const uint32_t *epochs, uint32_t depth);

void hl_walk_skip(struct hl_ruby_walk *walk, const struct hl_ruby_sink *sink, uint32_t skipped);

/* For stacks of which an odd number of steps is left out. */
struct hl_ruby_walk *hl_walk_odd(struct hl_ruby_walks *walks);

/* Forget the stacks, with their nodes. */
void hl_walk_reset(struct hl_ruby_walks *walks);

/* Of `count` frames, the first of which lies at `outermost`, mark those further in than mark number `mark`. */
void hl_walk_mark(struct hl_ruby_walk *walk, const char *outermost, uint32_t mark, uint32_t count);

/* 1 where the running thread's frames may be followed: from `*frame`, the innermost, to `*end`. */
HL_INLINE int hl_walk_frames(struct hl_known_ecs *known, const char **frame, const char **end) {
    char *ec = hl_ruby_ec();
    if (!ec) return 0;
    if (HL_UNLIKELY(!hl_ruby_is_proven(ec)) && !hl_ruby_prove(known, ec)) return 0;
    *frame = *(char **)(ec + HL_EC_FRAME);
    *end = *(char **)(ec + HL_EC_STACK) + *(size_t *)(ec + HL_EC_STACK_SIZE) * sizeof(void *);
    return *frame && *frame < *end;
}

/* How many of so many frames are not told. */
HL_INLINE uint32_t hl_walk_skipped(uint32_t frames) {
    const uint32_t beyond = frames > HL_WALK_DEPTH ? frames - HL_WALK_DEPTH : 0;
    return (beyond + HL_WALK_STEP - 1) / HL_WALK_STEP * HL_WALK_STEP;
}

/* The node of the Ruby frame that lies at `frame`. *pc is its pc; none, where that must not be kept (R1). */
HL_INLINE uint32_t hl_walk_node(const struct hl_ruby_sink *sink, const char *frame, uint32_t parent, uint64_t *pc,
                                uint32_t epoch) {
    static const uint64_t NEVER = ~0ull;
    int cacheable = 1;
    uint32_t number = hl_lossy_find(sink->frames, *pc, epoch), node = 0;
    if (HL_UNLIKELY(!number)) number = hl_walk_name(sink, (struct hl_frame){*pc, frame}, epoch, &cacheable);
    if (HL_UNLIKELY(number == HL_WALK_INTERNAL))
        number = hl_walk_internal(sink, (struct hl_frame){*pc, frame}, &cacheable);
    if (HL_LIKELY(number && number != HL_WALK_NO_LINE)) node = sink->node(parent, number);
    if (HL_UNLIKELY(!cacheable)) *pc = NEVER;
    return HL_LIKELY(node) ? node : parent; /* the tree is full */
}

/* Bring frame `i`, which lies at `frame`, into the stack; its node. */
HL_INLINE uint32_t hl_walk_look_up(struct hl_ruby_walk *walk, const struct hl_ruby_sink *sink, uint32_t i,
                                   const char *frame, uint32_t parent) {
    uint64_t pc = hl_frame_pc(frame);
    uint32_t node = parent;
    const uint32_t epoch = hl_location_epoch(pc); /* before the look (K1) */
    if (hl_frame_runs_ruby(frame)) node = hl_walk_node(sink, frame, parent, &pc, epoch);
    walk->pcs[i] = pc;
    walk->epochs[i] = epoch;
    walk->nodes[i] = node;
    return node;
}

/* Where a frame's mark stands: the upper half of its flags. */
HL_INLINE uint32_t *hl_walk_mark_of(const char *frame) {
    return *(uint32_t *const *)(frame + HL_FRAME_EP) + 1;
}

/* The innermost mark of the last stack that is there still; 0: none. The innermost frames come and go, and have none.
 * Where one is sought, the last walk was as deep, and left a mark of its own (hl_walk_mark). */
HL_INLINE uint32_t hl_walk_marked(const struct hl_ruby_walk *walk, const char *outermost, uint32_t known) {
    if (HL_LIKELY(known < 2 * HL_WALK_SPAN)) return 0;
    const uint32_t last = known / HL_WALK_SPAN - 1;
    uint32_t mark = walk->marked < last ? walk->marked : last;
    while (mark &&
           hl_load32(hl_walk_mark_of(outermost - hl_ruby_frame_size * HL_WALK_SPAN * mark)) != walk->marks[mark])
        mark--;
    return mark;
}

/* `end` is where the frames end, `count` of them are to be told. */
HL_INLINE uint32_t hl_walk_compare(struct hl_ruby_walk *walk, const struct hl_ruby_sink *sink, const char *end,
                                   uint32_t count) {
    const size_t size = hl_ruby_frame_size;
    const uint32_t known = count < walk->depth ? count : walk->depth;
    const char *const outermost = end - size * (walk->skipped + 1);
    const uint32_t mark = hl_walk_marked(walk, outermost, known);
    uint32_t i = mark * HL_WALK_SPAN;
    const char *frame = outermost - size * i;
    for (; i < known && hl_frame_pc(frame) == walk->pcs[i]; i++) frame -= size;
    uint32_t node = i ? walk->nodes[i - 1] : walk->root;
    if (HL_UNLIKELY(i < count)) {
        walk->depth = 0; /* while it is being changed */
        for (; i < count; i++, frame -= size) node = hl_walk_look_up(walk, sink, i, frame, node);
        walk->depth = count;
    }
    if (HL_UNLIKELY((mark + 2) * HL_WALK_SPAN <= count)) hl_walk_mark(walk, outermost, mark, count);
    return node;
}

/* The node of this thread's stack; 0: none. */
HL_INLINE uint32_t hl_walk_here(struct hl_ruby_walks *walks, const struct hl_ruby_sink *sink,
                                struct hl_known_ecs *known) {
    const char *frame, *end;
    if (!hl_walk_frames(known, &frame, &end)) return 0;
    const uint32_t frames = (uint32_t)((size_t)(end - frame) / hl_ruby_frame_size);
    const uint32_t skipped = hl_walk_skipped(frames);
    struct hl_ruby_walk *walk = HL_LIKELY(skipped / HL_WALK_STEP % 2 == 0) ? &walks->even : hl_walk_odd(walks);
    const uint64_t forgets = hl_load64(&hl_location_forgets);
    if (HL_UNLIKELY(forgets != walk->forgets)) walk->depth = hl_walk_fresh(walk->pcs, walk->epochs, walk->depth);
    walk->forgets = forgets;
    if (HL_UNLIKELY(skipped != walk->skipped)) hl_walk_skip(walk, sink, skipped);
    return hl_walk_compare(walk, sink, end, frames - skipped);
}

#endif
