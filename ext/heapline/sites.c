/* SPDX-License-Identifier: MIT */
#include "sites.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "flight_copy.h"
#include "flight_file.h"
#include "flight_reader.h"
#include "json_writer.h"

struct rbhl_sites {
    struct hl_flight_copy copy; /* the sums point into it */
    struct hl_flight_sums sums;
    char **paths; /* by number; NULL: not asked for yet */
};

static void span(struct rbhl_json *json, const char *key, const struct hl_span *span) {
    if (span->length) rbhl_json_text(json, key, span->bytes, span->length);
}

/* Living objects by site; NULL: they are not accounted. */
static uint64_t *objects_of(const struct hl_flight_sums *sums) {
    uint64_t *live = sums->objects ? calloc(sums->site_count, sizeof(*live)) : NULL;
    for (uint32_t i = 0; live && i < sums->object_count; i++) {
        const struct hl_object_sums *row = &sums->objects[i];
        if (row->site < sums->site_count && row->allocated > row->freed) live[row->site] += row->allocated - row->freed;
    }
    return live;
}

static void write_place(struct rbhl_json *json, const struct hl_site_place *site) {
    if (site->kind == HL_KIND_RUBY) {
        span(json, "file", &site->path);
        rbhl_json_number(json, "line", site->line);
    } else {
        rbhl_json_number(json, "offset", site->offset);
    }
    span(json, "label", &site->label);
    span(json, "library", &site->library);
}

static void write_site(struct rbhl_json *json, const struct hl_flight_sums *sums, uint32_t number,
                       const uint64_t *objects) {
    const struct hl_count *count = &sums->sites[number].count;
    const struct hl_site_place place = hl_site_place(sums, number);
    rbhl_json_open(json, NULL, '{');
    rbhl_json_text(json, "type", "HEAPLINE_SITE", 13);
    rbhl_json_number(json, "site", number);
    write_place(json, &place);
    rbhl_json_number(json, "live_bytes", count->bytes_allocated - count->bytes_freed);
    rbhl_json_number(json, "live_blocks", count->allocations - count->frees);
    if (objects) rbhl_json_number(json, "live_objects", objects[number]);
    rbhl_json_line_end(json);
}

unsigned long rbhl_sites_write(const struct rbhl_sites *sites, FILE *out) {
    struct rbhl_json json = {out, 0};
    unsigned long lines = 0;
    if (!sites) return 0;
    uint64_t *objects = objects_of(&sites->sums);
    for (uint32_t number = HL_SITE_FIRST; number < sites->sums.site_count; number++) {
        const struct hl_site_sums *site = &sites->sums.sites[number];
        if (!site->known || (site->count.allocations <= site->count.frees && !(objects && objects[number]))) continue;
        write_site(&json, &sites->sums, number, objects);
        lines++;
    }
    free(objects);
    return lines;
}

/* ---- a site's line ---- */

/* For a line of JSON into which Ruby writes it as it is. */
static char *escaped(const struct hl_span *span) {
    char *text = malloc(6 * (size_t)span->length + 1), *end = text;
    if (!text) return NULL;
    for (uint32_t i = 0; i < span->length; i++) {
        const char byte = span->bytes[i];
        if ((unsigned char)byte < 0x20) {
            end += snprintf(end, 7, "\\u%04x", byte);
            continue;
        }
        if (byte == '"' || byte == '\\') *end++ = '\\';
        *end++ = byte;
    }
    *end = 0;
    return text;
}

const char *rbhl_sites_line(struct rbhl_sites *sites, uint32_t number, unsigned long *line) {
    if (!sites || number >= sites->sums.site_count) return NULL;
    const struct hl_site_sums *site = &sites->sums.sites[number];
    if (!site->known || site->kind != HL_KIND_RUBY) return NULL;
    const struct hl_site_place place = hl_site_place(&sites->sums, number);
    if (!sites->paths[number]) sites->paths[number] = escaped(&place.path);
    *line = place.line;
    return sites->paths[number];
}

/* ---- reading them ---- */

static int read_file(struct rbhl_sites *sites, const char *flight) {
    struct hl_problem problem = {0};
    const int fd = flight[0] ? hl_flight_open(flight, O_RDONLY, &problem) : -1;
    if (fd < 0) return 0;
    int failed = hl_flight_copy(fd, 0, &sites->copy, &problem);
    if (!failed) failed = hl_flight_sum(&sites->copy, &sites->sums, &problem);
    close(fd);
    return !failed;
}

/* What a twin has goes when it ends. */
struct rbhl_sites *rbhl_sites_open(const char *flight) {
    struct rbhl_sites *sites = calloc(1, sizeof(*sites));
    if (!sites || !read_file(sites, flight)) return NULL;
    sites->paths = calloc(sites->sums.site_count, sizeof(*sites->paths));
    return sites->paths ? sites : NULL;
}
