/* SPDX-License-Identifier: MIT */
/*
 * The room state.
 *   owns: what the process and its blocks are to heapline: gate, threads, options, trailers, clocks, who watches
 *   invariant: words that others read at any moment; each has one owner who writes it, and says so
 *   uses: platform, allocator
 *
 * Who may count: the process's gate and each thread's state.
 *
 * The gate is one word that every intercepted call tests. It lies on a page of its own that the kernel wipes in a
 * forked child (MADV_WIPEONFORK): however a child came to be, it finds the gate closed and cannot write into its
 * parent's lanes before it has a flight file of its own.
 *
 * G1  `thread.lane` is non-NULL only while the thread may count on the hot path: it owns a lane, is not inside
 *     heapline (busy), not quiet, and neither being set up by Ruby nor torn down. One test covers all.
 * G2  Nothing runs inside heapline's slow paths without hl_guard_enter; what they allocate is not counted.
 * G3  Between hl_guard_enter and hl_guard_leave errno is heapline's: the program finds its own afterwards.
 */
#ifndef HL_GUARD_H
#define HL_GUARD_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/platform.h"

/* HL_GATE_OPEN, a bit: counting and nothing more; HL_GATE_SHORT: the same, over glibc (short_way.h).
 * HL_GATE_TRACKING: blocks are kept besides (block_map.h), or a recording goes on. */
enum { HL_GATE_CLOSED = 0, HL_GATE_OPEN = 1, HL_GATE_TRACKING = 2, HL_GATE_SHORT = HL_GATE_OPEN | 4 };
union hl_gate {
    struct {
        uint32_t open;
        uint32_t forwards; /* 1: READY or STOPPED, so that what is called then need look no further */
    };
    char page[4096];
};
extern union hl_gate hl_gate HL_HIDDEN;

HL_INLINE uint32_t hl_gate_is(void) {
    return hl_look32(&hl_gate.open);
}
HL_INLINE uint32_t hl_gate_forwards(void) {
    return hl_look32(&hl_gate.forwards);
}

/* Open the gate, to where calls have to go now. */
void hl_gate_open(void);

/* What became of the process so far; lifecycle.c alone brings it on. */
enum hl_life {
    HL_LIFE_UNSTARTED = 0, /* nothing resolved yet */
    HL_LIFE_STARTING = 1,  /* this very thread is resolving: serve it from the boot arena */
    HL_LIFE_WAITING = 2,   /* forwarding; libc has not set up the environment yet */
    HL_LIFE_ACTIVE = 3,    /* counting; the gate is open, unless a fork just closed it */
    HL_LIFE_INERT = 4,     /* forwarding for ever: set-user-ID, or failed */
    HL_LIFE_READY = 5,     /* forwarding, until it is started: HEAPLINE=off, no Ruby, not to be followed */
    HL_LIFE_STOPPED = 6    /* forwarding, until it is started again; the flight is as it was */
};
extern enum hl_life hl_life;

HL_INLINE enum hl_life hl_life_is(void) {
    return __atomic_load_n(&hl_life, HL_LOAD_ORDER);
}
HL_INLINE void hl_life_set(enum hl_life life) {
    __atomic_store_n(&hl_life, life, __ATOMIC_SEQ_CST);
}

/* 1: the accounting began after the program did, so there are blocks without a trailer, and without room for one. */
extern uint32_t hl_started_late HL_HIDDEN;

/* Bring the life forward as far as possible now (hl_lifecycle_step): for hooks of the VM that find the gate closed
 * while the life is active, in a forked child. */
extern void (*hl_life_step)(void);

/* 1 while a recording goes on (recorder.h): the gate is then HL_GATE_TRACKING. */
extern uint32_t hl_recording_on HL_HIDDEN;
HL_INLINE int hl_recording(void) {
    return HL_UNLIKELY(hl_load32(&hl_recording_on));
}

struct hl_lane;

struct hl_thread {
    struct hl_lane *lane; /* G1 */
    struct hl_lane *own;  /* the lane that this thread owns, or NULL */
    void *ec;             /* the execution context that was last proven to be alive (ruby_frame.h, W1) */
    uintptr_t stack_from; /* a piece of its stack that is known to be mapped (native_stack.c) */
    uintptr_t stack_to;
    uint32_t ec_epoch; /* … its memory's epoch then */
    uint32_t busy;
    uint32_t quiet;
    uint32_t tag;
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

/* Between +1 and -1 it is not the program that allocates. */
HL_INLINE void hl_guard_be_quiet(struct hl_thread *thread, int change) {
    thread->quiet += (uint32_t)change;
    hl_guard_refresh(thread);
}

/* What it returns is for hl_guard_leave: errno, as the program has it (G3). */
HL_INLINE int hl_guard_enter(struct hl_thread *thread) {
    thread->busy++;
    thread->lane = NULL;
    return errno;
}

HL_INLINE void hl_guard_leave(struct hl_thread *thread, int saved) {
    thread->busy--;
    hl_guard_refresh(thread);
    errno = saved;
}

#endif
