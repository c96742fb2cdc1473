/* SPDX-License-Identifier: MIT */
#include "vm/gc_counter.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"

/* Machine code as compilers made rb_gc_count of it, over memory of the test's own. */
struct machine {
    uint8_t code[256];
    uintptr_t vm;          /* a variable that the code addresses relative to itself */
    uintptr_t objects[64]; /* the VM */
    uintptr_t heap[64];    /* its object space */
};
static struct machine *machine;
static size_t used;

static void begin(void) {
    machine = mmap(NULL, sizeof(*machine), PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (machine == MAP_FAILED) check_skip("no memory may be executed here");
    machine->vm = (uintptr_t)machine->objects;
    machine->objects[5] = (uintptr_t)machine->heap;
    machine->heap[7] = 4711;
    machine->heap[0] = 12;
    used = 0;
}

static void emit(const char *bytes, size_t length) {
    memcpy(machine->code + used, bytes, length);
    used += length;
}

static void emit_displacement(int32_t value) {
    emit((const char *)&value, sizeof(value));
}

/* `opcode` with the address of machine->vm, relative to the next instruction. */
static void emit_relative(const char *opcode) {
    emit(opcode, 3);
    emit_displacement((int32_t)((intptr_t)&machine->vm - (intptr_t)(machine->code + used + 4)));
}

static void emit_load(int32_t offset) {
    emit("\x48\x8b\x80", 3);
    emit_displacement(offset);
}

static size_t (*function(void))(void) {
    size_t (*code)(void);
    void *address = machine->code;
    memcpy(&code, &address, sizeof(code));
    return code;
}

static void finds_a_chain_of_loads(void) {
    begin();
    emit("\xf3\x0f\x1e\xfa", 4); /* endbr64 */
    emit_relative("\x48\x8b\x05");
    emit_load(5 * 8);
    emit_load(7 * 8);
    emit("\xc3", 1);
    const size_t *found = hl_gc_counter_find(function(), NULL);
    CHECK(found == &machine->heap[7]);
    CHECK_EQUAL(function()(), 4711);
}

static void follows_an_address_and_a_plain_load(void) {
    begin();
    emit_relative("\x48\x8d\x05"); /* lea */
    emit("\x48\x8b\x00", 3);
    emit_load(5 * 8);
    emit("\x48\x8b\x00", 3);
    emit("\xc3", 1);
    CHECK(hl_gc_counter_find(function(), NULL) == &machine->heap[0]);
}

static void *object_space(void) {
    return machine->heap;
}

static void emit_call(void) {
    emit("\x48\x83\xec\x08\xe8", 5); /* sub $8, %rsp; call … */
    emit_displacement(0);
    emit_load(7 * 8);
    emit("\x48\x83\xc4\x08\xc3", 5);
}

static void takes_a_call_for_the_object_space_where_there_is_one(void) {
    begin();
    emit_call();
    CHECK(hl_gc_counter_find(function(), object_space) == &machine->heap[7]);
    CHECK(hl_gc_counter_find(function(), NULL) == NULL);
}

static void gives_up_at_any_other_instruction(void) {
    begin();
    emit_relative("\x48\x8b\x05");
    emit("\x48\xff\xc0\xc3", 4); /* inc %rax */
    CHECK(hl_gc_counter_find(function(), NULL) == NULL);
}

static void gives_up_at_a_long_chain(void) {
    begin();
    machine->vm = (uintptr_t)&machine->vm;
    emit_relative("\x48\x8b\x05");
    for (int i = 0; i < 20; i++) emit("\x48\x8b\x00", 3);
    emit("\xc3", 1);
    CHECK(hl_gc_counter_find(function(), NULL) == NULL);
}

static void a_function_without_a_load_has_no_counter(void) {
    begin();
    emit("\xc3", 1);
    CHECK(hl_gc_counter_find(function(), NULL) == NULL);
}

static const struct check_test tests[] = {
    {"finds_a_chain_of_loads", finds_a_chain_of_loads},
    {"follows_an_address_and_a_plain_load", follows_an_address_and_a_plain_load},
    {"takes_a_call_for_the_object_space_where_there_is_one", takes_a_call_for_the_object_space_where_there_is_one},
    {"gives_up_at_any_other_instruction", gives_up_at_any_other_instruction},
    {"gives_up_at_a_long_chain", gives_up_at_a_long_chain},
    {"a_function_without_a_load_has_no_counter", a_function_without_a_load_has_no_counter},
};
CHECK_MAIN(tests)
