/* SPDX-License-Identifier: MIT */
#include "platform/memory_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "platform/own_memory.h"
#include "platform/text.h"

enum { TEXT_BYTES = 1 << 26, LEAST_LINE = 40 };

static const char *skip_word(const char *cursor) {
    while (*cursor && *cursor != ' ') cursor++;
    while (*cursor == ' ') cursor++;
    return cursor;
}

struct hl_mapping hl_memory_map_parse(const char *line) {
    struct hl_mapping mapping = {0};
    mapping.begin = hl_parse_hexadecimal(&line);
    line++;
    mapping.end = hl_parse_hexadecimal(&line);
    line++;
    mapping.readable = line[0] == 'r';
    mapping.writable = line[1] == 'w';
    mapping.executable = line[2] == 'x';
    mapping.shared = line[3] == 's';
    line = skip_word(line);
    mapping.offset = hl_parse_hexadecimal(&line);
    mapping.path = skip_word(skip_word(line + 1)); /* behind device and inode */
    mapping.is_file = mapping.path[0] == '/';
    return mapping;
}

/* The whole file; NUL-terminated. */
static char *read_text(size_t *length) {
    char *text = hl_own_memory(TEXT_BYTES);
    const int fd = text ? open("/proc/self/maps", O_RDONLY | O_CLOEXEC) : -1;
    ssize_t got = -1;
    *length = 0;
    if (fd < 0) return NULL;
    while (*length < TEXT_BYTES - 1 && (got = read(fd, text + *length, TEXT_BYTES - 1 - *length)) > 0)
        *length += (size_t)got;
    close(fd);
    return got < 0 ? NULL : text;
}

int64_t hl_memory_maps(struct hl_mapping **mappings) {
    size_t length;
    int64_t count = 0;
    char *text = read_text(&length);
    *mappings = text ? hl_own_memory((length / LEAST_LINE + 1) * sizeof(**mappings)) : NULL;
    if (!*mappings) return text ? -ENOMEM : -EIO;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        (*mappings)[count++] = hl_memory_map_parse(line);
    }
    return count;
}

uintptr_t hl_object_header(const struct hl_mapping *mappings, size_t count, uintptr_t address) {
    uintptr_t header = 0;
    for (size_t i = 0; i < count; i++) {
        if (mappings[i].is_file && mappings[i].offset == 0) header = mappings[i].begin;
        if (address - mappings[i].begin < mappings[i].end - mappings[i].begin) return mappings[i].is_file ? header : 0;
    }
    return 0;
}

void hl_variables_of(uintptr_t header, void (*each)(void *context, uintptr_t begin, uintptr_t end), void *context) {
    const ElfW(Ehdr) *object = (const ElfW(Ehdr) *)header;
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)(header + object->e_phoff);
    uintptr_t least = 0;
    for (unsigned i = object->e_phnum; i-- > 0;)
        if (segments[i].p_type == PT_LOAD) least = segments[i].p_vaddr;
    for (unsigned i = 0; i < object->e_phnum; i++) {
        const uintptr_t begin = header - least + segments[i].p_vaddr;
        if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_W)
            each(context, begin, begin + segments[i].p_memsz);
    }
}
