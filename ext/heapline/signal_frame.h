/* SPDX-License-Identifier: MIT */
/*
 * The frame from which rt_sigreturn restores a thread, as Linux makes it for a signal's handler.
 */
#ifndef RBHL_SIGNAL_FRAME_H
#define RBHL_SIGNAL_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum {
    RBHL_FRAME_CONTEXT = 70, /* 64-bit words by which it is known, at most */
    RBHL_VECTOR_BYTES = 16 * 1024
};

struct rbhl_thread_state {
    struct user_regs_struct registers;
    uint64_t signal_mask;
    size_t vector_bytes;
    uint8_t vectors[RBHL_VECTOR_BYTES]; /* as ptrace has them */
};

struct rbhl_frame {
    uint64_t address; /* the stack pointer of the function that is called */
    uint64_t context; /* address of the ucontext_t */
    uint64_t text;    /* address of the text's copy */
    size_t bytes;     /* from `address` on */
    uint8_t image[2 * RBHL_VECTOR_BYTES];
};

/* Before a thread is stopped, in the tracer, whose handlers are its own: see how the kernel makes such frames. 0, or
 * -errno where it keeps vectors in a way that is not known. */
int rbhl_frame_prepare(void);

/* Read the thread, which is stopped; 0 or -errno (-EAGAIN: it has vectors that the frame could not restore). */
int rbhl_thread_read(pid_t thread, struct rbhl_thread_state *state);

/* The frame that brings the thread to where `state` is, below what is its stack's; interrupted: its system call is
 * made again. -errno where the kernel's way of keeping vectors is not known. In the tracer. */
int rbhl_frame_build(const struct rbhl_thread_state *state, int interrupted, uint64_t returning, const char *text,
                     size_t text_bytes, struct rbhl_frame *frame);

/* Do these words of a stack, at `address`, look like those of a handler that runs? The first is not 0. On x86-64 that
 * is its return address, with the context behind it; on 64-bit ARM the record of the vectors. */
int rbhl_looks_like_context(const uint64_t words[RBHL_FRAME_CONTEXT], uint64_t address);

#endif
