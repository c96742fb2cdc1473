/* SPDX-License-Identifier: MIT */
#include "platform/system_call.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/platform.h"

int (*hl_clock_below)(clockid_t clock, struct timespec *time);

#ifdef HL_THREAD_SANITIZER
/* The sanitizer must be told what is another's memory by now: by its own functions, under libc's names. */
void *sanitized_mmap(void *address, size_t size, int protection, int flags, int fd, long from) __asm__("mmap");
int sanitized_munmap(void *address, size_t size) __asm__("munmap");

void *hl_map(void *address, size_t size, int protection, int flags, int fd) {
    return sanitized_mmap(address, size, protection, flags, fd, 0);
}

int hl_unmap(void *address, size_t size) {
    return sanitized_munmap(address, size);
}
#else
/* An int would leave half of a word as it was where an argument goes over the stack. */
void *hl_map(void *address, size_t size, int protection, int flags, int fd) {
    return (void *)syscall(SYS_mmap, address, size, (long)protection, (long)flags, (long)fd, 0L);
}

int hl_unmap(void *address, size_t size) {
    return (int)syscall(SYS_munmap, address, size);
}
#endif

void *hl_map_part(void *address, size_t size, int fd, uint64_t place) {
    return (void *)syscall(SYS_mmap, address, size, (long)(PROT_READ | PROT_WRITE),
                           (long)(MAP_SHARED | MAP_NORESERVE | MAP_FIXED), (long)fd, (long)place);
}

void *hl_map_over(void *memory, size_t size, void *place) {
    return (void *)syscall(SYS_mremap, memory, size, size, (long)(MREMAP_MAYMOVE | MREMAP_FIXED), place);
}

int hl_execute(const char *path, char *const *arguments, char *const *environment) {
    return (int)syscall(SYS_execve, path, arguments, environment);
}

_Noreturn void hl_end_process(int status) {
    for (;;) syscall(SYS_exit_group, status);
}

uint64_t hl_clock_ns(clockid_t clock) {
    struct timespec now = {0, 0};
    if (HL_LIKELY(hl_clock_below != NULL))
        hl_clock_below(clock, &now);
    else
        syscall(SYS_clock_gettime, clock, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}
