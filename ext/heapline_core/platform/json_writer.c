/* SPDX-License-Identifier: MIT */
#include "platform/json_writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "platform/text.h"

static void flush(struct hl_json *json) {
    for (size_t at = 0; at < json->used && !json->failed;) {
        const ssize_t written = write(json->fd, json->buffer + at, json->used - at);
        if (written > 0)
            at += (size_t)written;
        else if (written == 0 || errno != EINTR)
            json->failed = written == 0 ? -EIO : -errno;
    }
    json->used = 0;
}

static void put(struct hl_json *json, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (json->used == sizeof(json->buffer)) flush(json);
        json->buffer[json->used++] = bytes[i];
    }
}

static void put_escaped(struct hl_json *json, const char *text, size_t length) {
    char escape[8] = "";
    put(json, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte == '"' || byte == '\\')
            put(json, escape, hl_text(escape, sizeof(escape), "\\%.*s", 1, text + i));
        else if (byte < 0x20)
            put(json, escape, hl_text(escape, sizeof(escape), "\\u00%s%x", byte < 0x10 ? "0" : "", byte));
        else
            put(json, text + i, 1);
    }
    put(json, "\"", 1);
}

static void put_key(struct hl_json *json, const char *key) {
    if (json->pending) put(json, ",", 1);
    json->pending = 1;
    if (!key) return;
    put_escaped(json, key, strlen(key));
    put(json, ":", 1);
}

void hl_json_begin(struct hl_json *json, int fd) {
    json->fd = fd;
    json->failed = json->pending = 0;
    json->used = 0;
}

void hl_json_open(struct hl_json *json, const char *key, char bracket) {
    put_key(json, key);
    put(json, &bracket, 1);
    json->pending = 0;
}

void hl_json_close(struct hl_json *json, char bracket) {
    put(json, &bracket, 1);
    json->pending = 1;
}

void hl_json_number(struct hl_json *json, const char *key, uint64_t value) {
    char digits[24] = "";
    put_key(json, key);
    const size_t length = hl_text(digits, sizeof(digits), "%llu", (unsigned long long)value);
    put(json, digits, length);
}

void hl_json_text(struct hl_json *json, const char *key, const char *text, size_t length) {
    put_key(json, key);
    put_escaped(json, text, length);
}

int hl_json_end(struct hl_json *json) {
    put(json, "\n", 1);
    flush(json);
    return json->failed;
}
