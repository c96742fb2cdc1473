/* SPDX-License-Identifier: MIT */
#include "leaks/block_list.h"

#include <errno.h>
#include <unistd.h>

#include "flight/flight.h"
#include "platform/own_memory.h"
#include "state/block_identity.h"

enum { BUFFERED = 1024, SITE_NUMBERS = 1 << (64 - HL_SITE_SHIFT) };

/* ---- in the copy ---- */

struct writer {
    int fd, failed;
    size_t used;
    uint8_t *wanted; /* by site */
    struct hl_block_entry entries[BUFFERED];
};

static void flush(struct writer *writer) {
    const char *from = (const char *)writer->entries, *end = (const char *)(writer->entries + writer->used);
    while (!writer->failed && from < end) {
        const ssize_t done = write(writer->fd, from, (size_t)(end - from));
        if (done >= 0)
            from += done;
        else if (errno != EINTR)
            writer->failed = -errno;
    }
    writer->used = 0;
}

static void add(void *block, void *context) {
    struct writer *writer = context;
    struct hl_block_identity identity;
    if (!hl_block_identify(block, &identity) || !writer->wanted[identity.site]) return;
    writer->entries[writer->used++] =
        (struct hl_block_entry){(uintptr_t)block, identity.size, identity.generation, identity.thread};
    if (writer->used == BUFFERED) flush(writer);
}

static int work(void *argument) {
    const struct hl_block_list *list = argument;
    struct writer *writer = hl_own_memory(sizeof(*writer));
    if (!writer || !(writer->wanted = hl_own_memory(SITE_NUMBERS))) return ENOMEM;
    writer->fd = list->fd;
    for (size_t i = 0; i < list->site_count; i++)
        if (list->sites[i] < SITE_NUMBERS) writer->wanted[list->sites[i]] = 1;
    hl_block_each(add, writer);
    flush(writer);
    return -writer->failed;
}

/* ---- in the program ---- */

int hl_block_list_start(struct hl_block_list *list) {
    if (!hl_block_tail_size) return -ENODATA;
    list->child = (struct hl_quiet_child){.work = work, .argument = list, .fd = list->fd, .stop_threads = 1};
    return hl_quiet_child_start(&list->child);
}

int hl_block_list_wait(struct hl_block_list *list) {
    const int status = hl_quiet_child_wait(&list->child);
    return status >= 127 ? -EIO : -status;
}
