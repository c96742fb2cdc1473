/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native's list of the object heap's pages, as the core knows them: no copy of the process is needed for it.
 * With the GVL.
 */
#include "bindings.h"

#include <stdlib.h>

#include "../heapline_core/heapline_core.h"

static size_t (*list_pages)(struct heapline_heap_page *, size_t);

struct pages {
    struct heapline_heap_page *list;
    size_t count;
};

static VALUE convert(VALUE argument) {
    const struct pages *pages = (const struct pages *)argument;
    VALUE array = rb_ary_new_capa((long)pages->count);
    for (size_t i = 0; i < pages->count; i++)
        rb_ary_push(array, rb_assoc_new(ULL2NUM(pages->list[i].address), ULL2NUM(pages->list[i].birth)));
    return array;
}

static VALUE let_go(VALUE argument) {
    free(((struct pages *)argument)->list);
    return Qnil;
}

/* Native.heap_pages -> Array of [address, GC.count at its birth], in no order. Raises NotEnabled. */
static VALUE rbhl_heap_pages(VALUE self) {
    (void)self;
    rbhl_check_enabled();
    const size_t room = list_pages ? list_pages(NULL, 0) : 0;
    struct pages pages = {room ? malloc(room * sizeof(*pages.list)) : NULL, room};
    if (room && !pages.list) rb_memerror();
    if (room) {
        const size_t count = list_pages(pages.list, room);
        if (count < room) pages.count = count;
    }
    return rb_ensure(convert, (VALUE)&pages, let_go, (VALUE)&pages);
}

void rbhl_define_heap_pages(VALUE native) {
    if (!rbhl_core_function("heapline_heap_pages", &list_pages)) list_pages = NULL;
    rb_define_singleton_method(native, "heap_pages", rbhl_heap_pages, 0);
}
