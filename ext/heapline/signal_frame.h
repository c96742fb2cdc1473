/* SPDX-License-Identifier: MIT */
/*
 * The frame from which rt_sigreturn restores a thread, as Linux makes it on x86-64 for a signal's handler.
 */
#ifndef RBHL_SIGNAL_FRAME_H
#define RBHL_SIGNAL_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum {
    RBHL_FRAME_CONTEXT = 38, /* 64-bit words of its context */
    RBHL_VECTOR_BYTES = 16 * 1024
};

struct rbhl_thread_state {
    struct user_regs_struct registers;
    uint64_t signal_mask;
    size_t vector_bytes;
    uint8_t vectors[RBHL_VECTOR_BYTES]; /* NT_X86_XSTATE */
};

struct rbhl_frame {
    uint64_t address; /* of the return address: the stack pointer of the function that is called */
    uint64_t context; /* address of the ucontext_t */
    uint64_t text;    /* address of the text's copy */
    size_t bytes;     /* from `address` on */
    uint8_t image[2 * RBHL_VECTOR_BYTES];
};

/* Before a thread is stopped, in the tracer, whose handlers are its own: see how the kernel makes such frames. 0, or
 * -errno where it keeps vectors in a way that is not known. */
int rbhl_frame_prepare(void);

/* Read the thread, which is stopped; 0 or -errno. */
int rbhl_thread_read(pid_t thread, struct rbhl_thread_state *state);

/* The frame that brings the thread to where `state` is, below the thread's red zone; interrupted: its system call is
 * made again. -errno where the kernel's way of keeping vectors is not known. In the tracer. */
int rbhl_frame_build(const struct rbhl_thread_state *state, int interrupted, uint64_t returning, const char *text,
                     size_t text_bytes, struct rbhl_frame *frame);

/* Do these words of a stack, behind a return address at `address`, look like the context of a handler that runs? */
int rbhl_looks_like_context(const uint64_t words[RBHL_FRAME_CONTEXT], uint64_t address);

#endif
