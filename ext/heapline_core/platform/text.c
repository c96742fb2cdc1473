/* SPDX-License-Identifier: MIT */
#include "platform/text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

struct sink {
    char *buffer;
    size_t size;
    size_t used;
    int cut;
};

static void put(struct sink *sink, const char *bytes, size_t length) {
    size_t i = 0;
    while (i < length && sink->used + 1 < sink->size) sink->buffer[sink->used++] = bytes[i++];
    if (i < length) sink->cut = 1;
}

static void put_number(struct sink *sink, uint64_t value, unsigned base) {
    char digits[24];
    size_t at = sizeof(digits);
    do digits[--at] = "0123456789abcdef"[value % base];
    while (value /= base);
    put(sink, digits + at, sizeof(digits) - at);
}

/* One conversion; `format` stands behind the percent sign. Returns the place behind the conversion. */
static const char *put_conversion(struct sink *sink, const char *format, va_list *arguments) {
    size_t limit = SIZE_MAX;
    int wide = 0;
    if (format[0] == '.' && format[1] == '*') {
        limit = (size_t)va_arg(*arguments, int);
        format += 2;
    }
    for (; *format == 'l' || *format == 'z'; format++) wide = 1;
    if (*format == 's') {
        const char *text = va_arg(*arguments, const char *);
        put(sink, text, strnlen(text, limit));
    } else if (*format == 'd') {
        int value = va_arg(*arguments, int);
        if (value < 0) put(sink, "-", 1);
        put_number(sink, value < 0 ? (uint64_t) - (int64_t)value : (uint64_t)value, 10);
    } else if (*format == 'u' || *format == 'x') {
        uint64_t value = wide ? va_arg(*arguments, uint64_t) : va_arg(*arguments, unsigned);
        put_number(sink, value, *format == 'x' ? 16 : 10);
    } else {
        put(sink, format, 1);
    }
    return format + 1;
}

static struct sink vformat(char *buffer, size_t size, const char *format, va_list *arguments) {
    struct sink sink = {buffer, size, 0, 0};
    while (*format) {
        size_t plain = strcspn(format, "%");
        put(&sink, format, plain);
        format += plain;
        if (*format) format = put_conversion(&sink, format + 1, arguments);
    }
    if (size) buffer[sink.used] = 0;
    return sink;
}

size_t hl_text(char *buffer, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const size_t used = vformat(buffer, size, format, &arguments).used;
    va_end(arguments);
    return used;
}

int hl_fit(char *buffer, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int cut = vformat(buffer, size, format, &arguments).cut || !size;
    va_end(arguments);
    if (cut && size) buffer[0] = 0;
    return cut ? -ENAMETOOLONG : 0;
}

void hl_say(const char *format, ...) {
    char line[512];
    int saved = errno;
    size_t used = hl_text(line, sizeof(line), "heapline: ");
    va_list arguments;
    va_start(arguments, format);
    used += vformat(line + used, sizeof(line) - used - 1, format, &arguments).used;
    va_end(arguments);
    line[used++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, used);
    (void)ignored;
    errno = saved;
}

uint64_t hl_parse_number(const char **cursor) {
    uint64_t value = 0;
    for (; **cursor >= '0' && **cursor <= '9'; ++*cursor) value = value * 10 + (uint64_t)(**cursor - '0');
    return value;
}

uint64_t hl_parse_hexadecimal(const char **cursor) {
    uint64_t value = 0;
    for (;; ++*cursor) {
        const char digit = **cursor;
        if (digit >= '0' && digit <= '9')
            value = value << 4 | (uint64_t)(digit - '0');
        else if (digit >= 'a' && digit <= 'f')
            value = value << 4 | (uint64_t)(digit - 'a' + 10);
        else
            return value;
    }
}
