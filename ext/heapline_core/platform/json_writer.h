/* SPDX-License-Identifier: MIT */
/*
 * JSON to a descriptor, through a buffer of its own: no malloc, no stdio. Commas are its business, keys and nesting the
 * caller's. Bytes that are no UTF-8 are passed on as they are.
 */
#ifndef HL_JSON_WRITER_H
#define HL_JSON_WRITER_H

#include <stddef.h>
#include <stdint.h>

struct hl_json {
    int fd;
    int failed;  /* 0, or -errno of the first write that failed */
    int pending; /* the next value stands behind another one */
    size_t used;
    char buffer[65536];
};

void hl_json_begin(struct hl_json *json, int fd);

/* Key NULL: in an array. */
void hl_json_open(struct hl_json *json, const char *key, char bracket);
void hl_json_close(struct hl_json *json, char bracket);
void hl_json_number(struct hl_json *json, const char *key, uint64_t value);
void hl_json_text(struct hl_json *json, const char *key, const char *text, size_t length);

/* 0 or -errno. */
int hl_json_end(struct hl_json *json);

#endif
