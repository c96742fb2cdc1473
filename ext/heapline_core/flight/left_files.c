/* SPDX-License-Identifier: MIT */
#include "flight/left_files.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

#include "flight/flight.h"
#include "platform/own_process.h"
#include "platform/text.h"
#include "state/options.h"

struct child {
    uint32_t pid; /* 0: none */
    char name[60];
};

struct children {
    struct child list[HL_LEFT_FILES];
    uint32_t told; /* goes round */
};
_Static_assert(sizeof(struct children) <= HL_PAGE_SIZE, "one page");

static struct children *children(void) {
    const uint32_t page = hl_load32(&hl_flight.header->left_files);
    return page && !hl_options.keep && hl_flight_directory() ? hl_flight_page(page) : NULL;
}

/* As its file says; HL_STATE_EXITED where there is none any more. */
static uint32_t state_in(const char *path) {
    uint32_t state = HL_STATE_RUNNING;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return HL_STATE_EXITED;
    if (pread(fd, &state, sizeof(state), offsetof(struct hl_flight_header, state)) != sizeof(state))
        state = HL_STATE_RUNNING;
    close(fd);
    return state;
}

/* It has ended. killed: also where it did not become another program. */
static void take_away(struct child *child, int killed) {
    char path[700];
    child->name[sizeof(child->name) - 1] = 0;
    if (hl_fit(path, sizeof(path), "%s/%s", hl_flight_directory(), child->name)) return;
    const uint32_t state = state_in(path);
    if (state == HL_STATE_EXECED || state == HL_STATE_FORKED || killed) unlink(path);
    if (state != HL_STATE_RUNNING) child->pid = 0;
}

void hl_left_files_tend(void) {
    struct children *some = children();
    for (uint32_t i = 0; some && i < HL_LEFT_FILES; i++)
        if (some->list[i].pid && hl_process_gone(some->list[i].pid)) take_away(&some->list[i], 0);
}

void hl_left_files_before_fork(void) {
    hl_left_files_tend();
    uint32_t one = 1;
    if (!hl_flight.header->left_files && hl_flight_directory())
        hl_flight.header->left_files = hl_flight_pages_of_counts(&one);
}

/* Of the next one that has ended; NULL where all run. */
static struct child *take_place(struct children *some) {
    for (uint32_t i = 0; i < HL_LEFT_FILES; i++) {
        struct child *place = &some->list[__atomic_fetch_add(&some->told, 1, __ATOMIC_RELAXED) % HL_LEFT_FILES];
        if (place->pid && !hl_process_gone(place->pid)) continue;
        if (place->pid) take_away(place, 1);
        place->pid = 0;
        return place;
    }
    return NULL;
}

void hl_left_files_tell(void) {
    struct children *some = children();
    struct child *place = some ? take_place(some) : NULL;
    if (!place) return;
    if (!hl_flight_name(place->name, sizeof(place->name)))
        __atomic_store_n(&place->pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
}
