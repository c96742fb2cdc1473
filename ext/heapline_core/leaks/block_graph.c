/* SPDX-License-Identifier: MIT */
#include "leaks/block_graph.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "flight/shared_guard.h"
#include "platform/own_memory.h"
#include "state/block_map.h"
#include "state/trailer.h"

enum { PAGE = 4096, PAGES_A_REGION = 1 << (HL_REGION_SHIFT - 12), WORD = sizeof(uint64_t) };
enum { HINT_INTO = 1, HINT_CLOSED = 2 };
enum mode { REACHING, POSSIBLY, LOST };

/* ---- memory that may be missing ---- */

static sigjmp_buf after_fault;
static volatile uintptr_t fault_at;

static void fault(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    fault_at = (uintptr_t)info->si_addr;
    siglongjmp(after_fault, 1);
}

static void catch_faults(void) {
    struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigset_t faults;
    hl_guard_sigaction(SIGSEGV, &action, NULL);
    hl_guard_sigaction(SIGBUS, &action, NULL);
    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    sigaddset(&faults, SIGBUS);
    sigprocmask(SIG_UNBLOCK, &faults, NULL);
}

int hl_graph_try(int (*call)(void *context), void *context) {
    if (sigsetjmp(after_fault, 0)) return -EFAULT;
    return call(context);
}

uint64_t hl_graph_peek(uintptr_t address) {
    if (sigsetjmp(after_fault, 0)) return 0;
    return *(volatile const uint64_t *)address;
}

uintptr_t hl_graph_next_own_address(uintptr_t at, uintptr_t end, size_t step) {
    volatile uintptr_t from = at;
    if (sigsetjmp(after_fault, 0)) from += ((fault_at | (PAGE - 1)) + step - from) / step * step;
    for (at = from; at < end && *(const volatile uintptr_t *)at != at; at += step)
        if (at % PAGE == 0) from = at;
    return at < end ? at : end;
}

/* ---- the index ---- */

struct filling {
    struct hl_graph *graph;
    uint32_t count;
};

static void count_block(void *block, void *context) {
    (void)block;
    ++*(uint32_t *)context;
}

static void add_block(void *block, void *context) {
    struct filling *filling = context;
    struct hl_trailer trailer;
    if (!hl_trailer_read(block, hl_real_usable(block) - hl_block_tail_size, &trailer)) return;
    filling->graph->begins[filling->count] = (uintptr_t)block;
    filling->graph->sizes[filling->count++] = trailer.size;
}

/* For each page the number of the first block that begins in it or behind it. */
static uint32_t *index_of_region(struct hl_graph *graph, uintptr_t region, uint32_t first) {
    uint32_t *index = graph->index[region];
    if (index) return index;
    index = graph->index[region] = hl_own_memory((PAGES_A_REGION + 1) * sizeof(*index));
    for (uint32_t page = 0; index && page <= PAGES_A_REGION; page++) index[page] = first;
    return index;
}

static int index_block(struct hl_graph *graph, uint32_t number) {
    const uintptr_t begin = graph->begins[number], last = begin + (graph->sizes[number] ? graph->sizes[number] - 1 : 0);
    for (uintptr_t region = begin >> HL_REGION_SHIFT; region <= last >> HL_REGION_SHIFT; region++)
        if (!index_of_region(graph, region, number + (region > begin >> HL_REGION_SHIFT))) return -ENOMEM;
    return 0;
}

static int make_index(struct hl_graph *graph) {
    graph->index = hl_own_memory(HL_REGIONS * sizeof(*graph->index));
    if (!graph->index) return -ENOMEM;
    for (uint32_t number = 0; number < graph->count; number++)
        if (index_block(graph, number)) return -ENOMEM;
    /* From the last to the first, so that each page keeps its first block; pages without one take the next. */
    uint32_t next = graph->count;
    for (uintptr_t region = HL_REGIONS; region-- > 0;) {
        uint32_t *index = graph->index[region];
        if (!index) continue;
        const uintptr_t base = region << HL_REGION_SHIFT;
        index[PAGES_A_REGION] = next;
        for (uint32_t page = PAGES_A_REGION; page-- > 0;) {
            while (next > 0 && graph->begins[next - 1] >= base + (uintptr_t)page * PAGE) next--;
            index[page] = next;
        }
    }
    return 0;
}

/* ---- Ruby's tables ----
 *
 * Ruby's hash tables in C (ruby/st.h, which extensions use too; from Ruby 4.0 on sets beside them) leave the key and
 * the value of a deleted entry where they were: addresses of memory that was freed, and is somebody else's now. They
 * are no references. A table is known by its shape: a header that points to a constant, its type, and to a block of as
 * many entries as it says.
 */

struct table_entries {
    uint32_t block;       /* which holds them */
    uintptr_t begin, end; /* of those that were ever used */
    size_t stride;        /* bytes of one: hash, key, and in a table also a value */
};

enum { ENTRY_POWERS = 40 };

/* struct st_table of Ruby 3.1 to 4.0, and struct set_table of 4.0, in which bins follow the entries. */
struct table {
    uint8_t entry_power, bin_power, size_index, fill[5];
    uintptr_t type;
    uint64_t count;
    uintptr_t bins;
    uint64_t start, bound;
    uintptr_t entries;
};
struct set {
    uint8_t entry_power, bin_power, size_index, fill[5];
    uintptr_t type;
    uint64_t count, start, bound;
    uintptr_t entries;
};

static int fits(const struct hl_graph *graph, struct table_entries *entries, const struct set *set) {
    if (set->entry_power > ENTRY_POWERS || set->start > set->bound || set->count > set->bound - set->start ||
        set->bound > (uint64_t)1 << set->entry_power || !hl_graph_is_constant(graph, set->type))
        return 0;
    entries->begin = set->entries;
    entries->end = set->entries + set->bound * entries->stride;
    entries->block = hl_graph_find(graph, set->entries);
    return entries->block != HL_NO_BLOCK && graph->begins[entries->block] == set->entries;
}

/* 1 where this block is a table's header, and its entries are a block of their own. */
static int table_entries_of(const struct hl_graph *graph, uint32_t number, struct table_entries *entries) {
    const void *header = (const void *)graph->begins[number];
    struct table table;
    struct set set;
    if (graph->sizes[number] == sizeof(table)) {
        memcpy(&table, header, sizeof(table));
        memcpy(&set, header, sizeof(set));
        set.start = table.start;
        set.bound = table.bound;
        set.entries = table.entries;
        entries->stride = 3 * sizeof(uint64_t);
        return fits(graph, entries, &set) && graph->sizes[entries->block] == entries->stride << set.entry_power;
    }
    if (graph->sizes[number] == sizeof(set)) {
        memcpy(&set, header, sizeof(set));
        entries->stride = 2 * sizeof(uint64_t);
        return fits(graph, entries, &set) && graph->sizes[entries->block] >= entries->stride << set.entry_power;
    }
    return 0;
}

static void find_tables(struct hl_graph *graph) {
    struct table_entries entries;
    for (uint32_t number = 0; number < graph->count; number++)
        if (table_entries_of(graph, number, &entries)) graph->headers[entries.block] = number + 1;
}

int hl_graph_create(struct hl_graph *graph, const struct hl_range *tables, size_t table_count) {
    uint32_t count = 0;
    struct filling filling = {graph, 0};
    memset(graph, 0, sizeof(*graph));
    graph->tables = tables;
    graph->table_count = table_count;
    catch_faults();
    hl_block_each(count_block, &count);
    graph->begins = hl_own_memory((count + 1) * sizeof(*graph->begins));
    graph->sizes = hl_own_memory((count + 1) * sizeof(*graph->sizes));
    graph->states = hl_own_memory(count + 1);
    graph->hints = hl_own_memory(count + 1);
    graph->leaders = hl_own_memory((count + 1) * sizeof(*graph->leaders));
    graph->headers = hl_own_memory((count + 1) * sizeof(*graph->headers));
    graph->holders = hl_own_memory((count + 1) * sizeof(*graph->holders));
    graph->work = hl_own_memory((count + 1) * sizeof(*graph->work));
    if (!graph->begins || !graph->sizes || !graph->states || !graph->hints || !graph->leaders || !graph->holders ||
        !graph->headers || !graph->work)
        return -ENOMEM;
    hl_block_each(add_block, &filling);
    graph->count = filling.count;
    memset(graph->states, HL_BLOCK_UNSEEN, graph->count);
    const int failed = make_index(graph);
    if (!failed) find_tables(graph);
    return failed;
}

uint32_t hl_graph_find(const struct hl_graph *graph, uintptr_t address) {
    const uintptr_t region = address >> HL_REGION_SHIFT;
    const uint32_t *index = region < HL_REGIONS ? graph->index[region] : NULL;
    if (!index) return HL_NO_BLOCK;
    const uintptr_t page = address / PAGE % PAGES_A_REGION;
    uint32_t low = index[page], high = index[page + 1]; /* the first one behind the address lies in between */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (graph->begins[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return HL_NO_BLOCK;
    const size_t size = graph->sizes[low - 1];
    return address - graph->begins[low - 1] < (size ? size : 1) ? low - 1 : HL_NO_BLOCK;
}

int hl_graph_is_constant(const struct hl_graph *graph, uintptr_t address) {
    size_t low = 0, high = graph->table_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (graph->tables[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < graph->table_count && address >= graph->tables[low].begin && address % WORD == 0;
}

/* ---- pointers into blocks that stand for their beginning ---- */

static uint64_t word_at(uintptr_t address) {
    uint64_t word;
    memcpy(&word, (const void *)address, sizeof(word));
    return word;
}

/* The number of elements of an array, or the length of the memory, stands before what the program has. */
static int behind_a_length(uint64_t length, size_t rest) {
    return length > 0 && length <= rest && rest % length == 0;
}

/* std::string before C++11: length, capacity, references, then the text and its NUL. */
static int text_of_a_string(uintptr_t begin, size_t size) {
    const uint64_t length = word_at(begin), capacity = word_at(begin + 8);
    return length <= capacity && capacity < size && capacity + 25 <= size && size - (capacity + 25) < 16;
}

static int stands_for_the_beginning(const struct hl_graph *graph, uint32_t number, uintptr_t address) {
    const uintptr_t begin = graph->begins[number];
    const size_t size = graph->sizes[number], offset = address - begin;
    if (offset % WORD || size < 2 * WORD || offset + WORD > size) return 0;
    if (offset == 8 && behind_a_length(word_at(begin), size - 8)) return 1;
    if (offset == 24 && size > 24 && text_of_a_string(begin, size)) return 1;
    return hl_graph_is_constant(graph, word_at(begin)) && hl_graph_is_constant(graph, word_at(address));
}

/* ---- following ---- */

static void push(struct hl_graph *graph, uint32_t number, enum hl_block_state state) {
    graph->states[number] = (uint8_t)state;
    graph->work[graph->work_count++] = number;
}

/* A definite leader that another lost block turns out to lead to goes over to that one's, with all that it leads to. */
static void lost_leads_to(struct hl_graph *graph, uint32_t number) {
    if (graph->states[number] == HL_BLOCK_UNSEEN) {
        push(graph, number, HL_BLOCK_INDIRECT);
        graph->leaders[number] = graph->leader;
    } else if (graph->states[number] == HL_BLOCK_DEFINITE && number != graph->leader) {
        graph->states[number] = HL_BLOCK_INDIRECT;
        graph->leaders[number] = graph->leader;
    }
}

/* A word that leads to a block which is not lost. */
static void hold(struct hl_graph *graph, uint32_t number, uintptr_t word, enum hl_block_state state) {
    graph->holders[number] = word;
    push(graph, number, state);
}

static void pointer(struct hl_graph *graph, uintptr_t word, uintptr_t address) {
    const uint32_t number = hl_graph_find(graph, address);
    if (number == HL_NO_BLOCK) return;
    if (graph->mode == LOST) {
        lost_leads_to(graph, number);
    } else if (graph->states[number] != HL_BLOCK_UNSEEN) {
        return;
    } else if (graph->mode == POSSIBLY) {
        hold(graph, number, word, HL_BLOCK_POSSIBLE);
    } else if (address == graph->begins[number] || stands_for_the_beginning(graph, number, address)) {
        hold(graph, number, word, HL_BLOCK_REACHABLE);
    } else {
        graph->hints[number] |= HINT_INTO;
        graph->holders[number] = word;
    }
}

void hl_graph_scan(struct hl_graph *graph, uintptr_t begin, uintptr_t end) {
    const volatile uintptr_t limit = end & ~(uintptr_t)(WORD - 1);
    volatile uintptr_t from = (begin + WORD - 1) & ~(uintptr_t)(WORD - 1);
    if (sigsetjmp(after_fault, 0)) from = (fault_at | (PAGE - 1)) + 1;
    const uintptr_t stop = limit;
    for (uintptr_t at = from; at < stop; at += WORD) pointer(graph, at, *(const uintptr_t *)at);
}

static void scan_entries(struct hl_graph *graph, uint32_t number) {
    struct table_entries entries;
    if (!table_entries_of(graph, graph->headers[number] - 1, &entries)) return;
    for (uintptr_t at = entries.begin; at < entries.end; at += entries.stride)
        if (word_at(at) != HL_ST_DELETED) hl_graph_scan(graph, at + WORD, at + entries.stride);
}

void hl_graph_reach(struct hl_graph *graph, uint32_t number) {
    if (graph->states[number] == HL_BLOCK_UNSEEN) push(graph, number, HL_BLOCK_REACHABLE);
}

void hl_graph_do_not_enter(struct hl_graph *graph, uint32_t number) {
    graph->hints[number] |= HINT_CLOSED;
}

void hl_graph_spread(struct hl_graph *graph) {
    while (graph->work_count) {
        const uint32_t number = graph->work[--graph->work_count];
        if (graph->hints[number] & HINT_CLOSED) continue;
        if (graph->headers[number])
            scan_entries(graph, number);
        else
            hl_graph_scan(graph, graph->begins[number], graph->begins[number] + graph->sizes[number]);
    }
}

/* Leaders that went over to others: to the one at the end. All on the way there get it as theirs, so that nobody goes
 * that way again. */
static void settle_leaders(struct hl_graph *graph) {
    for (uint32_t number = 0; number < graph->count; number++) {
        uint32_t last = number, next;
        while (graph->states[last] == HL_BLOCK_INDIRECT) last = graph->leaders[last];
        for (uint32_t at = number; at != last; at = next) {
            next = graph->leaders[at];
            graph->leaders[at] = last;
        }
    }
}

void hl_graph_finish(struct hl_graph *graph) {
    graph->mode = POSSIBLY;
    for (uint32_t number = 0; number < graph->count; number++)
        if (graph->states[number] == HL_BLOCK_UNSEEN && graph->hints[number] & HINT_INTO)
            push(graph, number, HL_BLOCK_POSSIBLE);
    hl_graph_spread(graph);
    graph->mode = LOST;
    for (uint32_t number = 0; number < graph->count; number++) {
        if (graph->states[number] != HL_BLOCK_UNSEEN) continue;
        graph->leader = number;
        push(graph, number, HL_BLOCK_DEFINITE);
        hl_graph_spread(graph);
    }
    settle_leaders(graph);
}
