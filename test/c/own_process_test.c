/* SPDX-License-Identifier: MIT */
#include "platform/own_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static pid_t start(void) {
    const pid_t pid = fork();
    if (pid) return pid;
    prctl(PR_SET_NAME, "a) Z (b"); /* names may hold anything */
    for (;;) pause();
}

static void tells_living_from_ended_ones(void) {
    siginfo_t info;
    const pid_t pid = start();
    CHECK(!hl_process_ended((uint32_t)getpid()));
    CHECK(!hl_process_ended((uint32_t)pid));
    CHECK(!hl_process_ended(1)); /* another user's, perhaps */
    kill(pid, SIGSTOP);
    CHECK(!hl_process_ended((uint32_t)pid));
    kill(pid, SIGKILL);
    CHECK_EQUAL(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0); /* it stays as a zombie */
    CHECK(hl_process_ended((uint32_t)pid));
    CHECK_EQUAL(waitpid(pid, NULL, 0), pid);
    CHECK(hl_process_ended((uint32_t)pid));
}

static const struct check_test tests[] = {{"tells_living_from_ended_ones", tells_living_from_ended_ones}};

CHECK_MAIN(tests)
