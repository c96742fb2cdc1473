/* SPDX-License-Identifier: MIT */
#include "vm/ruby_sleep.h"

#include <string.h>

#include "flight/library.h"
#include "platform/probe.h"
#include "vm/ruby_vm.h"
#include "vm/unwind_rule.h"

enum {
    THREAD_WORDS = 60, /* of the VM's struct, within which it stands in all versions that we know */
    OBJECT_WORDS = 5   /* of the Thread object: the struct's address is one of them */
};

static int is_function_of(const void *vm, uintptr_t address) {
    uintptr_t begin;
    return hl_library_map(address) == vm && hl_unwind_function(address, &begin) && begin == address;
}

void (*hl_ruby_waker(uintptr_t thread))(void *) {
    const void *vm = hl_library_map((uintptr_t)hl_ruby.rb_thread_current);
    void (*waker)(void *) = NULL;
    unsigned found = 0;
    uintptr_t words[2];
    for (uintptr_t at = thread; at < thread + THREAD_WORDS * sizeof(*words); at += sizeof(*words)) {
        if (hl_probe(words, (const void *)at, sizeof(words))) break;
        if (words[1] != thread || !is_function_of(vm, words[0])) continue;
        memcpy(&waker, words, sizeof(waker));
        found++;
    }
    return found == 1 ? waker : NULL;
}

int hl_ruby_wake_self(void) {
    uintptr_t words[OBJECT_WORDS];
    if (hl_probe(words, (const void *)hl_ruby.rb_thread_current(), sizeof(words))) return 0;
    for (unsigned i = 2; i < OBJECT_WORDS; i++) {
        void (*waker)(void *) = words[i] && words[i] % sizeof(*words) == 0 ? hl_ruby_waker(words[i]) : NULL;
        if (!waker) continue;
        waker((void *)words[i]);
        return 1;
    }
    return 0;
}
