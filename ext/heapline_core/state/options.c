/* SPDX-License-Identifier: MIT */
#include "state/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/text.h"

struct hl_options hl_options;

static const struct {
    const char *name;
    uint32_t *field;
    int number; /* takes a number; else the name alone sets 1 */
} table[] = {
    {"quiet", &hl_options.quiet, 0},   {"keep", &hl_options.keep, 0},
    {"output", &hl_options.output, 0}, {"nofollow", &hl_options.nofollow, 0},
    {"gc", &hl_options.gc, 0},         {"api", &hl_options.public_api, 0},
    {"sites", &hl_options.sites, 1},   {"objects", &hl_options.objects, 0},
    {"blocks", &hl_options.blocks, 0}, {"internal", &hl_options.internal, 0},
    {"any", &hl_options.any, 0},       {"quarantine", &hl_options.quarantine, 0},
    {"core", &hl_options.core, 0},     {"off", &hl_options.off, 0},
};

static void read_entry(const char *entry, size_t length) {
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        size_t name = strlen(table[i].name);
        if (length < name || memcmp(entry, table[i].name, name) || (length > name && entry[name] != ':')) continue;
        const char *value = entry + name + 1;
        *table[i].field = table[i].number && length > name ? (uint32_t)hl_parse_number(&value) : 1;
    }
}

void hl_options_add(const char *text) {
    while (text && *text) {
        size_t length = strcspn(text, ",");
        read_entry(text, length);
        text += length + (text[length] == ',');
    }
}

void hl_options_read(void) {
    const char *top = secure_getenv("HEAPLINE_TOP");
    hl_options_add(secure_getenv("HEAPLINE"));
    if (top) hl_options.top_pid = (uint32_t)hl_parse_number(&top);
    if (top && *top++ == '-') hl_options.top_ticks = hl_parse_number(&top);
}

void hl_options_directory(char path[HL_DIRECTORY_BYTES]) {
    const size_t size = HL_DIRECTORY_BYTES;
    const char *given = secure_getenv("HEAPLINE_DIR");
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
    if (given && given[0] == '/')
        hl_text(path, size, "%s", given);
    else if (runtime && runtime[0] == '/')
        hl_text(path, size, "%s/heapline", runtime);
    else
        hl_text(path, size, "/dev/shm/heapline-%u", (unsigned)geteuid());
}
