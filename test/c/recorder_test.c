/* SPDX-License-Identifier: MIT */
#include "record/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "check_flight.h"
#include "core.h"
#include "fake_ruby.h"
#include "lifecycle/lifecycle.h"
#include "platform/own_memory.h"
#include "record/gc_events.h"
#include "record/recording.h"
#include "record/ring.h"
#include "vm/ruby_walk.h"

enum { ODD = 4711 }; /* bytes of the blocks that are looked for */

static struct fake_code *outer, *inner;

static int record(int on) {
    const int saved = hl_guard_enter(&hl_thread);
    CHECK(hl_recorder_take_turn(1));
    const int failed = hl_recorder_set(on);
    hl_recorder_end_turn();
    hl_guard_leave(&hl_thread, saved);
    return failed;
}

static void begin_with(const char *options) {
    core_start("3.4.1", options);
    fake_ruby_boot();
    outer = fake_ruby_compile("/app/outer.rb", "run", 1, 50);
    inner = fake_ruby_compile("/app/inner.rb", "work", 10, 50);
    CHECK_EQUAL(record(1), 0);
}

static void begin(void) {
    begin_with("quiet");
}

/* ---- reading, as a drain does ---- */

struct event {
    uint32_t kind;
    uint64_t time, address, size;
    uint32_t stack;
};

static const uint64_t *chunk_words(uint32_t lane, uint32_t sequence, uint32_t *end) {
    for (uint32_t i = 0; i < HL_CHUNKS; i++) {
        const struct hl_ring_chunk *chunk = &hl_ring.states[i];
        if (chunk->state != HL_CHUNK_OPEN || chunk->lane != lane || chunk->sequence != sequence) continue;
        *end = (chunk->end ? chunk->end : HL_CHUNK_LIMIT) / 8;
        return (const uint64_t *)(const void *)hl_ring_chunk(i);
    }
    return NULL;
}

/* Call `each` for the events of a lane; their number. */
static uint64_t each_event(uint32_t lane, void (*each)(const struct event *)) {
    uint64_t count = 0;
    uint32_t end;
    const uint64_t *words;
    for (uint32_t sequence = 1; (words = chunk_words(lane, sequence, &end)); sequence++)
        for (uint32_t at = 0; at < end && words[at]; count++) {
            const uint64_t *word = words + at;
            struct event event = {.kind = (uint32_t)(word[0] >> HL_EVENT_TIME_BITS),
                                  .time = word[0] << 8 >> 8,
                                  .address = word[1] << 16 >> 16,
                                  .size = word[2] & HL_EVENT_SIZE_MAX,
                                  .stack = (uint32_t)(word[2] >> HL_EVENT_STACK_SHIFT)};
            at += hl_event_words(event.kind, word[2]);
            each(&event);
        }
    return count;
}

static uint64_t births, deaths, bytes;
static struct event odd[16], last_death;
static unsigned odd_count;

static void tally(const struct event *event) {
    if (event->kind <= HL_EVENT_LAST_BIRTH) {
        births++;
        bytes += event->size;
    } else if (event->kind == HL_EVENT_FREE || event->kind == HL_EVENT_REALLOC_FROM) {
        deaths++;
        last_death = *event;
    } else if (event->kind == HL_EVENT_UNMOVED) {
        deaths--;
    }
    if (event->kind <= HL_EVENT_LAST_BIRTH && event->size == ODD && odd_count < 16) odd[odd_count++] = *event;
}

static void read_all(void) {
    births = deaths = bytes = odd_count = 0;
    for (uint32_t lane = 0; lane < HL_RING_LANES; lane++) each_event(lane, tally);
}

static int text_is(uint32_t string, const char *wanted) {
    size_t length;
    const char *text = hl_ring_text(string, &length);
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

/* The frame `up` steps from the innermost. */
static struct hl_ring_frame frame_of(uint32_t node, unsigned up) {
    while (up--) node = hl_ring.nodes[node].parent;
    return hl_ring.frames[hl_ring.nodes[node].frame];
}

static void check_frame(struct hl_ring_frame frame, const char *path, uint32_t line, const char *label) {
    CHECK_EQUAL(frame.kind, HL_FRAME_RUBY);
    CHECK(text_is(frame.path, path));
    CHECK(text_is(frame.label, label));
    CHECK_EQUAL(frame.line, line);
}

/* Its free has one return address. */
__attribute__((noinline)) static void allocate(void) {
    free(fake_ruby_allocate(ODD));
}

/* From a stack of two frames. */
__attribute__((noinline)) static void allocate_below(unsigned outer_position, unsigned inner_position) {
    fake_ruby_push(outer, outer_position);
    fake_ruby_push(inner, inner_position);
    allocate();
    fake_ruby_pop();
    fake_ruby_pop();
}

/* ---- stacks ---- */

static void an_allocation_has_its_whole_stack(void) {
    begin();
    fake_ruby_define(inner, "Cache", 0);
    allocate_below(4, 7);
    read_all();
    CHECK_EQUAL(odd_count, 1);
    check_frame(frame_of(odd[0].stack, 0), "/app/inner.rb", 17, "Cache#work");
    check_frame(frame_of(odd[0].stack, 1), "/app/outer.rb", 5, "run");
}

static void a_caller_further_out_makes_another_stack(void) {
    begin();
    allocate_below(4, 7);
    allocate_below(5, 7);
    allocate_below(4, 7);
    fake_ruby_push(inner, 7);
    allocate();
    fake_ruby_push_c();
    allocate();
    read_all();
    CHECK_EQUAL(odd_count, 5);
    CHECK(odd[0].stack != odd[1].stack);
    CHECK_EQUAL(odd[0].stack, odd[2].stack);
    CHECK(odd[3].stack != odd[0].stack);
    CHECK_EQUAL(odd[3].stack, odd[4].stack); /* a method in C has no frame of its own */
    check_frame(frame_of(odd[1].stack, 1), "/app/outer.rb", 6, "run");
}

static void code_that_dies_keeps_its_name_and_gives_it_to_nobody(void) {
    begin();
    allocate_below(4, 7);
    fake_ruby_discard(inner);
    if (!fake_ruby_recompile(inner, "/app/other.rb", 30)) check_skip("the allocator gave another block");
    allocate_below(4, 7);
    read_all();
    check_frame(frame_of(odd[0].stack, 0), "/app/inner.rb", 17, "work");
    check_frame(frame_of(odd[1].stack, 0), "/app/other.rb", 37, "work");
}

static void each_fiber_has_its_own_stack(void) {
    begin();
    fake_ruby_push(outer, 4);
    allocate();
    fake_ruby_fiber();
    allocate();
    read_all();
    CHECK_EQUAL(odd_count, 2);
    check_frame(frame_of(odd[0].stack, 0), "/app/outer.rb", 5, "run");
    CHECK_EQUAL(hl_ring.nodes[odd[1].stack].parent, 0);
    CHECK_EQUAL(frame_of(odd[1].stack, 0).kind, HL_FRAME_NATIVE);
}

/* ---- deep stacks ---- */

/* What lies further out is not even readable meanwhile. */
static void an_event_reads_what_changed_and_not_the_whole_stack(void) {
    enum { FRAMES = 1000, PAGE = 4096, READ = 2 * HL_WALK_SPAN + 2 };
    char *ec;
    begin();
    memcpy(&ec, fake_ruby_ec_word(), sizeof(ec));
    for (unsigned i = 0; i < FRAMES; i++) fake_ruby_push(outer, i % 50);
    allocate();
    fake_ruby_push(inner, 1);
    allocate();
    const uintptr_t frame = *(uintptr_t *)(ec + HL_EC_FRAME);
    const uintptr_t end = *(uintptr_t *)(ec + HL_EC_STACK) + *(size_t *)(ec + HL_EC_STACK_SIZE) * sizeof(void *);
    const uintptr_t from = (frame + READ * hl_ruby_frame_size + PAGE) / PAGE * PAGE, to = end / PAGE * PAGE;
    CHECK(to - from > (end - frame) / 2);
    CHECK_EQUAL(mprotect((void *)from, to - from, PROT_NONE), 0);
    fake_ruby_go_on(2);
    allocate();
    fake_ruby_pop();
    fake_ruby_push(inner, 3);
    fake_ruby_push(inner, 4);
    allocate();
    CHECK_EQUAL(mprotect((void *)from, to - from, PROT_READ | PROT_WRITE), 0);
    read_all();
    CHECK_EQUAL(odd_count, 4);
    CHECK_EQUAL(hl_ring.nodes[odd[1].stack].parent, hl_ring.nodes[odd[2].stack].parent);
    check_frame(frame_of(odd[2].stack, 0), "/app/inner.rb", 12, "work");
    check_frame(frame_of(odd[3].stack, 0), "/app/inner.rb", 14, "work");
    check_frame(frame_of(odd[3].stack, 2), "/app/outer.rb", 50, "run");
}

enum { MODEL_DEPTH = 1500, MODEL_EVENTS = 3000, MODEL_FIBERS = 3, OF_C = 50 };

/* A fiber's frames as they should be told, the outermost first: positions in `outer`, or OF_C. */
static struct model {
    void *fiber;
    unsigned depth;
    uint8_t positions[MODEL_DEPTH];
} models[MODEL_FIBERS], told[MODEL_EVENTS];
static uint32_t told_stacks[MODEL_EVENTS];
static unsigned told_count;

static unsigned draw(void) {
    static uint32_t state = 14;
    state = state * 1664525 + 1013904223;
    return state >> 8;
}

static void push_model(struct model *model, unsigned position) {
    model->positions[model->depth++] = (uint8_t)position;
    if (position == OF_C)
        fake_ruby_push_c();
    else
        fake_ruby_push(outer, position);
}

static void change(struct model *model) {
    const unsigned kind = draw() % 8, most = (unsigned[]){3, 3, 50, 700}[draw() % 4];
    unsigned frames = draw() % most;
    if (kind < 3)
        while (frames-- && model->depth > 1) model->depth--, fake_ruby_pop();
    else if (kind < 6) /* mostly by the same line: pcs alone tell little */
        while (frames-- && model->depth < MODEL_DEPTH) push_model(model, draw() % 64 ? 7 : draw() % 51);
    else if (model->positions[model->depth - 1] != OF_C)
        fake_ruby_go_on(model->positions[model->depth - 1] = draw() % 3);
}

static void keep_stack(const struct event *event) {
    if (event->kind <= HL_EVENT_LAST_BIRTH && event->size == ODD) told_stacks[told_count++] = event->stack;
}

/* 1 where `node` is this stack; of C methods there are no frames. */
static int is_stack(uint32_t node, const struct model *model) {
    const uint32_t skipped = hl_walk_skipped(model->depth);
    for (uint32_t i = model->depth; i > skipped; i--) {
        if (model->positions[i - 1] == OF_C) continue;
        const struct hl_ring_frame frame = frame_of(node, 0);
        if (frame.kind != HL_FRAME_RUBY || frame.line != 1u + model->positions[i - 1]) return 0;
        node = hl_ring.nodes[node].parent;
    }
    return skipped ? frame_of(node, 0).kind == HL_FRAME_NOTE && !hl_ring.nodes[node].parent : !node;
}

/* Random stacks that change as stacks do, of fibers that take turns. */
static void whatever_changes_in_a_stack_is_told(void) {
    begin();
    for (unsigned i = 0; i < MODEL_FIBERS; i++) {
        models[i].fiber = fake_ruby_fiber_of_thread();
        push_model(&models[i], i);
    }
    struct model *model = &models[MODEL_FIBERS - 1];
    for (unsigned i = 0; i < MODEL_EVENTS; i++) {
        if (draw() % 8 == 0) fake_ruby_switch((model = &models[draw() % MODEL_FIBERS])->fiber);
        change(model);
        told[i] = *model;
        allocate();
    }
    for (uint32_t lane = 0; lane < HL_RING_LANES; lane++) each_event(lane, keep_stack);
    CHECK_EQUAL(told_count, MODEL_EVENTS);
    for (unsigned i = 0; i < MODEL_EVENTS; i++) CHECK(is_stack(told_stacks[i], &told[i]));
}

static void an_end_has_the_stack_of_who_ended_it(void) {
    begin();
    fake_ruby_push(outer, 4);
    fake_ruby_push(inner, 7);
    void *block = fake_ruby_allocate(ODD);
    fake_ruby_pop();
    fake_ruby_push(inner, 9);
    const volatile uintptr_t address = (uintptr_t)block; /* compilers warn of a look at what was freed */
    free(block);
    read_all();
    CHECK_EQUAL(last_death.address, address);
    check_frame(frame_of(last_death.stack, 0), "/app/inner.rb", 19, "work");
    check_frame(frame_of(last_death.stack, 1), "/app/outer.rb", 5, "run");
}

static void check_freed_by_gc(uint32_t line) {
    read_all();
    const struct hl_ring_frame gc = frame_of(last_death.stack, 0);
    CHECK_EQUAL(gc.kind, HL_FRAME_NOTE);
    CHECK(text_is(gc.label, "(GC)"));
    check_frame(frame_of(last_death.stack, 1), "/app/outer.rb", line, "run");
}

/* Another line runs into another GC. */
static void what_gc_frees_says_so(void) {
    begin();
    void *blocks[3];
    for (int i = 0; i < 3; i++) blocks[i] = fake_ruby_allocate(ODD);
    for (unsigned line = 5; line < 7; line++) {
        fake_ruby_push(outer, line - 1);
        hl_record_gc(HL_EVENT_GC_ENTER);
        free(blocks[line - 5]);
        check_freed_by_gc(line);
        hl_record_gc(HL_EVENT_GC_EXIT);
        fake_ruby_pop();
    }
    fake_ruby_push(outer, 9);
    free(blocks[2]);
    read_all();
    check_frame(frame_of(last_death.stack, 0), "/app/outer.rb", 10, "run");
}

/* ---- events ---- */

static void recorded_is_what_is_counted(void) {
    begin();
    read_all();
    const uint64_t births_before = births, bytes_before = bytes, deaths_before = deaths;
    const struct flight_sums before = flight_all();
    void *block = malloc(100);
    block = realloc(block, 5000);
    /* Or the compiler takes the block for freed. */
    void *volatile there = block;
    if (!CHECK_ADDRESS_SANITIZER) CHECK(!realloc(there, PTRDIFF_MAX)); /* its allocator ends the program there */
    void *aligned = memalign(64, 333), *zeros = calloc(3, 7);
    free(block);
    free(aligned);
    free(zeros);
    const struct flight_sums after = flight_all();
    read_all();
    CHECK_EQUAL(births - births_before, after.allocations - before.allocations);
    CHECK(births - births_before >= 3);
    CHECK_EQUAL(bytes - bytes_before, after.bytes_allocated - before.bytes_allocated);
    CHECK_EQUAL(deaths - deaths_before, after.frees - before.frees);
}

static void work_in_a_thread(unsigned number) {
    for (unsigned i = 0; i < 5000; i++) free(fake_ruby_allocate(100 + number + i % 50));
}

static void threads_lose_nothing(void) {
    begin();
    const struct flight_sums before = flight_all();
    read_all();
    const uint64_t births_before = births, bytes_before = bytes;
    core_threads(8, work_in_a_thread);
    const struct flight_sums after = flight_all();
    read_all();
    CHECK_EQUAL(births - births_before, after.allocations - before.allocations);
    CHECK_EQUAL(bytes - bytes_before, after.bytes_allocated - before.bytes_allocated);
    CHECK_EQUAL(hl_ring.header->lost, 0);
}

static void allocate_in_a_handler(int number) {
    (void)number;
    free(fake_ruby_allocate(77));
}

static void handlers_of_signals_lose_nothing(void) {
    const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
#ifdef HL_THREAD_SANITIZER
    check_skip("the accounting itself loses counts then: see hl_add");
#endif
    if (CHECK_ADDRESS_SANITIZER) check_skip("a handler that allocates waits for ever for its allocator's lock");
    begin();
    fake_ruby_push(outer, 4);
    /* From now on the thread's cache of glibc has them, so that no handler meets an arena half changed. */
    for (unsigned size = 0; size < 200; size++) free(fake_ruby_allocate(size));
    const struct flight_sums before = flight_all();
    read_all();
    const uint64_t births_before = births, bytes_before = bytes;
    signal(SIGALRM, allocate_in_a_handler);
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned i = 0; i < 100000; i++) {
        fake_ruby_push(inner, i % 40);
        free(fake_ruby_allocate(i % 200));
        fake_ruby_pop();
    }
    setitimer(ITIMER_REAL, &never, NULL);
    const struct flight_sums after = flight_all();
    read_all();
    CHECK_EQUAL(births - births_before, after.allocations - before.allocations);
    CHECK_EQUAL(bytes - bytes_before, after.bytes_allocated - before.bytes_allocated);
}

static void a_full_ring_loses_events_and_counts_them(void) {
    begin();
    hl_ring.header->drain_pid = (uint32_t)getpid(); /* one that is slow, not one that never comes */
    const uint64_t enough = (uint64_t)HL_CHUNKS * HL_CHUNK_BYTES / 48 + 100000;
    for (uint64_t i = 0; i < enough; i++) allocate();
    CHECK(hl_ring.header->lost > 0);
    CHECK(hl_ring.header->waited_ns > 0);
    read_all();
    CHECK_EQUAL(births + deaths + hl_ring.header->lost, 2 * enough);
}

/* Those that find no room cost no more than others: they are looked up once. */
static void lines_without_room_are_kept_as_such(void) {
    const struct hl_ring_frame other = {.kind = HL_FRAME_NOTE};
    begin();
    while (hl_ring_add_frame(&other))
        ;
    allocate_below(4, 7);
    const uint64_t refused = hl_ring.header->stacks_refused;
    CHECK(refused > 0);
    for (int i = 0; i < 10; i++) allocate_below(4, 7);
    CHECK_EQUAL(hl_ring.header->stacks_refused, refused);
    read_all();
    CHECK_EQUAL(odd_count, 11);
    CHECK_EQUAL(odd[0].stack, odd[10].stack);
    for (unsigned up = 0; up < 2; up++) {
        CHECK_EQUAL(frame_of(odd[0].stack, up).kind, HL_FRAME_NOTE);
        CHECK(text_is(frame_of(odd[0].stack, up).label, "(a line for which there was no room)"));
    }
}

static void stacks_without_room_are_those_of_their_callers(void) {
    begin();
    allocate_below(4, 7);
    while (hl_ring_add_node(1, 1))
        ;
    allocate_below(4, 8);
    allocate_below(4, 7);
    read_all();
    CHECK_EQUAL(odd_count, 3);
    CHECK_EQUAL(odd[1].stack, hl_ring.nodes[odd[0].stack].parent);
    CHECK_EQUAL(odd[2].stack, odd[0].stack);
    CHECK(hl_ring.header->stacks_refused > 0);
}

static pthread_barrier_t together;

static void take_a_lane(unsigned number) {
    free(fake_ruby_allocate(100 + number));
    pthread_barrier_wait(&together);
}

/* With a thread for each lane, and as many sites as a large application has: the ring, and all that heapline has
 * besides, were every page of it in use. */
static void own_memory_is_bounded(void) {
    const struct hl_own_range *ranges;
    uint64_t own = 0;
    begin_with("quiet,sites:100000");
    pthread_barrier_init(&together, NULL, HL_RING_LANES + 50);
    core_threads(HL_RING_LANES + 50, take_a_lane);
    for (size_t i = hl_own_ranges(&ranges); i-- > 0;) own += ranges[i].end - ranges[i].begin;
    CHECK(own + HL_RING_BYTES <= 64u << 20);
    CHECK(own >= HL_RING_LANES * sizeof(uint64_t) * HL_WALK_DEPTH); /* the lanes' stacks are in it */
}

/* ---- begin and end ---- */

static void an_ended_recording_gets_nothing_more(void) {
    begin();
    allocate_below(4, 7);
    CHECK_EQUAL(record(1), -EBUSY);
    CHECK_EQUAL(record(0), 0);
    CHECK_EQUAL(hl_ring.header->state, HL_RING_STOPPED);
    CHECK(hl_gate.open & HL_GATE_OPEN);
    allocate_below(4, 7);
    read_all();
    CHECK_EQUAL(odd_count, 1);
    CHECK_EQUAL(record(1), 0);
    allocate_below(4, 7);
    read_all();
    CHECK_EQUAL(odd_count, 1);
    check_frame(frame_of(odd[0].stack, 0), "/app/inner.rb", 17, "work");
}

static void come_to_a_safe_point(void) {
    void (*job)(void *) = fake_ruby.job;
    fake_ruby.job = NULL;
    if (job) job(NULL);
}

/* Nobody reads any more: the safe point after the next chunk, or the next GC, ends the recording, and nothing is kept
 * of it. */
static void a_drain_that_is_killed(void) {
    begin();
    const pid_t drain = fork();
    if (drain == 0) pause();
    hl_ring.header->drain_pid = (uint32_t)drain;
    allocate_below(4, 7);
    CHECK(hl_recording());
    char *base = hl_ring.base;
    CHECK(kill(drain, SIGKILL) == 0 && waitpid(drain, NULL, 0) == drain);
    for (int i = 0; i < 100000 && hl_recording(); i++) {
        allocate_below(4, 7);
        come_to_a_safe_point();
    }
    CHECK(!hl_recording() && hl_ring.base == NULL);
    CHECK(hl_gate.open & HL_GATE_OPEN);
    CHECK(msync(base, 4096, MS_ASYNC) && errno == ENOMEM); /* it is mapped no more */
    CHECK_EQUAL(record(1), 0);                             /* another one may come at once */
    allocate_below(4, 7);
    read_all();
    CHECK_EQUAL(odd_count, 1);
}

/* The end waits for it, but not for ever; what it looks at stays, and nothing begins anew before it has gone on. */
static void a_thread_that_hangs_in_an_event(void) {
    begin();
    allocate_below(4, 7);
    struct hl_recording *recording = hl_thread.own->recording;
    recording->writing++;
    CHECK_EQUAL(record(0), 0);
    CHECK_EQUAL(hl_ring.header->state, HL_RING_STOPPED);
    read_all();
    check_frame(frame_of(odd[0].stack, 0), "/app/inner.rb", 17, "work");
    CHECK_EQUAL(record(1), -EBUSY);
    CHECK(hl_ring.base != NULL);
    recording->writing--;
    CHECK_EQUAL(record(1), 0);
    allocate_below(4, 7);
    read_all();
    CHECK_EQUAL(odd_count, 1);
}

static void begin_and_end(unsigned number) {
    for (unsigned i = 0; i < 60; i++) {
        record((int)(number + i) % 2);
        free(fake_ruby_allocate(100 + number));
    }
}

/* As where several ask for a recording at once, and the program itself. */
static void threads_begin_and_end_at_once(void) {
#ifdef HL_THREAD_SANITIZER
    check_skip("it does not know membarrier, by which the end sees who is in the middle of an event");
#endif
    begin();
    core_threads(4, begin_and_end);
    record(0);
    CHECK_EQUAL(record(1), 0);
    allocate_below(4, 7);
    read_all();
    CHECK_EQUAL(odd_count, 1);
    CHECK_EQUAL(record(0), 0);
    CHECK(hl_gate.open & HL_GATE_OPEN);
}

static void in_the_child(void) {
    allocate_below(4, 7);
    CHECK(!hl_recording());
    CHECK(!hl_ring.base);
}

static void a_forked_child_is_not_recorded(void) {
    begin();
    allocate_below(4, 7);
    CHECK_EQUAL(check_in_child(in_the_child), 0);
    read_all();
    CHECK_EQUAL(odd_count, 1);
}

static const struct check_test tests[] = {
    {"an_allocation_has_its_whole_stack", an_allocation_has_its_whole_stack},
    {"a_caller_further_out_makes_another_stack", a_caller_further_out_makes_another_stack},
    {"code_that_dies_keeps_its_name_and_gives_it_to_nobody", code_that_dies_keeps_its_name_and_gives_it_to_nobody},
    {"each_fiber_has_its_own_stack", each_fiber_has_its_own_stack},
    {"an_event_reads_what_changed_and_not_the_whole_stack", an_event_reads_what_changed_and_not_the_whole_stack},
    {"whatever_changes_in_a_stack_is_told", whatever_changes_in_a_stack_is_told},
    {"an_end_has_the_stack_of_who_ended_it", an_end_has_the_stack_of_who_ended_it},
    {"what_gc_frees_says_so", what_gc_frees_says_so},
    {"recorded_is_what_is_counted", recorded_is_what_is_counted},
    {"threads_lose_nothing", threads_lose_nothing},
    {"handlers_of_signals_lose_nothing", handlers_of_signals_lose_nothing},
    {"a_full_ring_loses_events_and_counts_them", a_full_ring_loses_events_and_counts_them},
    {"lines_without_room_are_kept_as_such", lines_without_room_are_kept_as_such},
    {"stacks_without_room_are_those_of_their_callers", stacks_without_room_are_those_of_their_callers},
    {"own_memory_is_bounded", own_memory_is_bounded},
    {"an_ended_recording_gets_nothing_more", an_ended_recording_gets_nothing_more},
    {"a_drain_that_is_killed", a_drain_that_is_killed},
    {"a_thread_that_hangs_in_an_event", a_thread_that_hangs_in_an_event},
    {"threads_begin_and_end_at_once", threads_begin_and_end_at_once},
    {"a_forked_child_is_not_recorded", a_forked_child_is_not_recorded},
};

CHECK_MAIN(tests)
