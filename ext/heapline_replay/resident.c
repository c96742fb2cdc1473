/* SPDX-License-Identifier: MIT */
#include "resident.h"

#include <fcntl.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int statm, status;
static uint64_t page;

int hl_resident_init(void) {
    page = (uint64_t)sysconf(_SC_PAGESIZE);
    statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    status = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    return statm < 0 || status < 0 ? -1 : 0;
}

static uint64_t number(const char *text) {
    uint64_t value = 0;
    while (*text == ' ' || *text == '\t') text++;
    for (; *text >= '0' && *text <= '9'; text++) value = value * 10 + (uint64_t)(*text - '0');
    return value;
}

static const char *contents(int fd, char *text, size_t room) {
    const ssize_t length = pread(fd, text, room - 1, 0);
    text[length > 0 ? length : 0] = 0;
    return text;
}

uint64_t hl_resident(void) {
    char text[160];
    const char *second = strchr(contents(statm, text, sizeof(text)), ' ');
    return second ? number(second) * page : 0;
}

static uint64_t field(const char *name) {
    char text[4096];
    const char *found = strstr(contents(status, text, sizeof(text)), name);
    return found ? number(found + strlen(name)) : 0;
}

uint64_t hl_resident_peak(void) {
    return field("VmHWM:") * 1024;
}

void hl_resident_forget_peak(void) {
    const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (write(fd, "5", 1) < 0) { /* then the peak is that of all the process did: its own memory, which is subtracted */
    }
    close(fd);
}

uint64_t hl_resident_threads(void) {
    return field("Threads:");
}
