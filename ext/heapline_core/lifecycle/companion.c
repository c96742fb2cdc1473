/* SPDX-License-Identifier: MIT */
#include "lifecycle/companion.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "flight/flight.h"
#include "platform/own_process.h"
#include "platform/text.h"
#include "state/options.h"

int hl_companion_start(const char *command, int third, int fourth) {
    char words[HL_OWN_COMMAND];
    struct hl_own_process companion = {.stays = 1, .task = "the growth log could not be started"};
    if (hl_fit(words, sizeof(words), "%s", command)) return -E2BIG;
    hl_own_process_words(&companion, words);
    companion.fds[0] = third;
    companion.fds[1] = fourth;
    hl_own_process_start(&companion);
    return 0;
}

/* Processes of other pid namespaces may share the directory: the mark has the name of the tree's top-level process. */
static int mark_path(char *path, size_t size) {
    const char *top = secure_getenv("HEAPLINE_TOP");
    if (!top || !*top) return hl_flight_neighbour(path, size, ".companion");
    return hl_fit(path, size, "%s/%s.companion", hl_flight_directory(), top);
}

/* Locked by the companion of the tree as long as that lives: the lock goes with the descriptor through fork and exec. A
 * descriptor that holds it, or -errno: -EWOULDBLOCK where another one does. */
static int lock_tree(void) {
    char path[600];
    const int failed = mark_path(path, sizeof(path));
    if (failed) return failed;
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return -errno;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    const int problem = errno;
    close(fd);
    return -problem;
}

void hl_companion_begin(void) {
    const char *given = secure_getenv("HEAPLINE_COMPANION");
    const unsigned top = hl_options.top_pid ? hl_options.top_pid : (unsigned)getpid();
    char command[HL_OWN_COMMAND];
    if (!given || !*given) return;
    if (hl_flight_descriptor() < 0 || !hl_flight_directory()) {
        hl_say("no growth log: it is written from the flight file, and there is none");
        return;
    }
    if (hl_fit(command, sizeof(command), "%s%s%u", given, hl_own_process_separator(given), top)) {
        hl_say("no growth log: HEAPLINE_COMPANION: %s", strerror(E2BIG));
        return;
    }
    const int lock = lock_tree();
    if (lock < 0 && lock != -EWOULDBLOCK) hl_say("no growth log: its lock: %s", strerror(-lock));
    if (lock < 0) return;
    hl_companion_start(command, lock, hl_flight_descriptor());
    close(lock);
}
