/* SPDX-License-Identifier: MIT */
#include "door/door.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "door/definitions.h"
#include "platform/platform.h"

/* ---- the linker's functions while the door is open ---- */

static void *(*dlopen_below)(const char *path, int how);
static int (*dlclose_below)(void *library);
static void *(*dlsym_below)(void *handle, const char *name);
void (*hl_door_unloading)(void);

/* The linker finds some libraries by who calls: where its object has folders of its own to look into, or the path
 * names it. */
static HL_NOINLINE int depends_on_caller(const char *path, uintptr_t caller) {
    Dl_info info;
    const struct link_map *map = NULL;
    if (!path) return 0;
    if (strchr(path, '$') || !dladdr1((void *)caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) return 1;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_RPATH || entry->d_tag == DT_RUNPATH) return 1;
    return 0;
}

/* What it loads is led before anyone knows of it, but its own constructors. Where the linker needs to know the caller
 * it must be called last, and dlsym leads. */
static HL_NOINLINE void *dlopen_and_follow(const char *path, int how) {
    if (depends_on_caller(path, HL_CALLER)) return dlopen_below(path, how);
    void *library = dlopen_below(path, how);
    hl_words_follow();
    return library;
}

static HL_NOINLINE void *follow_and_dlsym(void *handle, const char *name) {
    hl_words_follow();
    return dlsym_below(handle, name);
}

static int dlclose_and_tell(void *library) {
    void (*const tell)(void) = hl_words_are_ours() ? hl_door_unloading : NULL;
    if (tell) tell();
    const int failed = dlclose_below(library);
    if (tell) tell();
    return failed;
}

/* Before what they mean to the program is asked. */
static void define_linkers(void) {
    hl_define("dlopen", (uintptr_t)dlopen_and_follow);
    hl_define("dlclose", (uintptr_t)dlclose_and_tell);
    hl_define("dlsym", (uintptr_t)follow_and_dlsym);
}

static int find_linkers(void) {
    const struct hl_definition *load = hl_definition_of("dlopen"), *unload = hl_definition_of("dlclose"),
                               *find = hl_definition_of("dlsym");
    memcpy(&dlopen_below, &load->below, sizeof(dlopen_below));
    memcpy(&dlclose_below, &unload->below, sizeof(dlclose_below));
    memcpy(&dlsym_below, &find->below, sizeof(dlsym_below));
    return dlopen_below && dlclose_below && dlsym_below;
}

/* ---- open and close ---- */

int hl_door_open(void) {
    const int saved = errno;
    int failed = 0;
    if (!dlsym_below) {
        define_linkers();
        failed = hl_definitions_find();
        if (!failed && !find_linkers()) failed = -ENOSYS;
    }
    if (!failed) failed = hl_words_prepare();
    if (!failed && !hl_words_are_ours()) failed = hl_words_look(1);
    errno = saved;
    return failed;
}

void hl_door_close(void) {
    const int saved = errno;
    hl_words_put_back();
    errno = saved;
}
