/* SPDX-License-Identifier: MIT */
#include "platform/own_process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/own_memory.h"
#include "platform/system_call.h"
#include "platform/text.h"

extern char **environ;

enum { THREAD_STACK_BYTES = 256 * 1024 };

enum { ENVIRONMENT = 1024, STACK_BYTES = 1 << 16, BEHIND_FDS = HL_OWN_FIRST_FD + HL_OWN_FDS };

/* What the clones need: on the stack of the caller, who waits, or in the copy of it. */
struct launch {
    const struct hl_own_process *process;
    char *stack; /* its high end, for the process */
    char *environment[ENVIRONMENT];
};

const char *hl_own_process_separator(const char *command) {
    return strchr(command, '\x1f') ? "\x1f" : " ";
}

int hl_own_process_words(struct hl_own_process *process, char *command) {
    const char separator = *hl_own_process_separator(command);
    int count = 0;
    for (char *word = command; word && count < HL_OWN_WORDS / 2; count++) {
        char *end = strchr(word, separator);
        if (end) *end++ = 0;
        process->words[count] = word;
        word = end;
    }
    process->words[count] = NULL;
    for (int i = 0; i < HL_OWN_FDS; i++) process->fds[i] = -1;
    return count;
}

/* What the program needs of Ruby, Bundler and us would make the process load the program's gems. */
static int belongs_to_the_program(const char *entry) {
    static const char *const prefixes[] = {"LD_PRELOAD=", "RUBYOPT=", "RUBYLIB=", "BUNDLE_", "BUNDLER_", "GEM_", NULL};
    for (int i = 0; prefixes[i]; i++)
        if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0) return 1;
    return 0;
}

static void copy_environment(struct launch *launch) {
    int count = 0;
    for (char **entry = environ; entry && *entry && count < ENVIRONMENT - 1; entry++)
        if (!belongs_to_the_program(*entry)) launch->environment[count++] = *entry;
    launch->environment[count] = NULL;
}

static void close_from(unsigned first) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0u, 0) == 0) return;
#endif
    for (unsigned fd = first; fd < 65536; fd++) close((int)fd);
}

/* First out of each other's way. */
static void place_descriptors(const struct hl_own_process *process) {
    int moved[HL_OWN_FDS];
    for (int i = 0; i < HL_OWN_FDS; i++)
        moved[i] = process->fds[i] < 0 ? -1 : fcntl(process->fds[i], F_DUPFD_CLOEXEC, BEHIND_FDS);
    for (int i = 0; i < HL_OWN_FDS; i++) {
        if (moved[i] < 0)
            close(HL_OWN_FIRST_FD + i);
        else
            dup2(moved[i], HL_OWN_FIRST_FD + i);
    }
}

/* Away from the program's session: what its terminal sends must not end the companion before its last line. */
static void stand_apart(void) {
    const int null = open("/dev/null", O_RDWR);
    setsid();
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    close_from(BEHIND_FDS);
}

static int become(void *argument) {
    const struct launch *launch = argument;
    const struct hl_own_process *process = launch->process;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    place_descriptors(process);
    if (process->stays) stand_apart();
    hl_execute(process->words[0], process->words, launch->environment);
    hl_say("%s: %s: %s", process->task, process->words[0], strerror(errno));
    hl_end_process(127);
}

/* Runs beside the program in its memory, and is the process's parent (P1). */
static int attend(void *argument) {
    struct launch *launch = argument;
    int pid = clone(become, launch->stack, CLONE_VM | CLONE_VFORK | SIGCHLD, launch);
    if (pid > 0 && !launch->process->stays) waitpid(pid, NULL, 0);
    return 0;
}

/* Instead of the attendant where orphans would come to the program (P2): the process's parent as long as it lives. Its
 * exit signal is 0 too; it stays as long as the program does, for its own end would leave a zombie. */
static int stand_in(void *argument) {
    struct launch *launch = argument;
    const pid_t program = getppid();
    setsid();
    prctl(PR_SET_NAME, "heapline");
    int pid = clone(become, launch->stack, CLONE_VM | CLONE_VFORK | SIGCHLD, launch);
    close_from(0);
    if (pid > 0) waitpid(pid, NULL, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == program) pause();
    return 0;
}

static int orphans_come_here(void) {
    int asked = 0;
    return getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &asked) == 0 && asked);
}

/* An attendant with exit signal 0 is seen by no wait of the program's but one for __WCLONE. */
static int launch_beside(struct launch *launch, char *stack) {
    if (launch->process->stays && orphans_come_here()) return clone(stand_in, stack, 0, launch);
    int pid = clone(attend, stack, CLONE_VM, launch);
    while (pid > 0 && waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
        ;
    return pid;
}

void hl_own_process_start(const struct hl_own_process *process) {
    struct launch launch = {.process = process};
    char *stacks = hl_own_memory(2 * STACK_BYTES);
    sigset_t all, before;
    if (!stacks) return hl_say("%s: %s", process->task, strerror(ENOMEM));
    launch.stack = stacks + 2 * STACK_BYTES;
    copy_environment(&launch);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    if (launch_beside(&launch, stacks + STACK_BYTES) < 0) hl_say("%s: %s", process->task, strerror(errno));
    sigprocmask(SIG_SETMASK, &before, NULL);
    hl_own_memory_return(stacks, 2 * STACK_BYTES);
}

int hl_own_thread_start(void *(*work)(void *unused)) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&thread, &attributes, work, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -failed;
}

/* ---- whether a process lives ---- */

/* Field 3 of a file `stat`, behind a name that may hold anything; 0: it cannot be told. */
static char state_in(const char *path) {
    char text[64];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0) close(fd);
    text[length > 0 ? length : 0] = 0;
    const char *behind = strrchr(text, ')');
    return behind && behind[1] == ' ' ? behind[2] : 0;
}

char hl_thread_state(uint32_t tid) {
    char path[64];
    hl_text(path, sizeof(path), "/proc/self/task/%u/stat", tid);
    return state_in(path);
}

int hl_process_gone(uint32_t pid) {
    return kill((pid_t)pid, 0) && errno == ESRCH;
}

int hl_process_ended(uint32_t pid) {
    if (hl_process_gone(pid)) return 1;
    char path[64];
    hl_text(path, sizeof(path), "/proc/%u/stat", pid);
    const char state = state_in(path);
    return state == 'Z' || state == 'X';
}
