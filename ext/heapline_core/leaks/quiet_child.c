/* SPDX-License-Identifier: MIT */
#include "leaks/quiet_child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/own_memory.h"
#include "platform/platform.h"
#include "platform/system_call.h"
#include "platform/text.h"
#include "state/guard.h"

enum {
    STACK_BYTES = 1 << 18,
    THREADS = 4096,
    SHARED_BYTES = 4096,
    MEMORY_BYTES = STACK_BYTES + THREADS * sizeof(struct hl_thread_state),
    COPY_SECONDS = 600,         /* of processor time that a copy may take */
    STOP_MS = 100,              /* a thread that does not stop in this time (in vfork, on a dead file system) runs on */
    LOOK_NS = 50 * 1000 * 1000, /* between two looks at who is waited for */
    LONGEST_S = 60,             /* for which the program waits for the copy: a fork takes milliseconds a gigabyte */
};

static uint64_t now_ns(void) {
    return hl_clock_ns(CLOCK_MONOTONIC);
}

static void announce(uint32_t *word, uint32_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* What the word is, 0 where it is nothing yet after a while. */
static uint32_t await(uint32_t *word) {
    const struct timespec look = {.tv_nsec = LOOK_NS};
    const uint32_t value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (value) return value;
    syscall(SYS_futex, word, FUTEX_WAIT, 0, &look, NULL, 0);
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* ---- in the attendant: the other threads ----
 *
 * It runs with the caller's thread pointer, and so with its errno. The caller waits for all of this, but for `collect`.
 */

struct directory_entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

static void note_threads(struct hl_quiet_child *child, const char *entries, long size) {
    for (long at = 0; at < size && child->thread_count < THREADS;) {
        const struct directory_entry *entry = (const struct directory_entry *)(entries + at);
        const char *cursor = entry->name;
        const uint32_t tid = (uint32_t)hl_parse_number(&cursor);
        at += entry->length;
        if (tid && tid != child->caller) child->threads[child->thread_count++].tid = tid;
    }
}

static void list_threads(struct hl_quiet_child *child) {
    char path[64], entries[4096];
    long size;
    hl_text(path, sizeof(path), "/proc/%d/task", child->program);
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && (size = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
        note_threads(child, entries, size);
    if (fd >= 0) close(fd);
}

/* A signal that was on its way to the thread is given back with it. */
static void let_go(uint32_t tid, int status) {
    const int event = status >> 16, signal = WSTOPSIG(status);
    hl_quiet_syscall(SYS_ptrace, PTRACE_DETACH, tid, 0, event ? 0 : signal);
}

static void stop(struct hl_thread_state *thread, int *statuses, uint32_t number, uint64_t limit) {
    int status;
    long found;
    while ((found = waitpid((int)thread->tid, &status, __WALL | WNOHANG)) == 0 && now_ns() < limit) sched_yield();
    if (found != (int)thread->tid || !WIFSTOPPED(status)) return;
    statuses[number] = status;
    thread->known = hl_registers_read((int)thread->tid, &thread->registers) == 0;
}

/* Seize all before waiting for one. */
static void stop_threads(struct hl_quiet_child *child, int *statuses) {
    const uint64_t limit = now_ns() + STOP_MS * 1000000ull;
    for (uint32_t i = 0; i < child->thread_count; i++)
        if (ptrace(PTRACE_SEIZE, child->threads[i].tid, NULL, NULL) == 0)
            ptrace(PTRACE_INTERRUPT, child->threads[i].tid, NULL, NULL);
    for (uint32_t i = 0; i < child->thread_count; i++) stop(&child->threads[i], statuses, i, limit);
}

static void release_threads(const struct hl_quiet_child *child, const int *statuses) {
    for (uint32_t i = 0; i < child->thread_count; i++)
        if (statuses[i]) let_go(child->threads[i].tid, statuses[i]);
}

/* ---- in the copy ---- */

static void close_all_but(int fd) {
    if (fd > 0) syscall(SYS_close_range, 0, fd - 1, 0);
    syscall(SYS_close_range, fd + 1, ~0u, 0);
}

static _Noreturn void be_the_copy(struct hl_quiet_child *child) {
    hl_life_set(HL_LIFE_INERT);
    prctl(PR_SET_NAME, "heapline-copy");
    prctl(PR_SET_DUMPABLE, 0);        /* no core dump of the program's memory, whatever happens */
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would collect it, or know of it */
    if (getppid() != child->attendant) hl_end_process(127);
    setrlimit(RLIMIT_CPU, &(struct rlimit){COPY_SECONDS, COPY_SECONDS}); /* nor a processor lost for ever */
    close_all_but(child->fd);
    hl_end_process(child->work(child->argument));
}

/* ---- in the attendant ---- */

/* Until the copy has ended; a thread that could not be stopped in time may stop only now. */
static int collect(int copy) {
    int status;
    for (;;) {
        const int found = (int)hl_quiet_syscall(SYS_wait4, -1, (long)&status, __WALL, 0);
        if (found < 0 && found != -EINTR) return 127;
        if (found == copy && !WIFSTOPPED(status))
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        if (found > 0 && WIFSTOPPED(status)) let_go((uint32_t)found, status);
    }
}

static int attend(void *argument) {
    struct hl_quiet_child *child = argument;
    int *statuses = (int *)(child->memory + STACK_BYTES + THREADS * sizeof(struct hl_thread_state));
    while (!await(&child->may_begin))
        if (getppid() != child->program) return 127; /* it was killed */
    list_threads(child);
    if (child->stop_threads) stop_threads(child, statuses);
    prctl(PR_SET_PTRACER, getpid()); /* where Yama lets only parents trace, the copy may read what it lacks */
    const long copy = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (copy == 0) be_the_copy(child);
    const uint32_t result = copy < 0 ? (uint32_t)-errno : 1;
    release_threads(child, statuses);
    announce(&child->made, result);
    return copy < 0 ? 127 : collect((int)copy);
}

/* ---- in the program ---- */

/* Where only parents may trace (Yama), the attendant, a child, is allowed to for the moment. */
static int tracing_is_restricted(void) {
    char value = 0;
    const int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const ssize_t got = read(fd, &value, 1);
    close(fd);
    return got == 1 && value == '1';
}

static int take_memory(struct hl_quiet_child *child) {
    child->memory = hl_own_memory(MEMORY_BYTES + THREADS * sizeof(int));
    child->pause_ns = hl_map(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
    if (!child->memory || child->pause_ns == MAP_FAILED) return -ENOMEM;
    child->threads = (struct hl_thread_state *)(child->memory + STACK_BYTES);
    return 0;
}

/* Once, whoever is forked meanwhile. */
static void give_memory_back(struct hl_quiet_child *child) {
    char *memory = child->memory;
    child->memory = NULL;
    if (memory) hl_own_memory_return(memory, MEMORY_BYTES + THREADS * sizeof(int));
    if (child->pause_ns != MAP_FAILED) hl_unmap(child->pause_ns, SHARED_BYTES);
}

void hl_quiet_child_forget(struct hl_quiet_child *child) {
    if (child->memory && child->pause_ns) give_memory_back(child);
}

/* 1, or -errno: the attendant may be killed, or stopped, like any other process. */
static int await_copy(struct hl_quiet_child *child, uint64_t begun) {
    uint32_t made;
    while (!(made = await(&child->made))) {
        siginfo_t ended = {0};
        waitid(P_PID, (id_t)child->attendant, &ended, WEXITED | WNOHANG | WNOWAIT | __WCLONE);
        const int late = now_ns() - begun > LONGEST_S * 1000000000ull;
        if (late) kill(child->attendant, SIGKILL);
        if (ended.si_pid || late) return (made = await(&child->made)) ? (int)made : late ? -ETIMEDOUT : -ECHILD;
    }
    return (int)made;
}

__attribute__((noinline)) int hl_quiet_child_start(struct hl_quiet_child *child) {
    volatile uintptr_t registers[HL_PRESERVED]; /* where the copy finds them */
    sigset_t all, before;
    const uint64_t begun = now_ns();
    const int saved = errno;
    HL_SPILL(registers);
    child->caller_stack = (uintptr_t)registers;
    child->caller = (uint32_t)syscall(SYS_gettid);
    child->program = getpid();
    if (take_memory(child)) {
        give_memory_back(child);
        errno = saved;
        return -ENOMEM;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    child->attendant = clone(attend, child->memory + STACK_BYTES, CLONE_VM, child);
    const int failed = child->attendant < 0 ? -errno : 0;
    const int restricted = !failed && child->stop_threads && tracing_is_restricted();
    if (restricted) prctl(PR_SET_PTRACER, child->attendant);
    if (!failed) announce(&child->may_begin, 1);
    const int made = failed ? failed : await_copy(child, begun);
    if (restricted) prctl(PR_SET_PTRACER, 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (!failed) *child->pause_ns = now_ns() - begun;
    if (!failed && made != 1) hl_quiet_child_wait(child);
    if (failed) give_memory_back(child);
    errno = saved;
    return made == 1 ? 0 : made;
}

int hl_quiet_child_wait(struct hl_quiet_child *child) {
    int status = 0, found;
    const int saved = errno;
    while ((found = waitpid(child->attendant, &status, __WCLONE)) < 0 && errno == EINTR)
        ;
    give_memory_back(child);
    errno = saved;
    return found == child->attendant && WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}
