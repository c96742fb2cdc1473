/* SPDX-License-Identifier: MIT */
/*
 * Machine code that tests write, by kind of processor. All of it is about the register of a function's result.
 */
#ifndef TEST_EMIT_H
#define TEST_EMIT_H

#include <stdint.h>
#include <string.h>

/* Where the next instruction goes. */
struct emitted {
    uint8_t *at;
};

static inline void emit(struct emitted *code, const void *bytes, size_t length) {
    memcpy(code->at, bytes, length);
    code->at += length;
}

#if defined(__x86_64__)

static inline void emit_beginning(struct emitted *code) {
    emit(code, "\xf3\x0f\x1e\xfa", 4); /* endbr64 */
}
static inline void emit_relative(struct emitted *code, const char *opcode, const void *address) {
    emit(code, opcode, 3);
    const int32_t distance = (int32_t)((intptr_t)address - (intptr_t)(code->at + 4));
    emit(code, &distance, sizeof(distance));
}
static inline void emit_variable(struct emitted *code, const void *address) {
    emit_relative(code, "\x48\x8b\x05", address);
}
static inline void emit_address(struct emitted *code, const void *address) {
    emit_relative(code, "\x48\x8d\x05", address);
}
static inline void emit_load(struct emitted *code, int32_t offset) {
    emit(code, offset ? "\x48\x8b\x80" : "\x48\x8b\x00", 3);
    if (offset) emit(code, &offset, sizeof(offset));
}
static inline void emit_call(struct emitted *code) {
    emit(code, "\x48\x83\xec\x08\xe8\0\0\0\0", 9); /* sub $8, %rsp; call … */
}
static inline void emit_end_of_call(struct emitted *code) {
    emit(code, "\x48\x83\xc4\x08", 4); /* add $8, %rsp */
}
static inline void emit_return(struct emitted *code) {
    emit(code, "\xc3", 1);
}
static inline void emit_arithmetic(struct emitted *code) {
    emit(code, "\x48\xff\xc0", 3); /* inc %rax */
}

#else

static inline void emit_word(struct emitted *code, uint32_t instruction) {
    emit(code, &instruction, sizeof(instruction));
}
static inline void emit_beginning(struct emitted *code) {
    emit_word(code, 0xd503245f); /* bti c */
}
static inline void emit_page(struct emitted *code, const void *address) {
    const uint32_t pages = (uint32_t)(((uintptr_t)address >> 12) - ((uintptr_t)code->at >> 12));
    emit_word(code, 0x90000000 | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5); /* adrp */
}
static inline void emit_load(struct emitted *code, int32_t offset) {
    emit_word(code, 0xf9400000 | (uint32_t)offset / 8 << 10); /* ldr */
}
static inline void emit_variable(struct emitted *code, const void *address) {
    emit_page(code, address);
    emit_load(code, (int32_t)((uintptr_t)address & 4095));
}
static inline void emit_address(struct emitted *code, const void *address) {
    emit_page(code, address);
    emit_word(code, 0x91000000 | (uint32_t)((uintptr_t)address & 4095) << 10); /* add */
}
static inline void emit_call(struct emitted *code) {
    emit_word(code, 0xa9bf7bfd); /* stp x29, x30, [sp, #-16]! */
    emit_word(code, 0x910003fd); /* mov x29, sp */
    emit_word(code, 0x94000000); /* bl … */
}
static inline void emit_end_of_call(struct emitted *code) {
    emit_word(code, 0xa8c17bfd); /* ldp x29, x30, [sp], #16 */
}
static inline void emit_return(struct emitted *code) {
    emit_word(code, 0xd65f03c0);
}
static inline void emit_arithmetic(struct emitted *code) {
    emit_word(code, 0xcb0003e0); /* neg x0, x0 */
}

#endif

#endif
