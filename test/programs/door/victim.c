/* SPDX-License-Identifier: MIT */
/*
 * victim COUNTING NOW LAZY OWN LATER LOADER: the door is opened and closed in a program that runs. It prints what each
 * library's calls were counted as, and whether all words are afterwards what they were before. Then the same beside
 * threads that allocate, load and unload, and fork.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../ext/heapline_core/platform/platform.h"

enum { THREADS = 3, TIMES = 1000, CALLS = 2 * TIMES, ROUNDS = 50, TEXT = 1 << 20, LATE_SECONDS = 60 };
static int ends;
static unsigned long loads, forks;
static const char *later_path;
static int (*door_open)(void);
static void (*door_close)(void), (*door_print)(void);
static unsigned long (*door_calls)(void);

static void *function(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found) fprintf(stderr, "%s\n", dlerror()), exit(2);
    return found;
}

static void *load(const char *path, int how) {
    void *library = dlopen(path, how | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror()), exit(2);
    return library;
}

/* Calls of malloc and free that were counted of CALLS. */
static unsigned long work(void *library) {
    void (*call)(int);
    *(void **)&call = function(library, "caller_work");
    const unsigned long before = door_calls();
    call(TIMES);
    return door_calls() - before;
}

/* ---- what the words hold ---- */

static void print_words(const struct dl_phdr_info *info, const ElfW(Rela) * relocations, size_t count, FILE *to) {
    for (size_t i = 0; i < count; i++) {
        const unsigned long kind = ELF64_R_TYPE(relocations[i].r_info);
        const unsigned long *word = (const unsigned long *)(info->dlpi_addr + relocations[i].r_offset);
        if (kind == HL_WORD_CALLED || kind == HL_WORD_TAKEN || kind == HL_WORD_PLAIN)
            fprintf(to, "%p %lx\n", (void *)word, *word);
    }
}

static int print_object(struct dl_phdr_info *info, size_t size, void *to) {
    const ElfW(Dyn) *entry = NULL;
    const ElfW(Rela) *data = NULL, *calls = NULL;
    size_t data_bytes = 0, call_bytes = 0;
    if (strstr(info->dlpi_name, "counting") || strstr(info->dlpi_name, "vdso")) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) entry = (void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_RELA) data = (void *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_RELASZ) data_bytes = entry->d_un.d_val;
        if (entry->d_tag == DT_JMPREL) calls = (void *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_PLTRELSZ) call_bytes = entry->d_un.d_val;
    }
    print_words(info, data, data ? data_bytes / sizeof(*data) : 0, to);
    print_words(info, calls, calls ? call_bytes / sizeof(*calls) : 0, to);
    return (void)size, 0;
}

/* All words, and the pages of all files with their protection. */
static void describe(char *text) {
    FILE *maps = fopen("/proc/self/maps", "r"), *to = fmemopen(text, TEXT, "w");
    char line[600];
    dl_iterate_phdr(print_object, to);
    while (fgets(line, sizeof(line), maps))
        if (strstr(line, ".so")) fputs(line, to);
    fclose(maps);
    fclose(to);
}

/* ---- threads beside it ---- */

static void *churn(void *unused) {
    while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
        char *volatile block = malloc(64);
        memset(block, 1, 64);
        free(block);
    }
    return unused;
}

static void *load_and_unload(void *unused) {
    while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
        void *library = load(later_path, RTLD_NOW);
        work(library);
        dlclose(library);
        __atomic_add_fetch(&loads, 1, __ATOMIC_RELAXED);
    }
    return unused;
}

/* A child loads at once: nobody may have left anything locked. (glibc itself does, where a thread loads at a fork.) */
static void *fork_and_load(void *unused) {
    while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
        int status = 0;
        const pid_t child = fork();
        if (child == 0) {
            alarm(LATE_SECONDS);
            dlclose(load("libm.so.6", RTLD_NOW));
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || status) _exit(4);
        __atomic_add_fetch(&forks, 1, __ATOMIC_RELAXED);
    }
    return unused;
}

/* How often what should be counted was not. Without `path` nothing is loaded. */
static int beside_threads(void *(*other)(void *), const unsigned long *others, const char *path, void *now) {
    pthread_t threads[THREADS];
    int missed = 0;
    __atomic_store_n(&ends, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, i ? churn : other, NULL);
    for (int i = 0; i < ROUNDS || !__atomic_load_n(others, __ATOMIC_RELAXED); i++) {
        int failed = door_open();
        while (failed == -EBUSY)
            failed = door_open(); /* on a busy machine the others may have it for longer than it waits */
        if (failed) exit(3);
        void *library = path ? load(path, RTLD_NOW) : now;
        missed += work(library) < CALLS || work(now) < CALLS;
        if (path) dlclose(library);
        door_close();
    }
    __atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return missed;
}

int main(int count, char **paths) {
    static char before[TEXT], after[TEXT];
    if (count != 7) return 2;
    void *counting = load(paths[1], RTLD_NOW), *now = load(paths[2], RTLD_NOW), *lazy = load(paths[3], RTLD_LAZY),
         *own = load(paths[4], RTLD_NOW), *loader = load(paths[6], RTLD_NOW);
    later_path = paths[5];
    *(void **)&door_open = function(counting, "door_open");
    *(void **)&door_close = function(counting, "door_close");
    *(void **)&door_print = function(counting, "door_print");
    *(void **)&door_calls = function(counting, "door_calls");
    void *(*load_by_loader)(const char *);
    *(void **)&load_by_loader = function(loader, "loader_load");
    alarm(LATE_SECONDS);
    describe(before);
    describe(before);
    printf("open %d\n", door_open());
    const unsigned long counted_now = work(now), counted_lazy = work(lazy), counted_own = work(own);
    void *later = load(later_path, RTLD_NOW), *found = load_by_loader("libfound.so");
    const unsigned long counted_later = work(later), counted_found = found ? work(found) : 0;
    dlclose(later);
    if (found) dlclose(found);
    door_print();
    door_close();
    describe(after);
    printf("counted %lu %lu %lu %lu %lu\n", counted_now, counted_lazy, counted_own, counted_later, counted_found);
    printf("closed %lu %lu\n", work(now), work(lazy));
    printf("same %d\n", strcmp(before, after) == 0);
    printf("missed %d %d\n", beside_threads(load_and_unload, &loads, later_path, now),
           beside_threads(fork_and_load, &forks, NULL, now));
    printf("closed %lu\n", work(now));
    return 0;
}
