/* FATAL_CALL PID NUMBER [one]: process PID, which has stopped itself, goes on and is killed, with all that it has
 * forked, at its NUMBERth stop at a system call: each one stops before and after. `one`: only the process that made the
 * call is killed. Tells how many stops there were: fewer than NUMBER where it ended before. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum { MOST = 1024, OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK };
static pid_t met[MOST];
static int met_count;

static void meet(pid_t pid) {
    for (int i = 0; i < met_count; i++)
        if (met[i] == pid) return;
    if (met_count < MOST) met[met_count++] = pid;
}

/* A group that has stopped stays so until it is told; other signals go on. */
static void go_on(pid_t pid, int status) {
    const int event = status >> 16, signal = WSTOPSIG(status);
    const int stopped = event == PTRACE_EVENT_STOP && signal != SIGTRAP;
    const int own = event || signal == (SIGTRAP | 0x80);
    ptrace(stopped ? PTRACE_LISTEN : PTRACE_SYSCALL, pid, NULL, (void *)(long)(own ? 0 : signal));
}

int main(int count, char **words) {
    const pid_t first = count > 2 ? atoi(words[1]) : 0;
    const long fatal = count > 2 ? atol(words[2]) : 0;
    long stops = 0;
    int status;
    pid_t pid;
    if (!first || ptrace(PTRACE_SEIZE, first, NULL, (void *)(long)OPTIONS)) {
        perror("fatal_call");
        return 1;
    }
    kill(first, SIGCONT);
    while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
        if (pid <= 0 || !WIFSTOPPED(status)) continue;
        meet(pid);
        if (WSTOPSIG(status) == (SIGTRAP | 0x80) && ++stops == fatal) {
            if (count > 3)
                kill(pid, SIGKILL);
            else
                for (int i = 0; i < met_count; i++) kill(met[i], SIGKILL);
        }
        go_on(pid, status);
    }
    printf("%ld\n", stops);
    return 0;
}
