/* SPDX-License-Identifier: MIT */
/*
 * A Ruby extension: threads that allocate and free as fast as they can, while as much stays live. Churn.start(threads,
 * blocks, bytes): each thread holds so many blocks and renews one after the other; one in four of the thread beside it,
 * so that its free is another one's.
 */
#include <pthread.h>
#include <ruby.h>
#include <stdlib.h>

static unsigned threads, blocks, bytes;
static void ***rings;

static void *churn(void *number) {
    const size_t own = (size_t)number, beside = (own + 1) % threads;
    for (unsigned i = 0;; i = (i + 1) % blocks)
        free(__atomic_exchange_n(&rings[i % 4 ? own : beside][i], malloc(bytes), __ATOMIC_ACQ_REL));
    return NULL;
}

static VALUE start(VALUE self, VALUE thread_count, VALUE block_count, VALUE block_bytes) {
    threads = NUM2UINT(thread_count);
    blocks = NUM2UINT(block_count);
    bytes = NUM2UINT(block_bytes);
    rings = malloc(threads * sizeof(*rings));
    for (size_t i = 0; i < threads; i++) {
        rings[i] = malloc(blocks * sizeof(void *));
        for (unsigned block = 0; block < blocks; block++) rings[i][block] = malloc(bytes);
    }
    for (size_t i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, churn, (void *)i)) rb_raise(rb_eRuntimeError, "no thread");
        pthread_detach(thread);
    }
    return Qnil;
}

void Init_churn(void) {
    rb_define_module_function(rb_define_module("Churn"), "start", start, 3);
}
