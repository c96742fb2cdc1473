/* SPDX-License-Identifier: MIT */
/*
 * Opening, reading and asking: all I/O on flight files. Read with pread, never mapped: a file that is cut short while
 * it is mapped would be a SIGBUS. Callable from any thread, with or without the GVL.
 */
#ifndef HL_FLIGHT_FILE_H
#define HL_FLIGHT_FILE_H

#include <stdint.h>

#include "../heapline_core/flight/flight_layout.h"

/* More than any writer hands out: 4 GiB. */
#define HL_PAGES_MAX (1u << 20)

struct hl_problem {
    char text[256];
};

/* Say what is wrong; -EINVAL. */
int hl_flight_fail(struct hl_problem *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Is this the header of a flight file that this reader knows? 0, or -EINVAL with the problem. */
int hl_flight_check_header(const struct hl_flight_header *header, struct hl_problem *problem);

/* A descriptor of a regular file, or -1 with the problem. */
int hl_flight_open(const char *path, int flags, struct hl_problem *problem);

/* Read and check the header alone. A forked child that rests on its parent's flight is asked to take over. 0 or -errno
 * with the problem. */
int hl_flight_read_header(int fd, struct hl_flight_header *header, struct hl_problem *problem);

/* May more than the header be read? 0, or -EINVAL with the problem: it is such a child's. */
int hl_flight_check_whole(const struct hl_flight_header *header, struct hl_problem *problem);

/* Is it a regular file of so many pages at least? 0 or -errno with the problem. */
int hl_flight_check_size(int fd, uint64_t pages, struct hl_problem *problem);

/* Read `count` pages from number `first` on. 0 or -errno with the problem. */
int hl_flight_read_pages(int fd, uint64_t first, uint64_t count, void *into, struct hl_problem *problem);

/* Set bits of the header's `request` atomically; `*header` is what the file said before. 0 or -errno. */
int hl_flight_request(int fd, uint32_t bits, struct hl_flight_header *header, struct hl_problem *problem);
/* Take them back, where the process has not seen them yet. The same. */
int hl_flight_withdraw(int fd, uint32_t bits, struct hl_flight_header *header, struct hl_problem *problem);

/* Make `twin.asked` what is asked for now if it is `former`, and have the process look at it. The same for both asks it
 * to look once more. */
int hl_flight_request_twin(int fd, uint64_t former, uint64_t asked, struct hl_flight_header *header,
                           struct hl_problem *problem);

#endif
