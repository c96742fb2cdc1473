/* SPDX-License-Identifier: MIT */
#include "site_stages.h"

#include <string.h>

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

/* What comes behind the first `part`; without bytes where there is none. */
static struct hl_span behind(struct hl_span text, const char *part) {
    const size_t length = strlen(part);
    const char *found = text.length ? memmem(text.bytes, text.length, part, length) : NULL;
    if (!found) return (struct hl_span){0};
    return (struct hl_span){found + length, text.length - (uint32_t)(found + length - text.bytes)};
}

static int has(struct hl_span text, const char *part) {
    return behind(text, part).bytes != NULL;
}

static int is_digit(struct hl_span text) {
    return text.length && text.bytes[0] >= '0' && text.bytes[0] <= '9';
}

/* …/gems/rack-3.0.8/… or …/bundler/gems/rack-0123456789ab/… */
static int is_of_gem(struct hl_span path) {
    if (has(path, "/bundler/gems/")) return 1;
    for (struct hl_span rest = behind(path, "/gems/"); rest.bytes; rest = behind(rest, "/gems/")) {
        const char *slash = memchr(rest.bytes, '/', rest.length);
        struct hl_span name = {rest.bytes, slash ? (uint32_t)(slash - rest.bytes) : 0};
        for (name = behind(name, "-"); name.bytes; name = behind(name, "-"))
            if (is_digit(name)) return 1;
    }
    return 0;
}

/* …/ruby/3.4.0/…, …/ruby/vendor_ruby/… */
static int is_of_ruby(struct hl_span path) {
    for (struct hl_span rest = behind(path, "/ruby/"); rest.bytes; rest = behind(rest, "/ruby/"))
        if (is_digit(rest) || begins(rest, "vendor_ruby/") || begins(rest, "site_ruby/")) return 1;
    return 0;
}

/* What finds and loads files, all that it does. */
static int is_loader(struct hl_span path) {
    return has(path, "/rubygems.rb") || has(path, "/rubygems/") || has(path, "/bundler.rb") ||
           has(path, "/lib/bundler/") || has(path, "_ruby/bundler/") || has(path, "/gems/bootsnap-") ||
           has(path, "/gems/zeitwerk-");
}

/* A file's own level, or the body of a class or module in it: it runs once, when the file is loaded. A block in it may
 * be a method, and a file with another ending a program. */
static int is_body(const struct hl_site_place *place) {
    return ends(place->path, ".rb") && (begins(place->label, "<top (required)>") || begins(place->label, "<class:") ||
                                        begins(place->label, "<module:"));
}

/* libruby, or the program that has it in itself. */
static int is_vm(struct hl_span library) {
    struct hl_span name = library;
    for (struct hl_span rest = behind(name, "/"); rest.bytes; rest = behind(name, "/")) name = rest;
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
    if (place->offset == HL_RUBY_LOADING) return HL_STAGE_LOADING;
    if (is_first_frame(place)) /* an extension that is loaded looks the same */
        return ends(place->path, ".so") ? HL_STAGE_LOADING : HL_STAGE_START_UP;
    if (begins(place->path, "<internal:") && begins(place->label, "<internal:")) return HL_STAGE_START_UP;
    if (!is_of_gem(place->path) && !is_of_ruby(place->path)) return HL_STAGE_RUN;
    return is_loader(place->path) || is_body(place) ? HL_STAGE_LOADING : HL_STAGE_RUN;
}

enum hl_stage hl_stage_of(const struct hl_site_place *place) {
    if (place->kind == HL_KIND_RUBY) return stage_of_line(place);
    return place->kind == HL_KIND_NATIVE && is_vm(place->library) ? HL_STAGE_START_UP : HL_STAGE_RUN;
}
