/* SPDX-License-Identifier: MIT */
#include <ruby.h> /* first: it defines _GNU_SOURCE */

#include "objspace_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <ruby/io.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../heapline_core/platform/platform.h"
#include "births.h"

enum { PAGE = 4096, ARGUMENTS = 4, PATH_BYTES = 4096, NAME_BYTES = 4000, NAME_CHARACTERS = NAME_BYTES / 4 };

static void *library;

/* ---- where it lies: beside the encodings, one of which every Ruby has loaded ---- */

static int library_beside(VALUE feature, const char *known, char *path) {
    if (!RB_TYPE_P(feature, T_STRING)) return 0;
    const size_t length = (size_t)RSTRING_LEN(feature), tail = strlen(known);
    const char *text = RSTRING_PTR(feature);
    if (length < tail || length - tail > PATH_BYTES - 64 || text[0] != '/') return 0;
    if (memcmp(text + length - tail, known, tail) != 0) return 0;
    memcpy(path, text, length - tail);
    strcpy(path + length - tail, "/objspace.so");
    return access(path, R_OK) == 0;
}

static int find_library(char *path) {
    const VALUE features = rb_gv_get("$LOADED_FEATURES"), folders = rb_gv_get("$LOAD_PATH");
    for (long i = 0; RB_TYPE_P(features, T_ARRAY) && i < RARRAY_LEN(features); i++)
        if (library_beside(RARRAY_AREF(features, i), "/objspace.so", path) ||
            library_beside(RARRAY_AREF(features, i), "/enc/encdb.so", path))
            return 1;
    for (long i = 0; RB_TYPE_P(folders, T_ARRAY) && i < RARRAY_LEN(folders); i++)
        if (library_beside(RARRAY_AREF(folders, i), "", path)) return 1;
    return 0;
}

const char *rbhl_objspace_open(void) {
    char path[PATH_BYTES];
    if (library) return NULL;
    if (!find_library(path)) return "this Ruby has no objspace.so, which makes heap dumps";
    library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    return library ? NULL : "objspace.so of this Ruby cannot be loaded";
}

void rbhl_objspace_close(void) {
    if (library) dlclose(library);
    library = NULL;
}

/* ---- its imports ---- */

struct imports {
    const char *base, *strings;
    const Elf64_Sym *symbols;
    const Elf64_Rela *tables[2];
    size_t sizes[2];
};

/* glibc keeps addresses in a loaded object's dynamic section, other libcs offsets. */
static const void *address(const struct imports *imports, Elf64_Addr value) {
    return value < (Elf64_Addr)imports->base ? imports->base + value : (const void *)value;
}

static int read_imports(struct imports *imports) {
    struct link_map *map;
    memset(imports, 0, sizeof(*imports));
    if (dlinfo(library, RTLD_DI_LINKMAP, &map)) return 0;
    imports->base = (const char *)map->l_addr;
    for (const Elf64_Dyn *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB) imports->strings = address(imports, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SYMTAB) imports->symbols = address(imports, entry->d_un.d_ptr);
        if (entry->d_tag == DT_JMPREL) imports->tables[0] = address(imports, entry->d_un.d_ptr);
        if (entry->d_tag == DT_PLTRELSZ) imports->sizes[0] = entry->d_un.d_val;
        if (entry->d_tag == DT_RELA) imports->tables[1] = address(imports, entry->d_un.d_ptr);
        if (entry->d_tag == DT_RELASZ) imports->sizes[1] = entry->d_un.d_val;
    }
    return imports->strings && imports->symbols;
}

static void **import_at(const struct imports *imports, const Elf64_Rela *relocation, const char *name) {
    const unsigned type = (unsigned)ELF64_R_TYPE(relocation->r_info);
    const Elf64_Sym *symbol = &imports->symbols[ELF64_R_SYM(relocation->r_info)];
    if (type != HL_WORD_CALLED && type != HL_WORD_TAKEN) return NULL;
    if (strcmp(imports->strings + symbol->st_name, name) != 0) return NULL;
    return (void **)(imports->base + relocation->r_offset);
}

/* Let the library call `replacement` where it calls `name`; 0 where it does not. */
static int set_import(const char *name, void *replacement) {
    struct imports imports;
    int set = 0;
    if (!read_imports(&imports)) return 0;
    for (int table = 0; table < 2; table++) {
        for (size_t i = 0; imports.tables[table] && i < imports.sizes[table] / sizeof(Elf64_Rela); i++) {
            void **slot = import_at(&imports, &imports.tables[table][i], name);
            if (!slot) continue;
            void *page = (void *)((uintptr_t)slot & ~(uintptr_t)(PAGE - 1));
            if (mprotect(page, PAGE, PROT_READ | PROT_WRITE)) return 0;
            *slot = replacement;
            set = 1;
        }
    }
    return set;
}

/* ---- what it imports, in the twin ---- */

static struct {
    VALUE (*function)(VALUE, ...);
    int arguments;
} dump_all;
static FILE *stream;

static void define_module_function(VALUE module, const char *name, VALUE (*function)(VALUE, ...), int arguments) {
    (void)module;
    if (strcmp(name, "_dump_all") != 0) return;
    dump_all.function = function;
    dump_all.arguments = arguments;
}

static size_t bufwrite(VALUE io, const void *bytes, size_t size) {
    (void)io;
    fwrite(bytes, 1, size, stream);
    return size; /* a failure shows when the stream is flushed */
}

/* As ext/objspace/objspace.h declares it in Ruby 3.1 to 4.0. */
struct allocation_info {
    int living;
    VALUE flags;
    VALUE class;
    const char *path;
    unsigned long line;
    const char *class_path;
    VALUE method;
    size_t generation;
};

static struct {
    struct rbhl_sites *sites;
    struct allocation_info *(*traced)(VALUE); /* what the program's own tracing knows */
} births;

static struct allocation_info *look_up_birth(VALUE object) {
    static struct allocation_info info;
    struct rbhl_birth birth;
    struct allocation_info *traced = births.traced ? births.traced(object) : NULL;
    if (traced || !rbhl_birth_of_object(object, &birth)) return traced;
    info.path = rbhl_sites_line(births.sites, birth.site, &info.line);
    info.generation = birth.generation;
    return info.path ? &info : NULL;
}

static void answer_births(struct rbhl_sites *sites) {
    static const char name[] = "objspace_lookup_allocation_info";
    *(void **)&births.traced = dlsym(library, name);
    births.sites = sites;
    if (sites) set_import(name, (void *)look_up_birth);
}

/* Ruby 3.1's and 3.2's library raises where a name is longer than its buffer of 4 kB. */
static VALUE name_that_fits(VALUE class) {
    const VALUE name = rb_mod_name(class);
    if (!RB_TYPE_P(name, T_STRING) || RSTRING_LEN(name) <= NAME_BYTES) return name;
    return rb_str_plus(rb_str_substr(name, 0, NAME_CHARACTERS), rb_usascii_str_new_static("...", 3));
}

/* Whether the function that dumps is known now. */
static int take_dump_all(void) {
    void (*define)(VALUE);
    *(void **)&define = library ? dlsym(library, "Init_objspace_dump") : NULL;
    if (!define || !set_import("rb_define_module_function", (void *)define_module_function)) return 0;
    define(rb_cObject);
    return dump_all.function && dump_all.arguments >= 3 && dump_all.arguments <= ARGUMENTS;
}

int rbhl_objspace_dump_all(FILE *out, struct rbhl_sites *sites) {
    stream = out;
    if (!take_dump_all()) return 0;
    answer_births(sites);
    set_import("rb_mod_name", (void *)name_that_fits);
    const int through_ruby = set_import("rb_io_bufwrite", (void *)bufwrite);
    fflush(out);
    const VALUE io = rb_io_fdopen(through_ruby ? STDOUT_FILENO : fileno(out), O_WRONLY, NULL);
    /* output, full: no empty slots, since: from the beginning, shapes: none; what a version does not take it ignores.
     */
    dump_all.function(rb_cObject, io, Qfalse, Qnil, Qfalse);
    return 1;
}
