/* SPDX-License-Identifier: MIT */
#include "leaks/leak_report.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#include "account/lane.h"
#include "account/location.h"
#include "flight/flight.h"
#include "flight/library.h"
#include "flight/site_table.h"
#include "leaks/leak_holder.h"
#include "leaks/ruby_stack.h"
#include "platform/json_writer.h"
#include "platform/own_memory.h"
#include "state/block_identity.h"
#include "vm/native_stack.h"
#include "vm/ruby_vm.h"

/* What is gone is told at places of its own, beyond all memory, each library at one. */
enum { GONE_BIT = 56, GONE_SHIFT = 36 };

enum { KINDS = 4, SAMPLES = 3, NO_RECORD = 0xffffffff };
static const char *const kinds[KINDS] = {"definite", "indirect", "possible", "reachable"};

/* `led_*`: of indirect blocks that only a definite record's lead to. */
struct record {
    uint32_t kind, stack, ruby_stack, site, inherited;
    uint64_t blocks, bytes, led_blocks, led_bytes, first, last;
    uint32_t samples[SAMPLES]; /* numbers of blocks */
};

/* Of a library that lost blocks: what was asked for since the first of them, with it on the stack, and is reachable.
 * Within the generation of that loss it is not known what came first: what the same stack of Ruby asked for belongs to
 * it, anything else does not. */
struct growth {
    uint64_t since, blocks, bytes;
    uint32_t ruby_stack;
    uint32_t lost, seen; /* the number of the block that was looked at last, plus 1 */
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
    uint8_t gone[HL_STACK_LOADS];
    struct growth growths[HL_STACK_LOADS];
};

/* Had the parent of a forked child this block, too? */
static uint32_t is_inherited(const struct report *report, const struct hl_block_identity *identity) {
    return identity->birth < report->wish->forked_at;
}

static struct record *find(struct report *report, uint32_t kind, const struct hl_block_identity *identity) {
    const uint64_t generation = report->wish->apart ? identity->generation : 0;
    const uint32_t inherited = is_inherited(report, identity);
    uint64_t hash = ((uint64_t)identity->stack << 20 ^ identity->site << 2 ^ kind) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ generation << 20 ^ identity->ruby_stack) * 0x9e3779b97f4a7c15ull;
    for (uint32_t at = (uint32_t)(hash >> 32) & report->mask;; at = (at + 1) & report->mask) {
        if (!report->slots[at]) {
            report->slots[at] = ++report->count;
            struct record *record = &report->records[report->count - 1];
            *record = (struct record){.kind = kind,
                                      .stack = identity->stack,
                                      .ruby_stack = identity->ruby_stack,
                                      .site = identity->site,
                                      .inherited = inherited};
            record->first = record->last = identity->generation;
            return record;
        }
        struct record *record = &report->records[report->slots[at] - 1];
        if (record->kind == kind && record->stack == identity->stack && record->site == identity->site &&
            record->ruby_stack == identity->ruby_stack && record->inherited == inherited &&
            (!generation || record->first == generation))
            return record;
    }
}

static void add(struct report *report, uint32_t number) {
    const uint32_t kind = report->graph->states[number];
    const uint64_t size = report->graph->sizes[number];
    struct hl_block_identity identity = {0};
    hl_block_identify((void *)report->graph->begins[number], &identity);
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

static void lose(struct growth *growth, const struct hl_block_identity *identity) {
    if (growth->lost++ && identity->generation >= growth->since) return;
    growth->since = identity->generation;
    growth->ruby_stack = identity->ruby_stack;
}

static void grow(struct growth *growth, const struct hl_block_identity *identity) {
    const int at_once = identity->generation == growth->since && identity->ruby_stack == growth->ruby_stack;
    if (!growth->lost || (identity->generation <= growth->since && !at_once)) return;
    growth->blocks++;
    growth->bytes += identity->size;
}

/* Once for each library on the stack of each block in that state: first of what is lost, then of what is reachable. */
static void grow_libraries(struct report *report, enum hl_block_state state) {
    for (uint32_t number = 0; number < report->graph->count; number++) {
        struct hl_block_identity identity = {0};
        if (report->graph->states[number] != state) continue;
        hl_block_identify((void *)report->graph->begins[number], &identity);
        const struct hl_stack *stack = hl_stack_at(identity.stack);
        if (!stack || identity.site == HL_SITE_QUIET || identity.generation < report->wish->since ||
            is_inherited(report, &identity))
            continue;
        for (uint32_t frame = 0; frame < stack->count; frame++) {
            struct growth *growth = &report->growths[hl_stack_load_of(stack, frame)];
            if (growth->seen == number + 1) continue;
            growth->seen = number + 1;
            (state == HL_BLOCK_DEFINITE ? lose : grow)(growth, &identity);
        }
    }
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
    grow_libraries(report, HL_BLOCK_DEFINITE);
    grow_libraries(report, HL_BLOCK_REACHABLE);
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
        const struct hl_site_fields fields = hl_site_fields(site);
        if (site->kind != HL_KIND_SPECIAL) hl_json_number(json, "line", fields.line);
        write_string(json, "path", fields.path);
        write_string(json, "label", site->label);
        write_string(json, "library", hl_library_name(site->library));
        write_string(json, "tag", hl_tag_name(site->tag));
        hl_json_number(json, "offset", fields.loading ? fields.loading : fields.offset);
        hl_json_number(json, "symbol_offset", fields.symbol_offset);
    }
    hl_json_close(json, '}');
}

struct line {
    const char *frame, *end;
    struct hl_ruby_line found;
    char text[HL_PATH_MAX];
};

static int look_at_line(void *context) {
    struct line *line = context;
    const struct hl_frame frame = hl_ruby_frame_below(line->frame, line->end, hl_ruby_zjit != NULL);
    return frame.frame ? hl_ruby_line_of_frame(frame, &line->found, line->text, sizeof(line->text)) : -ENOENT;
}

/* Where in Ruby a thread or fiber is. */
static void write_line(struct hl_json *json, uintptr_t ec) {
    static struct line line;
    if (!ec) return;
    line.frame = (const char *)hl_graph_peek(ec + HL_EC_FRAME);
    line.end = (const char *)hl_graph_peek(ec + HL_EC_STACK) + hl_graph_peek(ec + HL_EC_STACK_SIZE) * sizeof(hl_value);
    if (hl_graph_try(look_at_line, &line)) return;
    hl_json_text(json, "ruby_path", line.found.path, line.found.path_length);
    hl_json_number(json, "ruby_line", line.found.line);
}

/* What keeps the first of its blocks. */
static void write_holder(struct hl_json *json, const struct hl_holder *holder) {
    static const char *const names[] = {"", "register", "thread", "fiber", "object", "data", "mapping", "linker"};
    if (holder->kind == HL_HOLDER_NONE) return;
    hl_json_open(json, "held_by", '{');
    hl_json_text(json, "kind", names[holder->kind], strlen(names[holder->kind]));
    hl_json_number(json, "between", holder->between);
    hl_json_number(json, "address", holder->address);
    hl_json_number(json, "thread", holder->thread);
    hl_json_text(json, "path", holder->path, strlen(holder->path));
    hl_json_number(json, "offset", holder->offset);
    write_line(json, holder->ec);
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

static uintptr_t gone_place(uint16_t load) {
    return (uintptr_t)1 << GONE_BIT | (uintptr_t)load << GONE_SHIFT;
}

static uintptr_t told_frame(const struct report *report, const struct hl_stack *stack, uint32_t frame) {
    const uint16_t load = hl_stack_load_of(stack, frame);
    return report->gone[load] ? gone_place(load) + stack->frames[frame] - hl_stack_load(load).base
                              : stack->frames[frame];
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
    hl_json_number(json, "inherited", record->inherited);
    write_site(json, record->site);
    hl_json_open(json, "frames", '[');
    for (uint32_t i = 0; stack && i < stack->count; i++) hl_json_number(json, NULL, told_frame(report, stack, i));
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

/* Does the library still lie there? The program itself does. */
static int is_gone(struct hl_stack_load load) {
    const struct link_map *map = load.base ? hl_library_map(load.base) : NULL;
    if (!load.library || !load.base) return 0;
    size_t length;
    const char *path = hl_flight_text(hl_library_name(load.library), &length);
    return !map || map->l_addr != load.base ||
           (map->l_name[0] && (strlen(map->l_name) != length || memcmp(map->l_name, path, length) != 0));
}

static void write_place(struct hl_json *json, uintptr_t begin, uintptr_t end, uint64_t offset, int gone) {
    hl_json_number(json, "begin", begin);
    hl_json_number(json, "end", end);
    hl_json_number(json, "offset", offset);
    hl_json_number(json, "gone", (uint64_t)gone);
    hl_json_close(json, '}');
}

/* Code, for those who turn addresses into names. Of libraries that are gone addresses count from their beginning. */
static void write_libraries(struct hl_json *json, struct report *report) {
    const struct hl_roots *roots = report->roots;
    hl_json_open(json, "libraries", '[');
    for (size_t i = 0; i < roots->mapping_count; i++) {
        const struct hl_mapping *mapping = &roots->mappings[i];
        if (!mapping->is_file || !mapping->executable) continue;
        hl_json_open(json, NULL, '{');
        hl_json_text(json, "path", mapping->path, strlen(mapping->path));
        write_place(json, mapping->begin, mapping->end, mapping->offset, 0);
    }
    for (uint16_t load = 1; load < HL_STACK_LOADS; load++) {
        const struct hl_stack_load there = hl_stack_load(load);
        if (!(report->gone[load] = (uint8_t)is_gone(there))) continue;
        hl_json_open(json, NULL, '{');
        write_string(json, "path", hl_library_name(there.library));
        write_place(json, gone_place(load), gone_place((uint16_t)(load + 1)), 0, 1);
    }
    hl_json_close(json, ']');
}

static void write_growths(struct hl_json *json, const struct report *report) {
    hl_json_open(json, "growths", '[');
    for (uint16_t load = 1; load < HL_STACK_LOADS; load++) {
        const struct growth *growth = &report->growths[load];
        const struct hl_mapping *mapping = hl_roots_mapping(report->roots, hl_stack_load(load).base);
        if (!growth->lost || report->gone[load] || !mapping) continue;
        hl_json_open(json, NULL, '{');
        hl_json_text(json, "path", mapping->path, strlen(mapping->path));
        hl_json_number(json, "blocks", growth->blocks);
        hl_json_number(json, "bytes", growth->bytes);
        hl_json_close(json, '}');
    }
    hl_json_close(json, ']');
}

static void write_threads(struct hl_json *json, const struct hl_roots *roots) {
    const struct hl_quiet_child *child = roots->child;
    uint64_t unknown = 0;
    for (uint32_t i = 0; i < child->thread_count; i++) unknown += !child->threads[i].known;
    hl_json_number(json, "threads", child->thread_count + 1);
    hl_json_number(json, "threads_without_registers", unknown);
    hl_json_number(json, "fibers_unknown", (uint64_t)roots->fibers.unknown);
}

static void write_all(struct hl_json *json, struct report *report, const struct hl_leak_figures *figures) {
    hl_json_open(json, NULL, '{');
    hl_json_number(json, "heapline_leaks", 1);
    hl_json_number(json, "pid", hl_flight.header->pid);
    hl_json_number(json, "parent", hl_flight.header->parent);
    hl_json_number(json, "vm", (uintptr_t)hl_ruby.rb_thread_current); /* an address in it; 0: none */
    hl_json_number(json, "generation", report->now);
    hl_json_number(json, "since", report->wish->since);
    hl_json_number(json, "blocks", report->all_blocks);
    hl_json_number(json, "bytes", report->all_bytes);
    hl_json_number(json, "blocks_missed", hl_blocks_missed);
    hl_json_number(json, "pause_ns", figures->pause_ns);
    hl_json_number(json, "gc_ns", figures->gc_ns);
    hl_json_number(json, "scan_ns", figures->scan_ns);
    write_threads(json, report->roots);
    write_totals(json, report);
    write_libraries(json, report);
    write_growths(json, report);
    hl_json_open(json, "records", '[');
    for (uint32_t i = 0; i < report->count; i++) write_record(json, report, &report->records[i]);
    hl_json_close(json, ']');
    hl_json_close(json, '}');
}

int hl_leak_report(int fd, const struct hl_graph *graph, const struct hl_roots *roots, const struct hl_leak_wish *wish,
                   const struct hl_leak_figures *figures) {
    static struct hl_json json HL_PAGE_ALIGNED;
    static struct report report HL_PAGE_ALIGNED; /* large; a copy makes one */
    report.graph = graph;
    report.roots = roots;
    report.wish = wish;
    report.now = hl_load64(&hl_flight.header->generation);
    const int failed = collect(&report);
    if (failed) return failed;
    hl_json_begin(&json, fd);
    write_all(&json, &report, figures);
    return hl_json_end(&json);
}
