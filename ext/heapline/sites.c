/* SPDX-License-Identifier: MIT */
#include "sites.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "flight_file.h"
#include "flight_reader.h"
#include "json_writer.h"

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

static void write_place(struct rbhl_json *json, const struct hl_site_sums *site) {
    if (site->kind == HL_KIND_RUBY) {
        span(json, "file", &site->path);
        rbhl_json_number(json, "line", site->line);
    } else {
        rbhl_json_number(json, "offset", site->offset);
    }
    span(json, "label", &site->label);
    span(json, "library", &site->library);
}

static void write_site(struct rbhl_json *json, uint32_t number, const struct hl_site_sums *site,
                       const uint64_t *objects) {
    const struct hl_count *count = &site->count;
    rbhl_json_open(json, NULL, '{');
    rbhl_json_text(json, "type", "HEAPLINE_SITE", 13);
    rbhl_json_number(json, "site", number);
    write_place(json, site);
    rbhl_json_number(json, "live_bytes", count->bytes_allocated - count->bytes_freed);
    rbhl_json_number(json, "live_blocks", count->allocations - count->frees);
    if (objects) rbhl_json_number(json, "live_objects", objects[number]);
    rbhl_json_line_end(json);
}

static unsigned long write_sums(FILE *out, const struct hl_flight_sums *sums) {
    struct rbhl_json json = {out, 0};
    uint64_t *objects = objects_of(sums);
    unsigned long lines = 0;
    for (uint32_t number = HL_SITE_FIRST; number < sums->site_count; number++) {
        const struct hl_site_sums *site = &sums->sites[number];
        if (!site->known || (site->count.allocations <= site->count.frees && !(objects && objects[number]))) continue;
        write_site(&json, number, site, objects);
        lines++;
    }
    free(objects);
    return lines;
}

unsigned long rbhl_sites_write(FILE *out, const char *flight) {
    struct hl_flight_copies copies;
    struct hl_flight_sums sums;
    struct hl_problem problem;
    unsigned long lines = 0;
    const int fd = flight[0] ? hl_flight_open(flight, O_RDONLY, &problem) : -1;
    if (fd < 0) return 0;
    if (hl_flight_copy(fd, 0, &copies, &problem) == 0) {
        if (hl_flight_sum(&copies.first, &copies.second, &sums, &problem) == 0) {
            lines = write_sums(out, &sums);
            hl_flight_sums_release(&sums);
        }
        hl_flight_copies_release(&copies);
    }
    close(fd);
    return lines;
}
