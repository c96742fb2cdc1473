/* SPDX-License-Identifier: MIT */
/*
 * The flight's file: which one it is, where it lies, what it is called, and which process it is of. Callable from any
 * thread with the guard entered; nothing here allocates through malloc.
 */
#ifndef HL_OWN_FILE_H
#define HL_OWN_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "flight/flight_layout.h"
#include "platform/platform.h"

struct hl_flight {
    char *base; /* of the mapping, or NULL */
    struct hl_flight_header *header;
    int fd;        /* -1: kept in memory only */
    uint32_t mask; /* pages of the mapping, a power of two, less 1 */
};
extern struct hl_flight hl_flight HL_HIDDEN;

/* Which file a descriptor is of. inode 0: of none. */
struct hl_file_identity {
    dev_t device;
    ino_t inode;
};
extern struct hl_file_identity hl_flight_file HL_HIDDEN; /* of the flight's; inode 0: it is in memory */

struct hl_file_identity hl_file_identity(int fd);
/* Programs that close every descriptor close ours too, and its number may then be another file's. */
int hl_file_is(int fd, struct hl_file_identity file);

/* Where the file will lie. NULL, or why it cannot: then it is in memory. */
const char *hl_flight_choose_directory(const char *path);
/* Say so, unless that is not wanted. */
void hl_flight_say_in_memory(const char *directory, const char *problem);

/* A file without a name, where the flight's lie or in memory, of so many sparse bytes; -1 with the reason. */
int hl_flight_unnamed_file(off_t size, const char **problem);
/* From now on this is the flight's file (-1: it is in memory). It has no name yet. */
void hl_flight_use_file(int fd);

/* Which process this is, for its file's name and header: at its start, and in a forked child before all else. */
void hl_flight_identify_process(void);
void hl_flight_describe_process(struct hl_flight_header *header);

/* Give the file its name: from now on others find it. While a child rests on its parent's flight its state says so, and
 * others only ask it to take over. 0 or -errno. */
int hl_flight_show(void);

/* Remove the file's name. What is mapped stays usable. */
void hl_flight_remove(void);

/* The file's descriptor, proven to be still ours; -1 where there is none. */
int hl_flight_descriptor(void);

/* Remove what an earlier image of this process left in `directory`: for one that keeps no flight file itself. */
void hl_flight_remove_earlier(const char *directory);

/* The file's name, as this process has one or would, into `name`: 0, or -ENAMETOOLONG. */
int hl_flight_name(char *name, size_t size);

/* The path into `path`; its length, 0 where the flight is in memory or the path does not fit. */
size_t hl_flight_path(char *path, size_t size);

/* The path of what lies beside the file under the same name, with another ending (".ring"). 0 or -errno. */
int hl_flight_neighbour(char *path, size_t size, const char *ending) __attribute__((warn_unused_result));

/* Where the file lies; NULL where the flight is in memory. */
const char *hl_flight_directory(void);
/* Where it was to lie, also if there was no room and the flight is in memory; NULL: nowhere. */
const char *hl_flight_wanted_directory(void);

/* May this process make a file of that size? Beyond its limit (RLIMIT_FSIZE) the kernel would send SIGXFSZ. */
int hl_flight_size_allowed(off_t size);

/* CLOCK_REALTIME in nanoseconds. */
uint64_t hl_flight_now(void);

#endif
