/* SPDX-License-Identifier: MIT */
#include "vm/jit_compiler.h"

#include <dlfcn.h>
#include <string.h>

#include "flight/library.h"
#include "platform/platform.h"
#include "vm/ruby_vm.h"

enum { CALL = 0xe8, JUMP = 0xe9, THROUGH_SLOT = 0xff, CALL_SLOT = 0x15, JUMP_SLOT = 0x25, WRAPPER = 64, WRAPPERS = 3 };

static const char *const ALLOCATING[] = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"};
enum { FUNCTIONS = sizeof(ALLOCATING) / sizeof(ALLOCATING[0]) };

static const void *vm; /* the object's link map; NULL: there is no such compiler in it */
static uintptr_t functions[FUNCTIONS];
static uint32_t c_code_alike;
static const uint8_t *yjit_enabled; /* NULL: it is no variable here */
static int has_zjit;

uint32_t hl_jit_is_there;

void hl_jit_find(void) {
    for (unsigned i = 0; i < FUNCTIONS; i++) functions[i] = (uintptr_t)dlsym(RTLD_DEFAULT, ALLOCATING[i]);
    has_zjit = dlsym(RTLD_DEFAULT, "rb_zjit_init") != NULL;
    if (has_zjit) yjit_enabled = dlsym(RTLD_DEFAULT, "rb_yjit_enabled_p");
    if (!HL_RUST_CALLS_OTHERWISE) return;
    vm = has_zjit || dlsym(RTLD_DEFAULT, "rb_yjit_iseq_gen_entry_point")
             ? hl_library_map((uintptr_t)hl_ruby.rb_thread_current)
             : NULL;
    hl_jit_is_there = vm != NULL;
}

static uintptr_t target_of(const uint8_t *displacement) {
    int32_t distance;
    memcpy(&distance, displacement, sizeof(distance));
    return (uintptr_t)(displacement + sizeof(distance)) + (uintptr_t)(intptr_t)distance;
}

/* The function that `at` calls, or jumps to, through a slot; 0: it does not. */
static uintptr_t through_slot(const uint8_t *at, uint8_t kind) {
    uintptr_t function;
    if (at[0] != THROUGH_SLOT || at[1] != kind) return 0;
    const uintptr_t slot = target_of(at + 2);
    if (slot % sizeof(function) || hl_library_map(slot) != vm) return 0;
    memcpy(&function, (const void *)slot, sizeof(function));
    return function;
}

static int is_allocating(uintptr_t function) {
    for (unsigned i = 0; i < FUNCTIONS; i++)
        if (function && function == functions[i]) return 1;
    return 0;
}

/* Does a function that was called end in such a jump? A linker's stub begins with one, or does behind a mark of four
 * bytes and a prefix. */
static int jumps_through_slot(uintptr_t address) {
    for (int hops = 0; hops < WRAPPERS && hl_library_map(address) == vm; hops++) {
        const uint8_t *code = (const uint8_t *)address;
        if (code[0] == JUMP) {
            address = target_of(code + 1);
            continue;
        }
        for (int i = 0; i < WRAPPER; i++)
            if (code[i] == THROUGH_SLOT && code[i + 1] == JUMP_SLOT)
                return i > 5 && is_allocating(through_slot(code + i, JUMP_SLOT));
        return 0;
    }
    return 0;
}

static int is_rusts(uintptr_t caller) {
    const uint8_t *behind = (const uint8_t *)caller;
    const uintptr_t function = through_slot(behind - 6, CALL_SLOT);
    if (function) return is_allocating(function) || jumps_through_slot(function);
    return behind[-5] == CALL && jumps_through_slot(target_of(behind - 4));
}

int hl_jit_allocates(uintptr_t caller, const void *map) {
    if (!vm || map != vm || !is_rusts(caller)) return 0;
    if (HL_LIKELY(hl_ruby.attached)) return !hl_load32(&c_code_alike);
    __atomic_store_n(&c_code_alike, 1, __ATOMIC_RELAXED);
    return 0;
}

int hl_jit_is_yjit(void) {
    return !has_zjit || (yjit_enabled && *yjit_enabled);
}

const char *hl_jit_name(int running) {
    if (hl_jit_is_yjit()) return "(YJIT)";
    return running ? "(ZJIT)" : "(JIT)";
}
