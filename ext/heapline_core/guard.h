/* SPDX-License-Identifier: MIT */
/*
 * Who may count: the process's gate and each thread's state.
 *
 * The gate is one word that every intercepted call tests. It lies on a page of its own that the kernel wipes in a
 * forked child (MADV_WIPEONFORK): however a child came to be, it finds the gate closed and cannot write into its
 * parent's lanes before it has a flight file of its own.
 *
 * G1  `thread.lane` is non-NULL only while the thread may count on the hot path: it owns a lane, is not inside
 *     heapline (busy), not quiet, and neither being set up by Ruby nor torn down. One test covers all.
 * G2  Nothing runs inside heapline's slow paths without hl_guard_enter; what they allocate is not counted.
 */
#ifndef HL_GUARD_H
#define HL_GUARD_H

#include <stddef.h>
#include <stdint.h>

#include "platform.h"

/* HL_GATE_TRACKING: counting, and blocks are kept (block_map.h) or a recording goes on. The hot path is for
 * HL_GATE_OPEN alone. */
enum { HL_GATE_CLOSED = 0, HL_GATE_OPEN = 1, HL_GATE_TRACKING = 2 };
union hl_gate {
    uint32_t open;
    char page[4096];
};
extern union hl_gate hl_gate HL_HIDDEN;

struct hl_lane;

struct hl_thread {
    struct hl_lane *lane; /* G1 */
    struct hl_lane *own;  /* the lane that this thread owns, or NULL */
    void *ec;             /* the execution context that was last proven to be alive (location_ruby.c) */
    uint64_t ec_epoch;    /* … at this epoch */
    uintptr_t stack_from; /* a piece of its stack that is known to be mapped (native_stack.c) */
    uintptr_t stack_to;
    uint32_t busy;
    uint32_t quiet;
    uint16_t tag;
    uint8_t exiting;  /* thread-local destructors run: no lane, no Ruby frames any more */
    uint8_t starting; /* inside pthread_getattr_np: a Ruby thread begins, its ec is not yet its own */
    uint8_t twin;     /* its fork makes a twin (twin_errand.h) */
    uint8_t ended;    /* the VM's last at_exit handler has run in it: soon there are no frames any more */
};
extern HL_THREAD_LOCAL struct hl_thread hl_thread HL_HIDDEN;
_Static_assert(sizeof(struct hl_thread) <= 64, "static TLS is scarce");

HL_INLINE void hl_guard_refresh(struct hl_thread *thread) {
    thread->lane = thread->busy || thread->quiet || thread->exiting || thread->starting ? NULL : thread->own;
}

HL_INLINE void hl_guard_enter(struct hl_thread *thread) {
    thread->busy++;
    thread->lane = NULL;
}

HL_INLINE void hl_guard_leave(struct hl_thread *thread) {
    thread->busy--;
    hl_guard_refresh(thread);
}

#endif
