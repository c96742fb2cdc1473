/* SPDX-License-Identifier: MIT */
/*
 * signal_frame.h for 64-bit ARM; for signal_frame.c alone.
 *
 * The return address is in a register, and what it leads to, in the kernel's page of code (vdso), takes the frame at
 * the stack pointer. Of vectors the frame restores the first 16 bytes: in a system call the others have no meaning, and
 * a thread that has some elsewhere is not at a place where it can be used.
 */
#ifndef RBHL_SIGNAL_FRAME_AARCH64_H
#define RBHL_SIGNAL_FRAME_AARCH64_H

#include <asm/sigcontext.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "machine.h"
#include "signal_frame.h"
#include "tracer.h"

enum {
    ALIGNMENT = 16,
    SIGNAL_MASK_BYTES = 8,
    SCALABLE_VECTORS = 0x405, /* the kind of a thread's registers, and the same in streaming mode */
    STREAMING_VECTORS = 0x40b,
    HAS_SCALABLE = 1 /* in their flags */
};
/* What tells these frames from a handler's, once they lie dead on a stack: no processor says so of a fault. */
static const uint64_t OUR_FAULT = 0x656e696c70616568;
/* No flags that there are: the thread's other stack stays as it is, since what cannot be set is not. */
static const int STACK_AS_IT_IS = 0x7f0000;

struct records {
    struct fpsimd_context vectors;
    struct esr_context fault;
    struct _aarch64_ctx end;
};

/* As the kernel reads it, up to the last record. */
struct frame {
    siginfo_t info;
    ucontext_t context;
};
enum { RECORDS = offsetof(struct frame, context.uc_mcontext.__reserved) };
_Static_assert(RECORDS == 592 && sizeof(struct fpsimd_context) == 528, "as the kernel has it");

int rbhl_frame_prepare(void) {
    return 0;
}

/* Whether the thread has vectors of that kind; where there are none of it, no. */
static int has_longer(pid_t thread, uintptr_t kind) {
    struct {
        uint32_t size, most;
        uint16_t length, longest, flags, reserved;
    } header = {0, 0, 0, 0, 0, 0};
    struct iovec all = {&header, sizeof(header)};
    return !ptrace(PTRACE_GETREGSET, thread, (void *)kind, &all) && header.flags & HAS_SCALABLE;
}

int rbhl_thread_read(pid_t thread, struct rbhl_thread_state *state) {
    struct iovec vectors = {state->vectors, sizeof(state->vectors)};
    if (rbhl_registers_read(thread, &state->registers)) return -errno;
    if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRFPREG, &vectors)) return -errno;
    if (ptrace(PTRACE_GETSIGMASK, thread, (void *)(uintptr_t)SIGNAL_MASK_BYTES, &state->signal_mask)) return -errno;
    state->vector_bytes = vectors.iov_len;
    return has_longer(thread, SCALABLE_VECTORS) || has_longer(thread, STREAMING_VECTORS) ? -EAGAIN : 0;
}

static void put_registers(mcontext_t *to, const struct user_regs_struct *from) {
    memcpy(to->regs, from->regs, sizeof(to->regs));
    to->sp = from->sp;
    to->pc = from->pc;
    to->pstate = from->pstate;
}

static void put_records(uint8_t *to, const struct rbhl_thread_state *state) {
    struct user_fpsimd_struct vectors;
    struct records records = {.vectors.head = {FPSIMD_MAGIC, sizeof(struct fpsimd_context)},
                              .fault.head = {ESR_MAGIC, sizeof(struct esr_context)},
                              .fault.esr = OUR_FAULT};
    memcpy(&vectors, state->vectors, sizeof(vectors));
    memcpy(records.vectors.vregs, vectors.vregs, sizeof(records.vectors.vregs));
    records.vectors.fpsr = vectors.fpsr;
    records.vectors.fpcr = vectors.fpcr;
    memcpy(to, &records, sizeof(records));
}

int rbhl_frame_build(const struct rbhl_thread_state *state, int interrupted, uint64_t returning, const char *text,
                     size_t text_bytes, struct rbhl_frame *frame) {
    static struct frame made;
    const size_t bytes = (RECORDS + sizeof(struct records) + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    (void)interrupted, (void)returning;
    if (state->vector_bytes < sizeof(struct user_fpsimd_struct)) return -ENOTSUP;
    memset(&made, 0, sizeof(made));
    made.context.uc_stack.ss_flags = STACK_AS_IT_IS;
    memcpy(&made.context.uc_sigmask, &state->signal_mask, sizeof(state->signal_mask));
    put_registers(&made.context.uc_mcontext, &state->registers);
    /* From above: the text, the frame. */
    frame->text = (state->registers.sp - text_bytes) & ~(uint64_t)(ALIGNMENT - 1);
    frame->address = (frame->text - bytes) & ~(uint64_t)(ALIGNMENT - 1);
    frame->context = frame->address + offsetof(struct frame, context);
    frame->bytes = (size_t)(frame->text + text_bytes - frame->address);
    if (frame->bytes > sizeof(frame->image)) return -E2BIG;
    memset(frame->image, 0, frame->bytes);
    memcpy(frame->image, &made, RECORDS);
    put_records(frame->image + RECORDS, state);
    memcpy(frame->image + (frame->text - frame->address), text, text_bytes);
    return 0;
}

int rbhl_looks_like_context(const uint64_t words[RBHL_FRAME_CONTEXT], uint64_t address) {
    enum { WORDS = sizeof(struct fpsimd_context) / sizeof(*words) };
    const struct _aarch64_ctx vectors = {FPSIMD_MAGIC, sizeof(struct fpsimd_context)};
    (void)address;
    return memcmp(words, &vectors, sizeof(vectors)) == 0 && words[WORDS + 1] != OUR_FAULT;
}

#endif
