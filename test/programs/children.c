/* SPDX-License-Identifier: MIT */
/*
 * A Ruby extension that starts processes in the ways that Ruby itself does not: vfork, posix_spawn, a bare clone that
 * runs no fork handler, and threads that allocate without end while their process forks.
 */
#include <pthread.h>
#include <ruby.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static VALUE status_of(pid_t pid) {
    int status;
    if (pid < 0) rb_sys_fail("no child");
    if (waitpid(pid, &status, 0) < 0) rb_sys_fail("waitpid");
    return INT2NUM(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

/* Run a shell command; the exit status, or less than 0 for a signal. */
static VALUE by_vfork(VALUE self, VALUE command) {
    char *const arguments[] = {"sh", "-c", StringValueCStr(command), NULL};
    pid_t pid = vfork();
    if (pid == 0) {
        execv("/bin/sh", arguments);
        _exit(127);
    }
    return status_of(pid);
}

static VALUE by_spawn(VALUE self, VALUE command) {
    char *const arguments[] = {"sh", "-c", StringValueCStr(command), NULL};
    pid_t pid;
    if (posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, environ)) pid = -1;
    return status_of(pid);
}

/* A child that no fork handler has seen allocates, frees what its parent allocated, and ends. */
static VALUE by_clone(VALUE self, VALUE rounds) {
    void *inherited = malloc(1234);
    int count = NUM2INT(rounds);
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) {
        free(inherited);
        for (int i = 0; i < count; i++) free(malloc(100 + i));
        _exit(7);
    }
    free(inherited);
    return status_of(pid);
}

/* As system(3) and popen(3) do it. */
static VALUE by_system(VALUE self, VALUE command) {
    int status = system(StringValueCStr(command));
    return INT2NUM(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

/* In bursts: threads that never rest would leave the forking one no processor. */
static void *allocate_forever(void *unused) {
    for (unsigned i = 0;; i++) {
        void *block = malloc(1 + i % 3000);
        if (i % 256 == 0) usleep(200);
        if (i % 7 == 0) block = realloc(block, 1 + i % 5000);
        free(block);
    }
    return NULL;
}

static VALUE allocating_threads(VALUE self, VALUE count) {
    for (int i = NUM2INT(count); i > 0; i--) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, allocate_forever, NULL)) rb_sys_fail("pthread_create");
        pthread_detach(thread);
    }
    return count;
}

/* So many children at once, none of which calls anything of the allocator's before all are there and the block ended.
 */
static VALUE waiting_children(VALUE self, VALUE count) {
    int ends[2];
    const int children = NUM2INT(count);
    if (pipe(ends)) rb_sys_fail("pipe");
    for (int i = 0; i < children; i++) {
        const pid_t pid = fork();
        if (pid < 0) rb_sys_fail("fork");
        if (pid) continue;
        char byte;
        close(ends[1]);
        if (read(ends[0], &byte, 1)) _exit(1);
        free(malloc(4321));
        _exit(0);
    }
    close(ends[0]);
    rb_yield(Qnil);
    close(ends[1]);
    for (int i = 0; i < children; i++) wait(NULL);
    return count;
}

void Init_children(void) {
    VALUE children = rb_define_module("Children");
    rb_define_module_function(children, "vfork", by_vfork, 1);
    rb_define_module_function(children, "spawn", by_spawn, 1);
    rb_define_module_function(children, "clone", by_clone, 1);
    rb_define_module_function(children, "system", by_system, 1);
    rb_define_module_function(children, "waiting", waiting_children, 1);
    rb_define_module_function(children, "allocating_threads", allocating_threads, 1);
}
