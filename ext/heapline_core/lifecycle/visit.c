/* SPDX-License-Identifier: MIT */
#include "lifecycle/visit.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>

#include "flight/flight.h"
#include "flight/library.h"
#include "flight/shared_guard.h"
#include "flight/site_table.h"
#include "lifecycle/errand.h"
#include "platform/platform.h"
#include "platform/text.h"
#include "state/guard.h"
#include "vm/native_walk.h"
#include "vm/ruby_sleep.h"
#include "vm/ruby_vm.h"

enum {
    STACK_BYTES = 64 * 1024,
    OWN_FRAMES = 16, /* of the C library, between its caller and the system call */
};

/* The kernel's own results of a system call that is to be made again. */
enum { RESTART = 512, RESTART_NO_INTERRUPT = 513, RESTART_BLOCK = 516 };

/* Used by the thread that enters, addressed by name below. */
struct user_regs_struct hl_visit_registers HL_HIDDEN;
static char stack[STACK_BYTES] HL_PAGE_ALIGNED;

void hl_visit(void) HL_HIDDEN __attribute__((used));
extern const char hl_visit_enter[] HL_HIDDEN, hl_visit_end[] HL_HIDDEN;

HL_VISIT_DOOR;

/* ---- where the thread waits ---- */

/* The first return address outside of the object that makes the system call; 0: it cannot be told. */
static uintptr_t find_caller(const struct user_regs_struct *registers) {
    struct hl_registers at = hl_registers_of(registers);
    const void *library = hl_library_map(at.pc);
    if (!library || hl_unwind_create()) return 0;
    hl_native_begin(&hl_thread, at.sp);
    for (int frame = 0; frame < OWN_FRAMES && hl_native_step(&hl_thread, &at) > 0; frame++)
        if (hl_library_map(at.pc) != library) return at.pc;
    return 0;
}

/* The thread's ec, proven by its thread's pointer back to it. */
static char *proven_ec(void) {
    char *ec = hl_ruby_ec();
    if (!hl_ruby.layout || hl_ruby.public_only || !hl_ruby.layout->ec_interrupts || !ec) return NULL;
    const char *thread = *(char **)(ec + hl_ruby.layout->ec_thread);
    return thread && *(char **)(thread + hl_ruby.layout->thread_ec) == ec ? ec : NULL;
}

/* ---- the visit ---- */

struct way {
    char *ec; /* NULL: no safe point comes of it */
    void (*waker)(void *);
};

/* How to bring the thread to a safe point. */
static struct way find_way(const struct user_regs_struct *registers, uintptr_t caller) {
    struct way way = {0};
    const long number = hl_call_number(registers);
    char *ec = caller && hl_native_in_vm(caller) ? proven_ec() : NULL;
    if (!ec || (number != SYS_futex && !hl_ruby_begins_again(number))) return way;
    if (number == SYS_futex && !(way.waker = hl_ruby_waker(*(uintptr_t *)(ec + hl_ruby.layout->ec_thread)))) return way;
    way.ec = ec;
    return way;
}

static void name_place(struct hl_visit_door *door, uintptr_t caller) {
    const struct hl_library library = hl_library_at(caller);
    size_t length = 0;
    const char *path = library.number ? hl_flight_text(hl_library_name(library.number), &length) : NULL;
    hl_text(door->where, sizeof(door->where), "%.*s", (int)length, path ? path : "");
}

/* *ends_wait: the system call returns EINTR. */
static enum hl_visit_found look(const struct user_regs_struct *registers, struct hl_visit_door *door, int *ends_wait) {
    const uintptr_t caller = find_caller(registers);
    const struct way way = find_way(registers, caller);
    door->where[0] = 0;
    if (!hl_errand_visit(way.ec != NULL)) return HL_VISIT_NO_VM;
    if (!way.ec) {
        name_place(door, caller);
        return HL_VISIT_ELSEWHERE;
    }
    __atomic_fetch_or((uint32_t *)(way.ec + hl_ruby.layout->ec_interrupts), HL_INTERRUPT_JOB, __ATOMIC_SEQ_CST);
    if (way.waker) way.waker(*(void **)(way.ec + hl_ruby.layout->ec_thread));
    *ends_wait = !way.waker;
    return HL_VISIT_PASSES;
}

/* Does a handler run as soon as signals are let in again, and one that interrupts even what may be begun again? */
static int is_interrupted(const sigset_t *blocked, int always) {
    sigset_t pending;
    struct sigaction action;
    sigpending(&pending);
    for (int number = 1; number < NSIG; number++) {
        if (!sigismember(&pending, number) || sigismember(blocked, number) || hl_guard_sigaction(number, NULL, &action))
            continue;
        if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN && (always || !(action.sa_flags & SA_RESTART)))
            return 1;
    }
    return 0;
}

/* As the kernel makes a system call again (V1). What it would not, since the rest of its time is not known, begins
 * anew: nothing has happened that the program asked for. */
static void resume(struct user_regs_struct *registers, const sigset_t *blocked) {
    const long result = hl_call_result(registers);
    if (result != -RESTART_NO_INTERRUPT && is_interrupted(blocked, result != -RESTART)) {
        hl_call_return(registers, -EINTR);
        return;
    }
    hl_call_again(registers, result == -RESTART_BLOCK ? SYS_restart_syscall : hl_call_number(registers));
}

void hl_visit(void) {
    struct user_regs_struct *registers = &hl_visit_registers;
    struct hl_visit_door *door = &hl_flight.header->visit;
    enum hl_visit_found found = HL_VISIT_BUSY;
    sigset_t all, before;
    const int error = errno;
    int ends_wait = 0;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    if (hl_life_is() == HL_LIFE_ACTIVE && hl_gate_is() && !hl_thread.busy) {
        const int saved = hl_guard_enter(&hl_thread);
        found = look(registers, door, &ends_wait);
        hl_guard_leave(&hl_thread, saved);
    }
    if (ends_wait)
        hl_call_return(registers, -EINTR);
    else
        resume(registers, &before);
    door->found = found;
    __atomic_fetch_add(&door->visits, 1, __ATOMIC_RELEASE);
    hl_visit_leave(registers, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
}

void hl_visit_prepare(void) {
    struct hl_visit_door *door = &hl_flight.header->visit;
    if (!hl_visit_vectors_fit()) return;
    door->end = (uintptr_t)hl_visit_end;
    door->registers = (uintptr_t)&hl_visit_registers;
    door->stack = (uintptr_t)stack;
    door->stack_bytes = STACK_BYTES;
    door->enter = (uintptr_t)hl_visit_enter;
}
