/* SPDX-License-Identifier: MIT */
#include "record/call_frames.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "flight/library.h"
#include "flight/site_table.h"
#include "platform/text.h"
#include "state/guard.h"

struct hl_lossy_cache hl_call_known;
static struct hl_lossy_cache owned; /* frames named with their method's owner, by what they run */
/* Stands for frames that found no room. It is kept by pc as others are, or every event would look them up again. */
static uint32_t nameless;

void hl_call_frames_destroy(void) {
    hl_lossy_destroy(&hl_call_known);
    hl_lossy_destroy(&owned);
}

int hl_call_frames_create(void) {
    nameless = hl_tree_note("(a line for which there was no room)");
    if (!hl_lossy_create(&hl_call_known, HL_LOSSY_BITS) || !hl_lossy_create(&owned, HL_LOSSY_BITS)) return -ENOMEM;
    hl_lossy_populate(&hl_call_known);
    return 0;
}

/* ---- Ruby frames ---- */

/* The frame as it was named when its owner could be told; `number`, where it never was. */
static uint32_t with_owner(const struct hl_ruby_line *line, const struct hl_ring_frame *frame, uint32_t number) {
    enum { FOR_EVER = 0 }; /* path and line are the key's: other code at these addresses has others */
    if (!line->frame) return number;
    const uint64_t pcs = hl_lossy_key(hl_frame_pc(line->frame), line->called ? hl_frame_pc(line->called) : 0);
    const uint64_t key = hl_lossy_key(pcs, (uint64_t)frame->path << 32 | frame->line);
    if (!line->ownerless) hl_lossy_keep(&owned, key, FOR_EVER, number);
    const uint32_t known = line->ownerless ? hl_lossy_find(&owned, key, FOR_EVER) : 0;
    return known ? known : number;
}

static uint32_t ruby_frame(const struct hl_ruby_line *line) {
    char label[HL_LABEL_MAX];
    const size_t length = line->frame ? hl_ruby_frame_label(line, label) : 0;
    const struct hl_ring_frame frame = {.kind = HL_FRAME_RUBY,
                                        .path = hl_tree_string(line->path, line->path_length),
                                        .label = hl_tree_string(label, length),
                                        .line = line->line};
    const uint32_t number = hl_tree_frame(&frame);
    return number ? with_owner(line, &frame, number) : nameless;
}

enum { WORDS = 64 };

static const char *outer_frames(uint32_t skipped, char words[WORDS]) {
    hl_text(words, WORDS, "(%u outer frames)", skipped);
    return words;
}

uint32_t hl_call_frame_of(const struct hl_ruby_line *line, uint32_t skipped) {
    char words[WORDS];
    if (line) return ruby_frame(line);
    return hl_tree_note(skipped ? outer_frames(skipped, words) : "(unknown frame)");
}

HL_COLD uint32_t hl_call_public_frame(void) {
    struct hl_ruby_line line = {0};
    uint32_t number = 0;
    const int saved = hl_guard_enter(&hl_thread);
    if (hl_ruby_line_public((struct hl_frame){0, NULL}, &line, NULL, 0) == 0 && line.line) number = ruby_frame(&line);
    hl_guard_leave(&hl_thread, saved);
    return number;
}

/* ---- C frames ---- */

/* The executable has no name in its link map. */
static uint32_t path_of(const struct link_map *map) {
    char path[PATH_MAX];
    if (!map) return 0;
    if (map->l_name && map->l_name[0]) return hl_tree_string(map->l_name, strlen(map->l_name));
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    return length > 0 ? hl_tree_string(path, (size_t)length) : 0;
}

HL_COLD uint32_t hl_call_name_native(uintptr_t address, uint32_t epoch) {
    const int saved = hl_guard_enter(&hl_thread);
    const struct hl_library library = hl_library_at(address);
    const struct link_map *map = library.map;
    const struct hl_ring_frame frame = {
        .kind = HL_FRAME_NATIVE, .path = path_of(map), .offset = address - library.base};
    uint32_t number = hl_tree_frame(&frame);
    if (!number) number = nameless;
    if (number && map && map == hl_ruby.library) number |= HL_CALL_IN_VM;
    /* Before the VM is known nobody can say whether this lies in it: it is named again then. */
    if (number && hl_ruby.library) hl_lossy_keep(&hl_call_known, address, epoch, number);
    hl_guard_leave(&hl_thread, saved);
    return number;
}

/* ---- words ---- */

HL_COLD uint32_t hl_call_note(uint32_t parent, const char *words) {
    const int saved = hl_guard_enter(&hl_thread);
    const uint32_t frame = hl_tree_note(words);
    hl_guard_leave(&hl_thread, saved);
    return frame ? hl_tree_node(parent, frame) : 0;
}

HL_COLD uint32_t hl_call_skipped(uint32_t skipped) {
    char words[WORDS];
    return hl_call_note(0, outer_frames(skipped, words));
}
