/* SPDX-License-Identifier: MIT */
/*
 * Opening, copying and asking: all I/O on flight files. Read with pread, never mapped: a file that is cut short while
 * it is mapped would be a SIGBUS. Callable from any thread, with or without the GVL.
 */
#ifndef HL_FLIGHT_FILE_H
#define HL_FLIGHT_FILE_H

#include "flight_reader.h"

/* The first copy and the later second one; the same bytes where one was enough. */
struct hl_flight_copies {
    struct hl_flight_copy first, second;
};

/* A descriptor of a regular file, or -1 with the problem. */
int hl_flight_open(const char *path, int flags, struct hl_problem *problem);

/* Read and check the header alone. 0 or -errno with the problem. */
int hl_flight_read_header(int fd, struct hl_flight_header *header, struct hl_problem *problem);

/* Copy the file: twice where the process runs or `live` says so. Both copies are of the same baseline and
 * rows, unless they change again and again. 0 or -errno with the problem. */
int hl_flight_copy(int fd, int live, struct hl_flight_copies *copies, struct hl_problem *problem);
void hl_flight_copies_release(struct hl_flight_copies *copies);

/* Set bits of the header's `request` atomically; `*header` is what the file said before. 0 or -errno. */
int hl_flight_request(int fd, uint32_t bits, struct hl_flight_header *header, struct hl_problem *problem);
/* Take them back, where the process has not seen them yet. The same. */
int hl_flight_withdraw(int fd, uint32_t bits, struct hl_flight_header *header, struct hl_problem *problem);

/* Make `twin.asked` what is asked for now if it is `former`, and have the process look at it. The same for both asks it
 * to look once more. */
int hl_flight_request_twin(int fd, uint64_t former, uint64_t asked, struct hl_flight_header *header,
                           struct hl_problem *problem);

#endif
