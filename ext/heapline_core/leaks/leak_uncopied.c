/* SPDX-License-Identifier: MIT */
#include "leaks/leak_uncopied.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/memory_maps.h"
#include "platform/own_memory.h"
#include "platform/system_call.h"
#include "platform/text.h"
#include "state/guard.h"

enum { PATH_BYTES = 64, PAGE = 4096, PAGES = 512, TEXT_BYTES = 1 << 16, THERE_SHIFT = 62, PAGES_MOST = 1 << 16 };

/* Of the program: its memory, and what the kernel says of its pages. */
struct source {
    int memory, pages;
    uint32_t left;          /* pages that may still be brought: they take memory */
    struct hl_mapping last; /* whose lines of smaps are read; path is none of it */
};

static int open_of(int pid, const char *name) {
    char path[PATH_BYTES];
    hl_text(path, sizeof(path), "/proc/%d/%s", pid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* In memory that is there already, as nothing must be mapped yet. */
static void each_line(int fd, void (*each)(struct source *source, const char *line), struct source *source) {
    static char text[TEXT_BYTES] HL_PAGE_ALIGNED;
    size_t length = 0;
    ssize_t got;
    while (fd >= 0 && (got = read(fd, text + length, sizeof(text) - 1 - length)) > 0) {
        char *line = text, *end;
        length += (size_t)got;
        text[length] = 0;
        for (; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            each(source, line);
        }
        length -= (size_t)(line - text);
        memmove(text, line, length);
    }
    if (fd >= 0) close(fd);
}

/* heapline's own is no reference, and the gate stays closed. */
static int is_own(const struct hl_mapping *mapping) {
    const struct hl_own_range *own;
    const size_t count = hl_own_ranges(&own);
    for (size_t i = 0; i < count; i++)
        if (own[i].begin < mapping->end && own[i].end > mapping->begin) return 1;
    return (uintptr_t)&hl_gate - mapping->begin < mapping->end - mapping->begin;
}

/* Pages that are there, in memory or swapped out: to read others would make them, in the program. */
static void bring_pages(struct source *source, uintptr_t begin, uintptr_t end) {
    uint64_t pages[PAGES];
    for (uintptr_t from = begin; from < end; from += PAGES * PAGE) {
        const size_t left = (end - from) / PAGE, count = left < PAGES ? left : PAGES;
        const ssize_t bytes = (ssize_t)(count * sizeof(*pages));
        if (pread(source->pages, pages, (size_t)bytes, (off_t)(from / PAGE * sizeof(*pages))) != bytes) return;
        for (size_t i = 0; i < count; i++) {
            const uintptr_t page = from + i * PAGE;
            if (!(pages[i] >> THERE_SHIFT)) continue;
            if (!source->left || pread(source->memory, (void *)page, PAGE, (off_t)page) < 0) return;
            source->left--;
        }
    }
}

/* Where no memory is in the copy. What the program has mapped since comes along, and does no harm. */
static void bring_missing(struct source *source, const char *line) {
    const struct hl_mapping mapping = hl_memory_map_parse(line);
    const size_t bytes = mapping.end - mapping.begin;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (!mapping.readable || mapping.path[0] == '/' || is_own(&mapping)) return;
    void *memory = hl_map((void *)mapping.begin, bytes, PROT_READ | PROT_WRITE, flags, -1);
    if (memory == MAP_FAILED) return;
    if ((uintptr_t)memory == mapping.begin)
        bring_pages(source, mapping.begin, mapping.end);
    else
        hl_unmap(memory, bytes);
}

/* In smaps a line with a capital letter says something of the mapping above. */
static void bring_wiped(struct source *source, const char *line) {
    if (line[0] < 'A' || line[0] > 'Z')
        source->last = hl_memory_map_parse(line);
    else if (!strncmp(line, "VmFlags:", 8) && strstr(line, " wf") && !is_own(&source->last))
        bring_pages(source, source->last.begin, source->last.end);
}

void hl_leak_uncopied_bring(int pid) {
    struct source source = {.memory = open_of(pid, "mem"), .pages = open_of(pid, "pagemap"), .left = PAGES_MOST};
    if (source.memory >= 0 && source.pages >= 0) {
        each_line(open_of(pid, "maps"), bring_missing, &source);
        each_line(open("/proc/self/smaps", O_RDONLY | O_CLOEXEC), bring_wiped, &source);
    }
    if (source.memory >= 0) close(source.memory);
    if (source.pages >= 0) close(source.pages);
}
