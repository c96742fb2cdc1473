/* SPDX-License-Identifier: MIT */
#include "births.h"

#include "../heapline_core/heapline_core.h"
#include "bindings.h"

static int take(const struct heapline_birth *core, struct rbhl_birth *birth) {
    const uint64_t now = rb_gc_count();
    birth->site = core->site;
    birth->generation = core->age < now ? now - core->age : 0;
    return 1;
}

int rbhl_birth_of_block(void *block, struct rbhl_birth *birth) {
    static int (*ask)(void *, struct heapline_birth *);
    struct heapline_birth core;
    if (!ask) *(void **)&ask = rbhl_core_symbol("heapline_block_birth");
    return ask && ask(block, &core) && take(&core, birth);
}

int rbhl_birth_of_object(VALUE object, struct rbhl_birth *birth) {
    static int (*ask)(uintptr_t, struct heapline_birth *);
    struct heapline_birth core;
    if (!ask) *(void **)&ask = rbhl_core_symbol("heapline_object_birth");
    return ask && ask(object, &core) && take(&core, birth);
}
