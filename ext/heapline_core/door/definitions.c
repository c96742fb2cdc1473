/* SPDX-License-Identifier: MIT */
#include "door/definitions.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "allocator/real_malloc.h"
#include "platform/memory_maps.h"
#include "platform/platform.h"

enum { PLACES = 256, MOST = PLACES / 2 };
static struct hl_definition definitions[PLACES] HL_PAGE_ALIGNED;
static uint32_t definition_count;

/* By a name's first letter: which second letters there are. Most names of a program end here. */
static uint32_t beginnings[256];

extern const ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") HL_HIDDEN;

struct hl_definition *hl_definitions(uint32_t *count) {
    *count = PLACES;
    return definitions;
}

/* Where it is, or belongs. */
static struct hl_definition *place_of(const char *name) {
    uint32_t hash = 5381;
    for (const char *at = name; *at; at++) hash = hash * 33 + (unsigned char)*at;
    for (uint32_t i = hash % PLACES;; i = (i + 1) % PLACES)
        if (!definitions[i].name || strcmp(definitions[i].name, name) == 0) return &definitions[i];
}

struct hl_definition *hl_definition_of(const char *name) {
    if (!(beginnings[(unsigned char)name[0]] >> (name[1] & 31) & 1)) return NULL;
    struct hl_definition *definition = place_of(name);
    return definition->name ? definition : NULL;
}

void hl_define(const char *name, uintptr_t ours) {
    struct hl_definition *definition = place_of(name);
    if (!definition->name && definition_count++ >= MOST) return;
    beginnings[(unsigned char)name[0]] |= 1u << (name[1] & 31);
    *definition = (struct hl_definition){.name = name, .ours = ours, .is_operator = strncmp(name, "_Z", 2) == 0};
}

static void define_exports(void) {
    struct hl_loaded_object own;
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)((uintptr_t)&__ehdr_start + __ehdr_start.e_phoff);
    const struct dl_phdr_info info = {
        .dlpi_addr = (uintptr_t)&__ehdr_start, .dlpi_phdr = segments, .dlpi_phnum = __ehdr_start.e_phnum};
    if (!hl_loaded_object_read(&info, &own)) return;
    const uint32_t count = hl_loaded_symbol_count(&own);
    for (uint32_t i = 1; i < count; i++) {
        const ElfW(Sym) *symbol = &own.symbols[i];
        const char *name = own.names + symbol->st_name;
        if (!hl_loaded_symbol_is_defined(symbol) || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) continue;
        if (strncmp(name, "heapline_", 9) != 0) hl_define(name, own.base + symbol->st_value);
    }
}

/* A program at a fixed address that takes a function's address makes one up, which leads through a word of its own: it
 * would be both below us and before us. */
static int is_made_up(const void *function) {
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    return dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol && symbol->st_shndx == SHN_UNDEF;
}

int hl_definitions_find(void) {
    if (!hl_loaded_late()) return -EALREADY;
    define_exports();
    for (uint32_t i = 0; i < PLACES; i++) {
        void *function = NULL;
        if (definitions[i].name && hl_find_below(definitions[i].name, &function) && is_made_up(function))
            return -ENOTSUP;
        definitions[i].below = (uintptr_t)function;
    }
    dlerror(); /* what was not found is no error of the program's */
    const struct hl_definition *allocator = hl_definition_of("malloc");
    return allocator && allocator->below ? 0 : -ENOSYS;
}
