/* SPDX-License-Identifier: MIT */
#include "json_scanner.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* The next byte that is not white space, or -1 at the end; it is not consumed. */
static int peek(struct hl_json *json) {
    while (json->at < json->end) {
        char c = *json->at;
        if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return (unsigned char)c;
        json->at++;
    }
    return -1;
}

static int take(struct hl_json *json, int wanted) {
    if (peek(json) != wanted) return -EINVAL;
    json->at++;
    return 0;
}

int hl_json_at_end(struct hl_json *json) {
    return peek(json) < 0;
}

static int literal(struct hl_json *json, const char *word, size_t length) {
    if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length)) return -EINVAL;
    json->at += length;
    return 0;
}

/* ---- strings ---- */

static int put(struct hl_json *json, unsigned byte) {
    if (json->scratch >= json->scratch_end) return -EINVAL;
    *json->scratch++ = (char)byte;
    return 0;
}

static int put_utf8(struct hl_json *json, uint32_t code) {
    if (code < 0x80) return put(json, code);
    if (code < 0x800) return put(json, 0xc0 | code >> 6) || put(json, 0x80 | (code & 63)) ? -EINVAL : 0;
    if (code < 0x10000)
        return put(json, 0xe0 | code >> 12) || put(json, 0x80 | (code >> 6 & 63)) || put(json, 0x80 | (code & 63))
                   ? -EINVAL
                   : 0;
    return put(json, 0xf0 | code >> 18) || put(json, 0x80 | (code >> 12 & 63)) || put(json, 0x80 | (code >> 6 & 63)) ||
                   put(json, 0x80 | (code & 63))
               ? -EINVAL
               : 0;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int four_digits(struct hl_json *json, uint32_t *code) {
    if (json->end - json->at < 4) return -EINVAL;
    *code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(*json->at++);
        if (digit < 0) return -EINVAL;
        *code = *code << 4 | (uint32_t)digit;
    }
    return 0;
}

/* What follows "\u". Half of a surrogate pair alone becomes U+FFFD: a name is shown, not judged. */
static int unicode_escape(struct hl_json *json) {
    uint32_t code, low;
    if (four_digits(json, &code)) return -EINVAL;
    if (code < 0xd800 || code > 0xdfff) return put_utf8(json, code);
    if (code > 0xdbff || json->end - json->at < 6 || json->at[0] != '\\' || json->at[1] != 'u')
        return put_utf8(json, 0xfffd);
    json->at += 2;
    if (four_digits(json, &low)) return -EINVAL;
    if (low >= 0xdc00 && low <= 0xdfff) return put_utf8(json, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
    json->at -= 6; /* the next escape is a character of its own */
    return put_utf8(json, 0xfffd);
}

static int escape(struct hl_json *json) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (json->at >= json->end) return -EINVAL;
    char c = *json->at++;
    if (c == 'u') return unicode_escape(json);
    const char *found = c ? strchr(from, c) : NULL;
    return found ? put(json, (unsigned char)to[found - from]) : -EINVAL;
}

/* The end of a run of plain characters: a quote, a backslash, or a control character, which JSON does not allow. */
static const char *plain_end(const char *at, const char *end) {
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20) at++;
    return at;
}

/* The rest of a string from its first escape on. */
static int escaped_string(struct hl_json *json, const char *start, struct hl_text *text) {
    char *decoded = json->scratch;
    const char *from = start;
    for (;;) {
        ptrdiff_t run = json->at - from;
        if (run > json->scratch_end - json->scratch) return -EINVAL;
        memcpy(json->scratch, from, (size_t)run);
        json->scratch += run;
        if (json->at >= json->end || (unsigned char)*json->at < 0x20) return -EINVAL;
        if (*json->at++ == '"') break;
        if (escape(json)) return -EINVAL;
        from = json->at;
        json->at = plain_end(json->at, json->end);
    }
    *text = (struct hl_text){decoded, (uint32_t)(json->scratch - decoded)};
    return 0;
}

static int string(struct hl_json *json, struct hl_text *text) {
    if (take(json, '"')) return -EINVAL;
    const char *start = json->at;
    json->at = plain_end(start, json->end);
    if (json->at >= json->end) return -EINVAL;
    if (*json->at != '"') return escaped_string(json, start, text);
    *text = (struct hl_text){start, (uint32_t)(json->at - start)};
    json->at++;
    return 0;
}

/* ---- numbers ---- */

/* Digits into *value, at least one. Returns how many, or -EINVAL. More than 18 lose their last places, not their size.
 */
static int digits(struct hl_json *json, double *value) {
    const char *start = json->at;
    double sum = *value;
    while (json->at < json->end && *json->at >= '0' && *json->at <= '9') sum = sum * 10 + (*json->at++ - '0');
    *value = sum;
    return json->at == start ? -EINVAL : (int)(json->at - start);
}

static int exponent(struct hl_json *json, int *scale) {
    double value = 0;
    int negative = 0;
    json->at++;
    if (json->at < json->end && (*json->at == '+' || *json->at == '-')) negative = *json->at++ == '-';
    if (digits(json, &value) < 0) return -EINVAL;
    *scale += (int)(negative ? -fmin(value, 400) : fmin(value, 400));
    return 0;
}

static int number(struct hl_json *json, double *result) {
    double value = 0;
    int scale = 0, negative = *json->at == '-';
    json->at += negative;
    const char *first = json->at;
    int count = digits(json, &value);
    if (count < 0 || (count > 1 && *first == '0')) return -EINVAL;
    if (json->at < json->end && *json->at == '.') {
        json->at++;
        int places = digits(json, &value);
        if (places < 0) return -EINVAL;
        scale = -places;
    }
    if (json->at < json->end && (*json->at | 32) == 'e' && exponent(json, &scale)) return -EINVAL;
    if (scale) value *= pow(10, scale);
    *result = negative ? -value : value;
    return 0;
}

/* ---- values ---- */

int hl_json_object(struct hl_json *json, hl_json_member member, void *context) {
    if (peek(json) != '{') return hl_json_skip(json);
    json->at++;
    if (++json->depth > HL_JSON_DEPTH) return -EINVAL;
    for (int first = 1; peek(json) != '}'; first = 0) {
        struct hl_text key;
        if (!first && take(json, ',')) return -EINVAL;
        if (peek(json) != '"' || string(json, &key) || take(json, ':')) return -EINVAL;
        if (member(json, key, context)) return -EINVAL;
    }
    json->at++;
    json->depth--;
    return 0;
}

int hl_json_array(struct hl_json *json, hl_json_element element, void *context) {
    if (peek(json) != '[') return hl_json_skip(json);
    json->at++;
    if (++json->depth > HL_JSON_DEPTH) return -EINVAL;
    for (int first = 1; peek(json) != ']'; first = 0) {
        if (!first && take(json, ',')) return -EINVAL;
        if (element(json, context)) return -EINVAL;
    }
    json->at++;
    json->depth--;
    return 0;
}

static int skip_member(struct hl_json *json, struct hl_text key, void *context) {
    (void)key;
    (void)context;
    return hl_json_skip(json);
}

static int skip_element(struct hl_json *json, void *context) {
    (void)context;
    return hl_json_skip(json);
}

int hl_json_skip(struct hl_json *json) {
    struct hl_text text;
    double value;
    switch (peek(json)) {
    case '{':
        return hl_json_object(json, skip_member, NULL);
    case '[':
        return hl_json_array(json, skip_element, NULL);
    case '"':
        return string(json, &text);
    case 't':
        return literal(json, "true", 4);
    case 'f':
        return literal(json, "false", 5);
    case 'n':
        return literal(json, "null", 4);
    case -1:
        return -EINVAL;
    default:
        return number(json, &value);
    }
}

int hl_json_text(struct hl_json *json, struct hl_text *text) {
    if (peek(json) == '"') return string(json, text);
    *text = (struct hl_text){NULL, 0};
    return hl_json_skip(json);
}

int hl_json_number(struct hl_json *json, double *value) {
    int next = peek(json);
    if (next != '-' && !(next >= '0' && next <= '9')) {
        *value = NAN;
        return hl_json_skip(json);
    }
    const int failed = number(json, value);
    if (!failed && !(fabs(*value) <= HL_JSON_NUMBER_MOST)) *value = NAN;
    return failed;
}
