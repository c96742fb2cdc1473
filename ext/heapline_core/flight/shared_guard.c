/* SPDX-License-Identifier: MIT */
#include "flight/shared_guard.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "allocator/real_malloc.h"
#include "platform/platform.h"
#include "platform/system_call.h"

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);

struct range {
    uintptr_t base;
    size_t size; /* written last; 0: none */
    void (*lost)(void);
};

static struct range ranges[HL_GUARDED_COUNT];
/* What the program has for SIGBUS: one is in force, the other is where the next one is written. */
static struct sigaction theirs[2];
static uint32_t in_force;
static uint32_t guarding; /* our handler is the kernel's */

static sigaction_function *below(void) {
    static sigaction_function *definition;
    if (!definition) hl_find_below("sigaction", &definition);
    return definition;
}

int hl_guard_replace(void *base, size_t size) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    return hl_map(base, size, PROT_READ | PROT_WRITE, flags, -1) == MAP_FAILED ? -errno : 0;
}

static int is_ours(uintptr_t address) {
    for (unsigned i = 0; i < HL_GUARDED_COUNT; i++) {
        const struct range range = {ranges[i].base, __atomic_load_n(&ranges[i].size, __ATOMIC_ACQUIRE), ranges[i].lost};
        if (address - range.base >= range.size) continue;
        if (hl_guard_replace((void *)range.base, range.size)) return 0;
        range.lost();
        return 1;
    }
    return 0;
}

static void pass_on(int number, siginfo_t *info, void *context) {
    const struct sigaction action = theirs[hl_load32(&in_force)];
    if (action.sa_flags & (int)SA_RESETHAND) theirs[hl_load32(&in_force)].sa_handler = SIG_DFL;
    if (action.sa_flags & SA_SIGINFO) {
        action.sa_sigaction(number, info, context);
    } else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
        action.sa_handler(number);
    } else {
        /* It ends the program when this handler returns: the access faults again, or the signal comes again. */
        const struct sigaction end = {.sa_handler = SIG_DFL};
        below()(number, &end, NULL);
        if (info->si_code <= 0) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
    }
}

static void on_bus(int number, siginfo_t *info, void *context) {
    const int saved = errno;
    if (info->si_code <= 0 || !is_ours((uintptr_t)info->si_addr)) pass_on(number, info, context);
    errno = saved;
}

/* The kernel's action where the program wants `action`. */
static struct sigaction ours(const struct sigaction *action) {
    struct sigaction own = *action;
    own.sa_sigaction = on_bus;
    own.sa_flags = (own.sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
    if (action->sa_handler == SIG_DFL) own.sa_flags |= SA_ONSTACK;
    return own;
}

int hl_guard_sigaction(int number, const struct sigaction *wanted, struct sigaction *before) {
    if (!below()) {
        errno = ENOSYS;
        return -1;
    }
    if (number != SIGBUS || !hl_load32(&guarding)) return below()(number, wanted, before);
    const uint32_t now = hl_load32(&in_force);
    const struct sigaction known = theirs[now];
    if (wanted) {
        /* Before the kernel knows: a signal in between meets what was to be. */
        theirs[!now] = *wanted;
        __atomic_store_n(&in_force, !now, __ATOMIC_RELEASE);
        const struct sigaction own = wanted->sa_handler == SIG_IGN ? *wanted : ours(wanted);
        if (below()(number, &own, NULL)) return -1;
    }
    if (before) *before = known;
    return 0;
}

/* Take SIGBUS over, where the program does not ignore it (B1). */
static void take_over(void) {
    struct sigaction there;
    if (guarding || !below() || below()(SIGBUS, NULL, &there) || there.sa_handler == SIG_IGN) return;
    theirs[in_force] = there;
    const struct sigaction own = ours(&there);
    if (below()(SIGBUS, &own, NULL) == 0) __atomic_store_n(&guarding, 1, __ATOMIC_RELEASE);
}

void hl_guard_file(enum hl_guarded which, void *base, size_t size, void (*lost)(void)) {
    struct range *range = &ranges[which];
    __atomic_store_n(&range->size, 0, __ATOMIC_SEQ_CST);
    if (!base) return;
    range->base = (uintptr_t)base;
    range->lost = lost;
    __atomic_store_n(&range->size, size, __ATOMIC_RELEASE);
    take_over();
}
