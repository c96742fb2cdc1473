/* SPDX-License-Identifier: MIT */
#ifndef RBHL_HEADER_BINDING_H
#define RBHL_HEADER_BINDING_H

#include <ruby.h>

#include "flight_file.h"

/* Where a flight file is. `path` is NULL where the caller gave a descriptor, which stays open. */
struct rbhl_source {
    const char *path;
    int fd;
    VALUE name; /* for messages */
    struct hl_problem problem;
};

/* `path_or_fd`: a descriptor (Integer) or a path. It becomes the path's own String, which must outlive the source: see
 * the guards. */
void rbhl_take_source(struct rbhl_source *source, VALUE *path_or_fd);

/* With or without the GVL. 0, or below 0 with the problem. */
int rbhl_open_source(struct rbhl_source *source, int flags);
void rbhl_close_source(struct rbhl_source *source);

/* Raise FlightError with the problem. */
void rbhl_raise_problem(const struct rbhl_source *source);

VALUE rbhl_header_hash(const struct hl_flight_header *header);

#endif
