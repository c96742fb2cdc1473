/* SPDX-License-Identifier: MIT */
/*
 * A Ruby extension whose threads pass blocks to each other: each takes blocks, lays them into slots that all share, and
 * frees what it finds there. What was asked for is known: `blocks` a thread, of sizes from 1 to 4096.
 */
#include <pthread.h>
#include <ruby.h>
#include <ruby/thread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1024, THREADS_MAX = 512 };
static void *slots[SLOTS];

struct work {
    uint32_t random;
    uint32_t blocks;
    uint64_t bytes;
};

static uint32_t next_random(struct work *work) {
    work->random ^= work->random << 13;
    work->random ^= work->random >> 17;
    return work->random ^= work->random << 5;
}

static void *pass_blocks(void *argument) {
    struct work *work = argument;
    for (uint32_t i = 0; i < work->blocks; i++) {
        uint32_t random = next_random(work);
        size_t size = 1 + random % 4096;
        void *block = malloc(size);
        memset(block, 0x5a, size);
        work->bytes += size;
        free(__atomic_exchange_n(&slots[random >> 16 & (SLOTS - 1)], block, __ATOMIC_SEQ_CST));
    }
    return NULL;
}

/* Also resizes: frees of one thread meet reallocations of another. */
static void *resize_blocks(void *argument) {
    struct work *work = argument;
    for (uint32_t i = 0; i < work->blocks; i++) {
        uint32_t random = next_random(work);
        void **slot = &slots[random >> 16 & (SLOTS - 1)];
        size_t size = 1 + random % 4096;
        void *block = realloc(__atomic_exchange_n(slot, NULL, __ATOMIC_SEQ_CST), size);
        work->bytes += size;
        free(__atomic_exchange_n(slot, block, __ATOMIC_SEQ_CST));
    }
    return NULL;
}

static VALUE run_threads(void *(*body)(void *), uint32_t count, uint32_t blocks) {
    pthread_t threads[THREADS_MAX];
    struct work work[THREADS_MAX];
    uint64_t bytes = 0;
    if (count > THREADS_MAX) rb_raise(rb_eArgError, "too many threads");
    for (uint32_t i = 0; i < count; i++) {
        work[i] = (struct work){2463534242u + i * 7919, blocks, 0};
        if (pthread_create(&threads[i], NULL, body, &work[i])) rb_sys_fail("pthread_create");
    }
    for (uint32_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        bytes += work[i].bytes;
    }
    return ULL2NUM(bytes);
}

/* Both return the bytes that were asked for. */
static VALUE pass_in_native_threads(VALUE self, VALUE count, VALUE blocks) {
    return run_threads(pass_blocks, NUM2UINT(count), NUM2UINT(blocks));
}

static VALUE resize_in_native_threads(VALUE self, VALUE count, VALUE blocks) {
    return run_threads(resize_blocks, NUM2UINT(count), NUM2UINT(blocks));
}

/* In the calling Ruby thread, without the GVL. */
static VALUE pass_unlocked(VALUE self, VALUE seed, VALUE blocks) {
    struct work work = {NUM2UINT(seed), NUM2UINT(blocks), 0};
    rb_thread_call_without_gvl(pass_blocks, &work, NULL, NULL);
    return ULL2NUM(work.bytes);
}

/* Free what lies in the slots. */
static VALUE clear_slots(VALUE self) {
    for (int i = 0; i < SLOTS; i++) free(__atomic_exchange_n(&slots[i], NULL, __ATOMIC_SEQ_CST));
    return Qnil;
}

void Init_passing(void) {
    VALUE passing = rb_define_module("Passing");
    rb_define_module_function(passing, "pass", pass_in_native_threads, 2);
    rb_define_module_function(passing, "resize", resize_in_native_threads, 2);
    rb_define_module_function(passing, "unlocked", pass_unlocked, 2);
    rb_define_module_function(passing, "clear", clear_slots, 0);
}
