/* SPDX-License-Identifier: MIT */
#include "companion.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "flight.h"
#include "options.h"
#include "own_process.h"
#include "text.h"

int hl_companion_start(const char *command, int third, int fourth) {
    char words[HL_OWN_COMMAND];
    struct hl_own_process companion = {.stays = 1, .task = "the growth log could not be started"};
    if (strlen(command) >= sizeof(words)) return -E2BIG;
    hl_text(words, sizeof(words), "%s", command);
    hl_own_process_words(&companion, words);
    companion.fds[0] = third;
    companion.fds[1] = fourth;
    hl_own_process_start(&companion);
    return 0;
}

/* Locked by the companion of the tree as long as that lives: the lock goes with the descriptor through fork and exec. A
 * descriptor that holds it, or -1 where another one does. */
static int lock_tree(unsigned top) {
    char path[600];
    size_t length = hl_flight_path(path, sizeof(path));
    while (length > 0 && path[length - 1] != '/') length--;
    hl_text(path + length, sizeof(path) - length, "%u.companion", top);
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    close(fd);
    return -1;
}

void hl_companion_begin(void) {
    const char *given = secure_getenv("HEAPLINE_COMPANION");
    const unsigned top = hl_options.top_pid ? hl_options.top_pid : (unsigned)getpid();
    char command[HL_OWN_COMMAND];
    if (!given || !*given) return;
    if (hl_flight_descriptor() < 0) {
        hl_say("no growth log: it is written from the flight file, and there is none");
        return;
    }
    const int lock = lock_tree(top);
    if (lock < 0) return;
    hl_text(command, sizeof(command), "%s\x1f%u", given, top);
    hl_companion_start(command, lock, hl_flight_descriptor());
    close(lock);
}
