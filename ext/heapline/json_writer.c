/* SPDX-License-Identifier: MIT */
#include "json_writer.h"

#include <string.h>

static int continues(const unsigned char *bytes, size_t left, size_t count) {
    for (size_t i = 1; i <= count; i++)
        if (i >= left || (bytes[i] & 0xc0) != 0x80) return 0;
    return 1;
}

/* The length of the UTF-8 character that begins here; 0 where there is none (Unicode, table 3-7). */
static size_t character(const unsigned char *bytes, size_t left) {
    const unsigned char first = bytes[0], second = left > 1 ? bytes[1] : 0;
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return continues(bytes, left, 1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
        return continues(bytes, left, 2) ? 3 : 0;
    }
    if (first < 0xf0 || first > 0xf4) return 0;
    if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
    return continues(bytes, left, 3) ? 4 : 0;
}

static void put_string(FILE *out, const char *text, size_t length) {
    const unsigned char *bytes = (const unsigned char *)text;
    putc_unlocked('"', out);
    for (size_t at = 0; at < length;) {
        const size_t size = character(bytes + at, length - at);
        if (size == 0) /* text, as wherever heapline shows names */
            fprintf(out, "\\\\x%02X", bytes[at]);
        else if (bytes[at] < 0x20 || bytes[at] == 0x7f)
            fprintf(out, "\\u%04x", bytes[at]);
        else {
            if (bytes[at] == '"' || bytes[at] == '\\') putc_unlocked('\\', out);
            fwrite(bytes + at, 1, size, out);
        }
        at += size ? size : 1;
    }
    putc_unlocked('"', out);
}

static void begin_member(struct rbhl_json *json, const char *key) {
    if (json->comma) putc_unlocked(',', json->out);
    json->comma = 1;
    if (!key) return;
    put_string(json->out, key, strlen(key));
    putc_unlocked(':', json->out);
}

void rbhl_json_open(struct rbhl_json *json, const char *key, char bracket) {
    begin_member(json, key);
    putc_unlocked(bracket, json->out);
    json->comma = 0;
}

void rbhl_json_close(struct rbhl_json *json, char bracket) {
    putc_unlocked(bracket, json->out);
    json->comma = 1;
}

void rbhl_json_line_end(struct rbhl_json *json) {
    rbhl_json_close(json, '}');
    putc_unlocked('\n', json->out);
    json->comma = 0;
}

void rbhl_json_text(struct rbhl_json *json, const char *key, const char *bytes, size_t length) {
    begin_member(json, key);
    put_string(json->out, bytes, length);
}

void rbhl_json_number(struct rbhl_json *json, const char *key, uint64_t number) {
    begin_member(json, key);
    fprintf(json->out, "%llu", (unsigned long long)number);
}

static void put_address(FILE *out, uintptr_t address) {
    fprintf(out, "\"0x%llx\"", (unsigned long long)address);
}

void rbhl_json_address(struct rbhl_json *json, const char *key, uintptr_t address) {
    begin_member(json, key);
    put_address(json->out, address);
}

/* The value follows at once: no comma before it. */
void rbhl_json_key_address(struct rbhl_json *json, uintptr_t address) {
    begin_member(json, NULL);
    put_address(json->out, address);
    putc_unlocked(':', json->out);
    json->comma = 0;
}

void rbhl_json_key_text(struct rbhl_json *json, const char *bytes, size_t length) {
    rbhl_json_text(json, NULL, bytes, length);
    putc_unlocked(':', json->out);
    json->comma = 0;
}
