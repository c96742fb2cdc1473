/* SPDX-License-Identifier: MIT */
/*
 * Lines of JSON, written as they come: objects in a stream, one a line. Strings may hold any bytes; what is no UTF-8
 * becomes U+FFFD. Failures of the stream show when it is flushed.
 */
#ifndef RBHL_JSON_WRITER_H
#define RBHL_JSON_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct rbhl_json {
    FILE *out;
    int comma; /* one is due before the next key or element */
};

/* `bracket`: { or [, with a key inside an object, NULL elsewhere. Objects at the top are lines. */
void rbhl_json_open(struct rbhl_json *json, const char *key, char bracket);
void rbhl_json_close(struct rbhl_json *json, char bracket);
void rbhl_json_line_end(struct rbhl_json *json);

/* A member, or, without a key, an element. */
void rbhl_json_text(struct rbhl_json *json, const char *key, const char *bytes, size_t length);
void rbhl_json_number(struct rbhl_json *json, const char *key, uint64_t number);
void rbhl_json_address(struct rbhl_json *json, const char *key, uintptr_t address);

/* A key that is an address, before a text without a key. */
void rbhl_json_key_address(struct rbhl_json *json, uintptr_t address);
/* A key of any bytes, before a value without a key. */
void rbhl_json_key_text(struct rbhl_json *json, const char *bytes, size_t length);

#endif
