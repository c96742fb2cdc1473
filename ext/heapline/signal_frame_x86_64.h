/* SPDX-License-Identifier: MIT */
/*
 * signal_frame.h for x86-64; for signal_frame.c alone.
 */
#ifndef RBHL_SIGNAL_FRAME_X86_64_H
#define RBHL_SIGNAL_FRAME_X86_64_H

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "machine.h"
#include "signal_frame.h"
#include "tracer.h"

enum {
    RED_ZONE = 128,
    ALIGNMENT = 64,
    SIGNAL_MASK_BYTES = 8,
    LEGACY_BYTES = 512, /* of the vectors, whose end is for software */
    SOFTWARE = 464
};
static const uint32_t MAGIC_BEGIN = 0x46505853, MAGIC_END = 0x46505845;
/* No kernel reads the link. It tells these frames from a handler's, once they lie dead on a stack. */
static const uint64_t OUR_LINK = 0x656e696c70616568;
/* No flags that there are: the thread's other stack stays as it is, since what cannot be set is not. */
static const int STACK_AS_IT_IS = 0x7f0000;

/* The end of the first 512 bytes, as the kernel writes it. */
struct software_bytes {
    uint32_t magic, extended_bytes;
    uint64_t features;
    uint32_t bytes;
    uint32_t padding[7];
};
_Static_assert(sizeof(struct software_bytes) == LEGACY_BYTES - SOFTWARE, "as the kernel has it");

/* ---- what the kernel does for this program is what it expects of others ---- */

static struct {
    volatile sig_atomic_t taken;
    unsigned long flags;
    struct software_bytes vectors;
} sample;

static void take_sample(int number, siginfo_t *info, void *context) {
    const ucontext_t *taken = context;
    (void)number;
    (void)info;
    sample.flags = taken->uc_flags;
    memcpy(&sample.vectors, (const char *)taken->uc_mcontext.fpregs + SOFTWARE, sizeof(sample.vectors));
    sample.taken = 1;
}

int rbhl_frame_prepare(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    sigset_t mask;
    action.sa_sigaction = take_sample;
    sigfillset(&action.sa_mask);
    if (sigaction(SIGUSR1, &action, NULL)) return -errno;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
    syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), SIGUSR1);
    return sample.taken && sample.vectors.magic == MAGIC_BEGIN && sample.vectors.bytes >= LEGACY_BYTES &&
                   sample.vectors.extended_bytes >= sample.vectors.bytes + sizeof(MAGIC_END)
               ? 0
               : -ENOTSUP;
}

/* ---- ---- */

int rbhl_thread_read(pid_t thread, struct rbhl_thread_state *state) {
    struct iovec vectors = {state->vectors, sizeof(state->vectors)};
    if (rbhl_registers_read(thread, &state->registers)) return -errno;
    if (ptrace(PTRACE_GETREGSET, thread, (void *)(uintptr_t)NT_X86_XSTATE, &vectors)) return -errno;
    if (ptrace(PTRACE_GETSIGMASK, thread, (void *)(uintptr_t)SIGNAL_MASK_BYTES, &state->signal_mask)) return -errno;
    state->vector_bytes = vectors.iov_len;
    return 0;
}

static void put_registers(greg_t *to, const struct user_regs_struct *from) {
    const uint64_t segments[] = {from->cs | from->ss << 48};
    const unsigned long long values[] = {from->r8,  from->r9,  from->r10, from->r11, from->r12, from->r13,
                                         from->r14, from->r15, from->rdi, from->rsi, from->rbp, from->rbx,
                                         from->rdx, from->rax, from->rcx, from->rsp, from->rip, from->eflags};
    memcpy(to, values, sizeof(values));
    memcpy(to + REG_CSGSFS, segments, sizeof(segments));
}

static int put_vectors(uint8_t *to, const struct rbhl_thread_state *state) {
    const uint32_t bytes = sample.vectors.bytes;
    if (bytes > state->vector_bytes || bytes + sizeof(MAGIC_END) > RBHL_VECTOR_BYTES) return -ENOTSUP;
    memcpy(to, state->vectors, bytes);
    memcpy(to + SOFTWARE, &sample.vectors, sizeof(sample.vectors));
    memcpy(to + bytes, &MAGIC_END, sizeof(MAGIC_END));
    return 0;
}

/* As the kernel reads it: ucontext_t of the C library is longer. */
struct context {
    uint64_t flags, link;
    stack_t stack;
    greg_t registers[NGREG];
    uint64_t vectors, reserved[8], signal_mask;
};
_Static_assert(offsetof(struct context, registers) == offsetof(ucontext_t, uc_mcontext.gregs) &&
                   offsetof(struct context, vectors) == offsetof(ucontext_t, uc_mcontext.fpregs) &&
                   offsetof(struct context, signal_mask) == offsetof(ucontext_t, uc_sigmask),
               "as the kernel has it");

int rbhl_frame_build(const struct rbhl_thread_state *state, int interrupted, uint64_t returning, const char *text,
                     size_t text_bytes, struct rbhl_frame *frame) {
    struct context context = {.flags = sample.flags, .link = OUR_LINK, .signal_mask = state->signal_mask};
    struct user_regs_struct registers = state->registers;
    if (interrupted) hl_call_again(&registers, hl_call_number(&registers));
    context.stack.ss_flags = STACK_AS_IT_IS;
    put_registers(context.registers, &registers);
    /* From above: the text, the vectors, the context, the return address. */
    frame->text = (state->registers.rsp - RED_ZONE - text_bytes) & ~(uint64_t)15;
    context.vectors = (frame->text - sample.vectors.bytes - sizeof(MAGIC_END)) & ~(uint64_t)(ALIGNMENT - 1);
    frame->context = (context.vectors - sizeof(context)) & ~(uint64_t)15;
    frame->address = frame->context - sizeof(returning);
    frame->bytes = (size_t)(frame->text + text_bytes - frame->address);
    if (frame->bytes > sizeof(frame->image)) return -E2BIG;
    memset(frame->image, 0, frame->bytes);
    memcpy(frame->image, &returning, sizeof(returning));
    memcpy(frame->image + (frame->context - frame->address), &context, sizeof(context));
    memcpy(frame->image + (frame->text - frame->address), text, text_bytes);
    return put_vectors(frame->image + (context.vectors - frame->address), state);
}

int rbhl_looks_like_context(const uint64_t words[RBHL_FRAME_CONTEXT], uint64_t address) {
    struct context context;
    memcpy(&context, words + 1, sizeof(context));
    const uint64_t segments = (uint64_t)context.registers[REG_CSGSFS];
    return context.flags < 16 && context.link == 0 && (segments & 0xffff) == RBHL_USER_CODE &&
           segments >> 48 == RBHL_USER_STACK && context.vectors > address &&
           context.vectors - address < RBHL_VECTOR_BYTES;
}

#endif
