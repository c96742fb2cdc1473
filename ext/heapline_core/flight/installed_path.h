/* SPDX-License-Identifier: MIT */
/*
 * Whose a file is, told by its path alone: a gem's or Ruby's own library's, or else the application's. The core and the
 * readers of its files tell it alike.
 */
#ifndef HL_INSTALLED_PATH_H
#define HL_INSTALLED_PATH_H

#include <stddef.h>
#include <string.h>

#include "../platform/platform.h"

struct hl_path {
    const char *bytes;
    size_t length;
};

/* What comes behind the first `part`; without bytes where there is none. */
HL_INLINE struct hl_path hl_path_behind(struct hl_path path, const char *part) {
    const size_t length = strlen(part);
    const char *found = path.length ? memmem(path.bytes, path.length, part, length) : NULL;
    if (!found) return (struct hl_path){NULL, 0};
    return (struct hl_path){found + length, path.length - (size_t)(found + length - path.bytes)};
}

HL_INLINE int hl_path_begins(struct hl_path path, const char *with) {
    const size_t length = strlen(with);
    return path.length >= length && memcmp(path.bytes, with, length) == 0;
}

HL_INLINE int hl_path_begins_with_digit(struct hl_path path) {
    return path.length && path.bytes[0] >= '0' && path.bytes[0] <= '9';
}

/* …/gems/rack-3.0.8/… or …/bundler/gems/rack-0123456789ab/… */
HL_INLINE int hl_path_is_of_gem(struct hl_path path) {
    static const char BUNDLERS[] = "/bundler/gems/";
    enum { LENGTH = sizeof(BUNDLERS) - 1 };
    for (struct hl_path rest = hl_path_behind(path, "/gems/"); rest.bytes; rest = hl_path_behind(rest, "/gems/")) {
        if (rest.bytes - path.bytes >= LENGTH && memcmp(rest.bytes - LENGTH, BUNDLERS, LENGTH) == 0) return 1;
        const char *slash = memchr(rest.bytes, '/', rest.length);
        struct hl_path name = {rest.bytes, slash ? (size_t)(slash - rest.bytes) : 0};
        for (name = hl_path_behind(name, "-"); name.bytes; name = hl_path_behind(name, "-"))
            if (hl_path_begins_with_digit(name)) return 1;
    }
    return 0;
}

/* …/ruby/3.4.0/…, …/ruby/vendor_ruby/… */
HL_INLINE int hl_path_is_of_ruby(struct hl_path path) {
    for (struct hl_path rest = hl_path_behind(path, "/ruby/"); rest.bytes; rest = hl_path_behind(rest, "/ruby/"))
        if (hl_path_begins_with_digit(rest) || hl_path_begins(rest, "vendor_ruby/") ||
            hl_path_begins(rest, "site_ruby/"))
            return 1;
    return 0;
}

HL_INLINE int hl_path_is_installed(struct hl_path path) {
    return hl_path_is_of_gem(path) || hl_path_is_of_ruby(path);
}

#endif
