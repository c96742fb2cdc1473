/* SPDX-License-Identifier: MIT */
#include "growth_line.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How often the beginning of a line is looked for in one that is damaged. */
enum { RESTARTS_MAX = 8 };

enum field_type { TEXT, NUMBER };

/* A key and where its value goes in a struct. */
struct field {
    const char *key;
    size_t length;
    enum field_type type;
    size_t offset;
};

#define FIELD(owner, type, name)                                                                                       \
    { #name, sizeof(#name) - 1, type, offsetof(owner, name) }
#define LINE_FIELD(type, name) FIELD(struct hl_growth_line, type, name),
#define SITE_FIELD(type, name) FIELD(struct hl_line_site, type, name),
#define TOTAL_FIELD(type, name) FIELD(struct hl_line_totals, type, name),

static const struct field line_fields[] = {HL_LINE_KEYS(LINE_FIELD)};
static const struct field site_fields[] = {HL_LINE_SITE_KEYS(SITE_FIELD)};
static const struct field totals_fields[] = {HL_LINE_TOTAL_KEYS(TOTAL_FIELD)};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A struct that is being filled. Keys mostly come in the table's order: the search begins behind the last one found. */
struct filling {
    const struct field *fields;
    size_t count, next;
    void *owner;
};

static const struct field *find(struct filling *filling, struct hl_text key) {
    for (size_t i = 0; i < filling->count; i++) {
        size_t number = filling->next + i < filling->count ? filling->next + i : filling->next + i - filling->count;
        const struct field *field = &filling->fields[number];
        if (field->length != key.length || memcmp(field->key, key.bytes, key.length)) continue;
        filling->next = number + 1 < filling->count ? number + 1 : 0;
        return field;
    }
    return NULL;
}

static int fill(struct hl_json *json, struct hl_text key, void *context) {
    struct filling *filling = context;
    const struct field *field = find(filling, key);
    if (!field) return hl_json_skip(json);
    void *place = (char *)filling->owner + field->offset;
    return field->type == TEXT ? hl_json_text(json, place) : hl_json_number(json, place);
}

static void empty(const struct field *fields, size_t count, void *owner) {
    for (size_t i = 0; i < count; i++) {
        void *place = (char *)owner + fields[i].offset;
        if (fields[i].type == TEXT)
            *(struct hl_text *)place = (struct hl_text){NULL, 0};
        else
            *(double *)place = NAN;
    }
}

/* ---- the parts of a line ---- */

static int ledger_member(struct hl_json *json, struct hl_text key, void *context) {
    struct hl_growth_line *line = context;
    if (line->ledger_count == HL_LINE_LEDGER_MAX) return hl_json_skip(json);
    struct hl_line_entry *entry = &line->ledger[line->ledger_count];
    if (hl_json_number(json, &entry->bytes)) return -EINVAL;
    entry->key = key;
    if (!isnan(entry->bytes)) line->ledger_count++;
    return 0;
}

static int is(struct hl_text text, const char *word) {
    return text.bytes && text.length == strlen(word) && !memcmp(text.bytes, word, text.length);
}

/* An array with room for one more of `size` bytes, or NULL. */
static void *with_room(void *array, size_t count, size_t *room, size_t size) {
    if (count < *room) return array;
    const size_t wanted = *room ? *room * 2 : 64;
    void *grown = realloc(array, wanted * size);
    if (grown) *room = wanted;
    return grown;
}

struct earlier_filling {
    struct hl_line_earlier figures;
    unsigned count;
};

static int earlier_figure(struct hl_json *json, void *context) {
    struct earlier_filling *filling = context;
    double *const places[] = {&filling->figures.ago_s, &filling->figures.live_bytes, &filling->figures.bytes_allocated,
                              &filling->figures.generation};
    if (filling->count == COUNT(places)) return hl_json_skip(json);
    return hl_json_number(json, places[filling->count++]);
}

static int earlier_element(struct hl_json *json, void *context) {
    struct hl_growth_line *line = context;
    struct earlier_filling filling = {{NAN, NAN, NAN, NAN}, 0};
    if (hl_json_array(json, earlier_figure, &filling)) return -EINVAL;
    const struct hl_line_earlier *read = &filling.figures;
    if (isnan(read->ago_s + read->live_bytes + read->bytes_allocated + read->generation)) return 0;
    if (line->earlier_count == HL_LINE_EARLIER_MAX) return 0;
    struct hl_line_earlier *all = with_room(line->earlier, line->earlier_count, &line->earlier_room, sizeof(*all));
    if (!all) return 0;
    line->earlier = all;
    all[line->earlier_count++] = *read;
    return 0;
}

struct site_filling {
    struct filling fields;
    struct hl_growth_line *line;
};

static int site_member(struct hl_json *json, struct hl_text key, void *context) {
    struct site_filling *filling = context;
    if (is(key, "earlier")) return hl_json_array(json, earlier_element, filling->line);
    return fill(json, key, &filling->fields);
}

static int site_element(struct hl_json *json, void *context) {
    struct hl_growth_line *line = context;
    if (line->site_count == HL_LINE_SITES_MAX) return hl_json_skip(json);
    struct hl_line_site *sites = with_room(line->sites, line->site_count, &line->site_room, sizeof(*sites));
    if (!sites) return hl_json_skip(json);
    line->sites = sites;
    struct hl_line_site *site = &sites[line->site_count];
    struct site_filling filling = {{site_fields, COUNT(site_fields), 0, site}, line};
    empty(site_fields, COUNT(site_fields), site);
    site->earlier = line->earlier_count;
    if (hl_json_object(json, site_member, &filling)) return -EINVAL;
    site->earlier_count = line->earlier_count - site->earlier;
    if (site->location.bytes && !isnan(site->live_bytes)) line->site_count++;
    return 0;
}

static int is_of_this_log(struct hl_text schema) {
    return schema.bytes && schema.length > strlen(HL_GROWTH_LOG) &&
           !memcmp(schema.bytes, HL_GROWTH_LOG, strlen(HL_GROWTH_LOG));
}

struct line_filling {
    struct filling fields;
    struct hl_growth_line *line;
};

static int line_member(struct hl_json *json, struct hl_text key, void *context) {
    struct line_filling *filling = context;
    struct hl_growth_line *line = filling->line;
    if (is(key, "sites")) return hl_json_array(json, site_element, line);
    if (is(key, "ledger")) return hl_json_object(json, ledger_member, line);
    if (is(key, "totals"))
        return hl_json_object(json, fill, &(struct filling){totals_fields, COUNT(totals_fields), 0, &line->totals});
    return fill(json, key, &filling->fields);
}

/* ---- times ---- */

/* `count` digits at `*at`, or -1. */
static int digits(const char **at, const char *end, int count) {
    int value = 0;
    if (end - *at < count) return -1;
    for (; count > 0; count--) {
        char c = *(*at)++;
        if (c < '0' || c > '9') return -1;
        value = value * 10 + (c - '0');
    }
    return value;
}

/* Days from 1970-01-01 to a day of the Gregorian calendar; the year is counted from March. */
static long days(long year, long month, long day) {
    long y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* The offset of a time zone in minutes: "Z", "+02:00", "-0530"; anything else is taken as UTC. */
static int zone_minutes(const char *at, const char *end) {
    if (at >= end || (*at != '+' && *at != '-')) return 0;
    int sign = *at++ == '-' ? -1 : 1, hours = digits(&at, end, 2);
    if (at < end && *at == ':') at++;
    int minutes = digits(&at, end, 2);
    return hours < 0 ? 0 : sign * (hours * 60 + (minutes < 0 ? 0 : minutes));
}

double hl_time_ms(struct hl_text time) {
    static const char separators[] = "--T::";
    static const int lengths[] = {4, 2, 2, 2, 2, 2}, most[] = {9999, 12, 31, 24, 59, 60};
    int parts[6];
    if (!time.bytes) return NAN;
    const char *at = time.bytes, *end = at + time.length;
    for (int i = 0; i < 6; i++) {
        parts[i] = digits(&at, end, lengths[i]);
        if (parts[i] < 0 || parts[i] > most[i]) return NAN;
        if (i < 5 && (at >= end || (*at != separators[i] && !(i == 2 && *at == ' ')))) return NAN;
        if (i < 5) at++;
    }
    double fraction = 0, place = 1000;
    if (at < end && *at == '.')
        for (at++; at < end && *at >= '0' && *at <= '9'; at++) fraction += (*at - '0') * (place /= 10);
    double seconds = days(parts[0], parts[1], parts[2]) * 86400.0 + parts[3] * 3600.0 +
                     (parts[4] - zone_minutes(at, end)) * 60.0 + parts[5];
    return seconds * 1000 + fraction;
}

/* ---- the line ---- */

static int grow_scratch(struct hl_growth_line *line, size_t length) {
    if (line->scratch_room >= length) return 0;
    char *scratch = realloc(line->scratch, length);
    if (!scratch) return -ENOMEM;
    line->scratch = scratch;
    line->scratch_room = length;
    return 0;
}

static enum hl_line_kind read_object(struct hl_growth_line *line, const char *bytes, size_t length) {
    struct hl_json json = {bytes, bytes + length, line->scratch, line->scratch + line->scratch_room, 0};
    struct line_filling filling = {{line_fields, COUNT(line_fields), 0, line}, line};
    empty(line_fields, COUNT(line_fields), line);
    empty(totals_fields, COUNT(totals_fields), &line->totals);
    line->ledger_count = 0;
    line->site_count = line->earlier_count = 0;
    if (hl_json_object(&json, line_member, &filling) || !hl_json_at_end(&json)) return HL_LINE_DAMAGED;
    if (!is(line->schema, HL_GROWTH_SCHEMA) && !is(line->schema, HL_GROWTH_SCHEMA_1))
        return is_of_this_log(line->schema) ? HL_LINE_VERSION : HL_LINE_FOREIGN;
    line->time_ms = hl_time_ms(line->time);
    return isnan(line->time_ms) || isnan(line->pid) ? HL_LINE_DAMAGED : HL_LINE_GOOD;
}

static const char *find_text(const char *from, const char *end, const char *word) {
    return from < end ? memmem(from, (size_t)(end - from), word, strlen(word)) : NULL;
}

enum hl_line_kind hl_growth_line_read(struct hl_growth_line *line, const char *bytes, size_t length) {
    const char *end = bytes + length, *start = memchr(bytes, '{', length);
    if (length > UINT32_MAX / 2) return HL_LINE_DAMAGED;
    if (grow_scratch(line, length)) return HL_LINE_NO_MEMORY;
    for (int tries = 0; start && tries < RESTARTS_MAX; tries++) {
        enum hl_line_kind kind = read_object(line, start, (size_t)(end - start));
        line->torn = find_text(bytes, start, HL_GROWTH_LOG) != NULL;
        if (kind != HL_LINE_DAMAGED) return kind;
        start = find_text(start + 1, end, "{\"schema\":");
    }
    return find_text(bytes, end, HL_GROWTH_LOG) ? HL_LINE_DAMAGED : HL_LINE_FOREIGN;
}

void hl_growth_line_release(struct hl_growth_line *line) {
    free(line->sites);
    free(line->earlier);
    free(line->scratch);
    memset(line, 0, sizeof(*line));
}
