/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD: Ruby's object heap as a Ruby of another build would tell of its pages. HEAP says how: "slots" are
 * twice as large, "pages" begin in the middle of one, "long" pages reach into the next, "none" are there.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int visitor(void *begin, void *end, size_t slot, void *data);

struct told {
    visitor *each;
    void *data;
};

static int tell(void *begin, void *end, size_t slot, void *data) {
    const struct told *told = data;
    const char *heap = getenv("HEAP");
    const uintptr_t middle = ((uintptr_t)begin & ~(uintptr_t)0xfff) + ((uintptr_t)end - (uintptr_t)begin) / 2;
    if (!strcmp(heap, "none")) return 0;
    if (!strcmp(heap, "slots")) slot *= 2;
    if (!strcmp(heap, "pages")) begin = (void *)middle;
    if (!strcmp(heap, "long")) end = (char *)end + ((uintptr_t)end - (uintptr_t)begin);
    return told->each(begin, end, slot, told->data);
}

int rb_objspace_each_objects(visitor *each, void *data) {
    int (*real)(visitor *, void *) = (int (*)(visitor *, void *))dlsym(RTLD_NEXT, "rb_objspace_each_objects");
    struct told told = {each, data};
    return real(tell, &told);
}
