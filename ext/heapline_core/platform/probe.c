/* SPDX-License-Identifier: MIT */
#include "platform/probe.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel reads the new mask before it looks at `how`: EFAULT for what cannot be read, EINVAL for what can. */
static int readable(const void *address) {
    enum { NO_SUCH_HOW = ~0 };
    const long result = syscall(SYS_rt_sigprocmask, NO_SUCH_HOW, address, NULL, 8);
    return !(result == -1 && errno == EFAULT);
}

/* Where a sandbox forbids process_vm_readv: look first, then read. */
static int look_and_copy(void *copy, const char *address, size_t size) {
    const uintptr_t page = 4096;
    /* For the system call NULL is no mask at all, which is no error. */
    for (uintptr_t at = (uintptr_t)address & ~(page - 1); at < (uintptr_t)address + size; at += page)
        if (!at || !readable((const void *)at)) return -EFAULT;
    memcpy(copy, address, size);
    return 0;
}

int hl_probe(void *copy, const void *address, size_t size) {
    const int saved = errno;
    // cppcheck-suppress ctuuninitvar ; the kernel writes there
    struct iovec local = {copy, size}, remote = {(void *)(uintptr_t)address, size};
    /* The last argument goes over the stack, where an int would leave half of the word as it was. */
    ssize_t got = syscall(SYS_process_vm_readv, getpid(), &local, 1ul, &remote, 1ul, 0ul);
    int failed = got == (ssize_t)size ? 0 : -EFAULT;
    if (got < 0 && errno != EFAULT) failed = look_and_copy(copy, address, size);
    errno = saved;
    return failed;
}
