/* SPDX-License-Identifier: MIT */
#include "fake_linker.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "fake_ruby.h"

enum { NAMES = 16 };

static struct {
    const char *name;
    void *symbol;
} set[NAMES];
static unsigned used;

void fake_linker_set(const char *name, void *symbol) {
    if (used == NAMES) abort();
    set[used].name = name;
    set[used++].symbol = symbol;
}

/* "Next" means below heapline, which is this program: a sanitizer's allocator is in it, libc's is not. */
void *dlsym(void *handle, const char *name) {
    (void)handle;
    for (unsigned i = used; i-- > 0;)
        if (strcmp(set[i].name, name) == 0) return set[i].symbol;
    void *symbol = fake_ruby_symbol(name);
    return symbol ? symbol : below_dlsym(RTLD_DEFAULT, name);
}
