/* SPDX-License-Identifier: MIT */
#include "other_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "text.h"

/* Field 3 of /proc/PID/stat, behind a name that may hold anything; 0: it cannot be told. */
static char state_of(uint32_t pid) {
    char text[64];
    hl_text(text, sizeof(text), "/proc/%u/stat", pid);
    const int fd = open(text, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0) close(fd);
    text[length > 0 ? length : 0] = 0;
    const char *behind = strrchr(text, ')');
    return behind && behind[1] == ' ' ? behind[2] : 0;
}

int hl_other_process_ended(uint32_t pid) {
    if (kill((pid_t)pid, 0) && errno == ESRCH) return 1;
    const char state = state_of(pid);
    return state == 'Z' || state == 'X';
}
