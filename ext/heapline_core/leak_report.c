/* SPDX-License-Identifier: MIT */
#include "leak_report.h"

#include <errno.h>
#include <string.h>

#include "block_identity.h"
#include "flight.h"
#include "json_writer.h"
#include "lane.h"
#include "leak_holder.h"
#include "native_stack.h"
#include "own_memory.h"
#include "ruby_stack.h"
#include "ruby_vm.h"
#include "site_table.h"

enum { KINDS = 4, SAMPLES = 3, NO_RECORD = 0xffffffff };
static const char *const kinds[KINDS] = {"definite", "indirect", "possible", "reachable"};

/* `led_*`: of indirect blocks that only a definite record's lead to. */
struct record {
    uint32_t kind, stack, ruby_stack, site;
    uint64_t blocks, bytes, led_blocks, led_bytes, first, last;
    uint32_t samples[SAMPLES]; /* numbers of blocks */
};

struct report {
    const struct hl_graph *graph;
    const struct hl_roots *roots;
    const struct hl_leak_wish *wish;
    struct record *records;
    uint32_t *slots;   /* a hash table of the records' numbers plus 1 */
    uint32_t *numbers; /* block → record */
    uint32_t mask, count;
    uint64_t blocks[KINDS], bytes[KINDS], all_blocks, all_bytes;
    uint64_t now; /* generation */
};

static struct record *find(struct report *report, uint32_t kind, const struct hl_block_identity *identity) {
    const uint64_t generation = report->wish->apart ? identity->generation : 0;
    uint64_t hash = ((uint64_t)identity->stack << 20 ^ identity->site << 2 ^ kind) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ generation << 20 ^ identity->ruby_stack) * 0x9e3779b97f4a7c15ull;
    for (uint32_t at = (uint32_t)(hash >> 32) & report->mask;; at = (at + 1) & report->mask) {
        if (!report->slots[at]) {
            report->slots[at] = ++report->count;
            struct record *record = &report->records[report->count - 1];
            *record = (struct record){
                .kind = kind, .stack = identity->stack, .ruby_stack = identity->ruby_stack, .site = identity->site};
            record->first = record->last = identity->generation;
            return record;
        }
        struct record *record = &report->records[report->slots[at] - 1];
        if (record->kind == kind && record->stack == identity->stack && record->site == identity->site &&
            record->ruby_stack == identity->ruby_stack && (!generation || record->first == generation))
            return record;
    }
}

static void add(struct report *report, uint32_t number) {
    const uint32_t kind = report->graph->states[number];
    const uint64_t size = report->graph->sizes[number];
    struct hl_block_identity identity = {0};
    hl_block_identify((void *)report->graph->begins[number], report->now, &identity);
    report->all_blocks++;
    report->all_bytes += size;
    if (identity.site == HL_SITE_QUIET || identity.generation < report->wish->since) return;
    report->blocks[kind]++;
    report->bytes[kind] += size;
    if (kind == HL_BLOCK_REACHABLE && !report->wish->reachable) return;
    struct record *record = find(report, kind, &identity);
    if (record->blocks < SAMPLES) record->samples[record->blocks] = number;
    record->blocks++;
    record->bytes += size;
    if (identity.generation < record->first) record->first = identity.generation;
    if (identity.generation > record->last) record->last = identity.generation;
    report->numbers[number] = (uint32_t)(record - report->records) + 1;
}

static void add_led(struct report *report, uint32_t number) {
    if (report->graph->states[number] != HL_BLOCK_INDIRECT || !report->numbers[number]) return;
    const uint32_t leader = report->numbers[report->graph->leaders[number]];
    if (!leader) return;
    report->records[leader - 1].led_blocks++;
    report->records[leader - 1].led_bytes += report->graph->sizes[number];
}

static int collect(struct report *report) {
    const uint32_t count = report->graph->count;
    uint64_t wanted = 1;
    for (uint32_t number = 0; number < count; number++)
        wanted += report->wish->reachable || report->graph->states[number] != HL_BLOCK_REACHABLE;
    for (report->mask = 63; report->mask < 2 * wanted; report->mask = 2 * report->mask + 1)
        ;
    report->records = hl_own_memory(wanted * sizeof(*report->records));
    report->slots = hl_own_memory(((size_t)report->mask + 1) * sizeof(*report->slots));
    report->numbers = hl_own_memory(((size_t)count + 1) * sizeof(*report->numbers));
    if (!report->records || !report->slots || !report->numbers) return -ENOMEM;
    for (uint32_t number = 0; number < count; number++) add(report, number);
    for (uint32_t number = 0; number < count; number++) add_led(report, number);
    return 0;
}

/* ---- writing ---- */

static void write_string(struct hl_json *json, const char *key, hl_string_ref reference) {
    size_t length;
    if (!reference) return;
    const char *text = hl_flight_text(reference, &length);
    hl_json_text(json, key, text, length);
}

static void write_site(struct hl_json *json, uint32_t number) {
    hl_json_open(json, "site", '{');
    hl_json_number(json, "number", number);
    if (number >= HL_SITE_FIRST) {
        const struct hl_site_record *site = hl_site_record(number);
        const hl_string_ref *libraries = hl_flight_page(HL_LIBRARY_TABLE_PAGE),
                            *tags = hl_flight_page(HL_TAG_TABLE_PAGE);
        write_string(json, "path", site->path);
        hl_json_number(json, "line", site->line);
        write_string(json, "label", site->label);
        write_string(json, "library", libraries[site->library]);
        write_string(json, "tag", tags[site->tag]);
        hl_json_number(json, "offset", site->offset);
        hl_json_number(json, "symbol_offset", site->symbol_offset);
    }
    hl_json_close(json, '}');
}

/* What keeps the first of its blocks. */
static void write_holder(struct hl_json *json, const struct hl_holder *holder) {
    static const char *const names[] = {"", "register", "thread", "object", "data", "mapping", "linker"};
    if (holder->kind == HL_HOLDER_NONE) return;
    hl_json_open(json, "held_by", '{');
    hl_json_text(json, "kind", names[holder->kind], strlen(names[holder->kind]));
    hl_json_number(json, "between", holder->between);
    hl_json_number(json, "address", holder->address);
    hl_json_number(json, "thread", holder->thread);
    hl_json_text(json, "path", holder->path, strlen(holder->path));
    hl_json_number(json, "offset", holder->offset);
    hl_json_close(json, '}');
}

/* Of each frame path, label and line, the innermost first. */
static void write_ruby_stack(struct hl_json *json, uint32_t number) {
    hl_json_open(json, "ruby_frames", '[');
    for (const struct hl_ruby_node *node = hl_ruby_node(number); node; node = hl_ruby_node(node->parent)) {
        const struct hl_ruby_stack_frame *frame = hl_ruby_stack_frame(node->frame);
        hl_json_open(json, NULL, '{');
        write_string(json, "path", frame->path);
        write_string(json, "label", frame->label);
        hl_json_number(json, "line", frame->line);
        hl_json_close(json, '}');
    }
    hl_json_close(json, ']');
}

static void write_record(struct hl_json *json, const struct report *report, const struct record *record) {
    const struct hl_stack *stack = hl_stack_at(record->stack);
    hl_json_open(json, NULL, '{');
    hl_json_text(json, "kind", kinds[record->kind], strlen(kinds[record->kind]));
    hl_json_number(json, "blocks", record->blocks);
    hl_json_number(json, "bytes", record->bytes);
    hl_json_number(json, "led_blocks", record->led_blocks);
    hl_json_number(json, "led_bytes", record->led_bytes);
    hl_json_number(json, "first_generation", record->first);
    hl_json_number(json, "last_generation", record->last);
    write_site(json, record->site);
    hl_json_open(json, "frames", '[');
    for (uint32_t i = 0; stack && i < stack->count; i++) hl_json_number(json, NULL, stack->frames[i]);
    hl_json_close(json, ']');
    write_ruby_stack(json, record->ruby_stack);
    hl_json_open(json, "addresses", '[');
    for (uint64_t i = 0; i < SAMPLES && i < record->blocks; i++)
        hl_json_number(json, NULL, report->graph->begins[record->samples[i]]);
    hl_json_close(json, ']');
    const struct hl_holder holder = hl_holder_of(report->graph, report->roots, record->samples[0]);
    write_holder(json, &holder);
    hl_json_close(json, '}');
}

static void write_totals(struct hl_json *json, const struct report *report) {
    hl_json_open(json, "totals", '{');
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        hl_json_open(json, kinds[kind], '{');
        hl_json_number(json, "blocks", report->blocks[kind]);
        hl_json_number(json, "bytes", report->bytes[kind]);
        hl_json_close(json, '}');
    }
    hl_json_close(json, '}');
}

/* Code, for those who turn addresses into names. */
static void write_libraries(struct hl_json *json, const struct hl_roots *roots) {
    hl_json_open(json, "libraries", '[');
    for (size_t i = 0; i < roots->mapping_count; i++) {
        const struct hl_mapping *mapping = &roots->mappings[i];
        if (!mapping->is_file || !mapping->executable) continue;
        hl_json_open(json, NULL, '{');
        hl_json_text(json, "path", mapping->path, strlen(mapping->path));
        hl_json_number(json, "begin", mapping->begin);
        hl_json_number(json, "end", mapping->end);
        hl_json_number(json, "offset", mapping->offset);
        hl_json_close(json, '}');
    }
    hl_json_close(json, ']');
}

static void write_threads(struct hl_json *json, const struct hl_quiet_child *child) {
    uint64_t unknown = 0;
    for (uint32_t i = 0; i < child->thread_count; i++) unknown += !child->threads[i].known;
    hl_json_number(json, "threads", child->thread_count + 1);
    hl_json_number(json, "threads_without_registers", unknown);
}

static void write_all(struct hl_json *json, const struct report *report, const struct hl_leak_figures *figures) {
    hl_json_open(json, NULL, '{');
    hl_json_number(json, "heapline_leaks", 1);
    hl_json_number(json, "pid", hl_flight.header->pid);
    hl_json_number(json, "vm", (uintptr_t)hl_ruby.rb_thread_current); /* an address in it; 0: none */
    hl_json_number(json, "generation", report->now);
    hl_json_number(json, "since", report->wish->since);
    hl_json_number(json, "blocks", report->all_blocks);
    hl_json_number(json, "bytes", report->all_bytes);
    hl_json_number(json, "blocks_missed", hl_blocks_missed);
    hl_json_number(json, "pause_ns", figures->pause_ns);
    hl_json_number(json, "gc_ns", figures->gc_ns);
    hl_json_number(json, "scan_ns", figures->scan_ns);
    write_threads(json, report->roots->child);
    write_totals(json, report);
    write_libraries(json, report->roots);
    hl_json_open(json, "records", '[');
    for (uint32_t i = 0; i < report->count; i++) write_record(json, report, &report->records[i]);
    hl_json_close(json, ']');
    hl_json_close(json, '}');
}

int hl_leak_report(int fd, const struct hl_graph *graph, const struct hl_roots *roots, const struct hl_leak_wish *wish,
                   const struct hl_leak_figures *figures) {
    static struct hl_json json;
    struct report report = {
        .graph = graph, .roots = roots, .wish = wish, .now = hl_load64(&hl_flight.header->generation)};
    const int failed = collect(&report);
    if (failed) return failed;
    hl_json_begin(&json, fd);
    write_all(&json, &report, figures);
    return hl_json_end(&json);
}
