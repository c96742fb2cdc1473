/* SPDX-License-Identifier: MIT */
/* Waits in system calls that are not Ruby's, and tells whether something was different afterwards. */
#define _GNU_SOURCE
#include <errno.h>
#include <ruby.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { GENERAL = 10, VECTOR_BYTES = 128, RED_ZONE = 16 };
static struct {
    unsigned long general[GENERAL], red_zone[RED_ZONE], flags;
    char vectors[VECTOR_BYTES];
} given __attribute__((used)), seen __attribute__((used));
static char byte __attribute__((used));

/* read(0, &byte, 1) with all registers known; what it returned. Its third argument, 1, is the last of `general`. */
long read_with_registers(void);
/* general, red_zone, flags and vectors begin at 0, 80, 208 and 216. */
#if defined(__x86_64__)
#define GENERAL_EACH(X)                                                                                                \
    X(0, rbx) X(8, rbp) X(16, r8) X(24, r9) X(32, r10) X(40, r12) X(48, r13) X(56, r14) X(64, r15) X(72, rdx)
#define LOAD(at, name) "movq given+" #at "(%rip), %" #name "\n\t"
#define STORE(at, name) "movq %" #name ", seen+" #at "(%rip)\n\t"
#define VECTORS_EACH(X) X(216, 0) X(232, 1) X(248, 2) X(264, 3) X(280, 7) X(296, 8) X(312, 14) X(328, 15)
#define LOAD_VECTOR(at, number) "movdqu given+" #at "(%rip), %xmm" #number "\n\t"
#define STORE_VECTOR(at, number) "movdqu %xmm" #number ", seen+" #at "(%rip)\n\t"
#define LOAD_ALL GENERAL_EACH(LOAD) VECTORS_EACH(LOAD_VECTOR)
#define STORE_ALL GENERAL_EACH(STORE) VECTORS_EACH(STORE_VECTOR)

__asm__(".pushsection .text\n"
        ".type read_with_registers, @function\n"
        "read_with_registers:\n\t"
        "pushq %rbx\n\tpushq %rbp\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\t"
        "leaq -128(%rsp), %rdi\n\tleaq given+80(%rip), %rsi\n\tmovl $16, %ecx\n\tcld\n\trep movsq\n\t" /* below */
        LOAD_ALL                                                                                       /* all */
        "xorl %edi, %edi\n\tleaq byte(%rip), %rsi\n\txorl %eax, %eax\n\tsyscall\n\t"                   /* read */
        STORE_ALL                                                                                      /* all */
        "leaq -128(%rsp), %rsi\n\tleaq seen+80(%rip), %rdi\n\tmovl $16, %ecx\n\trep movsq\n\t"         /* below */
        "popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbp\n\tpopq %rbx\n\tret\n"
        ".popsection\n");
#else
#define GENERAL_EACH(X) X(0, x3) X(8, x9) X(16, x15) X(24, x17) X(32, x20) X(40, x22) X(48, x24) X(56, x28) X(64, x29)
#define LOAD(at, name) "ldr " #name ", [x16, #" #at "]\n\t"
#define STORE(at, name) "str " #name ", [x1, #" #at "]\n\t"
#define VECTORS_EACH(X) X(0, 0) X(16, 1) X(32, 2) X(48, 3) X(64, 7) X(80, 8) X(96, 14) X(112, 31)
#define LOAD_VECTOR(at, number) "ldur q" #number ", [x16, #" #at "]\n\t"
#define STORE_VECTOR(at, number) "stur q" #number ", [x1, #" #at "]\n\t"
#define LOAD_ALL                                                                                                       \
    "adrp x16, given\n\tadd x16, x16, :lo12:given\n\tldr x2, [x16, #72]\n\t" GENERAL_EACH(                             \
        LOAD) "add x16, x16, #216\n\t" VECTORS_EACH(LOAD_VECTOR)
#define STORE_ALL                                                                                                      \
    "adrp x1, seen\n\tadd x1, x1, :lo12:seen\n\tstr x2, [x1, #72]\n\t" GENERAL_EACH(                                   \
        STORE) "add x1, x1, #216\n\t" VECTORS_EACH(STORE_VECTOR)

__asm__(".pushsection .text\n"
        ".type read_with_registers, %function\n"
        "read_with_registers:\n\t"
        "stp x29, x30, [sp, #-96]!\n\tstp x19, x20, [sp, #16]\n\tstp x21, x22, [sp, #32]\n\t"
        "stp x23, x24, [sp, #48]\n\tstp x25, x26, [sp, #64]\n\tstp x27, x28, [sp, #80]\n\t" LOAD_ALL /* all */
        "mov x0, #0\n\tadrp x1, byte\n\tadd x1, x1, :lo12:byte\n\tmov x8, #63\n\tsvc #0\n\t"         /* read */
        STORE_ALL                                                                                    /* all */
        "ldp x19, x20, [sp, #16]\n\tldp x21, x22, [sp, #32]\n\tldp x23, x24, [sp, #48]\n\t"
        "ldp x25, x26, [sp, #64]\n\tldp x27, x28, [sp, #80]\n\tldp x29, x30, [sp], #96\n\tret\n"
        ".popsection\n");
#endif

static VALUE registers(VALUE self) {
    for (size_t i = 0; i < sizeof(given) / sizeof(unsigned long); i++)
        ((unsigned long *)&given)[i] = 0x9e3779b97f4a7c15ul * (i + 1);
    given.general[GENERAL - 1] = 1;
    given.flags = seen.flags = 0;
#if !defined(__x86_64__)
    memcpy(seen.red_zone, given.red_zone, sizeof(given.red_zone)); /* there is none */
#endif
    const long got = read_with_registers();
    return got == 1 && !memcmp(&given, &seen, sizeof(given)) ? Qtrue : Qfalse;
}

/* Waits for standard input. Its result, or -errno. */
static VALUE epoll(VALUE self) {
    struct epoll_event event = {.events = EPOLLIN};
    const int fd = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(fd, EPOLL_CTL_ADD, STDIN_FILENO, &event);
    errno = 0;
    const int result = epoll_wait(fd, &event, 1, -1);
    const int error = errno;
    close(fd);
    return INT2NUM(result < 0 ? -error : result);
}

/* 0, or the errno. */
static VALUE unshare_user(VALUE self) {
    return INT2NUM(unshare(CLONE_NEWUSER) ? errno : 0);
}

void Init_waiting(void) {
    VALUE waiting = rb_define_module("Waiting");
    rb_define_singleton_method(waiting, "registers", registers, 0);
    rb_define_singleton_method(waiting, "epoll", epoll, 0);
    rb_define_singleton_method(waiting, "unshare_user", unshare_user, 0);
}
