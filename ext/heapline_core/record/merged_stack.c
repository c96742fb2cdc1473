/* SPDX-License-Identifier: MIT */
#include "record/merged_stack.h"

#include "account/lane.h"
#include "flight/library.h"
#include "record/call_frames.h"
#include "vm/native_walk.h"

enum { KEY_OF_NOTE = 1 }; /* and more: no address is that small */
static const uint32_t NOTHING = UINT32_MAX;

int hl_merged_stack_create(void) {
    return hl_unwind_create();
}

/* ---- the machine's stack ---- */

struct walked {
    uint32_t addresses, runs; /* how many */
    int carefully;            /* runs that the interpreter's own function is not in are cut, too */
    int ending;               /* HL_NATIVE_START; or it goes on beyond what was walked … */
    uintptr_t last;           /* … from there */
};

/* A frame of the VM; `inner_is`: the one further in was in the interpreter. 1 where it is too. */
HL_INLINE int cut(struct hl_merged_stack *merged, struct walked *walked, uintptr_t pc, int inner_is) {
    const int is = hl_interpreter_has(pc), calls = !is && hl_interpreter_called_by(pc);
    if (is || (calls && !inner_is)) merged->runs[walked->runs++] = walked->addresses;
    if (HL_UNLIKELY(inner_is && !is && !calls)) hl_interpreter_learn_caller(pc);
    return is;
}

/* The same, where a run may not be in the interpreter: the function that enters it has not done so yet (it has a JIT
 * compile first), or is back from it (it ends frames that an exception leaves). */
enum { IN_INTERPRETER = 1, IN_ITS_CALLER };
HL_COLD static int cut_carefully(struct hl_merged_stack *merged, struct walked *walked, uintptr_t pc, int inner_is) {
    const int is = hl_interpreter_has(pc), enters = hl_interpreter_entered_from(pc);
    if (is || (enters && !inner_is)) merged->runs[walked->runs++] = walked->addresses;
    if (is) return IN_INTERPRETER;
    return enters ? IN_ITS_CALLER : 0;
}

/* Where the tables do not lead on; 1: it goes on elsewhere. A JIT's code is no C frame, and runs in a run of the VM's.
 */
HL_COLD static int resume(struct hl_thread *thread, struct hl_registers *at, uintptr_t *tag,
                          struct hl_merged_stack *merged, struct walked *walked) {
    if (hl_library_map(at->pc)) return hl_native_leave_handler(thread, at);
    if (walked->addresses) walked->addresses--;
    if (!hl_native_leave_jit(thread, at, tag)) return 0;
    if (HL_UNLIKELY(walked->carefully)) hl_interpreter_learn_function(at->pc);
    merged->runs[walked->runs++] = walked->addresses;
    return hl_native_step(thread, at) == HL_NATIVE_CALLER;
}

HL_INLINE struct walked walk_by(struct hl_merged_stack *merged, uintptr_t caller, uintptr_t tag, int carefully) {
    struct hl_thread *thread = &hl_thread;
    struct walked walked = {.carefully = carefully, .ending = HL_NATIVE_LOST, .last = caller};
    struct hl_registers at;
    int inner_is = 0;
    HL_REGISTERS_HERE(at);
    hl_native_begin(thread, at.sp);
    for (uint32_t own = 0; at.pc != caller; own++) {
        if (own < HL_NATIVE_OWN_FRAMES && hl_native_step(thread, &at) == HL_NATIVE_CALLER) continue;
        merged->addresses[walked.addresses++] = caller;
        return walked;
    }
    for (uint32_t steps = 0; steps < HL_MERGED_WALK; steps++) {
        if (hl_native_in_vm(at.pc)) {
            inner_is =
                carefully ? cut_carefully(merged, &walked, at.pc, inner_is) : cut(merged, &walked, at.pc, inner_is);
        } else {
            inner_is = 0;
            merged->addresses[walked.addresses++] = at.pc;
        }
        walked.ending = hl_native_step(thread, &at);
        if (HL_LIKELY(walked.ending == HL_NATIVE_CALLER)) continue;
        if (walked.ending == HL_NATIVE_START || !resume(thread, &at, &tag, merged, &walked)) break;
    }
    walked.last = at.pc;
    return walked;
}

__attribute__((noinline)) static struct walked walk(struct hl_merged_stack *merged, uintptr_t caller, uintptr_t tag) {
    return walk_by(merged, caller, tag, 0);
}

HL_COLD static struct walked walk_carefully(struct hl_merged_stack *merged, uintptr_t caller, uintptr_t tag) {
    return walk_by(merged, caller, tag, 1);
}

/* ---- putting frames, from the outermost on ---- */

struct place {
    uint32_t next; /* frames so far; the last one's node is the stack's */
    int known;     /* all of them are those of the last stack */
};

HL_INLINE uint32_t node_at(const struct hl_merged_stack *merged, const struct place *place) {
    return place->next ? merged->nodes[place->next - 1] : 0;
}

HL_INLINE int is_known(const struct hl_merged_stack *merged, struct place *place, uint64_t key) {
    place->known = place->known && place->next < merged->depth && merged->keys[place->next] == key;
    place->next += (uint32_t)place->known;
    return place->known;
}

HL_INLINE void keep(struct hl_merged_stack *merged, struct place *place, uint64_t key, uint32_t epoch, uint32_t node) {
    merged->nodes[place->next] = HL_LIKELY(node) ? node : node_at(merged, place); /* the tree is full */
    merged->keys[place->next] = key;
    merged->epochs[place->next] = epoch;
    merged->depth = ++place->next; /* what was kept beyond is not of this stack */
}

static void put_ruby(struct hl_merged_stack *merged, struct place *place, const char *frame) {
    uint64_t pc = hl_frame_pc(frame);
    if (!hl_frame_runs_ruby(frame) || is_known(merged, place, pc)) return;
    const uint32_t epoch = hl_location_epoch(pc); /* before the look (K1) */
    const uint32_t node = hl_walk_node(&hl_call_sink, frame, node_at(merged, place), &pc, epoch);
    keep(merged, place, pc, epoch, node);
}

/* Those from before `from` to `to`, inwards. */
HL_INLINE void put_ruby_frames(struct hl_merged_stack *merged, struct place *place, const char *from, const char *to) {
    while (from > to) {
        from -= hl_ruby_frame_size;
        const uint64_t pc = hl_frame_pc(from);
        if (HL_LIKELY(place->known && place->next < merged->depth && merged->keys[place->next] == pc))
            place->next++;
        else if (pc) /* none: a method in C */
            put_ruby(merged, place, from);
    }
}

HL_INLINE void put_native(struct hl_merged_stack *merged, struct place *place, uint64_t address) {
    if (HL_LIKELY(is_known(merged, place, address))) return;
    const uint32_t epoch = hl_location_epoch(address), frame = hl_call_native(address, epoch) & ~HL_CALL_IN_VM;
    keep(merged, place, address, epoch, frame ? hl_tree_node(node_at(merged, place), frame) : 0);
}

/* `skipped` outermost frames are left out; 0: there may be C frames that nobody knows. */
HL_COLD static void put_note(struct hl_merged_stack *merged, struct place *place, uint32_t skipped) {
    const uint64_t key = KEY_OF_NOTE + skipped;
    if (is_known(merged, place, key)) return;
    const uint32_t parent = node_at(merged, place);
    const uint32_t node = skipped ? hl_call_skipped(skipped) : hl_call_note(parent, "(C frames not known)");
    keep(merged, place, key, hl_location_epoch(key), node);
}

/* ---- merging ---- */

/* Ruby frames, from `frame` to before `end`; of their runs, how many there are, and what may be told of the machine's
 * stack: pieces, the innermost first, and below which of them (0: the innermost) something is not known. */
struct merging {
    const char *frame, *end;
    uint32_t skipped; /* outermost frames that are left out */
    uint32_t runs, pieces, unknown;
    uintptr_t tag;    /* the VM's innermost (hl_native_leave_jit) */
    int without_ruby; /* none of Ruby's frames was run: the machine's stack is told as a whole */
};

HL_INLINE int begins_run(const char *frame) {
    const uint64_t flags = **(const uint64_t *const *)(frame + HL_FRAME_EP);
    /* A thread's first frame says so too, but was not run; nor was the one in which the VM loads an extension: it has
     * no pc. */
    return (flags & (HL_FRAME_FINISH | HL_FRAME_OF_C)) == HL_FRAME_FINISH &&
           (flags & HL_FRAME_KIND) != HL_FRAME_DUMMY && hl_frame_pc(frame);
}

static struct merging frames_of_ruby(struct hl_merged_stack *merged, struct hl_lane *lane) {
    struct merging merging = {0};
    const char *end;
    if (!hl_walk_frames(&lane->ecs, &merging.frame, &end)) return (struct merging){0};
    merging.tag = hl_ruby.layout->ec_tag ? *(const uintptr_t *)(hl_ruby_ec() + hl_ruby.layout->ec_tag) : 0;
    merging.skipped = hl_walk_skipped((uint32_t)((size_t)(end - merging.frame) / hl_ruby_frame_size));
    merging.end = end - hl_ruby_frame_size * merging.skipped;
    if (HL_UNLIKELY(!hl_interpreter.bounds)) hl_interpreter_find(&lane->ecs);
    for (const char *frame = merging.frame; frame < merging.end; frame += hl_ruby_frame_size)
        if (begins_run(frame)) merged->beginnings[merging.runs++] = frame;
    return merging;
}

/* M1. What is lost in code of no library is so in a JIT's, which is the Ruby frame itself: nothing is missing there. */
static void judge(struct merging *merging, const struct walked *walked) {
    const int to_start = walked->ending == HL_NATIVE_START;
    merging->without_ruby = !merging->runs && !merging->skipped;
    merging->pieces = walked->runs + 1;
    merging->unknown = to_start ? NOTHING : walked->runs + (uint32_t)!hl_library_map(walked->last);
    if (merging->skipped || merging->without_ruby) return;
    if (walked->runs > merging->runs || (to_start && walked->runs < merging->runs))
        merging->pieces = merging->unknown = 1;
}

/* What lies below the Ruby frame that began run `number`; 0: on top of all. */
static void put_piece(struct hl_merged_stack *merged, struct place *place, const struct walked *walked,
                      const struct merging *merging, uint32_t number) {
    if (number == merging->runs && number && !merging->skipped) return; /* outside of the VM's outermost run */
    if (number == merging->unknown) put_note(merged, place, 0);
    if (number >= merging->pieces) return;
    const uint32_t inner = number ? merged->runs[number - 1] : 0;
    uint32_t outer = number < walked->runs && !merging->without_ruby ? merged->runs[number] : walked->addresses;
    while (outer > inner) put_native(merged, place, merged->addresses[--outer]);
}

uint32_t hl_merged_stack_here(struct hl_merged_stack *merged, struct hl_lane *lane, uintptr_t caller, int with_ruby) {
    struct place place = {0, 1};
    struct merging merging = {0};
    const uint64_t forgets = hl_load64(&hl_location_forgets);
    if (with_ruby) merging = frames_of_ruby(merged, lane);
    struct walked walked = walk(merged, caller, merging.tag);
    if (HL_UNLIKELY(walked.runs < merging.runs) && walked.ending == HL_NATIVE_START)
        walked = walk_carefully(merged, caller, merging.tag);
    judge(&merging, &walked);
    if (HL_UNLIKELY(forgets != merged->forgets))
        merged->depth = hl_walk_fresh(merged->keys, merged->epochs, merged->depth);
    merged->forgets = forgets;
    if (HL_UNLIKELY(merging.skipped)) put_note(merged, &place, merging.skipped);
    const char *from = merging.end;
    for (uint32_t run = merging.runs; run > 0; run--) {
        const char *beginning = merged->beginnings[run - 1] + hl_ruby_frame_size;
        put_ruby_frames(merged, &place, from, beginning);
        put_piece(merged, &place, &walked, &merging, run);
        from = beginning;
    }
    put_ruby_frames(merged, &place, from, merging.frame);
    put_piece(merged, &place, &walked, &merging, 0);
    return node_at(merged, &place);
}
