/* SPDX-License-Identifier: MIT */
/*
 * A scanner of JSON text (RFC 8259) that makes no objects: it calls back for each member of an object and each element
 * of an array, and the callback takes the value with one of the functions below or skips it. What is skipped is checked
 * all the same. Pure C: no Ruby, no I/O, no global state; callable from any thread.
 *
 * J1  Nothing behind `end` is read, and nothing behind `scratch_end` written, whatever the text holds.
 * J2  Each function consumes exactly one value and returns 0, or returns -EINVAL: the text is no JSON (or is nested
 *     deeper than HL_JSON_DEPTH) and the scanner is of no further use.
 */
#ifndef HL_JSON_SCANNER_H
#define HL_JSON_SCANNER_H

#include <stdint.h>

#define HL_JSON_DEPTH 32

/* Not NUL-terminated; `bytes` is NULL where there is no text. */
struct hl_text {
    const char *bytes;
    uint32_t length;
};

/* `scratch` receives strings that hold escapes; as many bytes as the text has are always enough. */
struct hl_json {
    const char *at, *end;
    char *scratch, *scratch_end;
    int depth;
};

typedef int (*hl_json_member)(struct hl_json *json, struct hl_text key, void *context);
typedef int (*hl_json_element)(struct hl_json *json, void *context);

/* A value that is no object or no array is skipped without a call. */
int hl_json_object(struct hl_json *json, hl_json_member member, void *context);
int hl_json_array(struct hl_json *json, hl_json_element element, void *context);

/* A string, decoded; another value leaves the text without bytes. Points into the JSON text or into `scratch`. */
int hl_json_text(struct hl_json *json, struct hl_text *text);

/* A number; another value is NAN, and so is a number that nothing is counted with. */
#define HL_JSON_NUMBER_MOST 1e18
int hl_json_number(struct hl_json *json, double *number);

int hl_json_skip(struct hl_json *json);

/* Is only white space left? */
int hl_json_at_end(struct hl_json *json);

#endif
