/* SPDX-License-Identifier: MIT */
/*
 * The unwind tables are those of the DWARF standard, version 5, section 6.4, as the Linux Standard Base lays them out
 * in .eh_frame and .eh_frame_hdr.
 */
#include "vm/unwind_rule.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "flight/library.h"
#include "platform/own_memory.h"

uint64_t *hl_unwind_slots;

enum { REMEMBERED = 8 };
enum { ENCODED_UDATA4 = 0x03, ENCODED_SDATA4_RELATIVE = 0x1b, ENCODED_SDATA4_FROM_TABLE = 0x3b };
enum {
    CFA_ADVANCE = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_ADVANCE1 = 0x02,
    CFA_ADVANCE2 = 0x03,
    CFA_ADVANCE4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER = 0x0a,
    CFA_RECALL = 0x0b,
    CFA_DEFINE = 0x0c,
    CFA_DEFINE_REGISTER = 0x0d,
    CFA_DEFINE_OFFSET = 0x0e,
    CFA_DEFINE_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_VALUE_EXPRESSION = 0x16,
    CFA_ARGUMENTS_SIZE = 0x2e,
    OP_DEREF = 0x06,
    OP_BREG_FRAME = 0x70 + HL_DWARF_FRAME,
};

struct entry {
    const uint8_t *instructions, *end;
    const uint8_t *common, *common_end; /* the instructions of its CIE */
    uintptr_t begin, size;              /* of the code that it describes */
    uint64_t code_step;
    int64_t data_step;
};

/* What one row of the table says. */
struct row {
    uint64_t cfa_register;
    int64_t cfa_offset;
    int behind;                        /* the CFA is the word at register + offset */
    int64_t saved_frame, saved_return; /* where these registers lie, from the CFA; 0: nowhere */
    int beside_frame;                  /* … the former from the frame pointer */
    int unknown;                       /* something that is not followed */
    int outermost;
};

static uint64_t read_unsigned(const uint8_t **cursor) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t byte = *(*cursor)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) break;
    }
    return value;
}

static int64_t read_signed(const uint8_t **cursor) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = *(*cursor)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && shift < 63);
    if (byte & 0x40) value |= ~0ull << shift;
    return (int64_t)value;
}

static int32_t read32(const uint8_t *at) {
    int32_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

/* ---- finding the entry ---- */

/* The CIE that an FDE belongs to; 0 where it is written in a way that no compiler writes. */
static int read_common(const uint8_t *cie, struct entry *entry) {
    const uint8_t *cursor = cie + 9; /* length, id 0, version */
    const char *augmentation = (const char *)cursor;
    entry->common_end = cie + 4 + (uint32_t)read32(cie);
    if (cie[8] != 1 || augmentation[0] != 'z') return 0;
    cursor += strlen(augmentation) + 1;
    entry->code_step = read_unsigned(&cursor);
    entry->data_step = read_signed(&cursor);
    if (*cursor++ != HL_DWARF_RETURN) return 0;
    const uint64_t length = read_unsigned(&cursor);
    const uint8_t *data = cursor;
    entry->common = cursor + length;
    for (const char *letter = augmentation + 1; *letter; letter++) {
        if (*letter == 'R')
            return *data == ENCODED_SDATA4_RELATIVE;
        else if (*letter == 'L')
            data += 1;
        else if (*letter == 'P')
            data += (data[0] & 7) == 4 || (data[0] & 7) == 0 ? 9 : 5;
        else
            return 0; /* a signal's frame */
    }
    return 0;
}

static int read_entry(const uint8_t *fde, struct entry *entry) {
    const uint32_t length = (uint32_t)read32(fde);
    if (length == 0 || length == 0xffffffff) return 0;
    if (!read_common(fde + 4 - read32(fde + 4), entry)) return 0;
    const uint8_t *cursor = fde + 16;
    entry->begin = (uintptr_t)(fde + 8) + (uintptr_t)(intptr_t)read32(fde + 8);
    entry->size = (uint32_t)read32(fde + 12);
    entry->end = fde + 4 + length;
    const uint64_t augmentation = read_unsigned(&cursor);
    entry->instructions = cursor + augmentation;
    return 1;
}

/* The FDE of the code at `pc` by the object's sorted table; 0 where there is none. */
static int find_entry(uintptr_t pc, struct entry *entry) {
    struct hl_loaded object;
    if (!hl_library_loaded(pc, &object) || !object.unwind) return 0;
    hl_library_watch(object.map); /* the rule goes with it */
    const uint8_t *header = object.unwind;
    if (header[0] != 1 || header[1] != ENCODED_SDATA4_RELATIVE || header[2] != ENCODED_UDATA4 ||
        header[3] != ENCODED_SDATA4_FROM_TABLE)
        return 0;
    const uint8_t *table = header + 12;
    const intptr_t wanted = (intptr_t)(pc - (uintptr_t)header);
    uint32_t low = 0, high = (uint32_t)read32(header + 8);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (read32(table + (size_t)middle * 8) <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || !read_entry(header + read32(table + (size_t)(low - 1) * 8 + 4), entry)) return 0;
    return pc - entry->begin < entry->size;
}

/* ---- running its instructions ---- */

static void save(struct row *row, uint64_t number, int64_t offset) {
    if (number == HL_DWARF_FRAME) {
        row->saved_frame = offset;
        row->beside_frame = 0;
    }
    if (number == HL_DWARF_RETURN) row->saved_return = offset;
}

static void restore(struct row *row, uint64_t number, const struct row *initial) {
    if (number == HL_DWARF_FRAME) row->saved_frame = initial->saved_frame;
    if (number == HL_DWARF_RETURN) row->saved_return = initial->saved_return;
}

static void define_by_expression(struct row *row, const uint8_t *expression, uint64_t length) {
    const uint8_t *cursor = expression + 1;
    row->cfa_register = HL_DWARF_FRAME;
    row->behind = 1;
    if (length < 3 || expression[0] != OP_BREG_FRAME) {
        row->unknown = 1;
        return;
    }
    row->cfa_offset = read_signed(&cursor);
    if (cursor + 1 != expression + length || *cursor != OP_DEREF) row->unknown = 1;
}

/* A function that aligns its stack keeps its caller's frame pointer at the address in its own. */
static void save_by_expression(struct row *row, uint64_t number, const uint8_t *expression, uint64_t length) {
    const uint8_t *cursor = expression + 1;
    if (number != HL_DWARF_FRAME && number != HL_DWARF_RETURN) return;
    if (number == HL_DWARF_RETURN || length < 2 || expression[0] != OP_BREG_FRAME) {
        row->unknown = 1;
        return;
    }
    row->saved_frame = read_signed(&cursor);
    row->beside_frame = 1;
    if (cursor != expression + length) row->unknown = 1;
}

static void define(struct row *row, uint64_t number, int64_t offset) {
    row->cfa_register = number;
    row->cfa_offset = offset;
    row->behind = 0;
}

/* An instruction with its operand in the low six bits of its byte; 0 where it is none. */
static int run_short(uint8_t code, const uint8_t **cursor, const struct entry *entry, struct row *row,
                     const struct row *initial, uintptr_t *at) {
    const uint8_t operand = code & 0x3f;
    switch (code & 0xc0) {
    case CFA_ADVANCE:
        *at += operand * entry->code_step;
        return 1;
    case CFA_OFFSET:
        save(row, operand, (int64_t)read_unsigned(cursor) * entry->data_step);
        return 1;
    case CFA_RESTORE:
        restore(row, operand, initial);
        return 1;
    default:
        return 0;
    }
}

static uintptr_t advance(uint8_t code, const uint8_t **cursor, const struct entry *entry) {
    uint32_t steps = 0;
    const size_t size = code == CFA_ADVANCE1 ? 1 : code == CFA_ADVANCE2 ? 2 : 4;
    memcpy(&steps, *cursor, size);
    *cursor += size;
    return steps * entry->code_step;
}

/* One that says where a register is saved. */
static void run_saving(uint8_t code, const uint8_t **cursor, const struct entry *entry, struct row *row,
                       const struct row *initial) {
    const uint64_t number = read_unsigned(cursor);
    uint64_t length;
    switch (code) {
    case CFA_OFFSET_EXTENDED:
        save(row, number, (int64_t)read_unsigned(cursor) * entry->data_step);
        break;
    case CFA_RESTORE_EXTENDED:
        restore(row, number, initial);
        break;
    case CFA_UNDEFINED:
        if (number == HL_DWARF_RETURN) row->outermost = 1;
        break;
    case CFA_SAME:
        if (number == HL_DWARF_FRAME) row->saved_frame = 0;
        if (number == HL_DWARF_RETURN) row->saved_return = 0;
        break;
    case CFA_REGISTER:
        read_unsigned(cursor);
        if (number == HL_DWARF_FRAME || number == HL_DWARF_RETURN) row->unknown = 1;
        break;
    default: /* an expression: its length, then itself */
        length = read_unsigned(cursor);
        if (code == CFA_EXPRESSION)
            save_by_expression(row, number, *cursor, length);
        else if (number == HL_DWARF_FRAME || number == HL_DWARF_RETURN)
            row->unknown = 1;
        *cursor += length;
    }
}

/* One that defines the CFA, or none of the above. */
static void run_defining(uint8_t code, const uint8_t **cursor, struct row *row) {
    uint64_t number;
    switch (code) {
    case 0:
        break; /* nothing */
    case CFA_DEFINE:
        number = read_unsigned(cursor);
        define(row, number, (int64_t)read_unsigned(cursor));
        break;
    case CFA_DEFINE_REGISTER:
        row->cfa_register = read_unsigned(cursor);
        break;
    case CFA_DEFINE_OFFSET:
        row->cfa_offset = (int64_t)read_unsigned(cursor);
        break;
    case CFA_DEFINE_EXPRESSION:
        number = read_unsigned(cursor);
        define_by_expression(row, *cursor, number);
        *cursor += number;
        break;
    case CFA_ARGUMENTS_SIZE:
        read_unsigned(cursor);
        break;
    default:
        row->unknown |= code != HL_CFA_IGNORED;
    }
}

static int is_saving(uint8_t code) {
    return (code >= CFA_OFFSET_EXTENDED && code <= CFA_REGISTER) || code == CFA_EXPRESSION ||
           code == CFA_VALUE_EXPRESSION;
}

/* Run from `cursor` until the code at `pc` is described. */
static void run(const uint8_t *cursor, const uint8_t *end, const struct entry *entry, struct row *row, uintptr_t pc) {
    struct row initial = *row, remembered[REMEMBERED];
    unsigned depth = 0;
    uintptr_t at = entry->begin;
    while (cursor < end && at <= pc && !row->unknown) {
        const uint8_t code = *cursor++;
        if (run_short(code, &cursor, entry, row, &initial, &at)) continue;
        if (code >= CFA_ADVANCE1 && code <= CFA_ADVANCE4) {
            at += advance(code, &cursor, entry);
        } else if (code == CFA_REMEMBER) {
            if (depth < REMEMBERED) remembered[depth] = *row;
            depth++;
        } else if (code == CFA_RECALL) {
            if (depth == 0 || depth > REMEMBERED)
                row->unknown = 1;
            else
                *row = remembered[--depth];
        } else if (is_saving(code)) {
            run_saving(code, &cursor, entry, row, &initial);
        } else {
            run_defining(code, &cursor, row);
        }
    }
}

static const struct hl_unwind_rule stop = {HL_UNWIND_STOP, 0, 0};

static struct hl_unwind_rule rule_where_calls_push(const struct row *row) {
    const int32_t offset = (int32_t)row->cfa_offset, saved = (int32_t)row->saved_frame;
    if (row->saved_return != -8) return stop;
    if (row->cfa_register == HL_DWARF_STACK) return (struct hl_unwind_rule){HL_UNWIND_STACK, offset, saved};
    if (row->cfa_register != HL_DWARF_FRAME) return stop;
    return (struct hl_unwind_rule){row->behind ? HL_UNWIND_BEHIND : HL_UNWIND_FRAME, offset, saved};
}

static struct hl_unwind_rule rule_where_calls_keep(const struct row *row) {
    const int32_t offset = (int32_t)row->cfa_offset, saved = (int32_t)row->saved_return;
    const int both = saved && row->saved_frame == row->saved_return - 8;
    if (row->behind || (row->saved_frame && !both)) return stop;
    if (row->cfa_register == HL_DWARF_STACK)
        return (struct hl_unwind_rule){both ? HL_UNWIND_STACK : HL_UNWIND_BEHIND, offset, saved};
    return row->cfa_register == HL_DWARF_FRAME && both ? (struct hl_unwind_rule){HL_UNWIND_FRAME, offset, saved} : stop;
}

struct hl_unwind_rule hl_unwind_read(uintptr_t pc) {
    const struct hl_unwind_rule start = {HL_UNWIND_STOP, 8, 0};
    struct entry entry;
    struct row row = {0};
    const uintptr_t call = pc - 1; /* a call may be the last instruction of its function */
    if (!find_entry(call, &entry)) return stop;
    run(entry.common, entry.common_end, &entry, &row, UINTPTR_MAX);
    run(entry.instructions, entry.end, &entry, &row, call);
    if (row.outermost && !row.unknown) return start;
    if (row.unknown || row.behind != row.beside_frame) return stop;
    return HL_CALLS_PUSH ? rule_where_calls_push(&row) : rule_where_calls_keep(&row);
}

uintptr_t hl_unwind_function(uintptr_t address, uintptr_t *begin) {
    struct entry entry;
    if (!find_entry(address, &entry)) return 0;
    *begin = entry.begin;
    return entry.size;
}

/* ---- the cache ---- */

int hl_unwind_create(void) {
    uint64_t *none = NULL, *slots;
    if (__atomic_load_n(&hl_unwind_slots, __ATOMIC_ACQUIRE)) return 0;
    if (!(slots = hl_own_memory(HL_UNWIND_SLOTS * sizeof(*slots)))) return -ENOMEM;
    if (!__atomic_compare_exchange_n(&hl_unwind_slots, &none, slots, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        hl_own_memory_return(slots, HL_UNWIND_SLOTS * sizeof(*slots)); /* another thread was faster */
    return 0;
}

void hl_unwind_forget(void) {
    if (hl_unwind_slots) madvise(hl_unwind_slots, HL_UNWIND_SLOTS * sizeof(*hl_unwind_slots), MADV_DONTNEED);
}

static int fits(int32_t bytes, int32_t least, int32_t most) {
    return bytes % 8 == 0 && bytes / 8 >= least && bytes / 8 <= most;
}

static uint32_t pack(struct hl_unwind_rule rule) {
    if (!fits(rule.offset, INT16_MIN, INT16_MAX) || !fits(rule.saved, -8192, 8191)) return HL_UNWIND_STOP;
    return rule.base | (uint32_t)(uint16_t)(rule.offset / 8) << 2 | (uint32_t)(rule.saved / 8) << 18;
}

HL_COLD uint32_t hl_unwind_learn(uintptr_t pc) {
    const uint32_t bits = pack(hl_unwind_read(pc));
    __atomic_store_n(hl_unwind_slot(pc), (uint64_t)(pc >> 16 << 1 | 1) << 32 | bits, __ATOMIC_RELAXED);
    return bits;
}
