/* SPDX-License-Identifier: MIT */
#include "vm/native_stack.h"

#include <alloca.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "check.h"
#include "core.h"
#include "platform/platform.h"
#include "state/guard.h"
#include "vm/native_walk.h"

enum { MOST = 64 };

struct frames {
    uint64_t frames[MOST];
    uint32_t count;
};

static struct frames ours, theirs;

/* Stacks know the libraries of the site table. */
static void start(void) {
    core_tables(100);
    CHECK_EQUAL(hl_stack_create(), 0);
}

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *unused) {
    (void)unused;
    if (theirs.count < MOST) theirs.frames[theirs.count++] = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

/* Stands for malloc: its caller is where both walks begin to be compared. */
__attribute__((noinline)) static void allocate(void) {
    const uintptr_t caller = HL_CALLER;
    theirs.count = 0;
    _Unwind_Backtrace(note, NULL);
    ours.count = hl_stack_walk(caller, ours.frames);
    uint32_t from = 0;
    while (from < theirs.count && theirs.frames[from] != caller) from++;
    uint32_t wanted = theirs.count - from;
    /* libgcc ends with the frame that has no caller; where its address is 0, the walk here ends before. */
    if (wanted && !theirs.frames[from + wanted - 1]) wanted--;
    if (wanted > HL_STACK_FRAMES) wanted = HL_STACK_FRAMES;
    CHECK(wanted > 1);
    CHECK_EQUAL(ours.count, wanted);
    CHECK(memcmp(ours.frames, theirs.frames + from, wanted * sizeof(*ours.frames)) == 0);
    __asm__ volatile("");
}

static volatile size_t amount = 1000;

/* A frame of a size that only the run tells: rbp leads out of it. */
__attribute__((noinline)) static void with_alloca(int depth) {
    char *room = alloca(amount + (size_t)depth);
    memset(room, depth, amount);
    if (depth > 0)
        with_alloca(depth - 1);
    else
        allocate();
    __asm__ volatile("" : : "r"(room) : "memory");
}

/* A frame that aligns its stack. */
__attribute__((noinline)) static void with_alignment(int depth) {
    _Alignas(64) char room[256];
    char *more = alloca(amount);
    memset(room, depth, sizeof(room));
    __asm__ volatile("" : : "r"(room), "r"(more) : "memory");
    if (depth > 0)
        with_alignment(depth - 1);
    else
        with_alloca(2);
    __asm__ volatile("" : : "r"(room) : "memory");
}

static int compare(const void *left, const void *right) {
    with_alignment(2);
    return *(const int *)left - *(const int *)right;
}

/* Through a library that was built without frame pointers. */
__attribute__((noinline)) static void sort(void) {
    int numbers[] = {3, 1, 2, 5, 4};
    qsort(numbers, 5, sizeof(numbers[0]), compare);
    CHECK_EQUAL(numbers[4], 5);
}

static void walks_as_libgcc_does(void) {
    start();
    for (int again = 0; again < 3; again++) {
        allocate();
        with_alloca(5);
        with_alignment(5);
        sort();
    }
}

__attribute__((noinline)) static void deep(int depth) {
    if (depth > 0)
        deep(depth - 1);
    else
        allocate();
    __asm__ volatile("");
}

static void a_deep_stack_is_cut(void) {
    start();
    deep(200);
    CHECK_EQUAL(ours.count, HL_STACK_FRAMES);
}

static void *in_thread(void *unused) {
    sort();
    return unused;
}

static void walks_in_threads(void) {
    start();
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        CHECK_EQUAL(pthread_create(&thread, NULL, in_thread, NULL), 0);
        pthread_join(thread, NULL);
    }
}

/* Code without unwind tables, as a JIT's: the walk ends there. */
static void stops_where_nothing_is_known(void) {
    uint64_t frames[HL_STACK_FRAMES];
    start();
    CHECK_EQUAL(hl_stack_walk(0x1000, frames), 1);
    CHECK_EQUAL(frames[0], 0x1000);
}

/* What the VM's library calls C from: here a function of this program, which is all of the VM. */
__attribute__((noinline)) static void runs_ruby(int depth) {
    if (depth > 0)
        runs_ruby(depth - 1);
    else
        ours.count = hl_stack_walk(HL_CALLER, ours.frames);
    __asm__ volatile("");
}

static void ends_where_ruby_code_runs(void) {
    uintptr_t begin;
    start();
    const uintptr_t size = hl_unwind_function((uintptr_t)runs_ruby + 1, &begin);
    hl_native_vm.begin = begin & ~0xffffull;
    hl_native_vm.size = 1 << 20;
    runs_ruby(3);
    CHECK(ours.count > 1);
    hl_interpreter.bounds = (uint64_t)(begin - hl_native_vm.begin) << 32 | size;
    runs_ruby(3);
    CHECK_EQUAL(ours.count, 1);
    CHECK(hl_interpreter_has(ours.frames[0]));
    hl_interpreter.bounds = HL_INTERPRETER_NOWHERE;
    runs_ruby(3);
    CHECK(ours.count > 1);
}

__attribute__((noinline)) static uint32_t number_here(void) {
    const uint32_t number = hl_stack_here(HL_CALLER);
    __asm__ volatile("");
    return number;
}

static void equal_stacks_have_one_number(void) {
    uint32_t numbers[3], other;
    start();
    for (volatile int i = 0; i < 3; i++) numbers[i] = number_here();
    other = number_here();
    CHECK(numbers[0] != 0);
    CHECK_EQUAL(numbers[1], numbers[0]);
    CHECK_EQUAL(numbers[2], numbers[0]);
    CHECK(other != numbers[0]);
    CHECK(hl_stack_at(other)->count >= 2);
    CHECK(hl_stack_at(other)->frames[0] != hl_stack_at(numbers[0])->frames[0]);
    CHECK(!hl_stack_at(0));
}

static uint32_t from_threads[8];

__attribute__((noinline)) static void intern_much(unsigned number) {
    for (int i = 0; i < 10000; i++) from_threads[number] = number_here();
}

static void threads_intern_one_stack_once(void) {
    start();
    core_threads(8, intern_much);
    for (unsigned i = 1; i < 8; i++) CHECK_EQUAL(from_threads[i], from_threads[0]);
}

static const struct check_test tests[] = {
    {"walks_as_libgcc_does", walks_as_libgcc_does},
    {"a_deep_stack_is_cut", a_deep_stack_is_cut},
    {"walks_in_threads", walks_in_threads},
    {"ends_where_ruby_code_runs", ends_where_ruby_code_runs},
    {"stops_where_nothing_is_known", stops_where_nothing_is_known},
    {"equal_stacks_have_one_number", equal_stacks_have_one_number},
    {"threads_intern_one_stack_once", threads_intern_one_stack_once},
};

CHECK_MAIN(tests)
