/* SPDX-License-Identifier: MIT */
#include "platform/own_process.h"

#include <signal.h>
#include <string.h>
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

static void parts_words_at_spaces_where_there_is_no_unit_separator(void) {
    struct hl_own_process process;
    char parted[] = "/bin/a b\x1f-x", spaced[] = "/bin/ruby -I/lib log";
    CHECK_EQUAL(hl_own_process_words(&process, parted), 2);
    CHECK(strcmp(process.words[0], "/bin/a b") == 0 && strcmp(process.words[1], "-x") == 0);
    CHECK_EQUAL(hl_own_process_words(&process, spaced), 3);
    CHECK(strcmp(process.words[1], "-I/lib") == 0 && strcmp(process.words[2], "log") == 0 && !process.words[3]);
}

static const struct check_test tests[] = {
    {"tells_living_from_ended_ones", tells_living_from_ended_ones},
    {"parts_words_at_spaces_where_there_is_no_unit_separator", parts_words_at_spaces_where_there_is_no_unit_separator},
};

CHECK_MAIN(tests)
