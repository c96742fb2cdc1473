/* SPDX-License-Identifier: MIT */
#include "growth_store.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* BEFORE_MAX: points that stand for the lines before a site was listed. */
enum { FIRST_WINDOWS = 8, BEFORE_MAX = 8, STRING_BUCKETS = 1 << 16, FIRST_REFUSED = 1 << 10 };

/* The wall clock and elapsed_s may differ by so much before the clock counts as set. */
static const double JUMP_MS = 5000;
/* So far a line's time and what another line says of it may be apart. */
static const double CLOCKS_MS = 500;

static double known(double value) {
    return isnan(value) ? 0 : value;
}

/* ---- strings ---- */

static uint32_t hash_bytes(const char *bytes, uint32_t length) {
    uint32_t hash = 2166136261u; /* FNV-1a, eight bytes a step */
    uint64_t word;
    for (; length >= 8; bytes += 8, length -= 8) {
        memcpy(&word, bytes, 8);
        word *= 0x9e3779b97f4a7c15u;
        hash = (hash ^ (uint32_t)(word >> 32)) * 16777619u;
    }
    for (; length > 0; length--) hash = (hash ^ (unsigned char)*bytes++) * 16777619u;
    return hash ^ hash >> 15;
}

/* An array with room for one more of `size` bytes; it doubles. NULL without memory: the old one is still there. */
static void *with_room(void *array, uint32_t count, uint32_t *room, size_t size) {
    if (count < *room) return array;
    uint32_t wanted = *room ? *room * 2 : 64;
    void *grown = realloc(array, wanted * size);
    if (grown) *room = wanted;
    return grown;
}

static uint32_t add_string(struct hl_growth_store *store, struct hl_text text, uint32_t hash) {
    struct hl_string_table *table = &store->names;
    if (table->bytes + text.length > HL_STRING_BYTES_MAX) {
        store->counts.strings_refused++;
        return 0;
    }
    char *copy = malloc(text.length ? text.length : 1);
    struct hl_string *strings = with_room(table->strings, table->count, &table->room, sizeof(*strings));
    if (strings) table->strings = strings;
    if (!copy || !strings) {
        free(copy);
        store->no_memory = 1;
        return 0;
    }
    memcpy(copy, text.bytes, text.length);
    uint32_t *bucket = &table->buckets[hash % table->bucket_count];
    struct hl_string *string = &strings[table->count];
    string->bytes = copy;
    string->length = text.length;
    string->hash = hash;
    string->next = *bucket;
    table->bytes += text.length + sizeof(*table->strings);
    return *bucket = table->count++;
}

/* The number of a text; 0 where there is none. */
static uint32_t intern(struct hl_growth_store *store, struct hl_text text) {
    struct hl_string_table *table = &store->names;
    if (!text.bytes) return 0;
    uint32_t hash = hash_bytes(text.bytes, text.length);
    for (uint32_t i = table->buckets[hash % table->bucket_count]; i; i = table->strings[i].next) {
        const struct hl_string *string = &table->strings[i];
        if (string->hash == hash && string->length == text.length && !memcmp(string->bytes, text.bytes, text.length))
            return i;
    }
    return add_string(store, text, hash);
}

/* ---- windows ---- */

static void join_pairs(struct hl_series *series) {
    for (uint32_t i = 0; i < series->count / 2; i++) {
        struct hl_window joined = series->windows[2 * i + 1], *first = &series->windows[2 * i];
        if (first->low < joined.low) {
            joined.low = first->low;
            joined.low_ms = first->low_ms;
        }
        joined.lines += first->lines;
        series->windows[i] = joined;
    }
    series->count /= 2;
    series->stride *= 2;
}

static int give_room(struct hl_growth_store *store, struct hl_series *series, uint32_t room) {
    struct hl_window *windows = realloc(series->windows, room * sizeof(*windows));
    if (!windows) return -ENOMEM;
    store->window_rooms += room;
    store->window_rooms -= series->room;
    series->windows = windows;
    series->room = room;
    return 0;
}

/* Halve what a series may have (S1). Called between lines. */
static int thin_out(struct hl_growth_store *store) {
    store->windows_max /= 2;
    for (uint32_t i = 0; i < store->series_count; i++) {
        struct hl_series *series = &store->series[i];
        if (series->count > store->windows_max) join_pairs(series);
        if (series->room > store->windows_max && give_room(store, series, store->windows_max)) return -ENOMEM;
    }
    return 0;
}

static int add_window(struct hl_growth_store *store, struct hl_series *series) {
    if (series->count == store->windows_max) join_pairs(series);
    if (series->count == series->room && give_room(store, series, series->room ? series->room * 2 : FIRST_WINDOWS))
        return -ENOMEM;
    series->windows[series->count++] = (struct hl_window){.low = INFINITY};
    return 0;
}

static int add_point(struct hl_growth_store *store, struct hl_series *series, double ms, double live, double allocated,
                     double generation) {
    if (series->count == 0 || series->windows[series->count - 1].lines >= series->stride)
        if (add_window(store, series)) return -ENOMEM;
    struct hl_window *window = &series->windows[series->count - 1];
    if (live < window->low) {
        window->low = live;
        window->low_ms = ms;
    }
    window->last_ms = ms;
    window->last = live;
    window->allocated = allocated;
    window->generation = generation > 0 && generation < (double)(1ull << 53) ? (uint64_t)generation : 0;
    window->lines++;
    return 0;
}

/* ---- series ---- */

static uint64_t series_hash(uint32_t process, const uint32_t *names) {
    uint64_t hash = (process + 1) * 0xc2b2ae3d27d4eb4fu;
    for (int i = 0; i < HL_NAMES; i++) {
        hash = (hash ^ names[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}

/* Where a hash is in the set of those that were refused, or may be put. */
static uint64_t *place_of(uint64_t *refused, uint32_t room, uint64_t hash) {
    uint32_t at = (uint32_t)hash & (room - 1);
    while (refused[at] && refused[at] != hash) at = (at + 1) & (room - 1);
    return &refused[at];
}

static int grow_refused(struct hl_growth_store *store) {
    uint32_t room = store->refused_room ? store->refused_room * 2 : FIRST_REFUSED;
    uint64_t *refused = calloc(room, sizeof(*refused));
    if (!refused) return -ENOMEM;
    for (uint32_t i = 0; i < store->refused_room; i++)
        if (store->refused[i]) *place_of(refused, room, store->refused[i]) = store->refused[i];
    free(store->refused);
    store->refused = refused;
    store->refused_room = room;
    return 0;
}

/* Count a series that finds no room, the first time that it is met (S2). */
static void refuse(struct hl_growth_store *store, uint64_t hash) {
    if (store->counts.series_given_up == HL_REFUSED_MAX) return;
    if (store->counts.series_given_up >= store->refused_room / 2 && grow_refused(store)) {
        store->no_memory = 1;
        return;
    }
    uint64_t *place = place_of(store->refused, store->refused_room, hash | 1);
    if (*place) return;
    *place = hash | 1;
    store->counts.series_given_up++;
}

static struct hl_series *new_series(struct hl_growth_store *store, uint32_t process, const uint32_t *names,
                                    uint32_t *bucket) {
    struct hl_series *all = with_room(store->series, store->series_count, &store->series_room, sizeof(*all));
    if (!all) {
        store->no_memory = 1;
        return NULL;
    }
    store->series = all;
    struct hl_series *series = &all[store->series_count++];
    *series = (struct hl_series){.process = process, .stride = 1, .next = *bucket};
    memcpy(series->names, names, sizeof(series->names));
    *bucket = store->series_count;
    return series;
}

/* NULL: it is refused, there are `limit` series. */
static struct hl_series *find_series(struct hl_growth_store *store, uint32_t process, const uint32_t *names,
                                     uint32_t limit) {
    uint64_t hash = series_hash(process, names);
    uint32_t *bucket = &store->buckets[hash % store->bucket_count];
    for (uint32_t number = *bucket; number; number = store->series[number - 1].next) {
        struct hl_series *series = &store->series[number - 1];
        if (series->process == process && !memcmp(series->names, names, sizeof(series->names))) return series;
    }
    if (store->series_count < limit) return new_series(store, process, names, bucket);
    refuse(store, hash);
    return NULL;
}

/* ---- processes ---- */

static struct hl_growth_process *new_process(struct hl_growth_store *store, uint32_t *bucket) {
    if (store->process_count == HL_PROCESSES_MAX) {
        store->counts.processes_refused++;
        return NULL;
    }
    struct hl_growth_process *all =
        with_room(store->processes, store->process_count, &store->process_room, sizeof(*all));
    if (!all) {
        store->no_memory = 1;
        return NULL;
    }
    store->processes = all;
    struct hl_growth_process *process = &all[store->process_count++];
    memset(process, 0, sizeof(*process));
    process->next = *bucket;
    *bucket = store->process_count;
    return process;
}

/* A process that began anew under the same pid: fewer bytes allocated than before, at a later time (exec). */
static int is_other_program(const struct hl_growth_process *process, const struct hl_growth_line *line) {
    return line->totals.bytes_allocated < process->allocated && line->time_ms > process->wall_ms && line->seq == 0;
}

/* The newest program of the line's process: the chain begins with it. NULL where there is no room. */
static struct hl_growth_process *find_process(struct hl_growth_store *store, const struct hl_growth_line *line) {
    uint32_t host = intern(store, line->host), started = intern(store, line->started_at), incarnation = 0;
    int64_t pid = line->pid >= 0 && line->pid < 1e15 ? (int64_t)line->pid : -1;
    uint32_t *bucket = &store->process_buckets[((uint32_t)pid * 31 + host * 7 + started) % 4096];
    for (uint32_t i = *bucket; i; i = store->processes[i - 1].next) {
        struct hl_growth_process *process = &store->processes[i - 1];
        if (process->pid != pid || process->host != host || process->started_at != started) continue;
        if (!is_other_program(process, line)) return process;
        incarnation = process->incarnation + 1;
        break;
    }
    struct hl_growth_process *process = new_process(store, bucket);
    if (!process) return NULL;
    process->pid = pid;
    process->host = host;
    process->started_at = started;
    process->incarnation = incarnation;
    return process;
}

/* Was this line, or one after it, taken before? (S4) */
static int is_repeated(const struct hl_growth_process *process, const struct hl_growth_line *line) {
    if (process->lines == 0 || line->time_ms > process->wall_ms) return 0;
    return isnan(line->seq) || isnan(process->seq) || line->seq <= process->seq;
}

/* Milliseconds on the process's clock since its last line. elapsed_s counts where no line is missing in between. */
static double step_ms(struct hl_growth_store *store, struct hl_growth_process *process,
                      const struct hl_growth_line *line) {
    double wall = line->time_ms - process->wall_ms, elapsed = line->elapsed_s * 1000;
    int follows = line->seq == process->seq + 1;
    if (!follows && !isnan(line->seq)) process->gaps++;
    if (follows && elapsed > 0 && fabs(wall - elapsed) > JUMP_MS) {
        store->counts.clock_jumps++;
        return elapsed;
    }
    if (wall > 0) return wall;
    store->counts.clock_jumps++;
    double missing = line->seq - process->seq, every = line->every_s * 1000;
    return missing > 0 && every > 0 ? missing * every : 1;
}

static void take_process_line(struct hl_growth_store *store, struct hl_growth_process *process,
                              const struct hl_growth_line *line) {
    const double started = hl_time_ms(line->started_at);
    process->before_ms = process->last_ms;
    process->before_generation = process->generation;
    if (process->lines++ == 0) {
        process->first_ms = process->last_ms = line->time_ms;
        process->first_generation = line->generation;
        process->start_ms = started < line->time_ms ? started : line->time_ms;
    } else {
        process->last_ms += step_ms(store, process, line);
    }
    process->wall_ms = line->time_ms;
    process->seq = line->seq;
    process->every_s = line->every_s;
    process->allocated = line->totals.bytes_allocated;
    process->generation = line->generation;
    process->parent_pid = line->parent_pid >= 0 && line->parent_pid < 1e15 ? (int64_t)line->parent_pid : -1;
    process->dropped_lines += known(line->dropped_lines);
    process->command = intern(store, line->command);
    process->ruby = intern(store, line->ruby);
    process->state = intern(store, line->state);
}

/* ---- lines ---- */

/* What of a location stands for its file: all before the last ":", where digits follow it. */
static struct hl_text file_of(struct hl_text location) {
    const char *colon = memrchr(location.bytes, ':', location.length);
    if (!colon) return location;
    for (const char *at = colon + 1; at < location.bytes + location.length; at++)
        if (*at < '0' || *at > '9') return location;
    return (struct hl_text){location.bytes, (uint32_t)(colon - location.bytes)};
}

/* Native code's place is in its library; for a line several libraries may have called malloc. */
static int is_native(const struct hl_line_site *site) {
    return site->kind.length == 6 && !memcmp(site->kind.bytes, "native", 6);
}

static void name_site(struct hl_growth_store *store, const struct hl_line_site *site, uint32_t *names) {
    const struct hl_text texts[HL_NAMES] = {site->location, site->label, site->gem,
                                            site->library,  site->tag,   site->kind};
    memset(names, 0, HL_NAMES * sizeof(*names));
    if (store->by_file) {
        int has_file = site->kind.length == 4 && !memcmp(site->kind.bytes, "ruby", 4);
        names[HL_LOCATION] = has_file ? intern(store, file_of(site->location)) : 0;
        names[HL_GEM] = has_file ? intern(store, site->gem) : 0;
    } else if (store->by != HL_LOCATION) {
        names[store->by] = intern(store, texts[store->by]);
    } else {
        for (int i = 0; i < HL_NAMES; i++) names[i] = intern(store, texts[i]);
        if (!is_native(site)) names[HL_LIBRARY] = 0;
    }
}

/* What lies between two earlier lines, at `ms`. */
static double between(double ms, double from_ms, double from, double to_ms, double to) {
    return to_ms > from_ms ? from + (to - from) * (ms - from_ms) / (to_ms - from_ms) : to;
}

/* Other sites of the series were listed at these lines: add what this one held then to their windows. */
static void join_past(struct hl_series *series, const struct hl_line_earlier *from, const struct hl_line_earlier *to,
                      double now_ms) {
    const double from_ms = now_ms - from->ago_s * 1000, to_ms = now_ms - to->ago_s * 1000;
    for (uint32_t i = 0; i < series->count; i++) {
        struct hl_window *window = &series->windows[i];
        if (window->low_ms > from_ms && window->low_ms <= to_ms)
            window->low += between(window->low_ms, from_ms, from->live_bytes, to_ms, to->live_bytes);
        if (window->last_ms <= from_ms || window->last_ms > to_ms) continue;
        window->last += between(window->last_ms, from_ms, from->live_bytes, to_ms, to->live_bytes);
        window->allocated += between(window->last_ms, from_ms, from->bytes_allocated, to_ms, to->bytes_allocated);
    }
}

static int follows(const struct hl_series *series, double ms) {
    return series->count == 0 || ms > series->windows[series->count - 1].last_ms;
}

/* A site that the line before did not list tells what it was at earlier lines (S3). What lies before the process's
 * first line here was asked not to be read. */
static int add_past(struct hl_growth_store *store, struct hl_series *series, const struct hl_growth_process *process,
                    const struct hl_line_earlier *earlier, size_t count) {
    const double known_ms = series->count ? series->windows[series->count - 1].last_ms : -INFINITY;
    struct hl_line_earlier before = *earlier, now = earlier[count - 1];
    before.ago_s += CLOCKS_MS / 1000;
    now.ago_s = 0;
    for (size_t i = 0; i < count; before = earlier[i++]) {
        const double ms = process->last_ms - earlier[i].ago_s * 1000;
        if (ms <= known_ms + CLOCKS_MS)
            join_past(series, &before, &earlier[i], process->last_ms);
        else if (ms < process->first_ms - CLOCKS_MS || ms >= process->last_ms || !follows(series, ms))
            continue;
        else if (add_point(store, series, fmax(ms, process->first_ms), earlier[i].live_bytes,
                           earlier[i].bytes_allocated, earlier[i].generation))
            return -ENOMEM;
    }
    join_past(series, &before, &now, process->last_ms);
    return 0;
}

/* Add a site of the line at work to the series that it belongs to. */
static void add_pending(struct hl_growth_store *store, uint32_t process, const uint32_t *names,
                        const struct hl_line_site *site, uint32_t limit) {
    struct hl_series *series = find_series(store, process, names, limit);
    if (!series) return;
    if (series->pending_line != store->counts.lines) {
        series->pending_line = store->counts.lines;
        series->pending_live = series->pending_allocated = series->pending_rate = 0;
        series->pending_delta = series->pending_temporary = series->pending_age = 0;
        series->pending_most = -INFINITY;
        series->next_pending = store->pending;
        store->pending = (uint32_t)(series - store->series) + 1;
    }
    if (site->earlier_count &&
        add_past(store, series, &store->processes[process], &store->line.earlier[site->earlier], site->earlier_count))
        store->no_memory = 1;
    if (site->live_bytes > series->pending_most) {
        series->pending_most = site->live_bytes;
        series->pending_caller = intern(store, site->library);
    }
    double rate = known(site->alloc_bytes_per_s);
    series->pending_live += site->live_bytes;
    series->pending_allocated += known(site->bytes_allocated);
    series->pending_rate += rate;
    series->pending_delta += site->delta_bytes;
    /* Of several sites the one that allocates most tells how long blocks live. */
    if (series->pending_rate <= 2 * rate) {
        series->pending_temporary = site->temporary_share;
        series->pending_age = site->age_mean_generations;
    }
}

/* The lines before the one that lists a site first, where it does not tell of them (S3); it allocated evenly since the
 * start, and the GCs were those of its process. */
static int fill_before(struct hl_growth_store *store, struct hl_series *series,
                       const struct hl_growth_process *process) {
    double live = series->pending_live - series->pending_delta, span = process->before_ms - process->first_ms;
    double rate = series->pending_allocated / fmax(process->last_ms - process->start_ms, 1);
    double gcs = process->before_generation - process->first_generation;
    uint64_t count = process->lines - 1 < BEFORE_MAX ? process->lines - 1 : BEFORE_MAX;
    if (isnan(live)) return 0;
    for (uint64_t i = 0; i < count; i++) {
        double part = count > 1 ? (double)i / (double)(count - 1) : 1, at = process->first_ms + span * part;
        double generation = process->first_generation + floor(gcs * part);
        if (add_point(store, series, at, live, rate * (at - process->start_ms), generation)) return -ENOMEM;
    }
    return 0;
}

static void commit(struct hl_growth_store *store, const struct hl_growth_process *process) {
    while (store->pending) {
        struct hl_series *series = &store->series[store->pending - 1];
        store->pending = series->next_pending;
        series->temporary_share = series->pending_temporary;
        series->age_mean_generations = series->pending_age;
        series->alloc_bytes_per_s = series->pending_rate;
        if (series->pending_live > 0)
            series->caller = series->pending_most > series->pending_live / 2 ? series->pending_caller : 0;
        if (series->count == 0 && fill_before(store, series, process)) store->no_memory = 1;
        if (add_point(store, series, process->last_ms, series->pending_live, series->pending_allocated,
                      process->generation))
            store->no_memory = 1;
    }
}

/* The process's own figures are series too, of kind "memory": RSS, all that malloc gave, the ledger's lines. */
static void add_memory(struct hl_growth_store *store, uint32_t process, struct hl_text name, double bytes) {
    static const struct hl_text memory = {"memory", 6};
    uint32_t names[HL_NAMES] = {0};
    if (isnan(bytes)) return;
    names[HL_LOCATION] = intern(store, name);
    names[HL_KIND] = intern(store, memory);
    struct hl_line_site site = {
        .live_bytes = bytes, .delta_bytes = NAN, .temporary_share = NAN, .age_mean_generations = NAN};
    add_pending(store, process, names, &site, 2 * store->series_limit);
}

static void take_line(struct hl_growth_store *store, struct hl_growth_process *process) {
    const struct hl_growth_line *line = &store->line;
    uint32_t number = (uint32_t)(process - store->processes), names[HL_NAMES];
    take_process_line(store, process, line);
    for (size_t i = 0; i < line->site_count; i++) {
        name_site(store, &line->sites[i], names);
        add_pending(store, number, names, &line->sites[i], store->series_limit);
    }
    add_memory(store, number, (struct hl_text){"rss", 3}, line->rss_bytes);
    add_memory(store, number, (struct hl_text){"pss", 3}, line->pss_bytes);
    add_memory(store, number, (struct hl_text){"malloc_live", 11}, line->totals.live_bytes);
    for (unsigned i = 0; i < line->ledger_count; i++)
        add_memory(store, number, line->ledger[i].key, line->ledger[i].bytes);
    commit(store, process);
    store->counts.taken++;
}

static int is_wanted(const struct hl_growth_store *store, const struct hl_growth_line *line) {
    if (line->time_ms < store->since_ms) return 0;
    for (uint32_t i = 0; i < store->pid_count; i++)
        if ((double)store->pids[i] == line->pid) return 1;
    return store->pid_count == 0;
}

static void take_good(struct hl_growth_store *store) {
    if (store->line.torn) store->counts.damaged++;
    if (!is_wanted(store, &store->line)) {
        store->counts.filtered++;
        return;
    }
    if (store->windows_max > HL_WINDOWS_LEAST &&
        store->window_rooms > (uint64_t)store->series_limit * HL_WINDOWS_LEAST && thin_out(store))
        store->no_memory = 1;
    struct hl_growth_process *process = find_process(store, &store->line);
    if (!process) return;
    if (is_repeated(process, &store->line))
        store->counts.repeated++;
    else
        take_line(store, process);
}

static void feed_line(struct hl_growth_store *store, const char *bytes, size_t length) {
    while (length > 0 && (bytes[length - 1] == '\r' || bytes[length - 1] == ' ')) length--;
    if (length == 0) return;
    store->counts.lines++;
    switch (hl_growth_line_read(&store->line, bytes, length)) {
    case HL_LINE_GOOD:
        take_good(store);
        break;
    case HL_LINE_VERSION:
        store->counts.other_version++;
        break;
    case HL_LINE_FOREIGN:
        store->counts.foreign++;
        break;
    case HL_LINE_DAMAGED:
        store->counts.damaged++;
        break;
    case HL_LINE_NO_MEMORY:
        store->no_memory = 1;
        break;
    }
}

int hl_growth_store_feed(struct hl_growth_store *store, const char *bytes, size_t length) {
    const char *end = bytes + length;
    while (bytes < end && !store->no_memory) {
        const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        const char *stop = newline ? newline : end;
        feed_line(store, bytes, (size_t)(stop - bytes));
        bytes = stop + 1;
    }
    return store->no_memory ? -ENOMEM : 0;
}

int hl_growth_store_init(struct hl_growth_store *store, uint32_t series_limit) {
    memset(store, 0, sizeof(*store));
    store->by = HL_LOCATION;
    store->series_limit = series_limit;
    store->windows_max = HL_WINDOWS_MAX;
    store->since_ms = -INFINITY;
    store->bucket_count = series_limit;
    store->buckets = calloc(store->bucket_count, sizeof(*store->buckets));
    store->names.bucket_count = STRING_BUCKETS;
    store->names.buckets = calloc(store->names.bucket_count, sizeof(*store->names.buckets));
    store->names.strings = calloc(1, sizeof(*store->names.strings));
    store->names.count = store->names.room = 1;
    if (store->buckets && store->names.buckets && store->names.strings) return 0;
    hl_growth_store_release(store);
    return -ENOMEM;
}

void hl_growth_store_release(struct hl_growth_store *store) {
    for (uint32_t i = 0; i < store->series_count; i++) free(store->series[i].windows);
    for (uint32_t i = 1; store->names.strings && i < store->names.count; i++)
        free((char *)store->names.strings[i].bytes);
    free(store->series);
    free(store->buckets);
    free(store->refused);
    free(store->processes);
    free(store->names.strings);
    free(store->names.buckets);
    hl_growth_line_release(&store->line);
    memset(store, 0, sizeof(*store));
}
