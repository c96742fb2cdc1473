/*
 * To be preloaded: a VM that has run GC_AHEAD more GCs than it has. The program may change the environment variable
 * while it runs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

size_t rb_gc_count(void) {
    static size_t (*next)(void);
    const char *ahead = getenv("GC_AHEAD");
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "rb_gc_count");
    return (next ? next() : 0) + (ahead ? strtoull(ahead, NULL, 10) : 0);
}
