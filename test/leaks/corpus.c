/* SPDX-License-Identifier: MIT */
#include "corpus.h"

#include <stdint.h>
#include <string.h>

#include "../c/support/machine.h"

/* What a case left in registers that callees preserve, and below it on the stack. */
__attribute__((noinline)) static void wipe(void) {
    volatile char stack[65536];
    for (size_t i = 0; i < sizeof(stack); i++) stack[i] = 0;
    __asm__ volatile("" : : "r"(stack) : PRESERVED_REGISTERS, "memory");
}

static int run(const struct corpus_case *list, const char *name) {
    for (; list->name; list++) {
        if (strcmp(list->name, name)) continue;
        list->run();
        wipe();
        return 1;
    }
    return 0;
}

int corpus_run(const char *name) {
    return run(corpus_lost, name) || run(corpus_clean, name) || run(corpus_lost_cxx, name) ||
           run(corpus_clean_cxx, name);
}
