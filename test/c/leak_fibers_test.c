/* SPDX-License-Identifier: MIT */
#include "leaks/leak_fibers.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core.h"
#include "fake_ruby.h"
#include "vm/ruby_vm.h"

enum { PAGE = 4096, STACK = 4 * PAGE, STRIDE = STACK + PAGE, STACKS = 4, DEEP = 800 };

static void *vms_variable;       /* the pool's first word is its newest mapping */
static uint64_t *const *mapping; /* as the VM notes it */
static char *memory;
static struct hl_graph graph;
static struct hl_fibers fibers;
static struct hl_range unused[2 * STACKS];
static size_t unused_count;

static void put(char *at, uintptr_t word) {
    memcpy(at, &word, sizeof(word));
}

static void start(const char *version) {
    core_start(version, "quiet,blocks");
    fake_ruby_boot();
    CHECK(hl_ruby.attached && !hl_ruby.public_only);
    memory = aligned_alloc(PAGE, STACKS * STRIDE);
    uint64_t *pool = malloc(6 * sizeof(*pool));
    const uint64_t words[6] = {(uintptr_t)memory, STACK, STRIDE, STACKS, (uintptr_t)&vms_variable, 0};
    memcpy(pool, words, sizeof(words));
    vms_variable = pool;
    mapping = (uint64_t *const *)&vms_variable;
}

/* A fiber like the main one, on that stack of the pool, left with so many bytes in use; its ec. */
static char *fiber_on(size_t stack, size_t bytes) {
    const char *ec = hl_ruby_ec();
    char *main_fiber, *top = memory + stack * STRIDE + PAGE + STACK - 64;
    memcpy(&main_fiber, ec + hl_ruby.layout->ec_fiber, sizeof(main_fiber));
    const size_t offset = (size_t)(ec - main_fiber);
    char *fiber = malloc(malloc_usable_size(main_fiber)), *own = fiber + offset;
    memcpy(fiber, main_fiber, offset + 256);
    put(own + hl_ruby.layout->ec_fiber, (uintptr_t)fiber);
    put(own + hl_ruby.layout->ec_machine + HL_MACHINE_TOP, (uintptr_t)top);
    put(own + hl_ruby.layout->ec_machine + HL_MACHINE_BYTES, STACK - 64);
    put(own - 24, (uintptr_t)top - bytes);
    put(own - 8, bytes / 8);
    return own;
}

static void tell(void *context, uintptr_t begin, uintptr_t end) {
    (void)context;
    if (begin < end) unused[unused_count++] = (struct hl_range){begin - (uintptr_t)memory, end - (uintptr_t)memory};
}

static void search(void) {
    static const struct hl_range none;
    struct hl_mapping *mappings;
    const int64_t count = hl_memory_maps(&mappings);
    CHECK_EQUAL(hl_graph_create(&graph, &none, 0), 0);
    CHECK_EQUAL(hl_fibers_find(&fibers, &graph, mappings, (size_t)count), 0);
    unused_count = 0;
    hl_fibers_without_use(&fibers, tell, NULL);
}

/* Stacks 0 and 3 are nobody's, of stack 1 what lies below its pointer, stack 2 runs. */
static void of(const char *version) {
    start(version);
    char *suspended = fiber_on(1, DEEP), *running = fiber_on(2, DEEP), *thread;
    char *other = calloc(1, 256);
    memcpy(&thread, running + hl_ruby.layout->ec_thread, sizeof(thread));
    memcpy(other, thread, 64);
    put(other + hl_ruby.layout->thread_ec, (uintptr_t)running);
    put(running + hl_ruby.layout->ec_thread, (uintptr_t)other);
    search();
    CHECK(!fibers.unknown);
    CHECK_EQUAL(unused_count, 2);
    CHECK_EQUAL(unused[0].begin, 0);
    CHECK_EQUAL(unused[0].end, 2 * STRIDE - 64 - DEEP - 128);
    CHECK_EQUAL(unused[1].begin, 3 * STRIDE);
    CHECK_EQUAL(unused[1].end, 4 * STRIDE);
    const struct hl_fiber *at = hl_fiber_at(&fibers, (uintptr_t)memory + 2 * STRIDE - 100);
    CHECK(at && at->pooled && at->ec == (uintptr_t)suspended);
    CHECK(hl_fiber_at(&fibers, (uintptr_t)memory + 100) == NULL);
}

static void of_ruby_3_1(void) {
    of("3.1.2");
}

static void of_ruby_3_4(void) {
    of("3.4.1");
}

static void of_ruby_4_0(void) {
    of("4.0.1");
}

/* What the VM noted does not fit: the stack counts as a whole. */
static void a_doubtful_pointer_is_none(void) {
    start("3.4.1");
    put(fiber_on(0, DEEP) - 8, 7);
    search();
    CHECK_EQUAL(unused_count, 1);
    CHECK_EQUAL(unused[0].begin, STRIDE);
}

/* One that has ended, or not begun, has no stack of the VM's. */
static void an_ended_fiber_has_no_stack(void) {
    start("3.4.1");
    put(fiber_on(0, DEEP) + HL_EC_STACK, 0);
    search();
    CHECK_EQUAL(unused_count, 1);
    CHECK_EQUAL(unused[0].begin, 0);
    CHECK_EQUAL(unused[0].end, STACKS * STRIDE);
}

static void without_a_pool_they_are_unknown(void) {
    start("3.4.1");
    fiber_on(1, DEEP);
    (*mapping)[4] = 0;
    search();
    CHECK(fibers.unknown);
    CHECK_EQUAL(unused_count, 0);
}

static void of_an_unknown_ruby_they_are_unknown(void) {
    fake_ruby_shift(FAKE_EC, 0, sizeof(void *));
    core_start("9.9.9", "quiet,blocks");
    fake_ruby_boot();
    search();
    CHECK(fibers.unknown);
    CHECK_EQUAL(fibers.count, 0);
}

static const struct check_test tests[] = {
    {"of_ruby_3_1", of_ruby_3_1},
    {"of_ruby_3_4", of_ruby_3_4},
    {"of_ruby_4_0", of_ruby_4_0},
    {"a_doubtful_pointer_is_none", a_doubtful_pointer_is_none},
    {"an_ended_fiber_has_no_stack", an_ended_fiber_has_no_stack},
    {"without_a_pool_they_are_unknown", without_a_pool_they_are_unknown},
    {"of_an_unknown_ruby_they_are_unknown", of_an_unknown_ruby_they_are_unknown},
};
CHECK_MAIN(tests)
