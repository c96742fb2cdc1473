/* SPDX-License-Identifier: MIT */
#include "record/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flight/flight.h"
#include "flight/shared_guard.h"
#include "platform/own_memory.h"
#include "platform/system_call.h"

enum { STRING_BYTES_MAX = 4000, CHUNKS_AT_ONCE = 8, DESCRIPTOR = 400 };
_Static_assert(sizeof(struct hl_ring_frame) == 24 && sizeof(struct hl_ring_node) == 8, "as ring_layout.h reckons");
_Static_assert(HL_RING_STATES_AT + sizeof(struct hl_ring_chunk) * HL_CHUNKS <= HL_RING_STRINGS_AT,
               "room behind the header");
_Static_assert(HL_RING_FRAMES_AT % HL_CHUNK_BYTES == 0 && HL_RING_NODES_AT % HL_CHUNK_BYTES == 0 &&
                   HL_RING_CHUNKS_AT % HL_CHUNK_BYTES == 0,
               "R2");

struct hl_ring hl_ring;

/* A part of the file that is filled from its beginning and backed piece by piece (R1). */
struct part {
    uint32_t at, size, step;
    uint32_t backed; /* bytes */
};
enum { HEAD, STRINGS, FRAMES, NODES, CHUNKS, PARTS };
static struct part parts[PARTS];
static int fd = -1;
static dev_t device;
static ino_t inode;
static char path[640];

static int moved_up(int low) {
    const int high = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, DESCRIPTOR);
    if (high < 0) return low;
    close(low);
    return high;
}

/* Programs that close every descriptor close ours too, and its number may then be another file's. */
static int descriptor_is_ours(void) {
    struct stat status;
    return fd >= 0 && fstat(fd, &status) == 0 && status.st_ino == inode && status.st_dev == device;
}

static int back(struct part *part, uint32_t end) {
    uint32_t backed = __atomic_load_n(&part->backed, __ATOMIC_ACQUIRE);
    if (HL_LIKELY(end <= backed)) return 0;
    if (end > part->size) return -ENOSPC;
    if (!descriptor_is_ours()) return -EBADF;
    uint32_t to = (end + part->step - 1) / part->step * part->step;
    if (to > part->size) to = part->size;
    if (!hl_flight_size_allowed((off_t)part->at + to)) return -EFBIG;
    if (fallocate(fd, 0, part->at + backed, to - backed) &&
        (errno != EOPNOTSUPP || posix_fallocate(fd, part->at + backed, to - backed)))
        return -ENOSPC;
    if (hl_ring.base) hl_populate(hl_ring.base + part->at + backed, to - backed);
    while (backed < to &&
           !__atomic_compare_exchange_n(&part->backed, &backed, to, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
        ;
    return 0;
}

static void lay_out(void) {
    parts[HEAD] = (struct part){0, HL_RING_STRINGS_AT, HL_RING_STRINGS_AT, 0};
    parts[STRINGS] = (struct part){HL_RING_STRINGS_AT, HL_RING_STRINGS, 1 << 16, 0};
    parts[FRAMES] =
        (struct part){HL_RING_FRAMES_AT, HL_RING_FRAMES * (uint32_t)sizeof(struct hl_ring_frame), 1 << 16, 0};
    parts[NODES] = (struct part){HL_RING_NODES_AT, HL_RING_NODES * (uint32_t)sizeof(struct hl_ring_node), 1 << 17, 0};
    parts[CHUNKS] = (struct part){HL_RING_CHUNKS_AT, HL_CHUNKS * HL_CHUNK_BYTES, CHUNKS_AT_ONCE * HL_CHUNK_BYTES, 0};
}

/* Address space first, so that the file's mapping begins where R2 wants it. */
static int map(void) {
    const size_t room = HL_RING_BYTES + HL_CHUNK_BYTES;
    char *space = hl_map(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (space == MAP_FAILED) return -errno;
    char *base = (char *)(((uintptr_t)space + HL_CHUNK_BYTES - 1) & ~(uintptr_t)(HL_CHUNK_BYTES - 1));
    if (hl_map(base, HL_RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd) == MAP_FAILED) {
        const int failed = -errno;
        hl_unmap(space, room);
        return failed;
    }
    if (base > space) hl_unmap(space, (size_t)(base - space));
    hl_unmap(base + HL_RING_BYTES, (size_t)(space + room - (base + HL_RING_BYTES)));
    madvise(base, HL_RING_BYTES, MADV_DONTDUMP);
    hl_ring.base = base;
    hl_ring.header = (struct hl_ring_header *)base;
    hl_ring.states = (struct hl_ring_chunk *)(base + HL_RING_STATES_AT);
    hl_ring.frames = (struct hl_ring_frame *)(base + HL_RING_FRAMES_AT);
    hl_ring.nodes = (struct hl_ring_node *)(base + HL_RING_NODES_AT);
    return 0;
}

static int make_file(void) {
    struct stat status;
    int failed = hl_flight_neighbour(path, sizeof(path), ".ring");
    if (failed) return failed;
    unlink(path);
    fd = moved_up(open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (fd < 0 || fstat(fd, &status)) return -errno;
    if (!hl_flight_size_allowed(HL_RING_BYTES)) return -EFBIG;
    if (ftruncate(fd, HL_RING_BYTES)) return -errno;
    device = status.st_dev;
    inode = status.st_ino;
    lay_out();
    return back(&parts[HEAD], HL_RING_STRINGS_AT);
}

int hl_ring_create(void) {
    const int failed = make_file();
    const int unmapped = failed ? failed : map();
    if (unmapped) {
        hl_ring_destroy();
        return unmapped;
    }
    hl_ring.header->strings_used = 8; /* 0 is none */
    hl_ring.header->frames_used = hl_ring.header->nodes_used = 1;
    return 0;
}

void hl_ring_show(void) {
    uint64_t magic;
    memcpy(&magic, HL_RING_MAGIC, sizeof(magic));
    hl_ring.header->version = HL_RING_VERSION;
    __atomic_store_n((uint64_t *)(void *)hl_ring.header->magic, magic, __ATOMIC_RELEASE);
}

void hl_ring_destroy(void) {
    if (fd >= 0) unlink(path);
    hl_ring_forget();
}

void hl_ring_forget(void) {
    if (descriptor_is_ours()) close(fd);
    hl_guard_file(HL_GUARDED_RING, NULL, 0, NULL);
    if (hl_ring.base) hl_unmap(hl_ring.base, HL_RING_BYTES);
    fd = -1;
    memset(&hl_ring, 0, sizeof(hl_ring));
}

/* Room for `bytes` more behind what `used` counts in units of `unit`; the place in units, 0 where there is none. */
static uint32_t more(uint32_t *used, uint32_t count, uint32_t unit, struct part *part) {
    uint32_t at = __atomic_load_n(used, __ATOMIC_RELAXED);
    do {
        if ((uint64_t)(at + count) * unit > part->size || back(part, (at + count) * unit)) return 0;
    } while (!__atomic_compare_exchange_n(used, &at, at + count, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return at;
}

uint32_t hl_ring_string(const char *bytes, size_t length) {
    if (length > STRING_BYTES_MAX) length = STRING_BYTES_MAX;
    const uint16_t length16 = (uint16_t)length;
    const uint32_t need = ((uint32_t)length + sizeof(length16) + 7) & ~7u;
    const uint32_t at = more(&hl_ring.header->strings_used, need, 1, &parts[STRINGS]);
    if (!at) return 0;
    char *text = hl_ring.base + HL_RING_STRINGS_AT + at;
    memcpy(text, &length16, sizeof(length16));
    memcpy(text + sizeof(length16), bytes, length);
    return at;
}

uint32_t hl_ring_add_frame(const struct hl_ring_frame *frame) {
    const uint32_t number = more(&hl_ring.header->frames_used, 1, sizeof(*frame), &parts[FRAMES]);
    if (number) hl_ring.frames[number] = *frame;
    return number;
}

uint32_t hl_ring_add_node(uint32_t parent, uint32_t frame) {
    const uint32_t number = more(&hl_ring.header->nodes_used, 1, sizeof(struct hl_ring_node), &parts[NODES]);
    if (number) hl_ring.nodes[number] = (struct hl_ring_node){parent, frame};
    return number;
}

/* The lowest one: what was read a moment ago is still in a processor's cache. */
uint32_t hl_ring_take_chunk(void) {
    for (uint32_t number = 0; number < HL_CHUNKS; number++) {
        uint32_t state = HL_CHUNK_FREE;
        if (back(&parts[CHUNKS], (number + 1) * HL_CHUNK_BYTES)) break;
        if (!__atomic_load_n(&hl_ring.states[number].state, __ATOMIC_RELAXED) &&
            __atomic_compare_exchange_n(&hl_ring.states[number].state, &state, HL_CHUNK_TAKEN, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return number;
    }
    return HL_CHUNKS;
}
