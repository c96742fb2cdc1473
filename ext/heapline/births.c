/* SPDX-License-Identifier: MIT */
#include "births.h"

#include <dlfcn.h>

#include "../heapline_core/heapline_core.h"

int rbhl_birth_of_block(void *block, struct rbhl_birth *birth) {
    static int (*ask)(void *, struct heapline_birth *);
    struct heapline_birth core;
    if (!ask) *(void **)&ask = dlsym(RTLD_DEFAULT, "heapline_block_birth");
    if (!ask || !ask(block, &core)) return 0;
    const uint64_t now = rb_gc_count();
    birth->site = core.site;
    birth->generation = core.age < now ? now - core.age : 0;
    return 1;
}
