/* SPDX-License-Identifier: MIT */
#include "allocator/real_malloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <string.h>

#include "platform/text.h"

#define HL_DEFINE(type, name, parameters, arguments) HL_HOT type(*hl_real_##name) parameters;
HL_FAMILY(HL_DEFINE)
#undef HL_DEFINE
char hl_boot_arena[HL_BOOT_BYTES] HL_PAGE_ALIGNED;
static size_t boot_used;
uint32_t hl_real_chunked;
size_t hl_real_tried;
HL_HOT uint32_t hl_real_kept;

/* Each block is preceded by its size, as a word of glibc's that no block of the heap has; nothing is ever given back.
 */
void *hl_boot_alloc(size_t size, size_t alignment) {
    if (alignment < 16) alignment = 16;
    if (size > HL_BOOT_BYTES || alignment > HL_BOOT_BYTES) return NULL;
    size_t room = size + alignment + sizeof(size_t);
    size_t at = __atomic_fetch_add(&boot_used, room, __ATOMIC_RELAXED);
    if (at + room > HL_BOOT_BYTES) return NULL;
    uintptr_t block = ((uintptr_t)hl_boot_arena + at + sizeof(size_t) + alignment - 1) & ~(alignment - 1);
    const size_t word = size << 3 | HL_CHUNK_MAPPED;
    memcpy((void *)(block - sizeof(word)), &word, sizeof(word));
    return (void *)block;
}

size_t hl_boot_size(const void *block) {
    size_t word;
    memcpy(&word, (const char *)block - sizeof(word), sizeof(word));
    return word >> 3;
}

/* The load address of the object that `function` lies in, or NULL. */
static void *object_of(void *function) {
    Dl_info info;
    return function && dladdr(function, &info) ? info.dli_fbase : NULL;
}

static void leave_mapped(void *block) {
    const size_t mapped = block ? hl_real_mapped(block) : 0;
    hl_real_tried += mapped;
    if (!mapped) hl_real_free(block);
}

/* Does reading the header give what malloc_usable_size says, for small, large and mapped blocks, whole and moved? Those
 * with a mapping of their own stay, untouched: from the first that is freed glibc learns to take such sizes from its
 * heap, and the program's memory would be laid out in another way than without us. */
static int sizes_lie_in_chunks(uint32_t way) {
    static const size_t sizes[] = {1, 24, 25, 1000, 5000, 70000, 200000};
    int same = 1;
    hl_real_chunked = way;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        void *plain = hl_real_malloc(sizes[i]), *moved = hl_real_memalign(256, sizes[i]);
        if (!plain || !moved || hl_real_usable(plain) != hl_real_malloc_usable_size(plain) ||
            hl_real_usable(moved) != hl_real_malloc_usable_size(moved))
            same = 0;
        leave_mapped(plain);
        leave_mapped(moved);
    }
    return same;
}

/* tcmalloc allocates when it is first asked for a size; counting that block would ask again. Nothing is counted yet. */
static void ask_for_a_size(void) {
    void *block = hl_real_malloc(1);
    if (block) hl_real_malloc_usable_size(block);
    hl_real_free(block);
}

static int is_glibc(const char *library) {
    const char *base = strrchr(library, '/');
    base = base ? base + 1 : library;
    return strncmp(base, "libc.so", 7) == 0 || strncmp(base, "libc-", 5) == 0;
}

static const struct link_map *map_of(const void *address) {
    Dl_info info;
    const struct link_map *map = NULL;
    return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

/* The linker has what is preloaded before all that the program needs, and what is loaded later at its end. */
int hl_loaded_late(void) {
    const struct link_map *libc = map_of((const void *)(uintptr_t)gnu_get_libc_version),
                          *own = map_of((const void *)(uintptr_t)hl_boot_alloc);
    while (own && own != libc) own = own->l_prev;
    return own != NULL;
}

/* A library that was loaded late stands in no list that others are found by; its own definitions are the last that it
 * finds. */
int hl_find_below(const char *name, void *function) {
    static int late = -1;
    if (late < 0) late = hl_loaded_late();
    void *found = dlsym(late ? RTLD_DEFAULT : RTLD_NEXT, name);
    if (late && object_of(found) == object_of((void *)(uintptr_t)hl_boot_alloc)) found = NULL;
    memcpy(function, &found, sizeof(found));
    return found != NULL;
}

int hl_real_find(const char *name, void *function) {
    void *found, *malloc_function;
    memcpy(&malloc_function, &hl_real_malloc, sizeof(malloc_function));
    hl_find_below(name, &found);
    if (object_of(found) != object_of(malloc_function)) found = NULL;
    memcpy(function, &found, sizeof(found));
    return found != NULL;
}

/* All are found before one is in its place: dlsym itself may allocate. */
int hl_real_resolve(void) {
#define HL_FIND(type, name, parameters, arguments)                                                                     \
    type(*found_##name) parameters;                                                                                    \
    hl_find_below(#name, &found_##name);
    HL_FAMILY(HL_FIND)
#undef HL_FIND
    if (!found_malloc || !found_calloc || !found_realloc || !found_free || !found_memalign || !found_malloc_usable_size)
        return -ENOSYS;
    void *malloc_function, *usable_function;
    memcpy(&malloc_function, &found_malloc, sizeof(malloc_function));
    memcpy(&usable_function, &found_malloc_usable_size, sizeof(usable_function));
#define HL_KEEP(type, name, parameters, arguments) hl_real_##name = found_##name;
    HL_FAMILY(HL_KEEP)
#undef HL_KEEP
    /* The sizes of one allocator's blocks must not be asked of another. */
    if (object_of(malloc_function) != object_of(usable_function)) return -ENOSYS;
    ask_for_a_size();
    Dl_info info;
    if (dladdr(malloc_function, &info) && info.dli_fname && is_glibc(info.dli_fname))
        if (!sizes_lie_in_chunks(HL_CHUNKED) && !sizes_lie_in_chunks(HL_CHUNKED_2_43)) hl_real_chunked = HL_NOT_CHUNKED;
    return 0;
}

int hl_real_first(void) {
    void *seen = dlsym(RTLD_DEFAULT, "malloc");
    return object_of(seen) == object_of((void *)(uintptr_t)hl_boot_alloc);
}

/* Each allocator tells its version in a way of its own. */
static int describe_jemalloc(char *name, size_t size) {
    int (*mallctl)(const char *, void *, size_t *, void *, size_t);
    const char *version = NULL;
    size_t length = sizeof(version);
    if (!hl_real_find("mallctl", &mallctl)) return 0;
    if (mallctl("version", &version, &length, NULL, 0) || !version) version = "";
    /* "5.3.0-0-g54eaed1d…": the part up to the first dash names the release. */
    hl_text(name, size, "jemalloc %.*s", (int)strcspn(version, "-"), version);
    return 1;
}

static int describe_tcmalloc(char *name, size_t size) {
    const char *(*version)(int *, int *, const char **);
    int major = 0, minor = 0;
    const char *patch = "";
    if (!hl_real_find("tc_version", &version)) return 0;
    version(&major, &minor, &patch);
    hl_text(name, size, "tcmalloc %d.%d%s", major, minor, patch ? patch : "");
    return 1;
}

static int describe_mimalloc(char *name, size_t size) {
    int (*version)(void);
    if (!hl_real_find("mi_version", &version)) return 0;
    int number = version();
    if (number >= 10000) /* since 3.x and late 2.x: major * 10000 + minor * 100 + patch */
        hl_text(name, size, "mimalloc %d.%d.%d", number / 10000, number / 100 % 100, number % 100);
    else
        hl_text(name, size, "mimalloc %d.%d.%d", number / 100, number / 10 % 10, number % 10);
    return 1;
}

void hl_real_describe(char *name, size_t size) {
    Dl_info info;
    void *function;
    memcpy(&function, &hl_real_malloc, sizeof(function));
    const char *library = dladdr(function, &info) && info.dli_fname ? info.dli_fname : "?";
    const char *base = strrchr(library, '/');
    base = base ? base + 1 : library;
    if (is_glibc(library))
        hl_text(name, size, "glibc %s", gnu_get_libc_version());
    else if (!describe_jemalloc(name, size) && !describe_tcmalloc(name, size) && !describe_mimalloc(name, size))
        hl_text(name, size, "%s", base);
}
