/* SPDX-License-Identifier: MIT */
#include "flight/flight.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flight/shared_guard.h"
#include "platform/own_memory.h"
#include "platform/system_call.h"
#include "platform/text.h"
#include "state/options.h"

enum { PAGES_LEAST = 1 << 9 };

/* A forked child has its parent's. */
static void read_command(struct hl_flight_header *header) {
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t length = read(fd, header->command, sizeof(header->command));
    close(fd);
    header->command_length = length > 0 ? (uint32_t)length : 0;
}

static void begin_header(uint32_t page_limit) {
    struct hl_flight_header *header = hl_flight.header = (struct hl_flight_header *)hl_flight.base;
    memcpy(header->magic, HL_FLIGHT_MAGIC, sizeof(header->magic));
    header->version = HL_FLIGHT_VERSION;
    header->byte_order = HL_FLIGHT_BYTE_ORDER;
    header->page_count = hl_handed.used = HL_FIXED_PAGES;
    header->page_limit = page_limit;
    header->library_count = header->tag_count = 1;
    header->top = hl_options.top_pid;
    header->top_ticks = hl_options.top_ticks;
    hl_flight_describe_process(header);
    read_command(header);
}

/* Map `pages` pages of the file, or of shared memory without a file. */
static int map(uint32_t pages) {
    const size_t size = (size_t)pages * HL_PAGE_SIZE;
    const int flags = hl_flight.fd < 0 ? MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED | MAP_NORESERVE;
    char *base = hl_map(NULL, size, PROT_READ | PROT_WRITE, flags, hl_flight.fd);
    if (base == MAP_FAILED) return -errno;
    madvise(base, size, MADV_DONTDUMP);
    hl_flight.base = base;
    hl_flight.mask = pages - 1;
    hl_flight_keep_in_core(0, HL_FIXED_PAGES + HL_FLIGHT_GROWTH);
    return 0;
}

void hl_flight_detach(void) {
    if (hl_flight.base) hl_guard_replace(hl_flight.base, hl_flight_mapped_size());
}

void hl_flight_guard(void (*lost)(void)) {
    hl_guard_file(HL_GUARDED_FLIGHT, hl_flight.base, hl_flight_mapped_size(), lost);
}

/* Half of what heapline may take. */
static uint32_t pages_wanted(void) {
    const size_t share = hl_own_memory_share();
    uint32_t pages = HL_FLIGHT_PAGES_MOST;
    while (pages > PAGES_LEAST && pages > share / 2 / HL_PAGE_SIZE) pages /= 2;
    return pages;
}

/* The kernel leaves the map of a file out of a core unless bit 3 is set; children have it from here. */
static void let_core_have_files(void) {
    enum { SHARED_FILES = 1 << 3 };
    char text[32];
    const char *digits = text;
    const int fd = open("/proc/self/coredump_filter", O_RDWR | O_CLOEXEC);
    const ssize_t length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    int done = 0;
    if (length > 0) {
        text[length] = 0;
        const uint64_t filter = hl_parse_hexadecimal(&digits) | SHARED_FILES;
        hl_text(text, sizeof(text), "0x%llx", (unsigned long long)filter);
        done = pwrite(fd, text, strlen(text), 0) > 0;
    }
    if (fd >= 0) close(fd);
    if (!done && !hl_options.quiet) hl_say("cores will not have the lines: /proc/self/coredump_filter cannot be set");
}

int hl_flight_create(const char *directory, const char **problem) {
    const char *refused = hl_flight_choose_directory(directory);
    uint32_t pages = pages_wanted();
    int failed = -ENOMEM;
    hl_flight_identify_process();
    for (; pages >= PAGES_LEAST && failed; pages /= 4) {
        *problem = refused;
        hl_flight_use_file(hl_flight_unnamed_file((off_t)pages * HL_PAGE_SIZE, problem));
        if (hl_flight_begin_pages(HL_FIXED_PAGES + HL_FLIGHT_GROWTH)) {
            *problem = strerror(ENOSPC);
            close(hl_flight.fd);
            hl_flight_use_file(-1);
        }
        failed = map(pages);
        if (!failed) begin_header(pages);
        if (failed && hl_flight.fd >= 0) close(hl_flight.fd);
    }
    if (!failed && !*problem && hl_flight.fd >= 0 && hl_flight_show()) *problem = strerror(errno);
    if (!failed && hl_options.core) let_core_have_files();
    return failed;
}
