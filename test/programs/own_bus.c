/* SPDX-License-Identifier: MIT */
/*
 * OwnBus.run(what): the process maps a file of its own that is then cut. `what` says what it has for SIGBUS: a handler
 * with (siginfo) or without (plain) further words, one that is for once (once), one by signal() (signal), none
 * (default), Ruby's (ruby), or that it sends the signal to itself (sent, ignored). Prints what it met; ends by exit, or
 * by the signal.
 */
#include <ruby.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static sigjmp_buf back;
static char *mapping;
static void *address;
static int met, on_stack;
static char stack[65536];

static void note(void) {
    char here;
    met++;
    on_stack = &here >= stack && &here < stack + sizeof(stack);
}

static void plain(int number) {
    (void)number;
    note();
    siglongjmp(back, 1);
}

static void told(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    note();
    address = info->si_addr;
    siglongjmp(back, 1);
}

static void quiet(int number) {
    (void)number;
    note();
}

static void set(void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, before, after;
    if (flags & SA_SIGINFO) action.sa_sigaction = told;
    sigaddset(&action.sa_mask, SIGUSR1);
    if (sigaction(SIGBUS, &action, &before) || sigaction(SIGBUS, NULL, &after)) exit(90);
    printf("before %d, now mine %d, flags %x, mask %d\n", before.sa_handler == SIG_DFL,
           after.sa_handler == action.sa_handler, after.sa_flags & ~0x04000000, sigismember(&after.sa_mask, SIGUSR1));
}

static void cut_and_look(void) {
    const int fd = memfd_create("own", 0);
    if (fd < 0 || ftruncate(fd, 8192)) exit(91);
    mapping = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
    if (mapping == MAP_FAILED || ftruncate(fd, 0)) exit(92);
    if (!sigsetjmp(back, 1)) printf("read %d\n", ((volatile char *)mapping)[4100]);
    printf("met %d, address %d, own stack %d\n", met, address == mapping + 4100, on_stack);
}

static VALUE run(VALUE self, VALUE word) {
    const char *what = StringValueCStr(word);
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
    setvbuf(stdout, NULL, _IONBF, 0);
    sigaltstack(&other, NULL);
    if (strcmp(what, "ruby")) signal(SIGBUS, SIG_DFL);
    if (!strcmp(what, "siginfo")) set(NULL, SA_SIGINFO | SA_ONSTACK);
    if (!strcmp(what, "plain")) set(plain, 0);
    if (!strcmp(what, "once")) set(plain, SA_RESETHAND);
    if (!strcmp(what, "signal")) printf("before %d\n", signal(SIGBUS, plain) == SIG_DFL);
    if (!strcmp(what, "sent")) {
        set(quiet, SA_RESTART);
        kill(getpid(), SIGBUS);
        raise(SIGBUS);
        printf("met %d\n", met);
        printf("mine %d\n", signal(SIGBUS, SIG_DFL) == quiet);
        kill(getpid(), SIGBUS);
    }
    if (!strcmp(what, "ignored")) {
        signal(SIGBUS, SIG_IGN);
        kill(getpid(), SIGBUS);
        printf("ignored %d\n", signal(SIGBUS, SIG_DFL) == SIG_IGN);
        signal(SIGBUS, SIG_IGN);
        execlp("grep", "grep", "SigIgn", "/proc/self/status", NULL);
    }
    cut_and_look();
    if (!strcmp(what, "once")) cut_and_look();
    _exit(7);
    return self;
}

void Init_own_bus(void) {
    rb_define_module_function(rb_define_module("OwnBus"), "run", run, 1);
}
