/* SPDX-License-Identifier: MIT */
#include <ruby.h> /* first: it defines _GNU_SOURCE */

#include "twin.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../heapline_core/platform/platform.h"
#include "bindings.h"
#include "tracer.h"
#include "vm_access.h"

enum { STACK_BYTES = 256 * 1024, LONGEST_S = 3600, FIRST_FD = 3, NICENESS = 5 };

/* Shared with the attendant, who lives on when the caller's frame is gone. One at a time (T5). */
static struct {
    pid_t owner;     /* the process that has an attendant: a forked child has none */
    pid_t attendant; /* 0: none */
    char *stack;
    void *context[5]; /* of __builtin_setjmp */
    uint32_t forked;  /* a futex word */
    pid_t pid;
    int error;
    int32_t *status;
} twin;

struct request {
    void (*run)(void *, int);
    void *argument;
    int fd;
    int made; /* the callback may come more than once */
};

/* ---- in the attendant: it runs with the caller's thread pointer, so errno is the program's and not to be touched ----
 */

static void tell_caller(void) {
    __atomic_store_n(&twin.forked, 1, __ATOMIC_RELEASE);
    hl_quiet_syscall(SYS_futex, (long)&twin.forked, FUTEX_WAKE, 1, 0);
}

static int attend(void *unused) {
    int32_t status = 0;
    const pid_t pid = fork(); /* the caller waits: errno may be used up to tell_caller */
    if (pid == 0) __builtin_longjmp(twin.context, 1);
    twin.error = pid < 0 ? errno : 0;
    twin.pid = pid;
    tell_caller();
    hl_quiet_syscall(SYS_close_range, 0, ~0u, 0, 0);
    hl_quiet_syscall(SYS_prctl, PR_SET_NAME, (long)"heapline", 0, 0);
    if (pid > 0) hl_quiet_syscall(SYS_wait4, pid, (long)&status, 0, 0);
    if (twin.status) __atomic_store_n(twin.status, status, __ATOMIC_RELEASE);
    hl_quiet_syscall(SYS_exit_group, 0, 0, 0, 0);
    return 0;
}

/* ---- in the twin ---- */

static void close_all_but(int fd) {
    if (fd > FIRST_FD) syscall(SYS_close_range, FIRST_FD, fd - 1, 0);
    if (syscall(SYS_close_range, fd + 1, ~0u, 0) == 0) return;
    for (int other = FIRST_FD; other < 65536; other++)
        if (other != fd) close(other);
}

/* Returns the descriptor that stays. Its number was free in the program, so no IO of the program's has it. */
static int keep_only(int fd) {
    const int null = open("/dev/null", O_RDWR);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK); /* stdio does not wait by itself */
    if (fd < FIRST_FD) fd = fcntl(fd, F_DUPFD, FIRST_FD);
    for (int standard = 0; standard < FIRST_FD; standard++) dup2(null, standard);
    close_all_but(fd);
    return fd;
}

static int watched; /* its pipe */

/* Each second (T5). */
static void look_about(int number) {
    static int seconds;
    struct pollfd pipe = {.fd = watched};
    (void)number;
    if (++seconds > LONGEST_S || (poll(&pipe, 1, 0) > 0 && pipe.revents & POLLERR)) _exit(1);
}

/* Ruby's handlers would write a report, or queue a trap; a core file of the twin is of no use. */
static void settle_signals(int fd) {
    const struct itimerval each_second = {{1, 0}, {1, 0}};
    const struct sigaction look = {.sa_handler = look_about, .sa_flags = SA_RESTART};
    const struct rlimit none = {0, 0};
    sigset_t alarm;
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    watched = fd;
    sigaction(SIGALRM, &look, NULL);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarm, NULL);
    setitimer(ITIMER_REAL, &each_second, NULL);
    setrlimit(RLIMIT_CORE, &none);
}

/* Where memory gets short the twin is to go, not the program. */
static void step_back(void) {
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, "1000", 4) < 0) errno = 0;
    if (fd >= 0) close(fd);
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICENESS);
}

__attribute__((noreturn)) static void be_the_twin(const struct request *request) {
    const int fd = keep_only(request->fd);
    settle_signals(fd);
    step_back();
    prctl(PR_SET_NAME, "heapline twin"); /* it has nothing of the program's any more */
    rbhl_vm_stand_still();
    request->run(request->argument, fd);
    _exit(0);
}

/* ---- in the program ---- */

/* The attendant's last word is the status: it ends right behind that. */
static int has_ended(void) {
    const int told = twin.status && __atomic_load_n(twin.status, __ATOMIC_ACQUIRE) != -1;
    pid_t waited;
    do waited = waitpid(twin.attendant, NULL, (told ? 0 : WNOHANG) | __WCLONE);
    while (waited < 0 && errno == EINTR);
    return waited != 0;
}

int rbhl_twin_reap(void) {
    if (twin.attendant && twin.owner == getpid() && !has_ended()) return 0;
    twin.attendant = 0;
    return 1;
}

/* The fork in between is not one of the program's: heapline's core, where it is, keeps out of it. */
static void fork_is_ours(int ours) {
    void (*tell)(int);
    *(void **)&tell = rbhl_core_symbol("heapline_twin_fork");
    if (tell) tell(ours);
}

/* Until it has forked, or has ended without (killed). */
static void wait_for_attendant(void) {
    const struct timespec look = {.tv_nsec = 100000000};
    while (!__atomic_load_n(&twin.forked, __ATOMIC_ACQUIRE)) {
        syscall(SYS_futex, &twin.forked, FUTEX_WAIT, 0, &look);
        if (!__atomic_load_n(&twin.forked, __ATOMIC_ACQUIRE) && rbhl_twin_reap()) {
            twin.error = ECHILD;
            return;
        }
    }
}

static int ensure_stack(void) {
    if (twin.stack) return 1;
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return 0;
    twin.stack = stack;
    return 1;
}

/* Returns in the program only. Its own frame has to be whole when the twin comes back to it. */
__attribute__((noinline)) static void split(const struct request *request) {
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    twin.forked = 0;
    twin.pid = 0;
    twin.owner = getpid();
    if (__builtin_setjmp(twin.context)) be_the_twin(request);
    twin.attendant = clone(attend, twin.stack + STACK_BYTES, CLONE_VM, NULL);
    if (twin.attendant > 0)
        wait_for_attendant();
    else
        twin.error = errno, twin.attendant = 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* The first page of the object heap: here the VM stands still (T3), and no more pages are wanted. */
static int at_a_page(void *start, void *end, size_t stride, void *argument) {
    struct request *request = argument;
    if (!request->made++) {
        fork_is_ours(1);
        split(request);
        fork_is_ours(0);
    }
    return 1;
}

static void at_the_first_page(void *request) {
    rb_objspace_each_objects(at_a_page, request);
}

struct rbhl_twin rbhl_twin_make(void (*run)(void *, int), void *argument, int fd, int gc, int32_t *status) {
    const uint64_t began = rbhl_now();
    const int saved = errno;
    struct request request = {run, argument, fd, 0};
    struct rbhl_twin made = {0, 0, 0};
    if (!rbhl_twin_reap()) made.error = EBUSY;
    if (!made.error && !rb_objspace_each_objects) made.error = ENOSYS;
    if (!made.error && !ensure_stack()) made.error = ENOMEM;
    if (made.error) return made;
    twin.status = status;
    if (status) *status = -1;
    if (gc) rb_gc_start();
    made.error = rbhl_vm_pause(at_the_first_page, &request);
    made.pid = !made.error && twin.pid > 0 ? twin.pid : 0;
    if (!made.error) made.error = twin.error;
    made.pause_ns = rbhl_now() - began;
    errno = saved;
    return made;
}
