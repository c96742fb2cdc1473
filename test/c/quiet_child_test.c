/* SPDX-License-Identifier: MIT */
#include "leaks/quiet_child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "machine.h"
#include "platform/platform.h"

static volatile int signals;

static void note(int number) {
    (void)number;
    signals++;
}

static int answer(void *argument) {
    return *(int *)argument;
}

/* Q1, and: nobody's wait and no SIGCHLD tells of it. */
static void works_unseen(void) {
    int status = 42;
    signal(SIGCHLD, note);
    for (int i = 0; i < 20; i++) {
        struct hl_quiet_child child = {.work = answer, .argument = &status, .fd = -1, .stop_threads = 1};
        CHECK_EQUAL(hl_quiet_child_start(&child), 0);
        CHECK_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
        CHECK_EQUAL(errno, ECHILD);
        CHECK_EQUAL(hl_quiet_child_wait(&child), 42);
    }
    CHECK_EQUAL(waitpid(-1, NULL, WNOHANG | __WALL), -1);
    CHECK_EQUAL(signals, 0);
}

static int die(void *argument) {
    (void)argument;
    kill(getpid(), SIGKILL);
    return 0;
}

static void a_death_is_told(void) {
    struct hl_quiet_child child = {.work = die, .fd = -1};
    CHECK_EQUAL(hl_quiet_child_start(&child), 0);
    CHECK_EQUAL(hl_quiet_child_wait(&child), 128 + SIGKILL);
}

static int linger(void *argument) {
    (void)argument;
    return usleep(2000) && 1;
}

/* Kills the attendant so many rounds after it has been made. In another process, which nobody stops. */
static pid_t killer(const struct hl_quiet_child *child, int rounds) {
    const pid_t pid = fork();
    if (pid) return pid;
    while (!__atomic_load_n(&child->attendant, __ATOMIC_ACQUIRE)) continue;
    for (volatile int i = 0; i < rounds; i++) continue;
    kill(child->attendant, SIGKILL);
    _exit(0);
}

/* Whenever the attendant is killed, the program goes on, and nothing stays of either. */
static void an_attendant_that_is_killed(void) {
    struct hl_quiet_child *child = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int failed = 0, unseen = 0, ended = 0;
    sigset_t mask;
    for (int rounds = 0; rounds < 4000000; rounds += rounds / 8 + 50) {
        *child = (struct hl_quiet_child){.work = linger, .fd = -1, .stop_threads = 1};
        const pid_t pid = killer(child, rounds);
        errno = EXDEV;
        const int problem = hl_quiet_child_start(child);
        CHECK(problem == 0 || problem == -ECHILD);
        if (problem)
            failed++;
        else if (hl_quiet_child_wait(child) == 127)
            unseen++;
        else
            ended++;
        CHECK_EQUAL(errno, EXDEV);
        CHECK(sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && !sigismember(&mask, SIGTERM));
        CHECK_EQUAL(waitpid(pid, NULL, 0), pid);
        CHECK_EQUAL(waitpid(-1, NULL, WNOHANG | __WALL), -1);
    }
    CHECK(failed > 0 && failed + unseen + ended > 30);
    int status = 42;
    *child = (struct hl_quiet_child){.work = answer, .argument = &status, .fd = -1, .stop_threads = 1};
    CHECK(hl_quiet_child_start(child) == 0 && hl_quiet_child_wait(child) == 42);
}

/* A program that is killed takes its attendant along. */
static void a_program_that_is_killed(void) {
    struct hl_quiet_child *child = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (int rounds = 0; rounds < 1000000; rounds += rounds / 4 + 100) {
        *child = (struct hl_quiet_child){.work = linger, .fd = -1, .stop_threads = 1};
        const pid_t program = fork();
        if (program == 0) {
            hl_quiet_child_start(child);
            pause();
        }
        while (!__atomic_load_n(&child->attendant, __ATOMIC_ACQUIRE)) continue;
        for (volatile int i = 0; i < rounds; i++) continue;
        kill(program, SIGKILL);
        while (waitpid(-1, NULL, __WALL) > 0) continue; /* all of them end */
    }
}

static int count_descriptors(void *argument) {
    int open = 0;
    (void)argument;
    for (int fd = 0; fd < 256; fd++) open += fcntl(fd, F_GETFD) >= 0;
    return open;
}

static void only_its_descriptor_is_open(void) {
    int pipes[2];
    CHECK_EQUAL(pipe(pipes), 0);
    struct hl_quiet_child child = {.work = count_descriptors, .fd = pipes[1]};
    CHECK_EQUAL(hl_quiet_child_start(&child), 0);
    CHECK_EQUAL(hl_quiet_child_wait(&child), 1);
    child = (struct hl_quiet_child){.work = count_descriptors, .fd = -1};
    CHECK_EQUAL(hl_quiet_child_start(&child), 0);
    CHECK_EQUAL(hl_quiet_child_wait(&child), 0);
}

static sem_t ready, finish;
static volatile uintptr_t word_of_thread = 0x123456789abcdef0;
static volatile uint32_t thread_number;

static void *rest(void *unused) {
    thread_number = (uint32_t)gettid();
    sem_post(&ready);
    /* futex(&finish, …) would do; here a system call with a register as it must be found. */
    WAIT_WITH_REGISTER(word_of_thread);
    return unused;
}

static struct hl_quiet_child with_threads;

static int find_register(void *argument) {
    (void)argument;
    for (uint32_t i = 0; i < with_threads.thread_count; i++) {
        const struct hl_thread_state *state = &with_threads.threads[i];
        if (state->tid == thread_number)
            return !state->known ? 2 : register_that_waits(&state->registers.general) != word_of_thread;
    }
    return 3;
}

static void registers_of_other_threads(void) {
    pthread_t thread;
    sem_init(&ready, 0, 0);
    sem_init(&finish, 0, 0);
    pthread_create(&thread, NULL, rest, NULL);
    while (sem_wait(&ready)) continue;
    int found = 1;
    /* Until the thread is in its system call. */
    for (int i = 0; i < 1000 && found == 1; i++) {
        with_threads = (struct hl_quiet_child){.work = find_register, .fd = -1, .stop_threads = 1};
        CHECK_EQUAL(hl_quiet_child_start(&with_threads), 0);
        found = hl_quiet_child_wait(&with_threads);
        usleep(1000);
    }
    if (found == 2) check_skip("ptrace is not permitted");
    CHECK_EQUAL(found, 0);
}

static volatile int go_on = 1;
static volatile uint64_t rounds;

static void *work_hard(void *unused) {
    while (go_on) rounds++;
    return unused;
}

/* Q3: they go on. */
static void threads_go_on(void) {
    pthread_t threads[4];
    int status = 0;
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work_hard, NULL);
    for (int i = 0; i < 50; i++) {
        struct hl_quiet_child child = {.work = answer, .argument = &status, .fd = -1, .stop_threads = 1};
        CHECK_EQUAL(hl_quiet_child_start(&child), 0);
        CHECK_EQUAL(hl_quiet_child_wait(&child), 0);
    }
    const uint64_t before = rounds;
    while (rounds == before) usleep(1000);
    go_on = 0;
    for (int i = 0; i < 4; i++) CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
}

static const struct check_test tests[] = {
    {"works_unseen", works_unseen},
    {"a_death_is_told", a_death_is_told},
    {"an_attendant_that_is_killed", an_attendant_that_is_killed},
    {"a_program_that_is_killed", a_program_that_is_killed},
    {"only_its_descriptor_is_open", only_its_descriptor_is_open},
    {"registers_of_other_threads", registers_of_other_threads},
    {"threads_go_on", threads_go_on},
};

/* Not under the thread sanitizer: it does not know a process that shares memory. */
int main(void) {
#ifdef HL_THREAD_SANITIZER
    (void)tests;
    return puts("0 passed, 0 failed") < 0;
#else
    return check_run(tests, sizeof(tests) / sizeof(tests[0]));
#endif
}
