/* SPDX-License-Identifier: MIT */
#include "below.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#define ARENAS_ALL "4096" /* jemalloc's MALLCTL_ARENAS_ALL */

static int (*mallctl)(const char *, void *, size_t *, void *, size_t);
static void (*release_free_memory)(void);
static const char *(*tc_version)(int *, int *, const char **);
static void (*mi_collect)(_Bool);
static int (*mi_version)(void);
static int (*trim)(size_t);

/* dlsym's value is an object's address; ISO C has no cast from it to a function. */
static int find(const char *name, void *slot) {
    void *symbol = dlsym(RTLD_DEFAULT, name);
    memcpy(slot, &symbol, sizeof(symbol));
    return symbol != NULL;
}

static const char *library_of(const char *name) {
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, name);
    return symbol && dladdr(symbol, &info) ? info.dli_fname : "";
}

/* Blocks of one library must not reach another's free. */
static const char *foreign_function(const char *library) {
    static const char *const FAMILY[] = {"calloc", "realloc", "posix_memalign", "free"};
    for (size_t i = 0; i < sizeof(FAMILY) / sizeof(FAMILY[0]); i++)
        if (strcmp(library_of(FAMILY[i]), library) != 0) return FAMILY[i];
    return NULL;
}

static void name_jemalloc(struct hl_below *below) {
    const char *version = "";
    size_t length = sizeof(version);
    below->name = "jemalloc";
    if (mallctl("version", &version, &length, NULL, 0)) return;
    snprintf(below->version, sizeof(below->version), "%.*s", (int)strcspn(version, "-"), version);
}

static void name_tcmalloc(struct hl_below *below) {
    int major, minor;
    const char *patch = "";
    below->name = "tcmalloc";
    if (!tc_version) return;
    tc_version(&major, &minor, &patch);
    snprintf(below->version, sizeof(below->version), "%d.%d%s", major, minor, patch);
}

static void name_mimalloc(struct hl_below *below) {
    const int version = mi_version();
    below->name = "mimalloc";
    snprintf(below->version, sizeof(below->version), "%d.%d.%d", version / 100, version / 10 % 10, version % 10);
}

void hl_below_init(struct hl_below *below) {
    *below = (struct hl_below){.name = "other", .library = library_of("malloc")};
    below->missing = foreign_function(below->library);
    const char *libc = library_of("gnu_get_libc_version");
    find("MallocExtension_ReleaseFreeMemory", &release_free_memory);
    find("tc_version", &tc_version);
    find("mi_collect", &mi_collect);
    if (find("mallctl", &mallctl)) {
        name_jemalloc(below);
    } else if (release_free_memory) {
        name_tcmalloc(below);
    } else if (find("mi_version", &mi_version)) {
        name_mimalloc(below);
    } else if (strcmp(below->library, libc) == 0) {
        below->name = "glibc";
        snprintf(below->version, sizeof(below->version), "%s", gnu_get_libc_version());
        trim = malloc_trim;
    }
}

int hl_below_trim(void) {
    if (mallctl) return mallctl("arena." ARENAS_ALL ".purge", NULL, NULL, NULL, 0) == 0;
    if (release_free_memory)
        release_free_memory();
    else if (mi_collect)
        mi_collect(1);
    else if (trim)
        trim(0);
    else
        return 0;
    return 1;
}
