/* SPDX-License-Identifier: MIT */
/*
 * Bounded formatting and one-line messages without stdio: callable inside malloc, from any thread.
 */
#ifndef HL_TEXT_H
#define HL_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Format into `buffer`, always NUL-terminated; knows %s, %.*s, %d, %u, %zu, %llu, %x. Returns the length written. What
 * does not fit is cut: for words that are shown. */
size_t hl_text(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same for what means something else when it is cut: paths, commands. 0, or -ENAMETOOLONG and an empty text. */
int hl_fit(char *buffer, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4), warn_unused_result));

/* Write "heapline: " and the formatted line to stderr, in one write. */
void hl_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Parse a decimal number at `*cursor` and move it behind; 0 where there is none. */
uint64_t hl_parse_number(const char **cursor);
uint64_t hl_parse_hexadecimal(const char **cursor);

#endif
