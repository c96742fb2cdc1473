/* SPDX-License-Identifier: MIT */
#include "allocator/preload_order.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocator/real_malloc.h"
#include "platform/system_call.h"
#include "platform/text.h"

extern char **environ;

enum { LIST_BYTES = 8192, ARGUMENTS = 4096, ARGUMENT_BYTES = 1 << 17 };
static const char variable[] = "LD_PRELOAD";

static int is_ours(const char *entry, size_t length) {
    static const char name[] = "libheapline.so";
    const size_t bytes = sizeof(name) - 1;
    return length >= bytes && memcmp(entry + length - bytes, name, bytes) == 0;
}

/* Copy the list without our entry; the entry itself into `own`. */
static void split(const char *list, char *others, char *own, size_t size) {
    others[0] = own[0] = 0;
    while (*list) {
        size_t length = strcspn(list, ": "), used = strlen(others);
        if (is_ours(list, length))
            hl_text(own, size, "%.*s", (int)length, list);
        else if (length)
            hl_text(others + used, size - used, "%s%.*s", used ? ":" : "", (int)length, list);
        list += length + (list[length] != 0);
    }
}

void hl_preload_withdraw(void) {
    static char others[LIST_BYTES] HL_PAGE_ALIGNED, own[LIST_BYTES] HL_PAGE_ALIGNED;
    const char *list = getenv(variable);
    if (!list || strlen(list) >= LIST_BYTES) return;
    split(list, others, own, LIST_BYTES);
    if (others[0])
        setenv(variable, others, 1);
    else
        unsetenv(variable);
}

/* Run this very program again. Nothing has happened in it yet but the loading of libraries. */
static void run_again(void) {
    static char bytes[ARGUMENT_BYTES] HL_PAGE_ALIGNED, *arguments[ARGUMENTS + 1] HL_PAGE_ALIGNED;
    size_t used = 0, count = 0;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t got;
    while (fd >= 0 && used < sizeof(bytes) && (got = read(fd, bytes + used, sizeof(bytes) - used)) > 0)
        used += (size_t)got;
    if (fd >= 0) close(fd);
    if (used == 0 || used == sizeof(bytes)) return;
    for (size_t at = 0; at < used && count < ARGUMENTS; at += strlen(bytes + at) + 1) arguments[count++] = bytes + at;
    if (count == ARGUMENTS) return;
    hl_execute("/proc/self/exe", arguments, environ);
}

void hl_preload_put_first(void) {
    static char others[LIST_BYTES] HL_PAGE_ALIGNED, own[LIST_BYTES] HL_PAGE_ALIGNED;
    static char list[2 * LIST_BYTES] HL_PAGE_ALIGNED;
    const char *given = getenv(variable);
    if (hl_real_first() || !given || strlen(given) >= LIST_BYTES) return;
    split(given, others, own, LIST_BYTES);
    hl_text(list, sizeof(list), "%s:%s", own, others);
    if (own[0] && strcmp(list, given) != 0) {
        setenv(variable, list, 1);
        run_again();
    }
    hl_say("another library's malloc stands before heapline's: put libheapline.so first in LD_PRELOAD");
}
