/* SPDX-License-Identifier: MIT */
#include "account/allocator.h"

#include <fcntl.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocator/real_malloc.h"
#include "flight/flight.h"
#include "platform/text.h"

static int below_is(const char *name) {
    return strncmp(hl_flight.header->allocator, name, strlen(name)) == 0;
}

/* ---- glibc: malloc_info writes XML ---- */

/* The number in `name="..."` before the end of the line; 0 where there is none. */
static uint64_t attribute(const char *line, const char *name) {
    const char *end = strchr(line, '\n'), *found = strstr(line, name);
    if (!found || !end || found > end) return 0;
    found += strlen(name) + 2;
    return hl_parse_number(&found);
}

static int begins(const char *line, const char *with) {
    return strncmp(line, with, strlen(with)) == 0;
}

/* Whole pages in a free block: on average all of it but one page, which its two ends share with others. */
static uint64_t whole_pages(uint64_t bytes, uint64_t blocks) {
    const uint64_t lost = blocks * HL_PAGE_SIZE;
    return bytes > lost ? bytes - lost : 0;
}

/* What one <heap> of the XML said so far. */
struct heap {
    uint64_t system, free, binned, pages;
};

static void read_line(const char *line, struct heap *heap) {
    if (begins(line, "<size ") || begins(line, "<unsorted ")) {
        const uint64_t bytes = attribute(line, " total");
        heap->binned += bytes;
        heap->pages += whole_pages(bytes, attribute(line, " count"));
    } else if (begins(line, "<total type=\"fast\"") || begins(line, "<total type=\"rest\"")) {
        heap->free += attribute(line, " size");
    } else if (begins(line, "<system type=\"current\"")) {
        heap->system = attribute(line, " size");
    }
}

static void add_arena(const struct heap *heap, struct hl_figures *found) {
    struct hl_arena *arena = &found->arenas[found->arena_count < HL_ARENAS ? found->arena_count++ : HL_ARENAS - 1];
    const int main_arena = arena == found->arenas;
    arena->system_bytes += heap->system;
    arena->free_bytes += heap->free;
    found->free_bytes += heap->free;
    found->returnable_bytes += heap->pages;
    /* The end of the main heap is in no bin, and trimmed too; those of the others are not. */
    if (main_arena && heap->free > heap->binned) found->returnable_bytes += whole_pages(heap->free - heap->binned, 1);
}

/* The <heap>s of malloc_info's XML; what follows them are their sums. */
static void read_arenas(const char *xml, struct hl_figures *found) {
    struct heap heap = {0, 0, 0, 0};
    int inside = 0;
    for (const char *line = xml; line && *line; line = strchr(line, '\n')) {
        while (*line == '\n' || *line == ' ') line++;
        if (begins(line, "<heap ")) {
            memset(&heap, 0, sizeof(heap));
            inside = 1;
        } else if (begins(line, "</heap>")) {
            add_arena(&heap, found);
            inside = 0;
        } else if (inside) {
            read_line(line, &heap);
        }
    }
}

static int ask_glibc(struct hl_figures *found, int survey) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = survey ? open_memstream(&text, &length) : NULL;
    if (!stream) return 0;
    const int failed = malloc_info(0, stream);
    if (fclose(stream) == 0 && !failed) {
        found->free_bytes = found->returnable_bytes = 0;
        read_arenas(text, found);
    }
    hl_real_free(text); /* it was allocated with the guard entered: it is not marked */
    return 1;
}

/* ---- the others: found by name; what they do not know stays untold ---- */

#define ARENAS_ALL "4096" /* jemalloc's MALLCTL_ARENAS_ALL */

static uint64_t jemalloc_says(int (*mallctl)(const char *, void *, size_t *, void *, size_t), const char *name) {
    size_t value = 0, length = sizeof(value);
    return mallctl(name, &value, &length, NULL, 0) ? 0 : value;
}

static int ask_jemalloc(struct hl_figures *found, uint64_t *space) {
    int (*mallctl)(const char *, void *, size_t *, void *, size_t);
    uint64_t epoch = 1;
    size_t length = sizeof(epoch);
    if (!hl_find_below("mallctl", &mallctl) || mallctl("epoch", &epoch, &length, &epoch, length)) return 0;
    found->resident_bytes = jemalloc_says(mallctl, "stats.resident");
    *space = jemalloc_says(mallctl, "stats.mapped") + jemalloc_says(mallctl, "stats.retained");
    found->metadata_bytes = jemalloc_says(mallctl, "stats.metadata");
    found->free_bytes = (jemalloc_says(mallctl, "stats.arenas." ARENAS_ALL ".pdirty") +
                         jemalloc_says(mallctl, "stats.arenas." ARENAS_ALL ".pmuzzy")) *
                        jemalloc_says(mallctl, "arenas.page");
    found->returnable_bytes = found->free_bytes;
    return 1;
}

static uint64_t tcmalloc_says(int (*property)(const char *, size_t *), const char *name) {
    size_t value = 0;
    return property(name, &value) ? value : 0;
}

static int ask_tcmalloc(struct hl_figures *found, uint64_t *space) {
    int (*property)(const char *, size_t *);
    if (!hl_find_below("MallocExtension_GetNumericProperty", &property)) return 0;
    *space = tcmalloc_says(property, "generic.heap_size");
    found->resident_bytes = *space - tcmalloc_says(property, "tcmalloc.pageheap_unmapped_bytes");
    found->free_bytes = found->returnable_bytes = tcmalloc_says(property, "tcmalloc.pageheap_free_bytes");
    return 1;
}

static int ask_mimalloc(struct hl_figures *found) {
    void (*merge)(void);
    void (*info)(size_t *, size_t *, size_t *, size_t *, size_t *, size_t *, size_t *, size_t *);
    size_t committed = 0, unused;
    if (!hl_find_below("mi_process_info", &info)) return 0;
    if (hl_find_below("mi_stats_merge", &merge)) merge();
    info(&unused, &unused, &unused, &unused, &unused, &committed, &unused, &unused);
    found->resident_bytes = committed;
    return 1;
}

void hl_allocator_measure(int survey) {
    struct hl_figures *figures = &hl_flight.header->figures;
    struct hl_figures found = {.resident_bytes = HL_UNTOLD,
                               .free_bytes = HL_UNTOLD,
                               .metadata_bytes = HL_UNTOLD,
                               .returnable_bytes = HL_UNTOLD};
    uint64_t space = 0;
    const int told = below_is("glibc")      ? ask_glibc(&found, survey)
                     : below_is("jemalloc") ? ask_jemalloc(&found, &space)
                     : below_is("tcmalloc") ? ask_tcmalloc(&found, &space)
                     : below_is("mimalloc") ? ask_mimalloc(&found)
                                            : 0;
    if (!told) return;
    if (space) hl_flight.header->space_bytes = space;
    memcpy(&figures->resident_bytes, &found.resident_bytes,
           offsetof(struct hl_figures, trim_ns) - offsetof(struct hl_figures, resident_bytes));
    __atomic_store_n(&figures->allocator_ns, hl_flight_now(), __ATOMIC_RELEASE);
}

/* What mallinfo2 returns, which glibc has since 2.33. */
struct glibc_info {
    size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};

uint64_t hl_allocator_in_use(void) {
    struct glibc_info (*info)(void);
    int (*mallctl)(const char *, void *, size_t *, void *, size_t);
    int (*property)(const char *, size_t *);
    if (below_is("glibc") && hl_find_below("mallinfo2", &info)) {
        const struct glibc_info found = info();
        return found.uordblks + found.hblkhd;
    }
    if (below_is("jemalloc") && hl_find_below("mallctl", &mallctl)) {
        uint64_t epoch = 1;
        size_t length = sizeof(epoch);
        mallctl("epoch", &epoch, &length, &epoch, length);
        return jemalloc_says(mallctl, "stats.allocated");
    }
    if (below_is("tcmalloc") && hl_find_below("MallocExtension_GetNumericProperty", &property))
        return tcmalloc_says(property, "generic.current_allocated_bytes");
    return HL_UNTOLD;
}

/* ---- giving back ---- */

/* Field 2 of /proc/self/statm. */
static uint64_t resident(void) {
    char text[128];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0) close(fd);
    text[length > 0 ? length : 0] = 0;
    const char *cursor = strchr(text, ' ');
    if (!cursor) return 0;
    cursor++;
    return hl_parse_number(&cursor) * HL_PAGE_SIZE;
}

static void give_back(void) {
    int (*mallctl)(const char *, void *, size_t *, void *, size_t);
    void (*release)(void);
    void (*collect)(_Bool);
    if (below_is("glibc"))
        malloc_trim(0);
    else if (below_is("jemalloc") && hl_find_below("mallctl", &mallctl))
        mallctl("arena." ARENAS_ALL ".purge", NULL, NULL, NULL, 0);
    else if (below_is("tcmalloc") && hl_find_below("MallocExtension_ReleaseFreeMemory", &release))
        release();
    else if (below_is("mimalloc") && hl_find_below("mi_collect", &collect))
        collect(1);
}

void hl_allocator_trim(void) {
    struct hl_figures *figures = &hl_flight.header->figures;
    figures->trim_before_bytes = resident();
    give_back();
    figures->trim_after_bytes = resident();
    __atomic_store_n(&figures->trim_ns, hl_flight_now(), __ATOMIC_RELEASE);
}
