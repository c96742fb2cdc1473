/* SPDX-License-Identifier: MIT */
/*
 * Starting heapline's own processes beside the program: the reporter at its end, the companion that writes the growth
 * log. They are no children that the program can see: no SIGCHLD, nothing for wait(2) to find.
 *
 * P1  A process that executes gets the exit signal SIGCHLD, which the program must not get. So between the program and
 *     it stands an attendant, which has none, shares the program's memory, and ends at once (or with the reporter).
 * P2  Nobody's orphans come to the program, unless it is the first process of its PID namespace or asked for them
 *     (PR_SET_CHILD_SUBREAPER). There the attendant stays, in a copy of the program's memory, and waits in its place.
 *
 * Callable from any thread with the guard entered; nothing here allocates through malloc.
 */
#ifndef HL_OWN_PROCESS_H
#define HL_OWN_PROCESS_H

#include <stdint.h>

enum { HL_OWN_FIRST_FD = 3, HL_OWN_FDS = 2, HL_OWN_WORDS = 48, HL_OWN_COMMAND = 4096 };

struct hl_own_process {
    char *words[HL_OWN_WORDS]; /* the command, NULL at its end; the first is the path of what is executed */
    int fds[HL_OWN_FDS];       /* what it gets as descriptors 3 and 4; -1: none */
    int stays;                 /* it runs beside the program: in a session of its own, with stderr and `fds` alone */
    const char *task;          /* for the message where it cannot be executed: "the report could not be made" */
};

/* What parts the words of `command`: the unit separator, or, where it has none, the space: not every file in which an
 * environment is written down can have the other. */
const char *hl_own_process_separator(const char *command);

/* Put the words of `command`, whose separators become NULs, into `process`, and -1 into its fds. Returns their
 * number; there is room for as many again. */
int hl_own_process_words(struct hl_own_process *process, char *command);

/* Start it; wait for its end unless it stays. */
void hl_own_process_start(const struct hl_own_process *process);

/* Start a detached thread with all signals blocked. 0 or -errno. With the guard entered. */
int hl_own_thread_start(void *(*work)(void *unused));

/* What a thread of this process does: R, S, D … as in proc(5); 0: it cannot be told. From anywhere. */
char hl_thread_state(uint32_t tid);

/* 1: there is no process of this pid. From anywhere. */
int hl_process_gone(uint32_t pid);

/* 1: there is no process of this pid, or it has ended and its parent has not asked for its status yet. From anywhere.
 */
int hl_process_ended(uint32_t pid);

#endif
