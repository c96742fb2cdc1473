/* SPDX-License-Identifier: MIT */
#include "site_stages.h"

#include <string.h>

#include "../heapline_core/flight/installed_path.h"

const struct hl_span hl_stage_names[HL_STAGES] = {
    [HL_STAGE_START_UP] = {"(start-up)", 10},
    [HL_STAGE_LOADING] = {"(loading)", 9},
};

static int begins(struct hl_span text, const char *with) {
    const size_t length = strlen(with);
    return text.length >= length && memcmp(text.bytes, with, length) == 0;
}

static int ends(struct hl_span text, const char *with) {
    const size_t length = strlen(with);
    return text.length >= length && memcmp(text.bytes + text.length - length, with, length) == 0;
}

static int has(struct hl_span text, const char *part) {
    return hl_path_behind((struct hl_path){text.bytes, text.length}, part).bytes != NULL;
}

/* What finds and loads files, all that it does. */
static int is_loader(struct hl_span path) {
    return has(path, "/rubygems.rb") || has(path, "/rubygems/") || has(path, "/bundler.rb") ||
           has(path, "/lib/bundler/") || has(path, "_ruby/bundler/") || has(path, "/gems/bootsnap-") ||
           has(path, "/gems/zeitwerk-") || has(path, "/bundled_gems.rb");
}

/* A file's own level, or the body of a class or module in it: it runs once, when the file is loaded. A block in it may
 * be a method, and a file with another ending a program. */
static int is_body(const struct hl_site_place *place) {
    return ends(place->path, ".rb") && (begins(place->label, "<top (required)>") || begins(place->label, "<class:") ||
                                        begins(place->label, "<module:") || begins(place->label, "singleton class"));
}

/* libruby, or the program that has it in itself. */
static int is_vm(struct hl_span library) {
    struct hl_span name = library;
    const char *slash = name.length ? memrchr(name.bytes, '/', name.length) : NULL;
    if (slash) name = (struct hl_span){slash + 1, name.length - (uint32_t)(slash + 1 - name.bytes)};
    if (begins(name, "libruby")) return has(name, ".so");
    if (!begins(name, "ruby")) return 0;
    for (uint32_t i = 4; i < name.length; i++)
        if (name.bytes[i] != '.' && (name.bytes[i] < '0' || name.bytes[i] > '9')) return 0;
    return 1;
}

/* One of Ruby's first frames, from before it has a program: it has no line, and is of the executable or of nothing. */
static int is_first_frame(const struct hl_site_place *place) {
    return !place->line && (!place->label.length || (begins(place->label, "<main>") && is_vm(place->path)));
}

static enum hl_stage stage_of_line(const struct hl_site_place *place) {
    /* A report that was read back from JSON has the label alone. */
    if (place->offset == HL_RUBY_LOADING || ends(place->label, " (loading)")) return HL_STAGE_LOADING;
    if (is_first_frame(place)) /* an extension that is loaded looks the same */
        return ends(place->path, ".so") ? HL_STAGE_LOADING : HL_STAGE_START_UP;
    if (begins(place->path, "<internal:") && begins(place->label, "<internal:")) return HL_STAGE_START_UP;
    if (ends(place->path, ".gemspec") && has(place->path, "/specifications/")) return HL_STAGE_LOADING;
    if (!hl_path_is_installed((struct hl_path){place->path.bytes, place->path.length})) return HL_STAGE_RUN;
    return is_loader(place->path) || is_body(place) ? HL_STAGE_LOADING : HL_STAGE_RUN;
}

enum hl_stage hl_stage_of(const struct hl_site_place *place) {
    if (place->kind == HL_KIND_RUBY) return stage_of_line(place);
    return place->kind == HL_KIND_NATIVE && is_vm(place->library) ? HL_STAGE_START_UP : HL_STAGE_RUN;
}
