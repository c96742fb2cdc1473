/* SPDX-License-Identifier: MIT */
/* A library with a folder of its own (RUNPATH), where it finds what it loads. */
#include <dlfcn.h>

void *loader_load(const char *name);
void *loader_load(const char *name) {
    return dlopen(name, RTLD_NOW);
}
