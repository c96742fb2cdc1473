/* SPDX-License-Identifier: MIT */
#include "platform/probe.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "check.h"

enum { PAGE = 4096 };

/* Two pages, of which the second cannot be read. */
static char *half_readable(void) {
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    memset(pages, 'a', PAGE);
    CHECK(munmap(pages + PAGE, PAGE) == 0);
    return pages;
}

static void check_probes(void) {
    char copy[64], *pages = half_readable();
    errno = EXDEV;
    CHECK_EQUAL(hl_probe(copy, pages, sizeof(copy)), 0);
    CHECK(copy[0] == 'a' && copy[63] == 'a');
    CHECK_EQUAL(hl_probe(copy, pages + PAGE - 64, 64), 0);
    CHECK_EQUAL(hl_probe(copy, pages + PAGE - 63, 64), -EFAULT); /* partly readable is not readable */
    CHECK_EQUAL(hl_probe(copy, pages + PAGE, 8), -EFAULT);
    CHECK_EQUAL(hl_probe(copy, NULL, 8), -EFAULT);
    CHECK_EQUAL(hl_probe(copy, (void *)~(uintptr_t)63, 8), -EFAULT);
    CHECK_EQUAL(errno, EXDEV);
}

static void reads_what_is_there_and_refuses_what_is_not(void) {
    check_probes();
}

/* As in a container that forbids process_vm_readv. */
static void forbid_process_vm_readv(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        check_skip("no seccomp filters here");
}

static void works_where_a_sandbox_forbids_reading(void) {
    forbid_process_vm_readv();
    check_probes();
}

static const struct check_test tests[] = {
    {"reads_what_is_there_and_refuses_what_is_not", reads_what_is_there_and_refuses_what_is_not},
    {"works_where_a_sandbox_forbids_reading", works_where_a_sandbox_forbids_reading},
};
CHECK_MAIN(tests)
