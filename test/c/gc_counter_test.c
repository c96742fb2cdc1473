/* SPDX-License-Identifier: MIT */
#include "vm/gc_counter.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "emit.h"

/* Machine code as compilers made rb_gc_count of it, over memory of the test's own. */
struct machine {
    uint8_t code[256];
    uintptr_t vm;          /* a variable that the code addresses relative to itself */
    uintptr_t objects[64]; /* the VM */
    uintptr_t heap[64];    /* its object space */
};
static struct machine *machine;
static struct emitted code;

static void begin(void) {
    machine = mmap(NULL, sizeof(*machine), PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (machine == MAP_FAILED) check_skip("no memory may be executed here");
    machine->vm = (uintptr_t)machine->objects;
    machine->objects[5] = (uintptr_t)machine->heap;
    machine->heap[7] = 4711;
    machine->heap[0] = 12;
    code.at = machine->code;
}

static size_t (*function(void))(void) {
    size_t (*made)(void);
    void *address = machine->code;
    __builtin___clear_cache((char *)machine->code, (char *)code.at);
    memcpy(&made, &address, sizeof(made));
    return made;
}

static void finds_a_chain_of_loads(void) {
    begin();
    emit_beginning(&code);
    emit_variable(&code, &machine->vm);
    emit_load(&code, 5 * 8);
    emit_load(&code, 7 * 8);
    emit_return(&code);
    const size_t *found = hl_gc_counter_find(function(), NULL);
    CHECK(found == &machine->heap[7]);
    CHECK_EQUAL(function()(), 4711);
}

static void follows_an_address_and_a_plain_load(void) {
    begin();
    emit_address(&code, &machine->vm);
    emit_load(&code, 0);
    emit_load(&code, 5 * 8);
    emit_load(&code, 0);
    emit_return(&code);
    CHECK(hl_gc_counter_find(function(), NULL) == &machine->heap[0]);
}

static void *object_space(void) {
    return machine->heap;
}

static void emit_function_that_calls(void) {
    emit_call(&code);
    emit_load(&code, 7 * 8);
    emit_end_of_call(&code);
    emit_return(&code);
}

static void takes_a_call_for_the_object_space_where_there_is_one(void) {
    begin();
    emit_function_that_calls();
    CHECK(hl_gc_counter_find(function(), object_space) == &machine->heap[7]);
    CHECK(hl_gc_counter_find(function(), NULL) == NULL);
}

static void gives_up_at_any_other_instruction(void) {
    begin();
    emit_variable(&code, &machine->vm);
    emit_arithmetic(&code);
    emit_return(&code);
    CHECK(hl_gc_counter_find(function(), NULL) == NULL);
}

static void gives_up_at_a_long_chain(void) {
    begin();
    machine->vm = (uintptr_t)&machine->vm;
    emit_variable(&code, &machine->vm);
    for (int i = 0; i < 20; i++) emit_load(&code, 0);
    emit_return(&code);
    CHECK(hl_gc_counter_find(function(), NULL) == NULL);
}

static void a_function_without_a_load_has_no_counter(void) {
    begin();
    emit_return(&code);
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
